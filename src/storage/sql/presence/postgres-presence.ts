import { randomInt } from 'node:crypto';
import type pg from 'pg';
import type { Presence } from './presence.js';

/** Sets Tollhouse's advisory locks apart from others in the same database. */
const LOCKS = 0x746f6c6c;
const MAX_ID = 2 ** 31 - 1;
const RETRY_MS = 1_000;
/** So much longer than a heart-beat is late at the most while its process lives and its connection is renewed. */
const SILENT_MS = 7_000;

/**
 * The presence of processes that share a Postgres: each holds an advisory lock on a connection of its own, which the server
 * takes back as soon as the process ends. A process whose connection breaks takes it again.
 * @param connect - opens a connection
 * @param query - asks on any connection
 */
export function postgresPresence(
  connect: () => pg.Client,
  query: (text: string, values: readonly number[]) => Promise<readonly Record<string, unknown>[]>,
): Presence {
  const key = randomInt(1, MAX_ID);
  const id = String(key);
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  async function hold(): Promise<void> {
    const next = connect();
    client = next;
    next.on('error', () => {});
    next.on('end', again);
    await next.connect();
    await next.query(`select pg_advisory_lock(${LOCKS}, ${key})`);
  }

  function again(): void {
    if (isClosed || timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      hold().catch(again);
    }, RETRY_MS).unref();
  }

  const held = hold().catch(again);
  return {
    id,
    silentMs: SILENT_MS,
    async isGone(other) {
      const number = Number(other);
      if (!Number.isInteger(number) || number < 1 || number > MAX_ID || other === id) return false;
      const [row] = await query(`select pg_try_advisory_xact_lock(${LOCKS}, $1) as gone`, [number]);
      return row?.gone === true;
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await held;
      await client?.end().catch(() => {});
    },
  };
}
