import { once } from 'node:events';
import { Connection, Keypair } from '@solana/web3.js';
import { WebSocket } from 'ws';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';
import { until } from '../helpers/until.js';
import { call, lamports, post, send, sign, status } from './sandbox-client.js';

let sandbox: Sandbox;
let payer: Keypair;

beforeEach(async () => {
  sandbox = await startSandbox({ slotMs: 0 });
  payer = await sandbox.createWallet({ sol: '1' });
});
afterEach(() => sandbox.close());

const transfer = () => sign(sandbox, [payer], [lamports(payer, Keypair.generate().publicKey, 1_000_000)]);
const slotCall = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getSlot' });
const blockhashCall = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getLatestBlockhash' });

test('a dropped transaction gets its signature back and never lands', async () => {
  const { wire, signature } = await transfer();
  sandbox.faults.add({ kind: 'drop', times: 1 });
  expect((await send(sandbox, wire)).result).toBe(signature);
  sandbox.advanceSlots(40);
  expect(await status(sandbox, signature)).toBeNull();
  expect((await send(sandbox, wire)).result).toBe(signature);
  expect(await status(sandbox, signature)).toMatchObject({ slot: sandbox.slot() });
});

test('a late transaction lands after the given slots, and not at all when its blockhash has expired by then', async () => {
  const [early, late] = [await transfer(), await transfer()];
  sandbox.faults.add({ kind: 'late', slots: 3, times: 1 });
  sandbox.faults.add({ kind: 'late', slots: 151, times: 1 });
  const sent = sandbox.slot();
  await send(sandbox, early.wire);
  await send(sandbox, late.wire);
  sandbox.advanceSlots(2);
  expect(await status(sandbox, early.signature)).toBeNull();
  sandbox.advanceSlots();
  expect(await status(sandbox, early.signature)).toMatchObject({ slot: sent + 3, err: null });
  sandbox.advanceSlots(160);
  expect(await status(sandbox, late.signature)).toBeNull();
});

test('an error is answered in place of the call', async () => {
  const { wire, signature } = await transfer();
  sandbox.faults.add({ kind: 'error', method: 'sendTransaction', code: -32004, message: 'no block', times: 1 });
  expect((await send(sandbox, wire)).error).toEqual({ code: -32004, message: 'no block' });
  expect(await status(sandbox, signature)).toBeNull();
});

test('with takesEffect the transaction lands and its answer is lost', async () => {
  const { wire, signature } = await transfer();
  sandbox.faults.add({ kind: 'disconnect', method: 'sendTransaction', takesEffect: true });
  await expect(send(sandbox, wire)).rejects.toThrow('fetch failed');
  expect(await status(sandbox, signature)).toMatchObject({ err: null });
});

test('429 is answered as the HTTP status, for the single call and for the batch that contains it', async () => {
  sandbox.faults.add({ kind: '429', method: 'getSlot' });
  expect((await post(sandbox, slotCall)).status).toBe(429);
  expect((await post(sandbox, `[${blockhashCall},${slotCall}]`)).status).toBe(429);
  expect((await post(sandbox, blockhashCall)).status).toBe(200);
});

test('a hanging call is not answered until the client gives up, and close() does not wait for it', async () => {
  sandbox.faults.add({ kind: 'hang', method: 'getSlot' });
  const giveUp = new AbortController();
  const abandoned = post(sandbox, slotCall, giveUp.signal);
  const waiting = post(sandbox, slotCall);
  const outcomes = Promise.allSettled([abandoned, waiting]);
  await until(() => sandbox.calls.getSlot === 2);
  giveUp.abort();
  await sandbox.close();
  expect((await outcomes).map((outcome) => outcome.status)).toEqual(['rejected', 'rejected']);
  sandbox = await startSandbox({ slotMs: 0 });
});

test('a delayed call is answered later than one that was made after it', async () => {
  sandbox.faults.add({ kind: 'delay', method: 'getSlot', delayMs: 50 });
  const order: string[] = [];
  const delayed = call(sandbox, 'getSlot').then(() => order.push('delayed'));
  const prompt = call(sandbox, 'getBlockHeight').then(() => order.push('prompt'));
  await Promise.all([delayed, prompt]);
  expect(order).toEqual(['prompt', 'delayed']);
});

test('a fault counts its times, is removed by hand, and all are cleared at once', async () => {
  const failing = async () => (await call(sandbox, 'getSlot')).error !== undefined;
  sandbox.faults.add({ kind: 'error', method: 'getSlot', times: 2 });
  expect([await failing(), await failing(), await failing()]).toEqual([true, true, false]);
  const lasting = sandbox.faults.add({ kind: 'error', method: 'getSlot' });
  expect(await failing()).toBe(true);
  lasting.remove();
  expect(await failing()).toBe(false);
  sandbox.faults.add({ kind: 'error' });
  expect(await failing()).toBe(true);
  sandbox.faults.clear();
  expect(await failing()).toBe(false);
});

test('a silent subscription is accepted and never notifies', async () => {
  const { wire, signature } = await transfer();
  const socket = new WebSocket(sandbox.wsUrl);
  const received: string[] = [];
  const subscribe = (id: number) =>
    socket.send(
      JSON.stringify({
        jsonrpc: '2.0',
        id,
        method: 'signatureSubscribe',
        params: [signature, { commitment: 'processed' }],
      }),
    );
  socket.on('message', (data) => received.push(String(data)));
  await once(socket, 'open');
  sandbox.faults.add({ kind: 'silent', times: 1 });
  subscribe(1);
  subscribe(2);
  await until(() => received.length === 2);
  await send(sandbox, wire);
  await until(() => received.length === 3);
  sandbox.advanceSlots(2);
  socket.close();
  expect(received.map((text) => JSON.parse(text))).toEqual([
    { jsonrpc: '2.0', result: 1, id: 1 },
    { jsonrpc: '2.0', result: 2, id: 2 },
    expect.objectContaining({
      method: 'signatureNotification',
      params: { result: { context: expect.anything(), value: { err: null } }, subscription: 2 },
    }),
  ]);
});

test('a node that forgets knows nothing of what has landed, and says since when it remembers; the chain goes on', async () => {
  const { wire, signature } = await transfer();
  await send(sandbox, wire);
  sandbox.advanceSlots(40);
  const { faults } = sandbox;
  const asked = async () => [
    await status(sandbox, signature),
    (await call(sandbox, 'getTransaction', [signature, { encoding: 'base64', maxSupportedTransactionVersion: 0 }]))
      .result,
    (await call(sandbox, 'getSignaturesForAddress', [payer.publicKey.toBase58()])).result,
    (await call(sandbox, 'getFirstAvailableBlock')).result,
  ];
  faults.add({ kind: 'forget' });
  expect(await asked()).toEqual([null, null, [], sandbox.slot()]);
  expect((await send(sandbox, wire)).error).toMatchObject({
    message: expect.stringContaining('already been processed'),
  });
  faults.clear();

  faults.add({ kind: 'forget', method: 'getSignatureStatuses' });
  const [state, transaction, history, first] = await asked();
  expect([state, first]).toEqual([null, 0]);
  expect([transaction, history]).toEqual([expect.objectContaining({ meta: expect.anything() }), expect.any(Array)]);
  expect(() => faults.add({ kind: 'forget', method: 'sendTransaction' })).toThrow(
    '"forget" applies to getSignatureStatuses',
  );
});

test('a cut WebSocket is opened again by web3.js, which then hears of the transaction', async () => {
  const connection = new Connection(sandbox.rpcUrl, 'processed');
  const { wire, signature } = await transfer();
  sandbox.faults.add({ kind: 'disconnect', method: 'signatureSubscribe', times: 1 });
  const heard = new Promise((resolve) => {
    connection.onSignature(signature, resolve, 'processed');
  });
  await until(() => sandbox.calls.signatureSubscribe === 2);
  await send(sandbox, wire);
  expect(await heard).toEqual({ err: null });
});
