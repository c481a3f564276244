import bs58 from 'bs58';
import { payoutsCommand as command } from '../../src/cli/books/payouts.js';
import { openStorage } from '../../src/storage/open-storage.js';
import type { PayoutState } from '../../src/storage/payouts/payout-store.js';
import type { Storage } from '../../src/storage/storage.js';
import {
  newProjectId,
  openPayoutFixture,
  type PayoutFixture,
  type PayoutInstance,
} from '../helpers/fixtures/payout-fixture.js';
import { runCommand } from '../helpers/processes/run-command.js';
import type { Ended } from '../helpers/processes/run-file.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { until } from '../helpers/until.js';

const folder = testFolder();
const LEASE_MS = 120_000;
const FINALITY = 40;
let fixture: PayoutFixture;
let url: string;
let storage: Storage;
let projectId: string;
let anna: string;

beforeAll(async () => {
  fixture = await openPayoutFixture();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  url = `sqlite:${folder.newPath('db')}`;
  storage = await openStorage(url, { now: fixture.now });
  projectId = newProjectId();
  anna = await fixture.newRecipient();
});
afterEach(async () => {
  fixture.sandbox.faults.clear();
  await storage.close();
});

/** Runs `tollhouse payouts` in this process, with the server's configuration. */
const tollhouse = (...args: readonly string[]): Promise<Ended> => tollhouseWith({}, ...args);

const tollhouseWith = (more: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<Ended> =>
  runCommand(
    command,
    {
      DATABASE_URL: url,
      SOLANA_NETWORK: 'solana-devnet',
      SOLANA_RPC_URL: fixture.sandbox.rpcUrl,
      FACILITATOR_KEYPAIR: bs58.encode(fixture.feePayer.secretKey),
      SPLIT_KEYPAIR: bs58.encode(fixture.split.secretKey),
      ...more,
    },
    args,
  );

const gone = (): Promise<never> => new Promise(() => undefined);
const earn = (amount: bigint, wallet?: string) =>
  fixture.land(storage.database, projectId, [{ recipient: anna, amount }], wallet);
const listed = async () => storage.gateway.payouts.list(projectId, 10);
const inState = (state: PayoutState) => until(async () => (await listed()).some((it) => it.state === state));

/** A payout that was signed by a process which then died: after it was sent, or before. */
async function left(sent: 'landed' | 'unsent'): Promise<string> {
  await earn(1_500_000n);
  const dying: PayoutInstance = fixture.instance(storage.database, ({ send }) => ({
    send: sent === 'unsent' ? gone : (it) => send(it).then(gone),
  }));
  await dying.payouts.request(projectId);
  await inState('broadcast');
  if (sent === 'landed') await until(() => fixture.held(anna) > 0n);
  await fixture.advance(LEASE_MS);
  return (await listed())[0]!.id;
}

function die(): void {
  fixture.sandbox.expireBlockhashes();
  fixture.sandbox.advanceSlots(FINALITY);
}

test('with nothing stuck it says so', async () => {
  expect(await tollhouse()).toMatchObject({ code: 0, text: expect.stringContaining('all are over') });
  expect((await tollhouse('list')).text).toContain('nothing is held back');
  expect(await tollhouse('resolve')).toMatchObject({ code: 0, text: expect.stringContaining('all are over') });
});

test('what is stuck is listed with its reason, and resolved by what the chain says', async () => {
  const id = await left('landed');
  die();
  const { faults } = fixture.sandbox;
  faults.add({ kind: 'silent' });
  faults.add({ kind: 'forget' });
  await fixture.instance(storage.database).payouts.run();
  const shown = await tollhouse();
  const asked = await tollhouse('resolve');
  faults.clear();

  expect(shown.code).toBe(0);
  expect(shown.text).toMatch(new RegExp(`${id} +unknown +1.5 USDC +${projectId} .*outcome_unknown`));
  expect(asked).toMatchObject({ code: 1, text: expect.stringContaining(`${id}: no node proves what became of it`) });

  const resolved = await tollhouse('resolve', id);
  expect(resolved).toMatchObject({ code: 0, text: expect.stringMatching(`paid +${id}: landed in slot`) });
  expect(await listed()).toMatchObject([{ state: 'paid' }]);
  expect(await tollhouse('resolve', id)).toMatchObject({ code: 0, text: expect.stringContaining('over already') });
  expect(fixture.held(anna)).toBe(1_500_000n);
});

test('what never landed is booked as failed where a node proves it, and is owed again', async () => {
  const id = await left('unsent');
  expect(await tollhouse('resolve', id)).toMatchObject({ code: 1, text: expect.stringContaining('no node proves') });
  die();
  const resolved = await tollhouse('resolve');

  expect(resolved).toMatchObject({
    code: 0,
    text: expect.stringMatching(`failed +${id}: failed, expired, and .* owed`),
  });
  expect(await storage.gateway.payouts.owed(projectId)).toMatchObject([{ recipient: anna, amount: 1_500_000n }]);
});

test('on the word of the operator it fails only when it can land no more, and never when it has landed', async () => {
  const id = await left('unsent');
  const certain = () => tollhouse('resolve', '--failed-for-certain', id);
  expect(await certain()).toMatchObject({ code: 1, text: expect.stringContaining('it can still land') });
  die();
  fixture.sandbox.faults.add({ kind: 'forget' });
  expect(await tollhouse('resolve')).toMatchObject({ code: 1 });
  const booked = await certain();
  expect(booked.code).toBe(0);
  expect(booked.text).toContain('its recipients are paid twice');
  expect(await listed()).toMatchObject([{ state: 'failed', reason: 'expired' }]);
  await expect(certain()).rejects.toThrow('is over already: failed, expired');
  fixture.sandbox.faults.clear();

  projectId = newProjectId();
  const landed = await left('landed');
  fixture.sandbox.advanceSlots(FINALITY);
  expect(await tollhouse('resolve', '--failed-for-certain', landed)).toMatchObject({
    code: 0,
    text: expect.stringMatching(`paid +${landed}: landed in slot`),
  });
});

test('after a backup was restored, what was paid since is held back and booked by what the chain says', async () => {
  const lost = await openStorage(`sqlite:${folder.newPath('db')}`, { now: fixture.now });
  const amounts = [{ recipient: anna, amount: 1_500_000n }];
  await fixture.land(lost.database, projectId, amounts);
  const before = fixture.instance(lost.database);
  const [paid] = await before.payouts.request(projectId);
  await before.payouts.close();
  await lost.close();
  await earn(1_500_000n);
  const restored = fixture.instance(storage.database);
  await restored.payouts.request(projectId);
  expect((await tollhouse('list')).text).toMatch(new RegExp(`${anna} +1.5 USDC .*unknown_payout`));
  await fixture.land(storage.database, newProjectId(), amounts);
  expect(fixture.held(anna)).toBe(1_500_000n);

  const resolved = await tollhouse('resolve');
  expect(resolved.text).toMatch(new RegExp(`paid +${paid!.id}: the chain has it in slot .*; booked for project prj_`));
  expect(resolved.code).toBe(0);
  expect((await tollhouse('list')).text).toContain('nothing is held back');
});

test('a payout that fits nothing in the books is told, and keeps those back whom it has paid', async () => {
  const lost = await openStorage(`sqlite:${folder.newPath('db')}`, { now: fixture.now });
  await fixture.land(lost.database, projectId, [{ recipient: anna, amount: 5n }]);
  const before = fixture.instance(lost.database);
  const [paid] = await before.payouts.request(projectId);
  await before.payouts.close();
  await lost.close();
  await earn(7n);
  await fixture.instance(storage.database).payouts.request(projectId);

  const { code, text } = await tollhouse('resolve');
  expect(code).toBe(1);
  expect(text).toMatch(new RegExp(`unknown +${paid!.id}: .* has paid 5 of ${fixture.mint} to ${anna}`));
  expect(text).toContain(`held back because of it: 7 to ${anna} by ${projectId}`);
  expect(fixture.held(anna)).toBe(5n);
});

test('what is owed and held back is listed, and what another wallet holds', async () => {
  const poor = (await fixture.sandbox.createWallet()).publicKey.toBase58();
  await fixture.land(storage.database, projectId, [{ recipient: poor, amount: 2_000_000n }]);
  const instance = fixture.instance(storage.database);
  await instance.payouts.request(projectId);
  await earn(7n, anna);
  const { text } = await tollhouse('list');
  const { payouts, held_back } = JSON.parse((await tollhouse('--json')).text);

  expect(text).toMatch(new RegExp(`${poor} +2 USDC +${projectId} .*recipient_token_account_missing`));
  expect(text).toMatch(new RegExp(`${anna} +0.000007 USDC .*split_wallet_replaced`));
  expect(payouts).toEqual([]);
  expect(held_back).toHaveLength(2);
});

test('what a wallet holds that was replaced is listed until it is paid out, with its key and without', async () => {
  const old = await fixture.sandbox.createWallet({ usdc: '1' });
  await earn(500_000n, old.publicKey.toBase58());
  const both = { SPLIT_KEYPAIR: [fixture.split, old].map(({ secretKey }) => bs58.encode(secretKey)).join() };

  expect((await tollhouse()).text).toContain('split_wallet_replaced');
  expect((await tollhouseWith(both)).text).toContain('split_wallet_replaced');
  // Young as it is: an old wallet is emptied.
  const instance = fixture.instance(storage.database, undefined, {}, [fixture.split, old]);
  await instance.payouts.run();
  expect((await tollhouseWith(both)).text).toContain('nothing is held back');
  expect(fixture.held(anna)).toBe(500_000n);
});

test('what is too little to be paid yet is listed with that reason, and what is enough is not', async () => {
  await earn(50_000n);
  const { held_back: few } = JSON.parse((await tollhouse('--json')).text);
  expect(few).toMatchObject([{ recipient: anna, reason: 'below_minimum', amount_atomic: '50000' }]);
  expect((await tollhouse()).text).toMatch(new RegExp(`${anna} +0.05 USDC +${projectId} .*below_minimum`));
  await earn(50_000n);
  expect((await tollhouse()).text).toContain('nothing is held back');
});

test('mistakes are told with what was probably meant', async () => {
  const id = await left('unsent');
  await expect(tollhouse('resovle')).rejects.toThrow('did you mean "resolve"?');
  await expect(tollhouse('resolve', `${id.slice(0, -1)}!`)).rejects.toThrow(`did you mean "${id}"?`);
  await expect(tollhouse('resolve', 'pyo_none')).rejects.toThrow(
    'there is no payout "pyo_none"; "npx tollhouse payouts"',
  );
  await expect(tollhouse('resolve', id, id)).rejects.toThrow('one payout at a time');
  await expect(tollhouse('resolve', '--failed-for-certian', id)).rejects.toThrow(
    'did you mean "--failed-for-certain"?',
  );
  await expect(tollhouse('--failed-for-certain', id)).rejects.toThrow(
    `belongs after "resolve": ${'npx tollhouse payouts'} resolve`,
  );
  await expect(tollhouse('list', 'all')).rejects.toThrow('"all" is not understood');
});
