import { setTimeout as pause } from 'node:timers/promises';
import type { Row, SqlDatabase, Statement } from '../sql/sql-database.js';
import { exactSum, halves } from '../sql/sql-sums.js';
import { OPEN_PASSES, type OpenPasses, toOpenPasses } from './pass-figures.js';
import { type OwedResponses, owedResponses } from './response-figures.js';

/** What is owed in one token on one network. */
export interface OwedInToken {
  readonly network: string;
  /** Mint, base58. */
  readonly mint: string;
  /** Atomic units. */
  readonly amount: bigint;
}

/** What was paid and is not served yet, by all projects and gates together. */
export interface OwedFigures {
  /** Credit of keys at projects, what calls under way hold included; several for one token. */
  readonly credit: readonly OwedInToken[];
  /** Passes that are good still, and what requests have left as credit that failed. */
  readonly passes: readonly (OpenPasses & { readonly network: string })[];
  /** Payments that have landed and were not served; several for one token. */
  readonly responses: readonly OwedResponses[];
}

/** Of so many rows a step looks at; it is over before anybody notices. */
const STEP = 1_000;
const SHORTEST_PAUSE_MS = 5;

/** The last key of the next rows after `$1`; null where there are none. */
const lastOf = (key: string, table: string): Statement => ({
  name: `tollhouse_owed_next_${table}`,
  text: `select max(${key}) as last from (
    select ${key} from tollhouse_${table} where ${key} > $1 order by ${key} limit ${STEP}) as next`,
});

const sumOf = (table: string): Statement => ({
  name: `tollhouse_owed_of_${table}`,
  text: `select project.network, sums.mint, ${halves('sums.amount')}
    from (select * from tollhouse_${table} where key_id > $1 and key_id <= $2) as sums
    join tollhouse_project as project on project.id = sums.project_id group by project.network, sums.mint`,
});

const NEXT_PASSES = lastOf('id', 'pass');
const CREDIT = ['credit', 'credit_hold'].map((table) => ({ next: lastOf('key_id', table), sum: sumOf(table) }));

/**
 * Reads that. It looks at every key with credit, every pass and every payment that is not over, in small steps, and rests for as long as each of them took: requests
 * come in between. Rejects with `store_unavailable`.
 * @param now - milliseconds since the epoch
 */
export async function readOwed(database: SqlDatabase, now: number): Promise<OwedFigures> {
  const credit: Row[] = [];
  for (const { next, sum } of CREDIT) {
    await inSteps(database, next, async (after, last) => {
      credit.push(...(await database.query(sum, after, last)));
    });
  }
  const passes: Row[] = [];
  await inSteps(database, NEXT_PASSES, async (after, last) => {
    passes.push(...(await database.query(OPEN_PASSES, now, after, last)));
  });
  const responses: OwedResponses[] = [];
  for await (const some of rested(owedResponses(database, now))) responses.push(...some);
  return {
    responses,
    credit: credit.map((row) => ({ network: String(row.network), mint: String(row.mint), amount: exactSum(row) })),
    passes: passes.map((row) => ({ network: String(row.network), ...toOpenPasses(row) })),
  };
}

/** Goes through the keys of a table, some at a time. */
async function inSteps(
  database: SqlDatabase,
  next: Statement,
  step: (after: string, last: string) => Promise<void>,
): Promise<void> {
  for (let after = ''; ; ) {
    const begun = performance.now();
    const [row] = await database.query(next, after);
    if (row === undefined || row.last === null) return;
    const last = String(row.last);
    await step(after, last);
    after = last;
    await restAfter(begun);
  }
}

async function* rested<T>(steps: AsyncIterable<T>): AsyncGenerator<T> {
  let begun = performance.now();
  for await (const step of steps) {
    yield step;
    await restAfter(begun);
    begun = performance.now();
  }
}

function restAfter(begun: number): Promise<void> {
  return pause(Math.max(SHORTEST_PAUSE_MS, performance.now() - begun), undefined, { ref: false });
}
