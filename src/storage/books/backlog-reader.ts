import type { Row, SqlDatabase, Statement } from '../sql/sql-database.js';

/** So many of a kind are counted; what is beyond is told as these. */
const MOST_COUNTED = 10_000;
/** So many upstreams that are down are named. */
const MOST_NAMED = 100;
const DAY_MS = 86_400_000;

/** An upstream that is down. */
export interface DownUpstream {
  readonly id: string;
  readonly slug: string;
  readonly visibility: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** What waits to be done, as the database knows it, so for all instances together. Ages are in milliseconds, 0 where nothing waits. */
export interface Backlog {
  /** Payments that were sent and of which nobody knows yet what became, by network. */
  readonly unresolved: readonly { readonly network: string; readonly count: number; readonly oldestMs: number }[];
  /** Events that were not looked at for webhooks yet. */
  readonly events: { readonly count: number; readonly oldestMs: number };
  /** Deliveries to webhooks that are enabled, and how late the most overdue of them is. */
  readonly deliveries: { readonly count: number; readonly overdueMs: number };
  /** Payouts that are under way, of which nobody can say whether they landed, and that failed within a day. */
  readonly payouts: { readonly open: number; readonly unknown: number; readonly failed: number };
  /** Upstreams that are looked at. */
  readonly upstreams: { readonly up: number; readonly down: number; readonly longestDown: readonly DownUpstream[] };
}

/** Each looks at what waits in an index of that alone, or at a table with a row for each project or payout. */
const LOOKS = {
  unresolved: {
    name: 'tollhouse_backlog_unresolved',
    text: `select network, count(*) as waiting, min(claimed_at) as oldest from (
        select network, claimed_at from tollhouse_payment
        where state = 'broadcast' and finished_at is null limit ${MOST_COUNTED}) as sent
      group by network`,
  },
  events: {
    name: 'tollhouse_backlog_events',
    text: `select count(*) as waiting, min(at) as oldest from (
        select at from tollhouse_event where fanned_out = 0 order by seq limit ${MOST_COUNTED}) as fresh`,
  },
  deliveries: {
    name: 'tollhouse_backlog_deliveries',
    text: `select (select count(*) from (
          select 1 from tollhouse_webhook as webhook
          join tollhouse_delivery as delivery on webhook_id = webhook.id and state = 'pending'
          where webhook.status = 'enabled' limit ${MOST_COUNTED}) as pending) as waiting,
        (select min((select min(next_at) from tollhouse_delivery where webhook_id = webhook.id and state = 'pending'))
          from tollhouse_webhook as webhook where webhook.status = 'enabled') as oldest`,
  },
  payoutsOpen: {
    name: 'tollhouse_backlog_payouts',
    text: `select count(*) as waiting, sum(case when reason = 'outcome_unknown' then 1 else 0 end) as unknown
      from tollhouse_payout where state in ('planned', 'created', 'broadcast')`,
  },
  payoutsFailed: {
    name: 'tollhouse_backlog_payouts_failed',
    text: `select count(*) as waiting from tollhouse_payout where created_at > $1 and state = 'failed'`,
  },
  upstreams: {
    name: 'tollhouse_backlog_upstreams',
    text: `select count(*) as watched, sum(case when down_since is null then 0 else 1 end) as down
      from tollhouse_upstream_health as health join tollhouse_project as project on project.id = health.project_id
      where project.state = 'active'`,
  },
  down: {
    name: 'tollhouse_backlog_down',
    text: `select project.id, slug, visibility, down_since
      from tollhouse_upstream_health as health join tollhouse_project as project on project.id = health.project_id
      where down_since is not null and project.state = 'active' order by down_since, project.id limit ${MOST_NAMED}`,
  },
} as const satisfies Record<string, Statement>;

/**
 * Reads what waits. Rejects with `store_unavailable`.
 * @param now - milliseconds since the epoch
 */
export async function readBacklog(database: SqlDatabase, now: number): Promise<Backlog> {
  const unresolved = await database.query(LOOKS.unresolved);
  const [events = {}] = await database.query(LOOKS.events);
  const [deliveries = {}] = await database.query(LOOKS.deliveries);
  const [open = {}] = await database.query(LOOKS.payoutsOpen);
  const [failed = {}] = await database.query(LOOKS.payoutsFailed, now - DAY_MS);
  const [watched = {}] = await database.query(LOOKS.upstreams);
  const down = await database.query(LOOKS.down);
  const unknown = numberOf(open.unknown);
  return {
    unresolved: unresolved.map((row) => ({ network: String(row.network), ...countOf(row, now) })),
    events: countOf(events, now),
    deliveries: { count: numberOf(deliveries.waiting), overdueMs: ageOf(deliveries.oldest, now) },
    payouts: { open: numberOf(open.waiting) - unknown, unknown, failed: numberOf(failed.waiting) },
    upstreams: {
      up: numberOf(watched.watched) - numberOf(watched.down),
      down: numberOf(watched.down),
      longestDown: down.map(toDown),
    },
  };
}

function toDown({ id, slug, visibility, down_since }: Row): DownUpstream {
  return { id: String(id), slug: String(slug), visibility: String(visibility), since: Number(down_since) };
}

function countOf({ waiting, oldest }: Row, now: number) {
  return { count: numberOf(waiting), oldestMs: ageOf(oldest, now) };
}

function ageOf(at: Row[string] | undefined, now: number): number {
  return at === null || at === undefined ? 0 : Math.max(0, now - Number(at));
}

/** A sum over no rows is null. */
function numberOf(value: Row[string] | undefined): number {
  return Number(value ?? 0);
}
