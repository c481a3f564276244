import type { Row, SqlDatabase, Statement } from '../sql-database.js';

/**
 * `backed_up`: when the last backup of these books was begun. `complete_until`: until when they were complete, where they were
 * restored. `restored`: when that was. Beside them, for each wallet that pays refunds, the restore whose lost refunds were looked for; and
 * for each network and restore a block height (`landing-end.ts`), and which Postgres server they were last seen on (`server-history.ts`).
 */
export type Moment = 'backed_up' | 'complete_until' | 'restored';

/** Writes a moment down, milliseconds since the epoch (`$2`), in the place of the one before. */
export const NOTE_MOMENT: Statement = {
  name: 'tollhouse_note_moment',
  text: 'insert into tollhouse_moment (name, at) values ($1, $2) on conflict (name) do update set at = excluded.at',
};

const READ: Statement = { name: 'tollhouse_read_moments', text: 'select name, at from tollhouse_moment' };

/** The time that books know nothing of, because a backup was restored: what happened then may be missing. Milliseconds since the epoch. */
export interface LostPeriod {
  readonly from: number;
  readonly to: number;
}

/** When what happened. */
export async function readMoments(database: Pick<SqlDatabase, 'query'>): Promise<ReadonlyMap<Moment, number>> {
  return new Map((await database.query(READ)).map(({ name, at }: Row) => [name as Moment, Number(at)]));
}

/** What the books have lost; undefined where no backup was restored. */
export async function readLostPeriod(database: Pick<SqlDatabase, 'query'>): Promise<LostPeriod | undefined> {
  const moments = await readMoments(database);
  const [from, to] = [moments.get('complete_until'), moments.get('restored')];
  return from === undefined || to === undefined ? undefined : { from, to };
}
