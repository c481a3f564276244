import { membersOf } from '../../../facilitator/networks/joined-facilitator.js';
import type { Facilitator } from '../../../facilitator/types.js';
import type { Gateway } from '../../../gateway/gateway.js';
import type { FiguresHome } from './home.js';
import { addOwed } from './owed-figures.js';

/** Adds what a gateway tells, to whom, and what it owes. */
export function addGateway(home: FiguresHome, gateway: Gateway, facilitator: Facilitator): void {
  const { client, registry } = home;
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
  const { storage } = facilitator;
  if (storage !== undefined) addOwed(home, storage, membersOf(facilitator));
}
