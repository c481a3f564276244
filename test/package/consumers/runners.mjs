// The same test in the test runners that people use: each starts the sandbox, opens a database, has a route paid for by the
// official client, closes everything, and must end by itself.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Longer than any of them takes: one that is not over by then does not end. */
const PATIENCE_MS = 600_000;

const IMPORTS = {
  'node:assert/strict': 'assert',
  'node:events': '{ once }',
  express: 'express',
  '@solana/kit': '{ createKeyPairSignerFromBytes }',
  '@x402/fetch': '{ wrapFetchWithPayment, x402Client }',
  '@x402/svm/exact/client': '{ ExactSvmScheme }',
  tollhouse: '{ createFacilitator, openStorage, requirePayment }',
  'tollhouse/sandbox': '{ startSandbox }',
};

const BODY = `
const title = 'a paid route answers who pays';
async function body() {
  const { network, rpcUrl, wsUrl, demoWallets, createWallet, close } = await startSandbox();
  const storage = await openStorage('sqlite:./books-' + process.pid + '.db');
  const [keypair, seller] = [await createWallet({ sol: '1' }), await createWallet({ usdc: '0' })];
  const facilitator = createFacilitator({ network, rpcUrl, wsUrl, keypair, storage });
  const app = express();
  app.get('/paid', requirePayment({ facilitator, price: '$0.01', payTo: seller.publicKey.toBase58() }), (req, res) => {
    res.json({ payer: req.payment.payer });
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const signer = await createKeyPairSignerFromBytes(demoWallets[0].secretKey);
  const client = new x402Client().register('solana:*', new ExactSvmScheme(signer, { rpcUrl }));
  const answer = await wrapFetchWithPayment(fetch, client)('http://127.0.0.1:' + server.address().port + '/paid');
  assert.equal(answer.status + ' ' + (await answer.text()), '200 {"payer":"' + signer.address + '"}');
  server.close();
  await facilitator.close();
  await storage.close();
  await close();
}
`;

const MODULE = Object.entries(IMPORTS).map(([name, names]) => `import ${names} from '${name}';`);
const COMMONJS = Object.entries(IMPORTS).map(([name, names]) => `const ${names} = require('${name}');`);
const GLOBAL = 'test(title, body, 120_000);';

const JEST = 'node_modules/jest/bin/jest.js';
const jestFor = (folder, ...more) => [
  ...[JEST, '--ci', '--rootDir', folder, '--config'],
  JSON.stringify({ testEnvironment: 'node', testMatch: ['**/*.test.*'], ...Object.assign({}, ...more) }),
];
/** Types are checked elsewhere. */
const TYPESCRIPT = { module: 'commonjs', esModuleInterop: true, target: 'es2022' };
const TS_JEST = ['ts-jest', { diagnostics: false, tsconfig: TYPESCRIPT }];

/** Runner → its test file, and what Node runs. */
const RUNNERS = {
  'jest-commonjs': { file: 'pays.test.js', lines: [...COMMONJS, BODY, GLOBAL], run: jestFor('jest-commonjs') },
  'jest-esm': {
    file: 'pays.test.mjs',
    lines: [...MODULE, BODY, GLOBAL],
    run: ['--experimental-vm-modules', ...jestFor('jest-esm')],
  },
  'ts-jest': {
    file: 'pays.test.ts',
    lines: [...MODULE, BODY, GLOBAL],
    run: jestFor('ts-jest', { transform: { '\\.ts$': TS_JEST } }),
  },
  vitest: {
    file: 'pays.test.mjs',
    lines: ["import { test } from 'vitest';", ...MODULE, BODY, GLOBAL],
    run: ['node_modules/vitest/vitest.mjs', 'run', '--root', 'vitest'],
  },
  'node-test': {
    file: 'pays.test.mjs',
    lines: ["import { test } from 'node:test';", ...MODULE, BODY, 'test(title, body);'],
    run: ['--test', 'node-test/pays.test.mjs'],
  },
};

/**
 * Runs the test in every runner, in a project that has them all installed.
 * @param chosen - names of runners; default: all
 */
export async function checkRunners(folder, chosen = Object.keys(RUNNERS)) {
  const outcomes = await Promise.all(
    chosen.map((name) => [name, RUNNERS[name]]).map(([name, runner]) => runIn(folder, name, runner)),
  );
  for (const { name, code, text } of outcomes) {
    assert.equal(code, 0, `the test passes in ${name}, which ends by itself:\n${text}`);
    assert.doesNotMatch(text, /did not exit|close timed out/, `${name} ends by itself:\n${text}`);
  }
}

async function runIn(folder, name, { file, lines, run }) {
  mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, name, file), lines.join('\n'));
  const child = spawn(process.execPath, run, { cwd: folder, timeout: PATIENCE_MS, killSignal: 'SIGKILL' });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk));
  const [code] = await once(child, 'close');
  return { name, code, text };
}
