const { existsSync, readFileSync, writeFileSync } = require('node:fs');

/** Adds jest's result to the one line, `123 passed, 0 failed, 4 skipped`, of the file named by TEST_SUMMARY_FILE. */
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
  }
};
