// npm run mutation -- [--left | --unreached] [--concurrency N] [name of a part]… [--file src/…/x.ts]… [--suite x]…
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { MutantResult, PartialStrykerOptions } from '@stryker-mutator/api/core';
import { Stryker } from '@stryker-mutator/core';
import { type MutationPart, PARTS } from './parts.js';

const FOLDER = 'data/mutation';
/** Killed by a test, or by never coming to an end. */
const DETECTED: ReadonlySet<string> = new Set(['Killed', 'Timeout']);
/** Neither: what was not tried, or does not run at all. */
const UNCOUNTED: ReadonlySet<string> = new Set(['Ignored', 'CompileError', 'RuntimeError']);
const ENOUGH = 0.85;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    left: { type: 'boolean' },
    unreached: { type: 'boolean' },
    concurrency: { type: 'string', default: '2' },
    file: { type: 'string', multiple: true, default: [] },
    suite: { type: 'string', multiple: true, default: [] },
  },
});
const chosen = PARTS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
if (chosen.length === 0) {
  console.error(`there is no such part; there are: ${PARTS.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}
if (values.file.length > 0 && chosen.length > 1) {
  console.error('--file needs the name of the part whose tests try it');
  process.exit(2);
}

execFileSync(process.execPath, ['src/pages/client/build.mjs'], { stdio: 'inherit' });
mkdirSync(FOLDER, { recursive: true });
for (const part of chosen) {
  const before = resultsOf(part.name);
  let results: readonly Result[] | undefined = values.left || values.unreached ? before.filter(isMeant) : undefined;
  for (const [at, suite] of suitesOf(part).entries()) {
    results = await tryAll(part, suite, {
      isAgain: !values.unreached && (at === 0 || part.later === 'left') ? isLeft : isUnreached,
      before: results,
    });
    // Read only now: another run may have tried other files meanwhile.
    const others = resultsOf(part.name).filter((it) => !isMeant(it));
    writeFileSync(fileOf(part.name), `${JSON.stringify([...others, ...results], null, 1)}\n`);
  }
}

for (const part of chosen) for (const [file, results] of byFile(part)) console.log(`${file}: ${scoreText(results)}`);
const known = PARTS.map(({ name }) => ({ name, results: resultsOf(name) }));
for (const { name, results } of known) console.log(`${name}: ${scoreText(results)}`);
const all = known.flatMap(({ results }) => results);
console.log(`all: ${scoreText(all)}`);
writeFileSync(`${FOLDER}/left.txt`, all.filter(isLeft).map(lineOf).sort().join(''));
console.log(`What is left: ${FOLDER}/left.txt`);
process.exit(scoreOf(all) >= ENOUGH ? 0 : 1);

type Result = Pick<MutantResult, 'fileName' | 'location' | 'mutatorName' | 'replacement' | 'status'>;

interface Again {
  /** What was found out before; nothing in the first run. */
  readonly before: readonly Result[] | undefined;
  /** Which of them are to be tried. */
  isAgain(result: Result): boolean;
}

function suitesOf({ name, suites = [name] }: MutationPart): readonly string[] {
  return values.suite.length === 0 ? suites : values.suite;
}

/** Tries mutants of a part with the tests of a suite. */
async function tryAll({ mutate }: MutationPart, suite: string, { before, isAgain }: Again): Promise<readonly Result[]> {
  const again = before?.filter(isAgain).map(rangeOf) ?? (values.file.length > 0 ? values.file : mutate);
  if (again.length === 0) return before ?? [];
  const results = (await new Stryker(optionsFor(suite, again)).runMutationTest()).map(trimmed);
  // A range may hold smaller mutants that are not to be tried.
  const tried = new Map(results.map((result) => [nameOf(result), result]));
  return before?.map((it) => (isAgain(it) ? betterOf(it, tried.get(nameOf(it))) : it)) ?? results;
}

/** What this suite does not reach another may have reached. */
function betterOf(before: Result, now: Result | undefined): Result {
  return now === undefined || isUnreached(now) ? before : now;
}

/** Whether it is in one of the files that are asked for. */
function isMeant({ fileName }: Result): boolean {
  return values.file.length === 0 || values.file.includes(fileName);
}

function byFile({ name }: MutationPart): Map<string, Result[]> {
  const files = new Map<string, Result[]>();
  for (const result of resultsOf(name).filter(isMeant)) {
    files.set(result.fileName, [...(files.get(result.fileName) ?? []), result]);
  }
  return files;
}

function isLeft({ status }: Result): boolean {
  return !isDetected(status);
}

function isUnreached({ status }: Result): boolean {
  return status === 'NoCoverage';
}

function optionsFor(suite: string, mutate: readonly string[]): PartialStrykerOptions {
  return {
    mutate: [...mutate],
    testRunner: 'mocha',
    plugins: ['@stryker-mutator/mocha-runner'],
    mochaOptions: { spec: [`test/mutation/suites/${suite}.cjs`] },
    coverageAnalysis: 'perTest',
    ignoreStatic: true,
    ignorePatterns: ['dist', 'examples', 'data'],
    reporters: ['progress-append-only'],
    tempDirName: `${FOLDER}/sandbox`,
    concurrency: Number(values.concurrency),
    timeoutMS: 10_000,
    timeoutFactor: 1.2,
    dryRunTimeoutMinutes: 15,
    thresholds: { high: 100, low: 0, break: null },
  };
}

function trimmed({ fileName, location, mutatorName, replacement, status }: MutantResult): Result {
  return { fileName: fileName.slice(fileName.indexOf('src/')), location, mutatorName, replacement, status };
}

function resultsOf(part: string): readonly Result[] {
  if (!existsSync(fileOf(part))) return [];
  const results: readonly Result[] = JSON.parse(readFileSync(fileOf(part), 'utf8'));
  return results.filter(({ status }) => !UNCOUNTED.has(status));
}

function fileOf(part: string): string {
  return `${FOLDER}/${part}.json`;
}

function isDetected(status: string): boolean {
  return DETECTED.has(status);
}

/** Reports count columns from 1, and ranges from 0. */
function rangeOf({ fileName, location: { start, end } }: Result): string {
  return `${fileName}:${start.line}:${start.column - 1}-${end.line}:${end.column - 1}`;
}

function nameOf({ fileName, location, mutatorName, replacement }: Result): string {
  return JSON.stringify([fileName, location, mutatorName, replacement]);
}

function lineOf({ fileName, location: { start }, mutatorName, replacement, status }: Result): string {
  const by = (replacement ?? '').replaceAll(/\s+/g, ' ').slice(0, 80);
  return `${fileName}:${start.line}:${start.column} ${status} ${mutatorName} ${by}\n`;
}

function scoreOf(results: readonly Result[]): number {
  return results.length === 0 ? 0 : results.filter(({ status }) => isDetected(status)).length / results.length;
}

function scoreText(results: readonly Result[]): string {
  const detected = results.filter(({ status }) => isDetected(status)).length;
  const unreached = results.filter(isUnreached).length;
  const percent = (100 * scoreOf(results)).toFixed(1);
  return `${detected} of ${results.length} killed, ${percent} % (${unreached} reached by no test)`;
}
