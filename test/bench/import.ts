import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BenchContext, BenchPart, Figure } from './figure.js';
import { quantile } from './figure.js';
import { folderSize, installedSize, neededBy } from './installed-size.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MEBIBYTE = 2 ** 20;

/** What it loads whoever builds this by hand, and what the reference brings. */
const BY_HAND = ['express', '@solana/web3.js', '@solana/spl-token'];
const REFERENCE = ['@x402/express', '@x402/svm', '@solana/kit'];
const REFERENCE_IMPORTS = [
  '@x402/express',
  '@x402/svm',
  '@x402/svm/exact/facilitator',
  '@x402/svm/exact/server',
  'express',
];

/** Starts Node, imports, and tells what that took. */
const PROBE = `
  for (const name of process.argv.slice(1)) await import(name);
  const { user, system } = process.cpuUsage();
  console.log(JSON.stringify({ cpuMs: (user + system) / 1000, rss: process.memoryUsage().rss }));
`;

interface Loaded {
  readonly cpuMs: number;
  readonly rss: number;
}

/** What it takes to load the built package, and how large it is with everything that it needs. */
export const importBench: BenchPart = {
  name: 'import',
  async run(context) {
    // Below node_modules, where the packages are found that it imports.
    mkdirSync(join(ROOT, 'node_modules/.cache'), { recursive: true });
    const folder = mkdtempSync(join(ROOT, 'node_modules/.cache/tollhouse-bench-'));
    try {
      context.progress('building');
      const tsdown = join(ROOT, 'node_modules/tsdown/dist/run.mjs');
      execFileSync(process.execPath, [tsdown, '--config', '.tsdown.config.ts', '--out-dir', folder, '--no-dts'], {
        cwd: ROOT,
        stdio: 'ignore',
      });
      return [...compareImports(context, join(folder, 'index.js')), ...compareSizes(folder)];
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

function compareImports({ quick, progress }: BenchContext, built: string): readonly Figure[] {
  const contestants = { nothing: [], byHand: BY_HAND, ours: [built], reference: REFERENCE_IMPORTS };
  const loads = { nothing: [], byHand: [], ours: [], reference: [] } as Record<keyof typeof contestants, Loaded[]>;
  const names = Object.keys(contestants) as (keyof typeof contestants)[];
  const rounds = quick ? 3 : 15;
  for (let round = 0; round <= rounds; round += 1) {
    if (round > 0) progress(`round ${round}`);
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const loaded = load(contestants[name]);
      if (round > 0) loads[name].push(loaded);
    }
  }
  const median = (name: keyof typeof contestants, field: keyof Loaded) =>
    quantile(
      loads[name].map((it) => it[field]),
      0.5,
    ) -
    (name === 'nothing'
      ? 0
      : quantile(
          loads.nothing.map((it) => it[field]),
          0.5,
        ));
  const figures = (name: 'ours' | 'byHand' | 'reference', title: string): readonly Figure[] => [
    { name: `${title}: processor time of the import`, value: median(name, 'cpuMs'), unit: 'ms' },
    { name: `${title}: memory of the import`, value: median(name, 'rss') / MEBIBYTE, unit: 'MiB' },
  ];
  const ratio = (field: keyof Loaded) => median('ours', field) / median('byHand', field);
  const by = 'to express, web3.js and spl-token';
  return [
    { name: `import: processor time ${by}`, value: ratio('cpuMs'), unit: '×', atMost: 1.25 },
    { name: `import: memory ${by}`, value: ratio('rss'), unit: '×', atMost: 1.25 },
    ...figures('ours', 'ours'),
    ...figures('byHand', 'by hand'),
    ...figures('reference', 'reference'),
  ];
}

function load(names: readonly string[]): Loaded {
  const text = execFileSync(process.execPath, ['--input-type=module', '--eval', PROBE, ...names], { cwd: ROOT });
  return JSON.parse(String(text)) as Loaded;
}

function compareSizes(built: string): readonly Figure[] {
  const ours = folderSize(built) + installedSize(neededBy(ROOT), ROOT);
  const reference = installedSize([...REFERENCE, 'express'], ROOT);
  return [
    { name: 'installed: size to the reference', value: ours / reference, unit: '×' },
    { name: 'installed: ours, without types', value: ours / MEBIBYTE, unit: 'MiB' },
    { name: 'installed: reference', value: reference / MEBIBYTE, unit: 'MiB' },
  ];
}
