import type { SqlDatabase, Statement } from '../sql-database.js';
import { NOTE_MOMENT } from './moments.js';

const READ: Statement = { name: 'tollhouse_read_landing_end', text: 'select at from tollhouse_moment where name = $1' };

/**
 * The last block height in which something can land that was sent on a network before books were restored at a time, milliseconds since
 * the epoch; undefined where nobody has noted it yet.
 */
export async function readLandingEnd(
  database: Pick<SqlDatabase, 'query'>,
  network: string,
  restoredAt: number,
): Promise<number | undefined> {
  const [row] = await database.query(READ, nameOf(network, restoredAt));
  return row === undefined ? undefined : Number(row.at);
}

/** Notes it, so that a process that starts later does not begin to wait anew. */
export async function noteLandingEnd(
  database: Pick<SqlDatabase, 'query'>,
  network: string,
  restoredAt: number,
  height: number,
): Promise<void> {
  await database.query(NOTE_MOMENT, nameOf(network, restoredAt), height);
}

function nameOf(network: string, restoredAt: number): string {
  return `last block for what was sent on ${network} before ${restoredAt}`;
}
