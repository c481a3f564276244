import { randomBytes } from 'node:crypto';
import { ComputeBudgetProgram, Keypair, VersionedTransaction } from '@solana/web3.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';
import { until } from '../helpers/until.js';
import { call, type Json, lamports, send, sign, status, toWire } from './sandbox-client.js';

let sandbox: Sandbox;
let payer: Keypair;

beforeEach(async () => {
  sandbox = await startSandbox({ slotMs: 0 });
  payer = await sandbox.createWallet({ sol: '1' });
});
afterEach(() => sandbox.close());

const nobody = () => Keypair.generate().publicKey;
const balance = (): bigint => sandbox.balance(payer.publicKey.toBase58());

test('a transaction is processed at once, confirmed after two slots, finalized after thirty-two', async () => {
  const { wire, signature } = await sign(sandbox, [payer], [lamports(payer, nobody(), 1_000_000)]);
  expect(await status(sandbox, signature)).toBeNull();
  expect((await send(sandbox, wire)).result).toBe(signature);
  const slot = sandbox.slot();
  const seen: Json[] = [await status(sandbox, signature)];
  sandbox.advanceSlots(2);
  seen.push(await status(sandbox, signature));
  sandbox.advanceSlots(30);
  seen.push(await status(sandbox, signature));
  const landed = { slot, err: null, status: { Ok: null } };
  expect(seen).toEqual([
    { ...landed, confirmations: 0, confirmationStatus: 'processed' },
    { ...landed, confirmations: 2, confirmationStatus: 'confirmed' },
    { ...landed, confirmations: null, confirmationStatus: 'finalized' },
  ]);
});

test('balances are seen at the commitment that is asked for', async () => {
  const to = nobody();
  const { wire } = await sign(sandbox, [payer], [lamports(payer, to, 1_000_000)]);
  await send(sandbox, wire);
  const read = async (commitment: string) =>
    (await call(sandbox, 'getBalance', [to.toBase58(), { commitment }])).result.value as number;
  const seen = async () => [await read('processed'), await read('confirmed'), await read('finalized')];
  const history = [await seen()];
  sandbox.advanceSlots(2);
  history.push(await seen());
  sandbox.advanceSlots(30);
  history.push(await seen());
  expect(history).toEqual([
    [1_000_000, 0, 0],
    [1_000_000, 1_000_000, 0],
    [1_000_000, 1_000_000, 1_000_000],
  ]);
});

test('getTransaction knows a transaction from confirmed on, and refuses to look below', async () => {
  const { wire, signature } = await sign(sandbox, [payer], [lamports(payer, nobody(), 1_000_000)]);
  await send(sandbox, wire);
  const options = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 };
  expect((await call(sandbox, 'getTransaction', [signature, options])).result).toBeNull();
  sandbox.advanceSlots(2);
  expect((await call(sandbox, 'getTransaction', [signature, options])).result.version).toBe(0);
  const below = await call(sandbox, 'getTransaction', [signature, { commitment: 'processed' }]);
  expect(below.error?.code).toBe(-32602);
});

test('a version 0 transaction is refused to a client that does not ask for versions', async () => {
  const { wire, signature } = await sign(sandbox, [payer], [lamports(payer, nobody(), 1_000_000)]);
  await send(sandbox, wire);
  sandbox.advanceSlots(32);
  const { error } = await call(sandbox, 'getTransaction', [signature]);
  expect(error?.code).toBe(-32015);
  expect(error?.message).toContain('"maxSupportedTransactionVersion": 0');
});

test('a blockhash is good for 150 blocks and not one more', async () => {
  const { result } = await call(sandbox, 'getLatestBlockhash', [{ commitment: 'processed' }]);
  const { blockhash, lastValidBlockHeight } = result.value;
  expect(lastValidBlockHeight).toBe(sandbox.blockHeight() + 150);
  const first = await sign(sandbox, [payer], [lamports(payer, nobody(), 1_000_000)]);
  const second = await sign(sandbox, [payer], [lamports(payer, nobody(), 2_000_000)]);
  sandbox.advanceSlots(150);
  const valid = async () =>
    (await call(sandbox, 'isBlockhashValid', [blockhash, { commitment: 'processed' }])).result.value as boolean;
  expect([sandbox.blockHeight() === lastValidBlockHeight, await valid()]).toEqual([true, true]);
  expect((await send(sandbox, first.wire)).result).toBe(first.signature);
  sandbox.advanceSlots();
  expect(await valid()).toBe(false);
  const { error } = await send(sandbox, second.wire);
  expect(error).toMatchObject({
    code: -32002,
    message: 'Transaction simulation failed: Blockhash not found',
    data: { err: 'BlockhashNotFound', logs: [], unitsConsumed: 0 },
  });
});

test('an expired transaction that skips preflight gets its signature and never lands', async () => {
  const { wire, signature } = await sign(sandbox, [payer], [lamports(payer, nobody(), 1_000_000)]);
  sandbox.expireBlockhashes();
  expect((await send(sandbox, wire, { skipPreflight: true })).result).toBe(signature);
  sandbox.advanceSlots(2);
  expect(await status(sandbox, signature)).toBeNull();
  expect(balance()).toBe(1_000_000_000n);
});

test('the newest blockhash is not yet known to a finalized preflight, an older one is', async () => {
  const { wire } = await sign(sandbox, [payer], [lamports(payer, nobody(), 1_000_000)]);
  const early = await send(sandbox, wire, { preflightCommitment: 'finalized' });
  expect(early.error?.data.err).toBe('BlockhashNotFound');
  sandbox.advanceSlots(32);
  const late = await send(sandbox, wire, { preflightCommitment: 'finalized' });
  expect(late.error).toBeUndefined();
});

test('the same transaction again is refused in preflight, and without it is answered and does nothing', async () => {
  const { wire, signature } = await sign(sandbox, [payer], [lamports(payer, nobody(), 1_000_000)]);
  await send(sandbox, wire);
  const after = balance();
  const again = await send(sandbox, wire);
  expect(again.error).toMatchObject({
    code: -32002,
    message: 'Transaction simulation failed: This transaction has already been processed',
    data: { err: 'AlreadyProcessed' },
  });
  expect((await send(sandbox, wire, { skipPreflight: true })).result).toBe(signature);
  expect(balance()).toBe(after);
});

test('a copy with other bytes in its signature slot is refused, and the original still lands', async () => {
  const { transaction } = await sign(sandbox, [payer], [lamports(payer, nobody(), 1_000_000)]);
  const forged = VersionedTransaction.deserialize(transaction.serialize());
  forged.signatures[0] = randomBytes(64);
  expect((await send(sandbox, toWire(forged), { skipPreflight: true })).error?.code).toBe(-32003);
  expect((await send(sandbox, toWire(transaction))).error).toBeUndefined();
});

test('a wrong signature is refused, and counts in a simulation only where it is asked to', async () => {
  const { transaction } = await sign(sandbox, [payer], [lamports(payer, nobody(), 1_000_000)]);
  transaction.signatures[0] = new Uint8Array(64);
  const wire = toWire(transaction);
  const error = { code: -32003, message: 'Transaction signature verification failure' };
  expect((await send(sandbox, wire)).error).toEqual(error);
  const options = { encoding: 'base64', commitment: 'processed' };
  expect((await call(sandbox, 'simulateTransaction', [wire, { ...options, sigVerify: true }])).error).toEqual(error);
  expect((await call(sandbox, 'simulateTransaction', [wire, options])).result.value.err).toBeNull();
});

test('a transaction that fails while executing lands with its error and pays its fee', async () => {
  const { wire, signature } = await sign(sandbox, [payer], [lamports(payer, nobody(), 5_000_000_000)]);
  const refused = await send(sandbox, wire);
  expect(refused.error).toMatchObject({
    message: 'Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1',
    data: { err: { InstructionError: [0, { Custom: 1 }] } },
  });
  expect(balance()).toBe(1_000_000_000n);
  await send(sandbox, wire, { skipPreflight: true });
  const err = { InstructionError: [0, { Custom: 1 }] };
  expect(await status(sandbox, signature)).toMatchObject({ err, status: { Err: err } });
  expect(balance()).toBe(1_000_000_000n - 5_000n);
  sandbox.advanceSlots(2);
  const { result } = await call(sandbox, 'getTransaction', [
    signature,
    { commitment: 'confirmed', maxSupportedTransactionVersion: 0 },
  ]);
  expect(result.meta).toMatchObject({ err, fee: 5_000, preBalances: [1_000_000_000, 0, 1] });
  expect(result.meta.logMessages.join()).toContain('insufficient lamports');
});

test('who cannot pay the fee is named as on the real chain, and nothing lands', async () => {
  const unknown = Keypair.generate();
  const poor = await sandbox.createWallet({ sol: '0.000004' });
  for (const [wallet, err] of [
    [unknown, 'AccountNotFound'],
    [poor, 'InsufficientFundsForFee'],
  ] as const) {
    const { wire, signature } = await sign(sandbox, [wallet], [lamports(wallet, nobody(), 1)]);
    expect((await send(sandbox, wire)).error?.data.err).toBe(err);
    await send(sandbox, wire, { skipPreflight: true });
    expect(await status(sandbox, signature)).toBeNull();
  }
});

const setComputeUnitLimit = (units: number) => ComputeBudgetProgram.setComputeUnitLimit({ units });
const setComputeUnitPrice = (microLamports: number) => ComputeBudgetProgram.setComputeUnitPrice({ microLamports });

test.each([
  ['base fee only', []],
  ['a price without a limit', [setComputeUnitPrice(1_234_567)]],
  ['a limit without a price', [setComputeUnitLimit(77_777)]],
  ['both', [setComputeUnitLimit(77_777), setComputeUnitPrice(1_234_567)]],
  ['a limit above the maximum', [setComputeUnitLimit(2_000_000), setComputeUnitPrice(99)]],
])('the fee that is reported is the fee that is taken: %s', async (_name, budget) => {
  const instructions = [...budget, lamports(payer, payer.publicKey, 1)];
  const { wire, signature, transaction } = await sign(sandbox, [payer], instructions);
  const message = Buffer.from(transaction.message.serialize()).toString('base64');
  const quote = (await call(sandbox, 'getFeeForMessage', [message, { commitment: 'processed' }])).result
    .value as number;
  await send(sandbox, wire);
  sandbox.advanceSlots(2);
  const options = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 };
  const reported = (await call(sandbox, 'getTransaction', [signature, options])).result.meta.fee as number;
  expect([BigInt(quote), BigInt(reported)]).toEqual([1_000_000_000n - balance(), 1_000_000_000n - balance()]);
});

test('signatures of an address are listed newest first, in pages', async () => {
  const to = nobody();
  const signatures: string[] = [];
  for (const amount of [1_000_000, 2_000_000, 3_000_000]) {
    const { wire, signature } = await sign(sandbox, [payer], [lamports(payer, to, amount)]);
    await send(sandbox, wire);
    signatures.unshift(signature);
  }
  sandbox.advanceSlots(32);
  const list = async (options: Record<string, unknown>) =>
    (await call(sandbox, 'getSignaturesForAddress', [to.toBase58(), options])).result.map(
      (entry: { signature: string }) => entry.signature,
    ) as string[];
  expect(await list({})).toEqual(signatures);
  expect(await list({ limit: 1 })).toEqual(signatures.slice(0, 1));
  expect(await list({ before: signatures[0] })).toEqual(signatures.slice(1));
  expect(await list({ until: signatures[2] })).toEqual(signatures.slice(0, 2));
});

test('an old status is found only by searching the history', async () => {
  const { wire, signature } = await sign(sandbox, [payer], [lamports(payer, nobody(), 1_000_000)]);
  await send(sandbox, wire);
  sandbox.advanceSlots(301);
  expect(await status(sandbox, signature)).toBeNull();
  const searched = await call(sandbox, 'getSignatureStatuses', [[signature], { searchTransactionHistory: true }]);
  expect(searched.result.value[0].confirmationStatus).toBe('finalized');
});

test('slots tick by themselves until they are paused', async () => {
  const ticking = await startSandbox({ slotMs: 1 });
  const start = ticking.slot();
  await until(() => ticking.slot() >= start + 3);
  ticking.pauseSlots();
  const paused = ticking.slot();
  for (let turn = 0; turn < 20; turn += 1) {
    await call(ticking, 'getHealth');
  }
  expect(ticking.slot()).toBe(paused);
  ticking.resumeSlots();
  await until(() => ticking.slot() > paused);
  await ticking.close();
});

test.each([
  ['lives as long as on a cluster', { slotMs: 20 }, 3_000],
  ['lives as long as it is told to', { slotMs: 20, maxBlockhashAgeBlocks: 150 }, 150],
])('where slots are quick, a blockhash %s', async (_how, options, blocks) => {
  const quick = await startSandbox(options);
  quick.pauseSlots();
  const wallet = await quick.createWallet({ sol: '1' });
  const { context, value } = (await call(quick, 'getLatestBlockhash', [{ commitment: 'processed' }])).result;
  expect(value.lastValidBlockHeight).toBe(quick.blockHeight() + blocks);
  const { wire, signature } = await sign(quick, [wallet], [lamports(wallet, nobody(), 1_000_000)]);
  const valid = async () =>
    (await call(quick, 'isBlockhashValid', [value.blockhash, { commitment: 'processed' }])).result.value;
  const late = await sign(quick, [wallet], [lamports(wallet, nobody(), 2_000_000)]);
  quick.advanceSlots(blocks);
  expect(quick.slot()).toBeGreaterThan(context.slot);
  expect((await send(quick, wire)).result).toBe(signature);
  quick.advanceSlots();
  expect(await valid()).toBe(false);
  expect((await send(quick, late.wire)).error).toMatchObject({
    message: expect.stringContaining('Blockhash not found'),
  });
  await quick.close();
});
