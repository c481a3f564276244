import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle } from '../bench/bundle.js';
import { ownPostgres } from '../helpers/storage/postgres.js';
import { type SoakChain, startChain } from './chain.js';
import { createChance } from './chance.js';
import { type Checked, createChecker } from './checks.js';
import { createFindings, type Findings } from './findings.js';
import { coursesOf } from './flatness.js';
import { startLoad } from './load.js';
import { type OpenShop, openShop } from './open-shop.js';
import type { SoakOptions } from './options.js';
import { longestOf, type SoakResult } from './report.js';
import { makeTrouble, wait } from './trouble-maker.js';
import { chainTroubles, databaseTroubles, processTroubles } from './troubles.js';
import { type Watch, watchSeller } from './watch.js';

const CLIENTS = 6;
/** So often everything is compared: every four minutes or so, twice at least. */
const checksIn = (minutes: number): number => Math.max(2, Math.round(minutes / 4));
/** After this share of the time the processes are left alive, so that their memory can be judged. */
const RESTARTS_SHARE = 0.45;
const PROGRESS_MS = 10_000;
const SAMPLE_MS = 5_000;
const MIB = 2 ** 20;

/** Runs a soak until its time is over or it is stopped, then checks. */
export async function soak(options: SoakOptions, stop: AbortSignal, tell: (line: string) => void): Promise<SoakResult> {
  const findings = createFindings(tell);
  const folder = mkdtempSync(join(tmpdir(), 'tollhouse-soak-'));
  const hasPostgres = options.databases.includes('postgres');
  const postgres = hasPostgres ? await ownPostgres() : undefined;
  const sellerBundle = await bundle('seller', 'test/soak/seller.ts');
  const chain = await startChain();
  const chance = createChance(options.seed);
  const shops: OpenShop[] = [];
  const { sandbox, upstream, blockhash } = chain;
  const common = { sandbox, upstream, blockhash, chance, findings, sellerFile: sellerBundle.file, buyers: CLIENTS };
  try {
    for (const name of options.databases) {
      const databaseUrl =
        name === 'postgres' ? ((await postgres?.newDatabase()) ?? '') : `sqlite:${join(folder, 'soak.db')}`;
      shops.push(await openShop({ ...common, name, databaseUrl }));
    }
    return await run({ options, stop, tell, findings, chain, chance, shops, postgres });
  } finally {
    await Promise.all(shops.map(({ seller }) => seller.stop()));
    await chain.close();
    await postgres?.stop();
    sellerBundle.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface SoakParts {
  readonly options: SoakOptions;
  readonly stop: AbortSignal;
  readonly tell: (line: string) => void;
  readonly findings: Findings;
  readonly chain: SoakChain;
  readonly chance: ReturnType<typeof createChance>;
  readonly shops: readonly OpenShop[];
  readonly postgres: Awaited<ReturnType<typeof ownPostgres>> | undefined;
}

async function run(parts: SoakParts): Promise<SoakResult> {
  const { options, stop, tell, findings, chain, shops } = parts;
  const times = checksIn(options.minutes);
  const begun = performance.now();
  const total = options.minutes * 60_000;
  const elapsed = (): number => performance.now() - begun;
  const watches = shops.map(watchSeller);
  const sampling = setInterval(() => void Promise.all(watches.map((it) => it.look())), SAMPLE_MS);
  const telling = setInterval(() => tell(progressOf(parts, watches)), PROGRESS_MS);
  const checkers = shops.map((shop) => createChecker(shop, chain.rpc));
  const makers = troubleMakers(parts, () => elapsed() < total * RESTARTS_SHARE);
  const loads = shops.map(startLoad);
  for (const maker of makers) maker.goOn();
  let checked: readonly Checked[] = [];
  let checks = 0;

  async function checkAll(): Promise<void> {
    await Promise.all(makers.map((it) => it.rest()));
    chain.sandbox.faults.clear();
    tell('quiet: clients finish what they began');
    await Promise.all(loads.map((it) => it.rest()));
    await chain.settled();
    checked = await Promise.all(checkers.map((it) => it.check()));
    checks += 1;
    tell(`check ${checks}: ${findings.broken.length} broken; ${JSON.stringify(checked, plain)}`);
  }

  for (let part = 1; part <= times; part += 1) {
    await wait((total * part) / times - elapsed(), stop);
    await checkAll();
    if (stop.aborted || part === times) break;
    for (const it of [...loads, ...makers]) it.goOn();
  }
  clearInterval(sampling);
  clearInterval(telling);
  judgeMemory(shops, watches, findings);
  const results = shops.map((shop, at) => ({ shop, watch: watches[at] ?? watchSeller(shop), checked: checked[at] }));
  return { options, minutes: elapsed() / 60_000, checks, findings, shops: results };
}

function troubleMakers({ chain, chance, findings, shops, postgres }: SoakParts, mayRestart: () => boolean) {
  const common = { chance, findings };
  return [
    makeTrouble({
      ...common,
      group: 'faults of the chain',
      troubles: () => chainTroubles(chain.sandbox, chance),
      health: [2_000, 9_000],
      trouble: [500, 6_000],
    }),
    ...shops.map((shop) =>
      makeTrouble({
        ...common,
        group: `disturbances of ${shop.name}`,
        troubles: () => [
          ...(mayRestart() ? processTroubles(shop) : []),
          ...databaseTroubles(shop, shop.name === 'postgres' ? postgres : undefined),
        ],
        health: [4_000, 14_000],
        trouble: [200, 3_000],
      }),
    ),
  ];
}

function judgeMemory(shops: readonly OpenShop[], watches: readonly Watch[], findings: Findings): void {
  for (const [at, watch] of watches.entries()) {
    for (const { what, early, late, isFlat } of coursesOf(longestOf(watch.lives)) ?? []) {
      if (!isFlat) findings.broke(`${shops[at]?.name}: ${what} of the process grows: ${early} → ${late}`);
    }
  }
}

function progressOf({ shops, findings }: SoakParts, watches: readonly Watch[]): string {
  const each = shops.map(({ name, book, seller }, at) => {
    const served = book.payments.filter(({ end }) => end === 'served').length;
    const { rss = 0, heap = 0, handles = 0 } = watches[at]?.last ?? {};
    const memory = `rss ${(rss / MIB).toFixed(0)}, heap ${(heap / MIB).toFixed(0)} MiB, ${handles} handles`;
    return `${name}: ${served} of ${book.payments.length} served, ${seller.lives} lives, ${memory}`;
  });
  const faults = findings.sum('faults of the chain');
  return `${each.join(' | ')} | ${faults} faults | ${findings.broken.length} broken`;
}

function plain(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
