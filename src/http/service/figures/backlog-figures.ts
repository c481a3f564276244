import { membersOf } from '../../../facilitator/networks/joined-facilitator.js';
import { pruningLag } from '../../../facilitator/recovery/pruning.js';
import type { Facilitator } from '../../../facilitator/types.js';
import type { NetworkId } from '../../../protocol/types.js';
import { type Backlog, readBacklog } from '../../../storage/books/backlog-reader.js';
import { projectLabel } from '../../framework/project-label.js';
import { type FiguresHome, MILLISECONDS } from './home.js';
import { restedReader } from './rested-reader.js';

type Labels = Readonly<Record<string, string>>;
type Rows = readonly (readonly [labels: Labels, value: number])[];

/** A gauge, and what it shows of something that was read. */
interface ReadGauge<T> {
  readonly name: string;
  readonly help: string;
  /** Default: none. */
  readonly labels?: readonly string[];
  readonly rows: (read: T) => Rows;
}

/** However often the figures are asked for, by however many. */
const REST = { leastMs: 15_000, times: 50 };

/** Adds what waits in the database. What cannot be asked is missing. */
export function addBacklog(home: FiguresHome, facilitator: Facilitator): void {
  const { storage } = facilitator;
  if (storage === undefined) return;
  const networks = membersOf(facilitator).map(({ network }) => network);
  const look = restedReader(() => readBacklog(storage.database, Date.now()), REST);
  addRead(home, look, [...unresolvedGauges(networks), ...WEBHOOKS, ...PAYOUTS_AND_UPSTREAMS]);
  const lags = restedReader(() => pruningLag(storage, Date.now()), REST);
  addRead(home, lags, [
    {
      name: 'tollhouse_prune_lag_seconds',
      help: 'How long the oldest of what can be forgotten could have been; missing while the store cannot be asked',
      labels: ['what'],
      rows: (it) => Object.entries(it).map(([what, lagMs]) => [{ what }, lagMs / MILLISECONDS]),
    },
  ]);
}

/** Adds gauges that show what a reader has read last; they are missing where it has read nothing. */
export function addRead<T>(
  { client, registry }: FiguresHome,
  look: () => Promise<T | undefined>,
  gauges: readonly ReadGauge<T>[],
): void {
  for (const { name, help, labels = [], rows } of gauges) {
    new client.Gauge({
      name,
      help,
      labelNames: labels,
      registers: [registry],
      async collect() {
        const read = await look();
        this.reset();
        // Without labels it would be 0.
        if (read === undefined) this.remove({});
        else for (const [of, value] of rows(read)) this.set(of, value);
      },
    });
  }
}

function unresolvedGauges(networks: readonly NetworkId[]): readonly ReadGauge<Backlog>[] {
  const ofEach = (value: (of: Backlog['unresolved'][number]) => number) => (it: Backlog) =>
    networks.map((network) => {
      const found = it.unresolved.find((one) => one.network === network);
      return [{ network }, found === undefined ? 0 : value(found)] as const;
    });
  return [
    {
      name: 'tollhouse_payments_unresolved',
      help: 'Payments that were sent and whose outcome is not known yet',
      labels: ['network'],
      rows: ofEach(({ count }) => count),
    },
    {
      name: 'tollhouse_payments_unresolved_oldest_seconds',
      help: 'Age of the oldest of them',
      labels: ['network'],
      rows: ofEach(({ oldestMs }) => oldestMs / MILLISECONDS),
    },
  ];
}

const WEBHOOKS: readonly ReadGauge<Backlog>[] = [
  {
    name: 'tollhouse_webhook_events_waiting',
    help: 'Events that no delivery was made of yet',
    rows: ({ events }) => [[{}, events.count]],
  },
  {
    name: 'tollhouse_webhook_events_oldest_seconds',
    help: 'Age of the oldest of them',
    rows: ({ events }) => [[{}, events.oldestMs / MILLISECONDS]],
  },
  {
    name: 'tollhouse_webhook_deliveries_pending',
    help: 'Deliveries that are to be tried',
    rows: ({ deliveries }) => [[{}, deliveries.count]],
  },
  {
    name: 'tollhouse_webhook_overdue_seconds',
    help: 'How late the most overdue of them is',
    rows: ({ deliveries }) => [[{}, deliveries.overdueMs / MILLISECONDS]],
  },
];

const PAYOUTS_AND_UPSTREAMS: readonly ReadGauge<Backlog>[] = [
  {
    name: 'tollhouse_payouts',
    help: 'Payouts under way, those whose outcome nobody knows, and those that failed within a day',
    labels: ['state'],
    rows: ({ payouts }) => Object.entries(payouts).map(([state, count]) => [{ state }, count]),
  },
  {
    name: 'tollhouse_upstreams',
    help: 'Upstreams that are looked at, by how they are',
    labels: ['state'],
    rows: ({ upstreams: { up, down } }) => [
      [{ state: 'up' }, up],
      [{ state: 'down' }, down],
    ],
  },
  {
    name: 'tollhouse_upstream_down_seconds',
    help: 'For how long an upstream is down; missing for those that are up',
    labels: ['project'],
    rows: ({ upstreams }) =>
      upstreams.longestDown.map((it) => [{ project: projectLabel(it) }, (Date.now() - it.since) / MILLISECONDS]),
  },
];
