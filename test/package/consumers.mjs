// Installs the packed tarball into fresh projects (ESM, CommonJS, TypeScript, test runners) and uses it as a stranger would.
// Run by .ci/run: node test/package/consumers.mjs <tarball> [--quick]
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkMissing } from './consumers/missing.mjs';
import { checkRunners } from './consumers/runners.mjs';
import { SQLITE } from './consumers/sqlite.mjs';
import { COMMON_SETTING, checkTypes } from './types/check.mjs';

const tarball = resolve(process.argv[2] ?? assert.fail('usage: node test/package/consumers.mjs <tarball> [--quick]'));
/** Without what is the same on every Node. */
const isQuick = process.argv.includes('--quick');
const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const optionalPeers = Object.keys(manifest.peerDependenciesMeta);
const names = {
  tollhouse: ['createFacilitator', 'remoteFacilitator', 'requirePayment'],
  'tollhouse/webhooks': ['verifyGateway', 'verifyWebhook'],
  'tollhouse/gateway': ['createGateway', 'serviceKeyAuth'],
  'tollhouse/storage': ['createMemoryCounters', 'createMemoryIdempotencyStore', 'createMemoryLedger', 'openStorage'],
  'tollhouse/sandbox': ['startSandbox'],
};

/** Prints the exported names of all entries, and the message of starting a sandbox without LiteSVM. */
const PROBE = `
  const entries = {};
  for (const name of ${JSON.stringify(Object.keys(names))}) entries[name] = Object.keys(await load(name));
  const { startSandbox } = await load('tollhouse/sandbox');
  const refusal = await startSandbox().then(() => 'it started', (error) => String(error.message));
  console.log(JSON.stringify({ ...entries, refusal }));
`;

const work = mkdtempSync(join(tmpdir(), 'tollhouse-consumers-'));
try {
  const esm = checkEsm();
  const cjs = checkCommonJs();
  assert.deepEqual(esm, cjs, 'the ESM and the CommonJS build export the same names');
  await checkTestRunners();
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** Express comes with the package here: it is a peer, and npm installs peers. */
function checkEsm() {
  const folder = project('esm', { type: 'module' }, tools(manifest.devDependencies['@types/express']));
  assert.ok(existsSync(join(folder, 'node_modules/express')), 'npm installed the peer express');
  writeFileSync(join(folder, 'probe.js'), `const load = (name) => import(name);${PROBE}`);
  const version = execFileSync(join(folder, 'node_modules/.bin/tollhouse'), ['--version'], { encoding: 'utf8' });
  assert.ok(version.includes(manifest.version), `tollhouse --version says ${version}`);
  checkMissing(folder, manifest);
  if (!isQuick) checkTypes(folder);
  return checkProbe(folder);
}

function checkCommonJs() {
  const folder = project('cjs', { type: 'commonjs' }, [realName(manifest.devDependencies.express4), ...tools('4')]);
  writeFileSync(join(folder, 'probe.js'), `const load = require;(async () => {${PROBE}})();`);
  if (!isQuick) checkTypes(folder, COMMON_SETTING);
  return checkProbe(folder);
}

/** What types are checked with. */
function tools(expressTypes) {
  if (isQuick) return [];
  const { typescript, '@types/node': node } = manifest.devDependencies;
  return [`typescript@${typescript}`, `@types/node@${node}`, `@types/express@${expressTypes}`];
}

/** One project with all of them; what has to be compiled is taken from ours. */
async function checkTestRunners() {
  const ours = ['litesvm', 'jest', 'typescript', 'express', '@x402/fetch', '@x402/svm', '@solana/kit'];
  const versions = [...ours.map((name) => `${name}@${manifest.devDependencies[name]}`), ...SQLITE.map(asOurs)];
  // The last versions that install on Node 20.
  const folder = install('runners', {}, [...versions, 'ts-jest@29.4.15', 'vitest@3.2.7', '--ignore-scripts']);
  const native = 'node_modules/better-sqlite3/build/Release';
  if (existsSync(join(root, native))) cpSync(join(root, native), join(folder, native), { recursive: true });
  await checkRunners(folder, isQuick ? ['jest-commonjs', 'node-test'] : undefined);
}

/** The version of a package that is installed here without being in the manifest. */
function asOurs(name) {
  return `${name}@${JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')).version}`;
}

/** A fresh project with the tarball and some packages installed; none of the optional peers comes with them. */
function project(name, fields, packages) {
  const folder = install(name, fields, packages);
  const present = optionalPeers.filter((peer) => existsSync(join(folder, 'node_modules', peer)));
  assert.deepEqual(present, [], 'optional peers are not installed by themselves');
  return folder;
}

function install(name, fields, packages) {
  const folder = join(work, name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version: '1.0.0', private: true, ...fields }));
  const flags = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', ['install', tarball, ...packages, ...flags], { cwd: folder, stdio: 'inherit' });
  return folder;
}

function checkProbe(folder) {
  const found = JSON.parse(execFileSync(process.execPath, ['probe.js'], { cwd: folder, encoding: 'utf8' }));
  for (const [entry, wanted] of Object.entries(names)) {
    const missing = wanted.filter((name) => !found[entry].includes(name));
    assert.deepEqual(missing, [], `${entry} exports ${wanted.join(', ')}`);
  }
  assert.match(found.refusal, /litesvm/i, 'a sandbox without LiteSVM says what is missing');
  assert.match(found.refusal, /npm install/, 'a sandbox without LiteSVM says what to do');
  return Object.keys(names).map((entry) =>
    found[entry].filter((name) => !/^(__esModule|default|module\.exports)$/.test(name)).sort(),
  );
}

/** `npm:express@4.22.3` → `express@4.22.3`. */
function realName(alias) {
  return alias.replace(/^npm:/, '');
}
