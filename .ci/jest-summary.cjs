const { appendFileSync, existsSync, readFileSync, writeFileSync } = require('node:fs');
const { relative } = require('node:path');
const { stripVTControlCharacters } = require('node:util');

/** Of what a failed test says: enough to know why, where only the end of a log is shown. */
const TOLD_LINES = 12;

/**
 * Adds jest's result to the one line, `123 passed, 0 failed, 4 skipped`, of the file named by TEST_SUMMARY_FILE, and
 * what failed to the file beside it, `.failures`.
 */
module.exports = class SummaryReporter {
  onRunComplete(_contexts, results) {
    const file = process.env.TEST_SUMMARY_FILE;
    if (!file) return;
    const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
    const sum = (what, more) => more + Number(before.match(`(\\d+) ${what}`)?.[1] ?? 0);
    const passed = sum('passed', results.numPassedTests);
    const failed = sum('failed', results.numFailedTests + results.numRuntimeErrorTestSuites);
    const skipped = sum('skipped', results.numPendingTests + results.numTodoTests);
    writeFileSync(file, `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
    appendFileSync(`${file}.failures`, results.testResults.flatMap(failuresOf).join(''));
  }
};

function failuresOf({ testFilePath, testExecError, testResults }) {
  const where = relative(process.cwd(), testFilePath);
  const tests = testResults.filter(({ status }) => status === 'failed');
  return [
    ...(testExecError ? [told(where, testExecError.message)] : []),
    ...tests.map(({ fullName, failureMessages }) => told(`${where}: ${fullName}`, failureMessages.join('\n'))),
  ];
}

function told(what, why) {
  const lines = stripVTControlCharacters(why).split('\n').slice(0, TOLD_LINES);
  return `failed: ${what}\n${lines.map((line) => `  ${line}\n`).join('')}`;
}
