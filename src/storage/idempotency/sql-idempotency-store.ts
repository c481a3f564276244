import { randomUUID } from 'node:crypto';
import { holderOf, leaseOf } from '../sql/presence/presence.js';
import type { Row, SqlDatabase, Statement } from '../sql/sql-database.js';
import { answerRow, answerStep } from './answer-rows.js';
import { endingGivenUp } from './given-up-runs.js';
import {
  ANYBODY,
  type BegunRun,
  ENTRY_BYTES,
  type EndedRun,
  type IdempotencyBounds,
  type IdempotencyStore,
  type IdempotentRun,
  type KnownResponse,
  NO_RUN,
  RESPONSE_RETENTION_MS,
  takenOverLease,
} from './idempotency-store.js';

/** Answers that can be forgotten. */
export interface PrunableIdempotencyStore extends IdempotencyStore {
  /**
   * Forgets responses whose time is over, and where the others are too large together, the oldest of those owners who have most. A
   * step takes as long as its `limit` makes it; call it until it answers 0.
   * @param limit - how many of either go at most
   * @returns how many went
   */
  prune(limit: number): Promise<number>;
}

const DEFAULT_BYTES = 256 * 1024 * 1024;
const PUTS_PER_PRUNE = 256;
/** A clock that is set right in passing is not off by more. */
const JUMP_MS = 30_000;
const HELD = 'id = $1 and lease = $2 and answer is null';

/** The statements, the same for every database. What has expired is as good as not there. */
const ANSWERS = {
  begin: {
    name: 'tollhouse_answer_begin',
    text: `insert into tollhouse_answer (id, fingerprint, lease, lease_ends, expires_at, size, owner)
      values ($1, $2, $3, $4, $5, $6, $8)
      on conflict (id) do update set fingerprint = excluded.fingerprint, lease = excluded.lease,
        lease_ends = excluded.lease_ends, expires_at = excluded.expires_at, size = excluded.size,
        owner = excluded.owner, goes_first = 0, answer = null
        where tollhouse_answer.expires_at <= $7
      returning id`,
  },
  /** The same request goes on for a run that is over. */
  takeOver: {
    name: 'tollhouse_answer_take_over',
    text: `update tollhouse_answer set lease = $3, lease_ends = $4, expires_at = $5, owner = $6 where ${HELD} returning id`,
  },
  find: {
    name: 'tollhouse_answer_find',
    text: `select fingerprint, lease, lease_ends, answer from tollhouse_answer where id = $1 and expires_at > $2`,
  },
  extend: {
    name: 'tollhouse_answer_extend',
    text: `update tollhouse_answer set lease_ends = $3, expires_at = $4 where ${HELD} returning id`,
  },
  finish: {
    name: 'tollhouse_answer_finish',
    text: `update tollhouse_answer set answer = $3, size = $4, expires_at = $5, goes_first = $6,
      owner = coalesce($7, owner) where ${HELD} returning id`,
  },
  release: {
    name: 'tollhouse_answer_release',
    text: `update tollhouse_answer set lease_ends = 0 where ${HELD} returning id`,
  },
  abandon: { name: 'tollhouse_answer_abandon', text: `delete from tollhouse_answer where ${HELD} returning id` },
  pruneExpired: {
    name: 'tollhouse_answer_prune_expired',
    text: `delete from tollhouse_answer
      where id in (select id from tollhouse_answer where expires_at <= $1 order by expires_at, id limit $2)
        and expires_at <= $1
      returning id`,
  },
} as const satisfies Record<string, Statement>;

/** What goes where there is no room: first what nobody has paid for, as much as leaves room for all of the rest, and then the rest. */
const FREEING = [
  freeing(
    1,
    `select case when size < $1 then $1 - size else 0 end as size
      from (select coalesce(sum(size), 0) as size from tollhouse_answer where goes_first = 0) as rest`,
  ),
  freeing(0, 'select cast($1 as bigint) as size'),
];

/** @param room - answers how many bytes they have, of `$1` in all */
function freeing(goesFirst: 0 | 1, room: string) {
  return {
    /**
     * Who has more than the level, which is as much as each may have so that all have together what there is room for: those who have
     * less leave the rest to the others. Nobody where all have room.
     */
    findLargest: {
      name: `tollhouse_answer_find_largest_${goesFirst}`,
      text: `with share as (select owner, sum(size) as size from tollhouse_answer where goes_first = ${goesFirst} group by owner),
      room as (${room}),
      ranked as (
        select size, sum(size) over (order by size, owner) - size as below,
          count(*) over () + 1 - row_number() over (order by size, owner) as owners from share),
      level as (
        select (room.size - below) / owners as size from ranked, room
        where below + ranked.size * owners > room.size order by below limit 1)
      select owner, share.size - level.size as excess, (select sum(size) from share) - room.size as needed from share, level, room
      where share.size > level.size order by share.size desc, owner limit $2`,
    },
    /** Of the oldest of an owner, as many as it takes and no more. */
    pruneOwner: {
      name: `tollhouse_answer_prune_owner_${goesFirst}`,
      text: `delete from tollhouse_answer where id in (
        select id from (
          select id, sum(size) over (order by expires_at, id) - size as older from (
            select id, expires_at, size from tollhouse_answer
            where owner = $1 and goes_first = ${goesFirst} order by expires_at, id limit $3
          ) as oldest) as summed
        where older < $2)
      returning size`,
    },
  } as const satisfies Record<string, Statement>;
}

/**
 * Answers on SQLite or Postgres, at most 256 MiB by default. The database is not closed with them. Instances that share a
 * database must agree on the time to a fraction of a lease.
 */
export function createSqlIdempotencyStore(
  database: SqlDatabase,
  options: IdempotencyBounds = {},
): PrunableIdempotencyStore {
  const { retentionMs = RESPONSE_RETENTION_MS, maxBytes = DEFAULT_BYTES, now = Date.now } = options;

  const { find, begin } = createRuns(database, retentionMs, now);
  const prune = createPrune(database, maxBytes);
  const surely = notAhead(now, options.steady ?? (() => performance.now()));
  let puts = 0;

  /** Whoever keeps without end must also forget, where nobody else sees to it. */
  function tidy(): void {
    puts += 1;
    if (puts % PUTS_PER_PRUNE === 0) prune(PUTS_PER_PRUNE * 2, surely()).catch(() => {});
  }

  function keptUntil(): number {
    tidy();
    return now() + retentionMs;
  }

  return endingGivenUp({
    find,
    begin,
    newLease: () => leaseOf(database.presence, randomUUID()),
    prune: (limit) => prune(limit, now()),
    rows: { database, keptUntil },
    async put(id, answer, owner, isPaid) {
      await database.query(...answerStep(answerRow({ id, answer, owner, isPaid }, now() + retentionMs)));
      tidy();
      return true;
    },
    async get(id) {
      const known = await find(id, NO_RUN);
      return known?.status === 'replay' ? known.response : undefined;
    },
    async extend(id, lease, leaseMs) {
      const time = now();
      return (await database.query(ANSWERS.extend, id, lease, time + leaseMs, time + retentionMs)).length > 0;
    },
    async finish(id, lease, answer, paidBy) {
      const share = paidBy === undefined ? [1, null] : [0, paidBy];
      const values = [answer, answer.length + ENTRY_BYTES, now() + retentionMs, ...share] as const;
      return (await database.query(ANSWERS.finish, id, lease, ...values)).length > 0;
    },
    release: async (id, lease) => (await database.query(ANSWERS.release, id, lease)).length > 0,
    abandon: async (id, lease) => (await database.query(ANSWERS.abandon, id, lease)).length > 0,
  });
}

/** Begins runs, and takes those over that nobody is at any more. */
function createRuns(
  database: SqlDatabase,
  retentionMs: number,
  now: () => number,
): Pick<IdempotencyStore, 'find' | 'begin'> {
  const { presence } = database;

  /**
   * Whether nobody is at a run any more.
   * @param leaseMs - for how long it was held, where that is known
   */
  async function isOver({ lease, lease_ends }: Row, leaseMs = Number.POSITIVE_INFINITY): Promise<boolean> {
    const [time, ends] = [now(), Number(lease_ends)];
    if (ends <= time) return true;
    const holder = holderOf(String(lease));
    const isSilent = presence.silentMs === 0 || ends - leaseMs + presence.silentMs <= time;
    return holder !== undefined && isSilent && presence.isGone(holder);
  }

  async function find(id: string, fingerprint: string): Promise<KnownResponse | EndedRun | undefined> {
    const [row] = await database.query(ANSWERS.find, id, now());
    if (row === undefined) return undefined;
    const known = knownOf(row, fingerprint);
    return known.status === 'running' && (await isOver(row)) ? { status: 'ended' } : known;
  }

  async function begin(run: IdempotentRun): Promise<KnownResponse | BegunRun> {
    const { id, fingerprint, leaseMs, owner = ANYBODY } = run;
    const time = now();
    const [ends, expires] = [time + leaseMs, time + retentionMs];
    const values = [id, fingerprint, run.lease, ends, expires, ENTRY_BYTES, time, owner];
    const [started] = await database.query(ANSWERS.begin, ...values);
    if (started !== undefined) return { status: 'started' };
    const [row] = await database.query(ANSWERS.find, id, time);
    // It was abandoned or forgotten between the two statements: it is free again.
    if (row === undefined) return begin(run);
    const known = knownOf(row, fingerprint);
    if (known.status !== 'running' || !(await isOver(row, leaseMs))) return known;
    const former = String(row.lease);
    const lease = takenOverLease(run.lease, former);
    const [taken] = await database.query(ANSWERS.takeOver, id, former, lease, ends, expires, owner);
    return taken === undefined ? begin(run) : { status: 'started', lease };
  }

  return { find, begin };
}

/** The time, but no later than it can be since now by a clock that nobody sets: what is forgotten by a wrong one is gone for good. */
function notAhead(now: () => number, steady: () => number): () => number {
  const [time, since] = [now(), steady()];
  return () => Math.min(now(), time + (steady() - since) + JUMP_MS);
}

/** Forgets what is over, and what is too much. */
function createPrune(database: SqlDatabase, maxBytes: number): (limit: number, time: number) => Promise<number> {
  async function makeFree({ findLargest, pruneOwner }: (typeof FREEING)[number], limit: number): Promise<number> {
    const largest = await database.query(findLargest, maxBytes, limit);
    let [gone, needed] = [0, Number(largest[0]?.needed ?? 0)];
    for (const { owner, excess } of largest) {
      if (needed <= 0 || gone >= limit) break;
      const bytes = Math.ceil(Math.min(Number(excess), needed));
      const rows = await database.query(pruneOwner, String(owner), bytes, limit - gone);
      gone += rows.length;
      needed -= rows.reduce((sum, { size }) => sum + Number(size), 0);
    }
    return gone;
  }

  return async (limit, time) => {
    const expired = await database.query(ANSWERS.pruneExpired, time, limit);
    let freed = 0;
    for (const step of FREEING) if (freed < limit) freed += await makeFree(step, limit - freed);
    return expired.length + freed;
  };
}

function knownOf({ fingerprint: first, answer }: Row, fingerprint: string): KnownResponse {
  if (first !== fingerprint) return { status: 'mismatch' };
  return answer instanceof Uint8Array ? { status: 'replay', response: answer } : { status: 'running' };
}
