import { chmodSync, writeFileSync } from 'node:fs';
import bs58 from 'bs58';
import { readWallet } from '../../../../src/cli/arguments/arguments.js';
import { credentialsPath, keepSignIn, signInAt } from '../../../../src/cli/session/credentials.js';
import { demoWallet } from '../../../../src/sandbox/tokens/demo-wallets.js';
import { readConfiguration } from '../../../../src/server/configuration/configuration.js';
import { readSecretFile } from '../../../../src/server/configuration/secret-file.js';
import { testFolder } from '../../../helpers/processes/test-folder.js';

const folder = testFolder();
const [first, second] = [0, 1].map((index) => JSON.stringify([...demoWallet(index).secretKey])) as [string, string];

const warnings: string[] = [];
beforeEach(() => {
  warnings.length = 0;
  jest.spyOn(process, 'emitWarning').mockImplementation((warning) => void warnings.push(String(warning)));
});
afterEach(() => jest.restoreAllMocks());

function keyFile(mode: number, text = first): string {
  const path = folder.newPath('json');
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

test.each([0o600, 0o400])('a file of mode %o is read without a word', (mode) => {
  expect(readSecretFile(keyFile(mode))).toBe(first);
  expect(warnings).toEqual([]);
});

test.each([0o644, 0o640, 0o604, 0o620])('a file of mode %o is read with a warning, which says what to do', (mode) => {
  const path = keyFile(mode);
  expect(readSecretFile(path)).toBe(first);
  expect(warnings).toEqual([
    `others than its owner can read "${path}" (mode ${mode.toString(8)}), which holds a secret: chmod 600 it`,
  ]);
});

test('a file that is not there is none', () => {
  expect(readSecretFile(folder.newPath('json'))).toBeUndefined();
});

test("the server's keys are warned of: each of the fee payers, and the split wallet's", () => {
  const [safe, open, split] = [keyFile(0o600), keyFile(0o644, second), keyFile(0o660, second)];
  const env = { SOLANA_NETWORK: 'solana-devnet', FACILITATOR_KEYPAIR: `${safe}, ${open}`, SPLIT_KEYPAIR: split };
  expect(readConfiguration(env).chain).toMatchObject({ keypair: [first, second], splitKeypair: [second] });
  expect(warnings).toEqual([expect.stringContaining(open), expect.stringContaining(split)]);
});

test('fee payers may be told as text as well; one that is wrong is refused and not shown', () => {
  const texts = [0, 1].map((index) => bs58.encode(demoWallet(index).secretKey));
  const env = { SOLANA_NETWORK: 'solana-devnet', FACILITATOR_KEYPAIR: texts.join(',') };
  expect(readConfiguration(env).chain?.keypair).toEqual(texts);
  const wrong = { ...env, FACILITATOR_KEYPAIR: `${texts[0]},${texts[1]?.slice(0, -1)}` };
  expect(() => readConfiguration(wrong)).toThrow(/^environment: FACILITATOR_KEYPAIR must be a Solana key of 64 bytes/);
});

test('the wallet of a command is warned of', () => {
  expect(readWallet(keyFile(0o644), false)).toBe(first);
  expect(warnings).toHaveLength(1);
});

test('sign-ins are written for their owner only, and warned of when somebody has opened them', () => {
  const before = process.env['XDG_CONFIG_HOME'];
  process.env['XDG_CONFIG_HOME'] = folder.path;
  try {
    const signIn = { wallet: 'w', access_token: 'a', refresh_token: 'r', expires_at: 1 };
    keepSignIn('http://server', signIn);
    expect(signInAt('http://server')).toMatchObject(signIn);
    expect(warnings).toEqual([]);
    chmodSync(credentialsPath(), 0o644);
    expect(signInAt('http://server')).toMatchObject(signIn);
    expect(warnings).toEqual([expect.stringContaining(credentialsPath())]);
    keepSignIn('http://server', signIn);
    warnings.length = 0;
    signInAt('http://server');
    expect(warnings).toEqual([]);
  } finally {
    if (before === undefined) delete process.env['XDG_CONFIG_HOME'];
    else process.env['XDG_CONFIG_HOME'] = before;
  }
});
