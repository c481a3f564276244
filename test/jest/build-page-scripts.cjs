const { execFileSync } = require('node:child_process');
const { join } = require('node:path');

/** The pages under test have the scripts as they are written now. */
module.exports = async () => {
  execFileSync(process.execPath, [join(__dirname, '../../src/pages/client/build.mjs')], { stdio: 'inherit' });
};
