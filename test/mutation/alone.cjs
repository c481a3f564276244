// node test/mutation/alone.cjs payment
// Which tests of a suite fail alone, or in a process in which they ran before. Stryker runs them so, and takes what they
// reach for killed.
const { execFileSync } = require('node:child_process');
const path = require('node:path');
const Mocha = require('mocha');

const [name = ''] = process.argv.slice(2);
const escaped = (text) => text.replaceAll(/[.*+\-?^${}()|[\]\\/]/g, String.raw`\$&`);

/** Stands for a reporter. */
function silent() {}

async function main() {
  execFileSync(process.execPath, [path.join(__dirname, '../../src/pages/client/build.mjs')]);
  const mocha = new Mocha({ reporter: silent, timeout: 0 });
  mocha.cleanReferencesAfterRun(false);
  mocha.addFile(path.join(__dirname, 'suites', `${name}.cjs`));
  await mocha.loadFilesAsync();

  const failedIn = (titles) => {
    mocha.grep(titles);
    return new Promise((resolve) => {
      const failed = [];
      mocha
        .run(() => resolve(failed))
        .on('fail', (test, error) => failed.push(`${test.fullTitle()}: ${error.message}`));
    });
  };

  const tests = new Set();
  mocha.suite.eachTest((test) => test.isPending() || tests.add(test.fullTitle()));
  let failures = await failedIn(/^/);
  for (const test of tests) failures = failures.concat(await failedIn(new RegExp(`^${escaped(test)}$`)));
  for (const failure of failures) console.error(failure);
  console.log(`${tests.size} tests, ${failures.length} failures`);
  process.exit(failures.length === 0 ? 0 : 1);
}

void main();
