import { randomInt } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type pg from 'pg';
import { SharedSession } from '../postgres-errors.js';
import type { Presence } from './presence.js';

/** Sets Tollhouse's advisory locks apart from others in the same database. */
const LOCKS = 0x746f6c6c;
const MAX_ID = 2 ** 31 - 1;
const LOOK_MS = 1_000;
/** A look that comes so late says nothing about the time before it. */
const LATE_MS = 3_000;
/** So long nobody may have seen a process: whoever lives shows himself three seconds after an outage at the latest, on a busy machine later. */
const UNSEEN_MS = 5_000;
/** So much longer than a heart-beat is late at the most while its process lives and its connection is renewed. */
const SILENT_MS = 7_000;

const HOLD = `select pg_advisory_lock_shared(${LOCKS}, $1)`;
const SESSION = 'select pg_backend_pid() as session';
const HELD = `select objid::text as id from pg_locks where locktype = 'advisory' and classid = ${LOCKS} and objsubid = 2
  and granted and database = (select oid from pg_database where datname = current_database())`;

/** Asks on any connection. */
type Ask = (text: string, values: readonly number[]) => Promise<readonly Record<string, unknown>[]>;

/**
 * The presence of processes that share a Postgres: each holds an advisory lock on a connection of its own, which the server
 * takes back as soon as the process ends. Over that connection it looks every second who else is there: by that it learns when its
 * own lock is lost, and takes it again, and whether another process has been away for long, or for as long as a connection breaks.
 * @param connect - opens a connection whose queries end in less than {@link LATE_MS}
 * @param query - asks on any connection
 * @returns what rejects where the lock cannot be had at the beginning, or two connections are in one session: nothing may
 * be held by a process that is not seen
 */
export async function postgresPresence(connect: () => pg.Client, query: Ask): Promise<Presence> {
  const key = randomInt(1, MAX_ID);
  const id = String(key);
  const closing = new AbortController();
  /** When each was seen last, and when it was looked last, and since when without a gap; on a clock that never goes back. */
  const seen = new Map<string, number>();
  let lookedAt = Number.NEGATIVE_INFINITY;
  let since = lookedAt;

  async function look(client: pg.Client): Promise<void> {
    const { rows } = await client.query<{ readonly id: string }>(HELD);
    const time = performance.now();
    if (time - lookedAt > LATE_MS) since = time;
    lookedAt = time;
    for (const it of rows) seen.set(it.id, time);
    for (const [other, at] of seen) if (time - at > UNSEEN_MS) seen.delete(other);
    if (seen.get(id) !== time) throw new Error('the lock of this process is lost');
  }

  async function hold(first?: (client: pg.Client) => Promise<void>): Promise<pg.Client> {
    const client = connect();
    client.on('error', () => {});
    try {
      await client.connect();
      await first?.(client);
      await client.query(HOLD, [key]);
      await look(client);
      return client;
    } catch (error) {
      leave(client);
      throw error;
    }
  }

  /** Looks once more. Undefined where the connection is lost. */
  async function stillHeld(client: pg.Client): Promise<pg.Client | undefined> {
    try {
      await look(client);
      return client;
    } catch {
      leave(client);
      return undefined;
    }
  }

  async function stay(first: pg.Client): Promise<void> {
    let client: pg.Client | undefined = first;
    while (await isTimeToLook(closing.signal)) {
      client = (client && (await stillHeld(client))) ?? (await hold().catch(() => undefined));
    }
    await client?.end().catch(() => {});
  }

  const staying = stay(await hold((client) => refuseShared(client, query)));
  return {
    id,
    silentMs: SILENT_MS,
    async isGone(other) {
      const number = Number(other);
      if (!Number.isInteger(number) || number < 1 || number > MAX_ID || other === id) return false;
      const unseenMs = lookedAt - Math.max(since, seen.get(other) ?? since);
      if (performance.now() - lookedAt > LATE_MS || unseenMs < UNSEEN_MS) return false;
      // It may be back since.
      const [row] = await query(`select pg_try_advisory_xact_lock(${LOCKS}, $1) as gone`, [number]);
      return row?.gone === true;
    },
    async close() {
      closing.abort();
      await staying;
    },
  };
}

/** Behind a pooler that gives its sessions away the lock would outlive its process, and be held by strangers. */
async function refuseShared(client: pg.Client, query: Ask): Promise<void> {
  const [other] = await query(SESSION, []);
  // Poolers give away first what was given back last.
  const { rows } = await client.query<{ readonly session: number }>(SESSION);
  if (rows[0]?.session === other?.['session']) throw new SharedSession();
}

function isTimeToLook(signal: AbortSignal): Promise<boolean> {
  return setTimeout(LOOK_MS, true, { ref: false, signal }).catch(() => false);
}

/** Of one that is lost nobody waits for the end. */
function leave(client: pg.Client): void {
  void client.end().catch(() => {});
}
