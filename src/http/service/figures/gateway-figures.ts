import type { Gateway } from '../../../gateway/gateway.js';
import type { FiguresHome } from './home.js';

/** Adds what a gateway tells, and to whom. */
export function addGateway({ client, registry }: FiguresHome, gateway: Gateway): void {
  const registers = [registry];
  const attempts = new client.Counter({
    name: 'tollhouse_webhook_attempts_total',
    help: 'Attempts at deliveries to webhooks by what came of them; failed: it was the last one',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of ['delivered', 'retried', 'failed']) attempts.inc({ outcome }, 0);
  gateway.observed?.watch('webhook.attempt', ({ outcome }) => attempts.inc({ outcome }));
  new client.Gauge({
    name: 'tollhouse_event_stream_readers',
    help: 'Event streams that are open',
    registers,
    collect() {
      this.set(gateway.tail.readers());
    },
  });
}
