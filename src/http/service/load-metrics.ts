import type { Registry } from 'prom-client';
import type { Facilitator } from '../../facilitator/types.js';

/** Adds how many payments are under way, of how many, and how many were turned away for that. Read when the figures are asked for. */
export function addLoad(
  { Gauge, Counter }: Pick<typeof import('prom-client'), 'Counter' | 'Gauge'>,
  registry: Registry,
  facilitator: Pick<Facilitator, 'load'>,
): void {
  const registers = [registry];
  new Gauge({
    name: 'tollhouse_payments_in_flight',
    help: 'Payments that are looked at or claimed and have no outcome yet',
    registers,
    collect() {
      this.set(facilitator.load().paymentsInFlight);
    },
  });
  new Gauge({
    name: 'tollhouse_payments_in_flight_limit',
    help: 'How many there may be',
    registers,
    collect() {
      this.set(facilitator.load().maxPaymentsInFlight);
    },
  });
  new Counter({
    name: 'tollhouse_payments_turned_away_total',
    help: 'Payments that were told to come again because too many were under way',
    registers,
    collect() {
      this.reset();
      this.inc(facilitator.load().turnedAway);
    },
  });
}
