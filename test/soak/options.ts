import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { didYouMean } from '../../src/lib/did-you-mean.js';

/** The databases that a seller can be on. */
export const DATABASES = ['sqlite', 'postgres'] as const;

/** One of {@link DATABASES}. */
export type DatabaseKind = (typeof DATABASES)[number];

/** How a soak goes. */
export interface SoakOptions {
  readonly minutes: number;
  /** Of all that is chosen at random. What meets what at which moment is the machine's own. */
  readonly seed: number;
  readonly databases: readonly DatabaseKind[];
  /** Where the report is written beside standard output. */
  readonly out: string | undefined;
}

/** How it is called. */
export const USAGE = `npm run soak -- [--minutes <n>] [--seed <n>] [--database sqlite|postgres|both] [--out <file>]

  --minutes    how long, from 0.5 on; default 5
  --seed       whole number; default: a random one, which is printed
  --database   default both: two sellers at once on one chain
  --out        writes the report there as well

SIGINT ends it early, with all checks and the report. Exit code 0: all held; 1: something broke; 2: it could not run.`;

const NAMES = ['minutes', 'seed', 'database', 'out'];
const LEAST_MINUTES = 0.5;
const SEEDS = 2 ** 32;

/** Reads the command line; throws an error whose message says what is wrong. */
export function readSoakOptions(args: readonly string[]): SoakOptions {
  refuseUnknown(args);
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    strict: true,
    options: { minutes: text, seed: text, database: text, out: text },
  });
  return {
    minutes: numberOf('minutes', values.minutes ?? '5', (it) => it >= LEAST_MINUTES, `a number from ${LEAST_MINUTES}`),
    seed: numberOf(
      'seed',
      values.seed ?? String(randomInt(SEEDS)),
      (it) => Number.isInteger(it) && it >= 0 && it < SEEDS,
      `a whole number below ${SEEDS}`,
    ),
    databases: databasesOf(values.database ?? 'both'),
    out: values.out,
  };
}

function refuseUnknown(args: readonly string[]): void {
  for (const arg of args.filter((it) => it.startsWith('-'))) {
    const name = arg.replace(/^-+/, '').replace(/=.*$/s, '');
    if (NAMES.includes(name)) continue;
    const meant = didYouMean(name, NAMES);
    throw new Error(`there is no option "${arg}"${meant === undefined ? '' : `; did you mean --${meant}?`}`);
  }
}

function numberOf(name: string, text: string, isRight: (value: number) => boolean, wanted: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || !isRight(value)) {
    throw new Error(`--${name} must be ${wanted}, not "${text}"`);
  }
  return value;
}

function databasesOf(text: string): readonly DatabaseKind[] {
  if (text === 'both') return DATABASES;
  const found = DATABASES.find((it) => it === text);
  if (found !== undefined) return [found];
  const meant = didYouMean(text, [...DATABASES, 'both']);
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
  throw new Error(`--database must be sqlite, postgres or both, not "${text}"${hint}`);
}
