import { createServer, type Server } from 'node:net';
import { type Keypair, PublicKey, SystemProgram, Transaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';
import type { Delivery, TransactionDelivery } from '../../src/solana/confirmation/confirmation.js';
import { createTransactionDelivery, type DeliveryOptions } from '../../src/solana/confirmation/delivery.js';
import type { SolanaRpc } from '../../src/solana/rpc/rpc.js';
import { createSolanaRpc } from '../../src/solana/rpc/rpc-client.js';
import { closeRpcEndpoints, deadUrl, startRpcEndpoint } from '../helpers/nodes/rpc-endpoint.js';
import { rpcErrorOf } from '../helpers/rejection.js';
import { until } from '../helpers/until.js';

/** So long that what would happen only after it does not happen in a test. */
const NEVER = 600_000;
const FAST = { pollMs: 10, latePollMs: 50, heightMs: 10, rebroadcastMs: 20 };
const PUSH_ONLY = { pollMs: NEVER, latePollMs: NEVER, heightMs: NEVER, rebroadcastMs: NEVER };

/** A chain whose slots tick, and one whose slots are moved by hand. */
let ticking: Sandbox;
let still: Sandbox;
let lamports = 1_000_000;
const opened: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  ticking = await startSandbox({ slotMs: 20, finalizedAfterSlots: 6 });
  still = await startSandbox({ slotMs: 0, finalizedAfterSlots: 6 });
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((part) => part.close()));
  await closeRpcEndpoints();
  ticking.faults.clear();
  still.faults.clear();
});
afterAll(() => Promise.all([ticking.close(), still.close()]));

function connect(urls: string | readonly string[], options: { timeoutMs?: number } = {}): SolanaRpc {
  const rpc = createSolanaRpc({ urls, firstRestMs: 1, longestRestMs: 5, ...options });
  opened.push(rpc);
  return rpc;
}

function open(sandbox: Sandbox, options: Partial<DeliveryOptions> = {}): TransactionDelivery {
  const delivery = createTransactionDelivery({ rpc: connect(sandbox.rpcUrl), timing: FAST, ...options });
  opened.push(delivery);
  return delivery;
}

type RecentBlockhash = Awaited<ReturnType<SolanaRpc['getLatestBlockhash']>>;

/** A transfer of SOL between two demo wallets, never the same twice. */
async function transfer(
  sandbox: Sandbox,
  options: Partial<Delivery> & { amount?: number } = {},
  recent?: RecentBlockhash,
): Promise<Delivery> {
  const [from, to] = sandbox.demoWallets as [Keypair, Keypair];
  lamports += 1;
  const latest = recent ?? (await connect(sandbox.rpcUrl).getLatestBlockhash('confirmed'));
  const { blockhash, lastValidBlockHeight } = latest;
  const transaction = new Transaction({ feePayer: from.publicKey, blockhash, lastValidBlockHeight }).add(
    SystemProgram.transfer({
      fromPubkey: from.publicKey,
      toPubkey: new PublicKey(to.publicKey),
      lamports: (options.amount ?? 0) + lamports,
    }),
  );
  transaction.sign(from);
  const { amount, ...given } = options;
  return {
    transaction: transaction.serialize(),
    signature: bs58.encode(transaction.signature ?? Buffer.alloc(0)),
    blockhash,
    lastValidBlockHeight,
    commitment: 'confirmed',
    preflight: false,
    timeoutMs: NEVER,
    ...given,
  };
}

/** Resolves when the chain knows a signature. */
async function seen(sandbox: Sandbox, signature: string): Promise<void> {
  while (Number.isNaN(await slotOf(sandbox, signature)));
}

async function slotOf(sandbox: Sandbox, signature: string): Promise<number> {
  const { states } = await connect(sandbox.rpcUrl).getSignatureStatuses([signature]);
  return states[0]?.slot ?? Number.NaN;
}

function settled(promise: Promise<unknown>): () => boolean {
  let done = false;
  const finish = (): void => {
    done = true;
  };
  promise.then(finish, finish);
  return () => done;
}

describe('confirmation by push', () => {
  it.each(['processed', 'confirmed', 'finalized'] as const)('tells of %s without a status call', async (commitment) => {
    const delivery = await transfer(ticking, { commitment });
    ticking.resetCalls();
    const landing = await open(ticking, { wsUrl: ticking.wsUrl, timing: PUSH_ONLY }).deliver(delivery);
    expect(landing).toMatchObject({ status: 'landed', err: null });
    expect(ticking.calls.total).toBe(1);
    expect(ticking.calls.sendTransaction).toBe(1);
  });

  it('names the slot of the transaction or a later one', async () => {
    const delivery = await transfer(ticking);
    const landing = await open(ticking, { wsUrl: ticking.wsUrl, timing: PUSH_ONLY }).deliver(delivery);
    const slot = await slotOf(ticking, delivery.signature);
    expect(landing.status === 'landed' && landing.slot).toBeGreaterThanOrEqual(slot);
  });

  it('tells of a transaction that landed with an error', async () => {
    const delivery = await transfer(ticking, { amount: 1e15 });
    const landing = await open(ticking, { wsUrl: ticking.wsUrl, timing: PUSH_ONLY }).deliver(delivery);
    expect(landing).toMatchObject({ status: 'landed', err: { InstructionError: [0, expect.anything()] } });
  });

  it('costs a payment on the default intervals no status call', async () => {
    const delivery = open(ticking, { wsUrl: ticking.wsUrl, timing: {} });
    await delivery.deliver(await transfer(ticking));
    const next = await transfer(ticking);
    ticking.resetCalls();
    await delivery.deliver(next);
    expect(ticking.calls.total).toBe(1);
  });
});

describe('confirmation by status look-up', () => {
  it.each(['processed', 'confirmed', 'finalized'] as const)('tells of %s without a WebSocket', async (commitment) => {
    const delivery = await transfer(ticking, { commitment });
    const landing = await open(ticking).deliver(delivery);
    expect(landing).toEqual({ status: 'landed', slot: await slotOf(ticking, delivery.signature), err: null });
  });

  it('tells of a transaction that landed with an error', async () => {
    const landing = await open(ticking).deliver(await transfer(ticking, { amount: 1e15 }));
    expect(landing).toMatchObject({ status: 'landed', err: { InstructionError: [0, expect.anything()] } });
  });

  it.each(['silent', 'hang', 'error', '429', 'disconnect'] as const)(
    'steps in when subscriptions end in: %s',
    async (kind) => {
      ticking.faults.add({ kind, method: 'signatureSubscribe' });
      const landing = await open(ticking, { wsUrl: ticking.wsUrl }).deliver(await transfer(ticking));
      expect(landing).toMatchObject({ status: 'landed', err: null });
    },
  );

  it('steps in when nobody answers the WebSocket handshake', async () => {
    const mute: Server = createServer((socket) => socket.resume());
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    const address = mute.address();
    const wsUrl = `ws://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`;
    await expect(open(ticking, { wsUrl }).deliver(await transfer(ticking))).resolves.toMatchObject({
      status: 'landed',
    });
    mute.close();
  });

  it('steps in when there is no WebSocket endpoint', async () => {
    const wsUrl = (await deadUrl()).replace('http:', 'ws:');
    await expect(open(ticking, { wsUrl }).deliver(await transfer(ticking))).resolves.toMatchObject({
      status: 'landed',
    });
  });

  it('no longer waits for pushes that did not come', async () => {
    const latePollMs = 3_000;
    const delivery = open(ticking, { wsUrl: ticking.wsUrl, timing: { ...FAST, pollMs: 400, latePollMs } });
    await delivery.deliver(await transfer(ticking));
    ticking.faults.add({ kind: 'silent' });
    const tookMs: number[] = [];
    for (let payment = 0; payment < 2; payment += 1) {
      const next = await transfer(ticking);
      const begin = performance.now();
      await delivery.deliver(next);
      tookMs.push(performance.now() - begin);
    }
    expect(tookMs[0]).toBeGreaterThan(latePollMs);
    expect(tookMs[1]).toBeLessThan(latePollMs);
  });

  it('is shared: 100 deliveries at once ask together', async () => {
    const recent = await connect(ticking.rpcUrl).getLatestBlockhash('confirmed');
    const deliveries = await Promise.all(Array.from({ length: 100 }, () => transfer(ticking, {}, recent)));
    const delivery = open(ticking, { timing: { pollMs: 400 } });
    ticking.resetCalls();
    const landings = await Promise.all(deliveries.map((each) => delivery.deliver(each)));
    expect(landings.every((landing) => landing.status === 'landed' && landing.err === null)).toBe(true);
    expect(ticking.calls.sendTransaction).toBe(100);
    expect(ticking.calls.getSignatureStatuses).toBeLessThan(40);
  });

  it('splits into calls that Solana accepts', async () => {
    const missing = await transfer(still);
    const delivery = open(still, { timing: { ...FAST, pollMs: 400 } });
    still.resetCalls();
    const watches = Array.from({ length: 600 }, () => delivery.watch(missing));
    await until(() => still.calls.getSignatureStatuses >= 3);
    await delivery.close();
    expect((await Promise.all(watches)).every(({ status }) => status === 'unknown')).toBe(true);
  });
});

describe('a transaction that gets lost', () => {
  it('is sent again with the same bytes until it lands', async () => {
    ticking.faults.add({ kind: 'drop', times: 2 });
    ticking.resetCalls();
    const landing = await open(ticking, { wsUrl: ticking.wsUrl }).deliver(await transfer(ticking));
    expect(landing).toMatchObject({ status: 'landed', err: null });
    expect(ticking.calls.sendTransaction).toBeGreaterThanOrEqual(3);
  });

  it('that was sent before is sent again only when the cluster does not know it', async () => {
    const delivery = open(ticking);
    const [landed, lost] = [await transfer(ticking), await transfer(ticking)];
    await delivery.deliver(landed);
    ticking.resetCalls();
    await expect(delivery.watch(landed)).resolves.toMatchObject({ status: 'landed', err: null });
    expect(ticking.calls.sendTransaction).toBe(0);

    await expect(delivery.watch(lost)).resolves.toMatchObject({ status: 'landed', err: null });
    expect(ticking.calls.sendTransaction).toBeGreaterThanOrEqual(1);
  });

  it('is not sent again once it is seen', async () => {
    const delivery = await transfer(still, { commitment: 'finalized' });
    still.resetCalls();
    const landing = open(still).deliver(delivery);
    await until(() => still.calls.getSignatureStatuses > 5);
    expect(still.calls.sendTransaction).toBe(1);
    still.advanceSlots(6);
    await expect(landing).resolves.toMatchObject({ status: 'landed' });
  });

  it('is expired when the height has passed, and not before', async () => {
    still.faults.add({ kind: 'drop' });
    const delivery = await transfer(still);
    const landing = open(still).deliver(delivery);
    const done = settled(landing);
    const confirmedLag = 2;
    const lastHeight = delivery.lastValidBlockHeight ?? Number.NaN;
    still.advanceSlots(lastHeight + confirmedLag - still.blockHeight());

    still.resetCalls();
    await until(() => still.calls.getEpochInfo >= 4 && still.calls.getSignatureStatuses >= 4);
    expect(done()).toBe(false);

    still.advanceSlots(1);
    await expect(landing).resolves.toEqual({ status: 'expired' });
  });

  it('is found when it lands in the last block it can', async () => {
    const drop = still.faults.add({ kind: 'drop' });
    const delivery = await transfer(still);
    const landing = open(still).deliver(delivery);
    still.advanceSlots((delivery.lastValidBlockHeight ?? Number.NaN) - still.blockHeight());
    drop.remove();
    await seen(still, delivery.signature);
    still.advanceSlots(200);
    await expect(landing).resolves.toMatchObject({ status: 'landed', err: null });
  });

  it('is expired in the end when nobody told how long its blockhash lives', async () => {
    still.faults.add({ kind: 'drop' });
    const { lastValidBlockHeight, ...delivery } = await transfer(still);
    still.resetCalls();
    const landing = open(still).deliver(delivery);
    const done = settled(landing);
    await until(() => still.calls.getEpochInfo >= 1);
    still.advanceSlots(200);
    const asked = still.calls.getEpochInfo;
    await until(() => still.calls.getEpochInfo >= asked + 3);
    expect(done()).toBe(false);
    still.advanceSlots(100);
    await expect(landing).resolves.toEqual({ status: 'expired' });
  });
});

describe('a first send that fails', () => {
  it('is rejected when the endpoint simulated it in vain', async () => {
    const landing = await open(ticking).deliver(await transfer(ticking, { amount: 1e15, preflight: true }));
    expect(landing).toMatchObject({ status: 'rejected', err: { InstructionError: [0, expect.anything()] } });
    expect(landing.status === 'rejected' && landing.logs.length).toBeGreaterThan(0);
  });

  it('is rejected when the transaction turns out to have landed before: somebody else sent it', async () => {
    const delivery = open(ticking);
    const wanted = await transfer(ticking, { preflight: true });
    await delivery.deliver(wanted);
    await expect(delivery.deliver(wanted)).resolves.toMatchObject({ status: 'rejected', err: 'AlreadyProcessed' });
  });

  it('is rejected so even when the news that it landed are faster than the answer', async () => {
    const wanted = await transfer(ticking, { preflight: true });
    await open(ticking).deliver(wanted);
    const fast = open(ticking, { wsUrl: ticking.wsUrl });
    await fast.deliver(await transfer(ticking));
    ticking.faults.add({ kind: 'delay', method: 'sendTransaction', delayMs: 200 });
    await expect(fast.deliver(wanted)).resolves.toMatchObject({ status: 'rejected', err: 'AlreadyProcessed' });
  });

  it('throws when no endpoint is there', async () => {
    const rpc = connect(await deadUrl());
    const error = await rpcErrorOf(open(ticking, { rpc }).deliver(await transfer(ticking)));
    expect(error.failure).toBe('unreachable');
  });

  it('throws when the endpoint refuses the bytes', async () => {
    const delivery = await transfer(ticking);
    const error = await rpcErrorOf(open(ticking).deliver({ ...delivery, transaction: Uint8Array.of(1, 2, 3) }));
    expect(error.failure).toBe('answer');
  });

  it('throws when a signature is wrong', async () => {
    const delivery = await transfer(ticking, { preflight: true });
    const transaction = delivery.transaction.with(10, (delivery.transaction[10] ?? 0) ^ 1);
    const error = await rpcErrorOf(open(ticking).deliver({ ...delivery, transaction }));
    expect(error).toMatchObject({ failure: 'answer', details: { code: -32003 } });
  });

  it.each(['disconnect', 'hang', '429'] as const)(
    'counts as sent when in doubt, and is sent again: %s',
    async (kind) => {
      const delivery = await transfer(ticking);
      ticking.faults.add({ kind, method: 'sendTransaction', times: 3 });
      const landing = await open(ticking, { rpc: connect(ticking.rpcUrl, { timeoutMs: 500 }) }).deliver(delivery);
      expect(landing).toMatchObject({ status: 'landed', err: null });
    },
  );

  it('is simulated when it is sent again, where nobody has taken it: what cannot succeed costs nothing', async () => {
    const [{ publicKey }] = ticking.demoWallets as [Keypair];
    const delivery = await transfer(ticking, { amount: 1e15, preflight: true, timeoutMs: 1_500 });
    const before = ticking.account(publicKey.toBase58())?.lamports;
    ticking.faults.add({ kind: '429', method: 'sendTransaction', times: 2 });
    ticking.resetCalls();
    const landing = await open(ticking).deliver(delivery);
    expect(landing).toEqual({ status: 'unknown' });
    expect(ticking.calls.sendTransaction).toBeGreaterThan(3);
    expect(ticking.account(publicKey.toBase58())?.lamports).toBe(before);
  });
});

describe('endpoints that come and go', () => {
  it('survives an endpoint that is down for a while', async () => {
    const delivery = await transfer(ticking);
    const down = ticking.faults.add({ kind: 'disconnect', method: 'getSignatureStatuses' });
    ticking.resetCalls();
    const landing = open(ticking).deliver(delivery);
    await until(() => ticking.calls.getSignatureStatuses >= 5);
    down.remove();
    await expect(landing).resolves.toMatchObject({ status: 'landed', err: null });
  });

  it('does not notice that two of three endpoints are bad', async () => {
    const hanging = await startRpcEndpoint(() => 'hang');
    const rpc = connect([await deadUrl(), hanging.url, ticking.rpcUrl], { timeoutMs: 2_000 });
    const delivery = open(ticking, { rpc });
    for (let payment = 0; payment < 3; payment += 1) {
      await expect(delivery.deliver(await transfer(ticking))).resolves.toMatchObject({ status: 'landed', err: null });
    }
  });
});

describe('a watch', () => {
  it('resolves later what was unknown when the time was up', async () => {
    const { transaction, preflight, ...wanted } = await transfer(still);
    const delivery = open(still);
    const first = await delivery.deliver({ ...wanted, transaction, preflight, timeoutMs: 30 });
    expect(first).toEqual({ status: 'unknown' });
    await seen(still, wanted.signature);
    still.resetCalls();
    const second = delivery.watch(wanted);
    still.advanceSlots(2);
    await expect(second).resolves.toMatchObject({ status: 'landed', err: null });
    expect(still.calls.sendTransaction).toBe(0);
  });

  it('finds at once what landed long ago', async () => {
    const { transaction, preflight, ...wanted } = await transfer(still);
    const landing = open(still).deliver({ ...wanted, transaction, preflight });
    await seen(still, wanted.signature);
    still.advanceSlots(2);
    await landing;
    still.advanceSlots(400);
    await expect(open(still, { timing: PUSH_ONLY }).watch(wanted)).resolves.toMatchObject({
      status: 'landed',
      err: null,
    });
  });

  it('knows at once that what never landed is expired', async () => {
    const { transaction, preflight, ...wanted } = await transfer(still);
    still.expireBlockhashes();
    still.advanceSlots(2);
    await expect(open(still, { timing: PUSH_ONLY }).watch(wanted)).resolves.toEqual({ status: 'expired' });
  });
});

describe('close', () => {
  it('ends all waiting with unknown and takes nothing new', async () => {
    const delivery = open(still, { wsUrl: still.wsUrl });
    const wanted = await transfer(still);
    const waiting = [delivery.deliver(wanted), delivery.watch(wanted)];
    await delivery.close();
    await expect(Promise.all(waiting)).resolves.toEqual([{ status: 'unknown' }, { status: 'unknown' }]);
    expect((await rpcErrorOf(delivery.deliver(wanted))).failure).toBe('closed');
    expect((await rpcErrorOf(delivery.watch(wanted))).failure).toBe('closed');
  });

  /** Open sockets of this process that keep it alive, once those of earlier tests are gone. */
  async function countSockets(): Promise<() => number> {
    await Promise.all(opened.splice(0).map((part) => part.close()));
    const count = () => process.getActiveResourcesInfo().filter((name) => name.startsWith('TCPSocket')).length;
    await until(() => count() === 0);
    return count;
  }

  it('leaves nothing behind that keeps the process alive', async () => {
    const wanted = await transfer(still);
    const sockets = await countSockets();
    const rpc = connect(still.rpcUrl);
    const delivery = open(still, { rpc, wsUrl: still.wsUrl });
    const landing = delivery.deliver(wanted);
    await until(() => sockets() > 0);
    await delivery.close();
    await rpc.close();
    await expect(landing).resolves.toEqual({ status: 'unknown' });
    await until(() => sockets() === 0);
  });

  it('is not needed for the process to end: an idle connection does not hold it', async () => {
    const wanted = await transfer(ticking);
    const sockets = await countSockets();
    const rpc = connect(ticking.rpcUrl);
    await open(ticking, { rpc, wsUrl: ticking.wsUrl, timing: PUSH_ONLY }).deliver(wanted);
    await rpc.close();
    const sandboxEnd = 1;
    await until(() => sockets() === sandboxEnd);
  });
});
