import type { SqlDatabase, Statement } from '../sql-database.js';

/** Each within what one statement may take. */
const AT_ONCE = 10_000;

const LAST: Statement = {
  name: 'tollhouse_last_event_place',
  text: 'select max(tx) as last from tollhouse_event where tx > 0',
};
/** The oldest first: whoever begins anew after an interruption finds the same last one. */
const MOVE_BACK: Statement = {
  name: 'tollhouse_move_events_back',
  text: `with moved as (
      update tollhouse_event set tx = tx - $1
      where seq in (select seq from tollhouse_event where tx > 0 order by tx, seq limit ${AT_ONCE}) returning seq)
    select count(*) as count from moved`,
};

/**
 * Puts all events of Postgres before every transaction that there will be, in the order that they have. Readers go by the number of the
 * transaction that wrote an event (`tx`), and another server counts its transactions anew: what one that had counted further has written
 * would be hidden there until this one has caught up, and stand after what is written now. So all go back by one number, as far as the last
 * one comes to 0. With 0 for all the order would be that of `seq`, which two transactions at once may have drawn the other way round: a
 * stream that had told the first of them would pass the other by. Streams go on after the id of an event, and so as before; a list that
 * goes on from a cursor of before, in which places stand, may show once more what it has shown, and misses nothing.
 * Does nothing where that was done and nothing has happened since. Nobody else uses the books meanwhile.
 */
export async function putEventsFirst(database: Pick<SqlDatabase, 'query' | 'dialect'>): Promise<void> {
  // In SQLite it is 0 for all.
  if (database.dialect !== 'postgres') return;
  const [row] = await database.query(LAST);
  const last = Number(row?.last ?? 0);
  for (let moved = last === 0 ? 0 : AT_ONCE; moved === AT_ONCE; ) {
    const [counted] = await database.query(MOVE_BACK, last);
    moved = Number(counted?.count);
  }
}
