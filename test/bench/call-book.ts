import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAnalytics } from '../../src/gateway/figures/analytics.js';
import { timeSteps } from '../../src/gateway/figures/time-steps.js';
import { createPassFigures } from '../../src/storage/books/pass-figures.js';
import { createResponseFigures } from '../../src/storage/books/response-figures.js';
import { DAY_MS } from '../../src/storage/calls/periods.js';
import { createSqlCallStore } from '../../src/storage/calls/sql-call-store.js';
import { createSqlCreditStore } from '../../src/storage/calls/sql-credit-store.js';
import { openPostgres } from '../../src/storage/sql/postgres-database.js';
import type { SqlDatabase } from '../../src/storage/sql/sql-database.js';
import { openSqlite } from '../../src/storage/sql/sqlite/sqlite-database.js';
import { newCall } from '../contracts/call-samples.js';
import { startPostgres } from '../helpers/storage/postgres.js';
import { type BenchContext, type BenchPart, type Figure, quantile } from './figure.js';

const CHUNK = 20_000;
const PAYERS = 5_000;
const PAGE = 100;
const START = Date.UTC(2026, 3, 1);
const MONTH_MS = 30 * DAY_MS;
const HOUR = 'at - at % 3600000';
const DAY = 'at - at % 86400000';

const describeToken = async () => ({ symbol: 'USDC', decimals: 6 });

/**
 * The calls of one project in thirty days, by 5,000 wallets, a million of them: what the first and the thousandth page of
 * them cost, and the figures of the month.
 */
export const callBookBench: BenchPart = {
  name: 'call-book',
  async run(context) {
    const folder = mkdtempSync(join(tmpdir(), 'tollhouse-bench-'));
    const postgres = await startPostgres();
    try {
      const onSqlite = await bench('SQLite', await openSqlite(join(folder, 'bench.db')), context);
      const onPostgres = await bench('Postgres', await openPostgres(await postgres.newDatabase()), context);
      return [...onSqlite, ...onPostgres];
    } finally {
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

let statements = 0;
function execute(database: SqlDatabase, text: string) {
  statements += 1;
  return database.query({ name: `bench_${statements}`, text });
}

async function fill(database: SqlDatabase, calls: number): Promise<void> {
  for (let first = 0; first < calls; first += CHUNK) {
    await execute(
      database,
      `insert into tollhouse_call (id, project_id, payer, at, method, status, outcome, mint, amount, duration_ms, request_id)
        with recursive n(i) as (
          select cast(${first} as bigint) union all select i + 1 from n where i + 1 < ${first + CHUNK})
        select 'call_' || i, 'prj', 'payer_' || (i * 7919 % ${PAYERS}), ${START} + i * ${Math.floor(MONTH_MS / calls)}, 'GET', 200,
          'succeeded', 'mint', 10000, i % 1000, 'req_' || i from n`,
    );
  }
  const sums = [`'calls', '', count(*)`, `'paid', '', count(*)`, `'revenue', mint, sum(amount)`];
  const labelled = [`'latency', cast(duration_ms / 8 as text), count(*)`, `'payers', payer, count(*)`];
  for (const sum of [...sums, ...labelled, `'payers_day', payer, count(*)`]) {
    const [kind, label, value] = sum.split(', ');
    const hour = kind === `'payers_day'` ? DAY : HOUR;
    // A day at a time: no statement may take long.
    for (let day = START; day < START + MONTH_MS; day += DAY_MS) {
      await execute(
        database,
        `insert into tollhouse_rollup (project_id, kind, hour, label, value)
          select 'prj', ${kind}, ${hour}, ${label}, ${value} from tollhouse_call
          where at >= ${day} and at < ${day + DAY_MS} group by 3, 4`,
      );
    }
  }
}

/** Median of some runs, in milliseconds. */
async function median(work: () => Promise<unknown>, runs = 15): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const begin = performance.now();
    await work();
    times.push(performance.now() - begin);
  }
  return quantile(times, 0.5);
}

async function bench(
  name: string,
  database: SqlDatabase,
  { quick, progress }: BenchContext,
): Promise<readonly Figure[]> {
  const [calls, page] = quick ? [100_000, 100n] : [1_000_000, 1_000n];
  progress(`${name}: filling in ${calls} calls`);
  await fill(database, calls);
  progress(`${name}: pages and figures`);
  const book = createSqlCallStore(database);
  const passSales = createPassFigures(database, Date.now);
  const [credit, responses] = [createSqlCreditStore(database), createResponseFigures(database, Date.now)];
  const analytics = createAnalytics({ book, credit, passSales, responses, describeToken });
  const [newest] = await book.calls({ projectId: 'prj', limit: 1 });
  if (newest === undefined) throw new Error('there are no calls');
  const skipped = (page - 1n) * BigInt(PAGE);
  const lastPage = { at: newest.at - Number(skipped) * Math.floor(MONTH_MS / calls), seq: newest.seq - skipped };
  const to = START + MONTH_MS;
  const analyze =
    (interval: 'hour' | 'day', length = MONTH_MS) =>
    () =>
      analytics.analyze('prj', timeSteps({ interval, from: to - length, to }, to));
  const first = await median(() => book.calls({ projectId: 'prj', limit: PAGE }));
  const last = await median(() => book.calls({ projectId: 'prj', limit: PAGE, before: lastPage }));
  const figures = {
    'first page': first,
    'month by day': await median(analyze('day'), 5),
    'day by hour': await median(analyze('hour', DAY_MS), 5),
    'month by hour': await median(analyze('hour'), 5),
    'one call written': await median(() => book.finish(newCall({ projectId: 'prj', at: to })), 200),
  };
  await database.close();
  return [
    { name: `${name}: page ${page} of ${calls} calls to the first`, value: last / first, unit: '×', atMost: 3 },
    ...Object.entries(figures).map(([what, value]) => ({ name: `${name}: ${what}`, value, unit: 'ms' })),
  ];
}
