import type { Registry } from 'prom-client';
import { membersOf } from '../../facilitator/networks/joined-facilitator.js';
import type { Facilitator } from '../../facilitator/types.js';

/** Adds how many payments are under way, of how many, and how many were turned away for that. Read when the figures are asked for. */
export function addLoad(
  { Gauge, Counter }: Pick<typeof import('prom-client'), 'Counter' | 'Gauge'>,
  registry: Registry,
  facilitator: Facilitator,
): void {
  const shared = { registers: [registry], labelNames: ['network'] };
  const members = membersOf(facilitator);
  new Gauge({
    ...shared,
    name: 'tollhouse_payments_in_flight',
    help: 'Payments that are looked at or claimed and have no outcome yet',
    collect() {
      for (const { network, load } of members) this.set({ network }, load().paymentsInFlight);
    },
  });
  new Gauge({
    ...shared,
    name: 'tollhouse_payments_in_flight_limit',
    help: 'How many there may be',
    collect() {
      for (const { network, load } of members) this.set({ network }, load().maxPaymentsInFlight);
    },
  });
  new Counter({
    ...shared,
    name: 'tollhouse_payments_turned_away_total',
    help: 'Payments that were told to come again because too many were under way',
    collect() {
      this.reset();
      for (const { network, load } of members) this.inc({ network }, load().turnedAway);
    },
  });
}
