const { mkdirSync, mkdtempSync, rmSync } = require('node:fs');
const { join } = require('node:path');

const CACHE = join(__dirname, '../../node_modules/.cache');

let opened;

/** Gives a run of tests a folder for what it starts in processes of its own, bundled once (`helpers/processes/run-bundled.mjs`). */
exports.openBundles = () => {
  mkdirSync(CACHE, { recursive: true });
  opened = mkdtempSync(join(CACHE, 'tollhouse-bundles-'));
  process.env.TEST_BUNDLES = opened;
};

exports.closeBundles = () => rmSync(opened, { recursive: true, force: true, maxRetries: 5 });
