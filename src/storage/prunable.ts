import { PASS_IS_OVER } from './ledger/prune-ledger.js';
import { NO_PAYMENT } from './passes/pass-statements.js';
import type { SqlDatabase, Statement } from './sql/sql-database.js';

/** What is forgotten when it is of no more use. */
export const PRUNABLE = [
  'payments',
  'payment_requests',
  'calls',
  'events',
  'deliveries',
  'passes',
  'debits',
  'answers',
  'marks',
  'values',
  'counts',
] as const;

/** One of {@link PRUNABLE}. */
export type Prunable = (typeof PRUNABLE)[number];

/** From when on things may be forgotten, in milliseconds since the epoch: what is older than these. */
export interface PrunableBefore {
  /** Payments that were not paid, payment requests, events `payment.created`, and what requests took from passes. */
  readonly unpaid: number;
  /** Events and their deliveries. */
  readonly events: number;
  /** Payments that were, calls, and passes. */
  readonly books: number;
  /** Answers, marks, values and counts end by themselves: now. */
  readonly expired: number;
}

type Look = readonly [before: keyof PrunableBefore, text: string];

const earliest = (column: string, table: string): string =>
  `select ${column} as due from ${table} where ${column} < $1 order by ${column} limit 1`;
/** As the ledger forgets them. */
const finished = (states: string): string =>
  `select finished_at as due from tollhouse_payment where state in (${states}) and finished_at < $1
    and (owed is null or accrued = 1 or state <> 'served') and not exists (
      select 1 from tollhouse_payment_request where tollhouse_payment_request.attempt = tollhouse_payment.id) and ${PASS_IS_OVER}
    order by finished_at limit 1`;

const LOOKS: Readonly<Record<Prunable, readonly Look[]>> = {
  payments: [
    ['unpaid', finished(`'expired'`)],
    ['unpaid', finished(`'failed'`)],
    ['books', finished(`'served'`)],
  ],
  payment_requests: [
    [
      'unpaid',
      `select expires_at as due from tollhouse_payment_request where expires_at < $1 and not exists (
          select 1 from tollhouse_payment
          where tollhouse_payment.id = tollhouse_payment_request.attempt and coalesce(finished_at, $1) >= $1)
        order by expires_at limit 1`,
    ],
  ],
  calls: [
    ['books', 'select at as due from (select at from tollhouse_call order by seq limit 1) as oldest where at < $1'],
  ],
  events: [
    ['events', earliest('at', 'tollhouse_event')],
    ['unpaid', `select at as due from tollhouse_event where type = 'payment.created' and at < $1 order by at limit 1`],
  ],
  deliveries: [['events', earliest('coalesce(finished_at, next_at)', 'tollhouse_delivery')]],
  passes: [
    [
      'books',
      `select over_at as due from tollhouse_pass where over_at < $1 and ${NO_PAYMENT} order by over_at limit 1`,
    ],
  ],
  debits: [['unpaid', earliest('at', 'tollhouse_pass_debit')]],
  answers: [['expired', earliest('expires_at', 'tollhouse_answer')]],
  marks: [['expired', earliest('expires_at', 'tollhouse_mark')]],
  values: [['expired', earliest('expires_at', 'tollhouse_value')]],
  counts: [['expired', earliest('expires_at', 'tollhouse_count')]],
};

/** For how many milliseconds the oldest of each that can be forgotten could have been so; zero where there is none. */
export type PruningLag = Readonly<Record<Prunable, number>>;

/** Looks for the oldest of each kind that can be forgotten, one look into an index each. */
export async function readPruningLag(database: SqlDatabase, before: PrunableBefore): Promise<PruningLag> {
  const lags: Partial<Record<Prunable, number>> = {};
  for (const what of PRUNABLE) {
    const looks = LOOKS[what].map(([bound, text], at) => lagOf(database, statementOf(what, at, text), before[bound]));
    lags[what] = Math.max(...(await Promise.all(looks)));
  }
  return lags as PruningLag;
}

function statementOf(what: Prunable, at: number, text: string): Statement {
  return { name: `tollhouse_oldest_${what}_${at}`, text };
}

async function lagOf(database: SqlDatabase, statement: Statement, before: number): Promise<number> {
  const [row] = await database.query(statement, before);
  return row === undefined ? 0 : Math.max(0, before - Number(row.due));
}
