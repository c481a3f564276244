import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');

/** Where the tests are that a script of package.json runs. */
function placesOf(script: 'test' | 'test:rest'): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  return String(scripts[script])
    .split(' ')
    .filter((word) => word.startsWith('test/'));
}

const TIERS = [placesOf('test'), placesOf('test:rest')];

test('every test file belongs to exactly one tier', () => {
  const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules'))
    .map((file) => join('test', file));
  expect(files.length).toBeGreaterThan(0);
  const tiersOf = (file: string) => TIERS.filter((places) => places.some((place) => file.includes(place)));
  expect(files.filter((file) => tiersOf(file).length !== 1)).toEqual([]);
});

test('a folder of a tier without tests is found: each has one', () => {
  const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' }).map((file) =>
    join('test', file),
  );
  const empty = (place: string) => !files.some((file) => file.startsWith(place) && file.endsWith('.test.ts'));
  expect(TIERS.flat().filter(empty)).toEqual([]);
});

test('what several runs of jest report is one sum for .ci/run', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'tollhouse-summary-')), 'summary');
  const report = (passed: number, failed: number, skipped: number): string => {
    const results = [passed, failed, 0, skipped, 0];
    const names = ['numPassedTests', 'numFailedTests', 'numRuntimeErrorTestSuites', 'numPendingTests', 'numTodoTests'];
    const bad = { fullName: 'a payer is served', status: 'failed', failureMessages: ['\u001b[31m402\u001b[39m'] };
    const testResults = [{ testFilePath: join(ROOT, 'test/http/a.test.ts'), testResults: failed > 0 ? [bad] : [] }];
    const counts = Object.fromEntries(names.map((name, index) => [name, results[index]]));
    const told = JSON.stringify({ ...counts, testResults });
    const program = `new (require('./.ci/jest-summary.cjs'))().onRunComplete([], ${told})`;
    execFileSync(process.execPath, ['-e', program], { cwd: ROOT, env: { ...process.env, TEST_SUMMARY_FILE: file } });
    return readFileSync(file, 'utf8');
  };

  expect(report(120, 0, 0)).toBe('120 passed, 0 failed\n');
  expect(report(3, 1, 4)).toBe('123 passed, 1 failed, 4 skipped\n');
  expect(report(7, 0, 0)).toBe('130 passed, 1 failed, 4 skipped\n');
  expect(readFileSync(`${file}.failures`, 'utf8')).toBe('failed: test/http/a.test.ts: a payer is served\n  402\n');
});
