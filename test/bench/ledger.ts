import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Ledger } from '../../src/storage/ledger/ledger.js';
import { legsToSql, termsToSql } from '../../src/storage/ledger/payment-rows.js';
import { pruneLedger } from '../../src/storage/ledger/prune-ledger.js';
import { createSqlLedger } from '../../src/storage/ledger/sql-ledger.js';
import { openPostgres } from '../../src/storage/sql/postgres-database.js';
import type { SqlDatabase, SqlInput } from '../../src/storage/sql/sql-database.js';
import { openSqlite } from '../../src/storage/sql/sqlite/sqlite-database.js';
import { newClaim } from '../contracts/ledger-samples.js';
import { startPostgres } from '../helpers/storage/postgres.js';
import { type BenchContext, type BenchPart, type Figure, quantile } from './figure.js';
import { fillPayments } from './fill-payments.js';

const DAY_MS = 86_400_000;
const PRUNE_STEP = 100;

interface Sizes {
  readonly few: number;
  readonly many: number;
  readonly samples: number;
}

const FULL: Sizes = { few: 10_000, many: 1_000_000, samples: 3_000 };
const QUICK: Sizes = { few: 10_000, many: 100_000, samples: 500 };

/**
 * The ledger with few and with many payments in it: what a claim and a look-up cost, whether memory grows with the table,
 * how long pruning keeps a claim waiting, and what the ledger adds to a bare prepared statement.
 */
export const ledgerBench: BenchPart = {
  name: 'ledger',
  async run(context) {
    const sizes = context.quick ? QUICK : FULL;
    const folder = mkdtempSync(join(tmpdir(), 'tollhouse-bench-'));
    const postgres = await startPostgres();
    try {
      const sqlite = await measure('SQLite', () => openSqlite(join(folder, `${randomUUID()}.db`)), sizes, context);
      const open = async () => openPostgres(await postgres.newDatabase());
      return [...sqlite, ...(await measure('Postgres', open, sizes, context))];
    } finally {
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function measure(
  name: string,
  open: () => Promise<SqlDatabase>,
  { few, many, samples }: Sizes,
  { progress }: BenchContext,
): Promise<readonly Figure[]> {
  const databases = [await open(), await open()] as const;
  progress(`${name}: filling in ${many} payments`);
  await fillPayments(databases[0], few);
  await fillPayments(databases[1], many);
  const before = process.memoryUsage().rss;
  progress(`${name}: ${samples} claims and look-ups on each`);
  const [small, large] = await alternately(
    databases.map((it) => createSqlLedger(it)),
    samples,
  );
  const grown = (process.memoryUsage().rss - before) / 2 ** 20;
  progress(`${name}: claims while pruning`);
  const blocked = await whilePruning(databases[1], samples);
  progress(`${name}: bare statements`);
  const overhead = await besideBare(databases[0], samples);
  for (const database of databases) await database.close();
  const ratio = (what: 'claim' | 'find') => quantile(large[what], 0.99) / quantile(small[what], 0.99);
  return [
    { name: `${name}: claim p99, ${many} to ${few} payments`, value: ratio('claim'), unit: '×', atMost: 2 },
    { name: `${name}: look-up p99, ${many} to ${few} payments`, value: ratio('find'), unit: '×', atMost: 2 },
    { name: `${name}: claims a second to those of a bare statement`, value: overhead, unit: '×', atLeast: 0.8 },
    { name: `${name}: longest claim while pruning`, value: Math.max(...blocked.claims), unit: 'ms', atMost: 50 },
    { name: `${name}: claim p99 while pruning`, value: quantile(blocked.claims, 0.99), unit: 'ms' },
    { name: `${name}: longest step of pruning ${many} payments`, value: blocked.longestStep, unit: 'ms' },
    { name: `${name}: claim p50 with ${many} payments`, value: quantile(large.claim, 0.5), unit: 'ms' },
    { name: `${name}: look-up p50 with ${many} payments`, value: quantile(large.find, 0.5), unit: 'ms' },
    { name: `${name}: memory grown by ${samples * 4} operations`, value: grown, unit: 'MiB' },
  ];
}

interface Timings {
  readonly claim: number[];
  readonly find: number[];
}

async function alternately(ledgers: readonly Ledger[], samples: number): Promise<readonly [Timings, Timings]> {
  const timings = [
    { claim: [], find: [] },
    { claim: [], find: [] },
  ] as const satisfies readonly Timings[];
  const results: readonly Timings[] = timings;
  for (let sample = 0; sample < samples + 100; sample += 1) {
    for (const [at, ledger] of ledgers.entries()) {
      const claim = newClaim();
      const claiming = await timed(() => ledger.claim(claim));
      const finding = await timed(() => ledger.find(`filled_${Math.floor(Math.random() * 10_000)}`));
      if (sample < 100) continue;
      results[at]?.claim.push(claiming);
      results[at]?.find.push(finding);
    }
  }
  return timings;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}

/** Claims go on while everything that was filled in is forgotten, step by step. */
async function whilePruning(database: SqlDatabase, samples: number) {
  const ledger = createSqlLedger(database);
  const claims: number[] = [];
  let longestStep = 0;
  let over = false;
  const pruning = (async () => {
    for (let step = 0; step < 400; step += 1) {
      let gone = 0;
      const took = await timed(async () => {
        gone = await pruneLedger(database, Date.now() - DAY_MS, PRUNE_STEP);
      });
      longestStep = Math.max(longestStep, took);
      if (gone === 0) break;
    }
    over = true;
  })();
  while (!over && claims.length < samples) claims.push(await timed(() => ledger.claim(newClaim())));
  await pruning;
  return { claims, longestStep };
}

const BARE = {
  name: 'bench_bare',
  text: `insert into tollhouse_payment (id, state, binding, payer, network, asset, amount, pay_to, terms, blockhash,
      claimed_at, lease, lease_ends, owner, project_id, owed)
    values ($1, 'claimed', $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
    on conflict (id) do nothing returning id`,
};

/** Claims a second of the ledger, as a share of those of the bare statement on the same database; rounds alternate. */
async function besideBare(database: SqlDatabase, samples: number): Promise<number> {
  const ledger = createSqlLedger(database);
  const ratios: number[] = [];
  for (let round = 0; round < 7; round += 1) {
    const bare = await timed(() => many(samples, () => database.query(BARE, ...bareValues())));
    const claimed = await timed(() => many(samples, () => ledger.claim(newClaim())));
    ratios.push(bare / claimed);
  }
  return quantile(ratios, 0.5);
}

async function many(count: number, work: () => Promise<unknown>): Promise<void> {
  for (let first = 0; first < count; first += 20) {
    await Promise.all(Array.from({ length: Math.min(20, count - first) }, work));
  }
}

/** The columns of a claim, those that are the same for all of them made once. */
function bareValues(): readonly SqlInput[] {
  return [randomBytes(32).toString('hex'), ...SAME, Date.now(), randomUUID(), 0, ...WHOSE];
}

const { binding, payer, terms, blockhash, owner, projectId, owedLegs: owed } = newClaim();
const { network, asset, amount, pay_to, terms: details } = termsToSql(terms);
const SAME = [binding, payer, network, asset, amount, pay_to, details, blockhash];
const WHOSE = [owner ?? null, projectId ?? null, legsToSql(owed)];
