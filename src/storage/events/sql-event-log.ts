import type { Dialect, Row, SqlDatabase, Statement } from '../sql/sql-database.js';
import { EVENTS_BEGIN, type EventLog, type EventPosition, type EventQuery } from './event-log.js';
import { EVENT_COLUMNS, toLoggedEvent } from './event-rows.js';
import { eventOnceStep, eventSteps } from './event-statements.js';

/** After every position. */
const EVENTS_END: EventPosition = { tx: Number.MAX_SAFE_INTEGER, seq: Number.MAX_SAFE_INTEGER };

/** Conditions that are not the same in both databases. `$2` and `$3` are a position, `$1` and `$2` where no owner comes first. */
interface Places {
  /** Nothing that is committed later can stand before it. */
  readonly settled: string;
  compare(sign: '<' | '>', tx: '$1' | '$2', seq: '$2' | '$3'): string;
  /** Of all events: by these columns, in this direction. */
  inOrder(direction: 'asc' | 'desc'): string;
}

const PLACES: Readonly<Record<Dialect, Places>> = {
  // An event with an earlier place may be committed later than one that is seen already: shown are only those of
  // transactions that are older than every running one.
  postgres: {
    settled: 'tx < pg_snapshot_xmin(pg_current_snapshot())::text::bigint',
    compare: (sign, tx, seq) => `(tx, seq) ${sign} (${tx}, ${seq})`,
    inOrder: (direction) => `order by tx ${direction}, seq ${direction}`,
  },
  // One writer at a time, and `tx` is always 0; of a comparison of pairs SQLite's index would serve the first half only.
  sqlite: {
    settled: 'true',
    compare: (sign, _tx, seq) => `tx = 0 and seq ${sign} ${seq}`,
    inOrder: (direction) => `order by seq ${direction}`,
  },
};

function statements(dialect: Dialect) {
  const { settled, compare, inOrder } = PLACES[dialect];
  return {
    list: {
      name: 'tollhouse_event_list',
      text: `select ${EVENT_COLUMNS} from tollhouse_event
        where owner = $1 and ${compare('<', '$2', '$3')} and ${settled}
          and ($4 = '' or project_id = $4) and ($5 = '' or $5 like '% ' || type || ' %')
        order by tx desc, seq desc limit $6`,
    },
    readAfter: {
      name: 'tollhouse_event_read',
      text: `select ${EVENT_COLUMNS} from tollhouse_event
        where owner = $1 and ${compare('>', '$2', '$3')} and ${settled} order by tx, seq limit $4`,
    },
    find: {
      name: 'tollhouse_event_find',
      text: `select ${EVENT_COLUMNS} from tollhouse_event where id = $1 and owner = $2`,
    },
    end: {
      name: 'tollhouse_event_end',
      text: `select tx, seq from tollhouse_event where ${settled} ${inOrder('desc')} limit 1`,
    },
    newsAfter: {
      name: 'tollhouse_event_news',
      text: `select owner, tx, seq from tollhouse_event
        where ${compare('>', '$1', '$2')} and ${settled} ${inOrder('asc')} limit $3`,
    },
    prune: {
      name: 'tollhouse_event_prune',
      text: `delete from tollhouse_event where seq in (
          select seq from tollhouse_event
          where at < $1 and not exists (
            select 1 from tollhouse_delivery where tollhouse_delivery.event_id = tollhouse_event.id)
          order by at limit $2)
        returning id`,
    },
    pruneAsked: {
      name: 'tollhouse_event_prune_asked',
      text: `delete from tollhouse_event where seq in (
          select seq from tollhouse_event
          where type = 'payment.created' and at < $1 and not exists (
            select 1 from tollhouse_delivery where tollhouse_delivery.event_id = tollhouse_event.id)
          order by at limit $2)
        returning id`,
    },
  } as const satisfies Record<string, Statement>;
}

/** The event log on SQLite or Postgres. The database is not closed with it. */
export function createSqlEventLog(database: SqlDatabase): EventLog {
  const { list, readAfter, find, end, newsAfter, prune, pruneAsked } = statements(database.dialect);
  return {
    append: async (events) => void (await database.batch(eventSteps(events))),
    appendOnce: async (event) => (await database.batchIf(eventOnceStep(event), [])).length > 0,
    async list(owner, { types = [], projectId = '', before = EVENTS_END, limit }: EventQuery) {
      const wanted = types.length === 0 ? '' : ` ${types.join(' ')} `;
      const rows = await database.query(list, owner, before.tx, before.seq, projectId, wanted, limit);
      return rows.map(toLoggedEvent);
    },
    readAfter: async (owner, { tx, seq }, limit) =>
      (await database.query(readAfter, owner, tx, seq, limit)).map(toLoggedEvent),
    async find(owner, id) {
      const [row] = await database.query(find, id, owner);
      return row === undefined ? undefined : toLoggedEvent(row);
    },
    async end() {
      const [row] = await database.query(end);
      return row === undefined ? EVENTS_BEGIN : positionOf(row);
    },
    async newsAfter(after, limit) {
      const rows = await database.query(newsAfter, after.tx, after.seq, limit);
      const last = rows.at(-1);
      return {
        owners: new Set(rows.map(({ owner }) => String(owner))),
        position: last === undefined ? after : positionOf(last),
        more: rows.length === limit,
      };
    },
    async prune(before, limit, askedBefore = before) {
      const asked = await database.query(pruneAsked, askedBefore, limit);
      return asked.length + (await database.query(prune, before, limit)).length;
    },
  };
}

function positionOf({ tx, seq }: Row): EventPosition {
  return { tx: Number(tx), seq: Number(seq) };
}
