import { membersOf } from '../../../facilitator/networks/joined-facilitator.js';
import type { Facilitator, PaymentLoad } from '../../../facilitator/types.js';
import type { FiguresHome } from './home.js';

type Value = (load: PaymentLoad) => number | undefined;

/** Each with what of a load it shows; undefined where that is not known. */
const GAUGES: readonly (readonly [name: string, help: string, value: Value])[] = [
  [
    'tollhouse_payments_in_flight',
    'Payments that are looked at or claimed and have no outcome yet',
    (it) => it.paymentsInFlight,
  ],
  ['tollhouse_payments_in_flight_limit', 'How many there may be at most', (it) => it.maxPaymentsInFlight],
  [
    'tollhouse_payments_room',
    'How many there may be now: fewer than the limit while checks are late because many are under way',
    (it) => it.roomForPayments,
  ],
  ['tollhouse_fee_lamports_in_hour', 'Network fees that were taken in this hour', (it) => it.fees?.spent],
  ['tollhouse_fee_lamports_in_hour_limit', 'How much they may be', (it) => it.fees?.limit],
];

/** Adds how much is under way, of how much, and how many payments were turned away for that. Read when the figures are asked for. */
export function addLoad({ client, registry }: FiguresHome, facilitator: Facilitator): void {
  const shared = { registers: [registry], labelNames: ['network'] };
  const members = membersOf(facilitator);
  for (const [name, help, value] of GAUGES) {
    new client.Gauge({
      ...shared,
      name,
      help,
      collect() {
        for (const { network, load } of members) {
          const now = value(load());
          if (now !== undefined) this.set({ network }, now);
        }
      },
    });
  }
  new client.Counter({
    ...shared,
    name: 'tollhouse_payments_turned_away_total',
    help: 'Payments that were told to come again because too many were under way',
    collect() {
      this.reset();
      for (const { network, load } of members) this.inc({ network }, load().turnedAway);
    },
  });
}
