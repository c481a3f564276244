const { writeFileSync } = require('node:fs');

/** Writes jest's result as one line, `123 passed, 0 failed, 4 skipped`, to the file named by TEST_SUMMARY_FILE. */
module.exports = class SummaryReporter {
  onRunComplete(_contexts, results) {
    const file = process.env.TEST_SUMMARY_FILE;
    if (!file) return;
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    const line = `${results.numPassedTests} passed, ${failed} failed`;
    writeFileSync(file, `${line}${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
  }
};
