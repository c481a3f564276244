import { RpcError } from './rpc.js';
import { mayBeSent } from './send-failure.js';

/** A node's way to say "not now, not me": it lags behind or has not got that slot yet. */
const NODE_BEHIND = new Set([-32_004, -32_005, -32_014, -32_016]);

/** Whether a node says that it lags behind. */
export function isBehind({ failure, details }: RpcError): boolean {
  return failure === 'answer' && NODE_BEHIND.has(details.code ?? 0);
}

/** What endpoints have said of one call, none of which settles it. */
export class CallWords<T> {
  readonly #unsure: object[] = [];
  #result: { readonly result: T } | undefined;
  #error: RpcError | undefined;
  #failure: RpcError | undefined;

  /** Whether one of them has answered something, and may only not have got a block yet. */
  get isOneUnsure(): boolean {
    return this.#unsure.length > 0;
  }

  isUnsure(endpoint: object): boolean {
    return this.#unsure.includes(endpoint);
  }

  /** Keeps what an endpoint answers that may not have got a block yet. The first word counts where no other knows better. */
  unsure(endpoint: object, word: { readonly result: T } | RpcError): void {
    this.#unsure.push(endpoint);
    if (word instanceof RpcError) this.#error ??= word;
    else this.#result ??= word;
  }

  failed(error: RpcError): void {
    this.#failure = merge(this.#failure, error);
  }

  /** What a call comes to that nobody has settled; undefined where nobody was asked. */
  conclude(): { readonly result: T } | RpcError | undefined {
    if (this.#result !== undefined) return this.#result;
    const failure = this.#failure;
    const isHeard = failure?.failure === 'answer' || failure?.details.mayHaveArrived === true;
    return isHeard ? failure : (this.#error ?? failure);
  }
}

/**
 * One error for all tries: the last one's, with the doubt of the earlier ones. A node that is behind may have passed the
 * call on all the same, and what another node says of a second try is no proof of what became of the first.
 */
function merge(earlier: RpcError | undefined, last: RpcError): RpcError {
  if (earlier === undefined || last.details.mayHaveArrived === true) return last;
  const wasHeard = mayBeSent(earlier) || (earlier.failure === 'answer' && !isBehind(last));
  if (!wasHeard) return last;
  return new RpcError(last.failure, last.message, { ...last.details, mayHaveArrived: true });
}
