import type { Exchange } from './response-relay.js';

/** The exchanges of a proxy that are under way. */
export interface Exchanges {
  /** Notes one that begins, until it has ended; once they were stopped it is at once. */
  begin(exchange: Exchange): Exchange;
  /** Stops all. */
  stop(): void;
}

/** Makes an empty set of them. */
export function createExchanges(): Exchanges {
  const underWay = new Set<Exchange>();
  let isStopped = false;
  return {
    begin(exchange) {
      if (isStopped) exchange.stop();
      const forget = (): void => void underWay.delete(exchange);
      underWay.add(exchange);
      exchange.ended.then(forget, forget);
      return exchange;
    },
    stop() {
      isStopped = true;
      for (const exchange of [...underWay]) exchange.stop();
    },
  };
}
