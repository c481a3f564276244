const { execFileSync } = require('node:child_process');
const { join } = require('node:path');
const { openBundles } = require('./bundles.cjs');
const { openTemporaryFolder } = require('./temporary-folder.cjs');

module.exports = async () => {
  // The pages under test have the scripts as they are written now.
  execFileSync(process.execPath, [join(__dirname, '../../src/pages/client/build.mjs')], { stdio: 'inherit' });
  openTemporaryFolder();
  openBundles();
};
