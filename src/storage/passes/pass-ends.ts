import { eventSteps } from '../events/event-statements.js';
import type { Row, SqlDatabase, Step } from '../sql/sql-database.js';
import { toPass } from './pass-rows.js';
import { PASSES } from './pass-statements.js';
import type { PassStore } from './pass-store.js';

const NO_BALANCE = -1;

/** Tells the ends of passes on SQLite or Postgres: the event is in the transaction of the mark that makes it the only one. */
export function passEnds(database: SqlDatabase, now: () => number): PassStore['tellEnds'] {
  return async ({ usedUpForMs, limit }, eventOf) => {
    const time = now();
    const told = [];
    const rows = await database.query(PASSES.untold, time, time - usedUpForMs, limit);
    for (const row of rows) {
      const pass = toPass(row, time);
      const isTold = pass.revokedAt === undefined;
      const event = isTold ? eventOf(pass) : undefined;
      const [marked] = await database.batchIf(markOf(row), eventSteps(event === undefined ? [] : [event]));
      if (isTold && marked !== undefined) told.push(pass);
    }
    return told;
  };
}

function markOf({ id, over_at, remaining }: Row): Step {
  return [PASSES.markTold, id ?? null, over_at ?? null, remaining ?? NO_BALANCE];
}
