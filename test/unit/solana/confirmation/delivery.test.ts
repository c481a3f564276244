import type { Landing, TransactionDelivery } from '../../../../src/solana/confirmation/confirmation.js';
import { createTransactionDelivery } from '../../../../src/solana/confirmation/delivery.js';
import type { SolanaRpc } from '../../../../src/solana/rpc/rpc.js';
import { createSolanaRpc } from '../../../../src/solana/rpc/rpc-client.js';
import {
  closeRpcEndpoints,
  type Reaction,
  type ReceivedCall,
  type RpcEndpoint,
  startRpcEndpoint,
} from '../../../helpers/nodes/rpc-endpoint.js';
import { until } from '../../../helpers/until.js';

const TIMING = { pollMs: 5, latePollMs: 5, heightMs: 5, rebroadcastMs: 5 };
const LANDED = { slot: 300, err: null, confirmationStatus: 'finalized' };

/** A cluster whose height has passed the transaction's last one, at slot 500. */
const node = { statusSlot: 0, state: null as unknown, inHistoryOnly: false };
let endpoint: RpcEndpoint;
let rpc: SolanaRpc;
let delivery: TransactionDelivery;

beforeEach(async () => {
  Object.assign(node, { statusSlot: 500, state: null, inHistoryOnly: false });
  endpoint = await startRpcEndpoint(react);
  rpc = createSolanaRpc({ urls: endpoint.url });
  delivery = createTransactionDelivery({ rpc, timing: TIMING });
});
afterEach(async () => {
  await Promise.all([delivery.close(), rpc.close()]);
  await closeRpcEndpoints();
});

function react({ method, params }: ReceivedCall): Reaction {
  if (method === 'getEpochInfo') return { result: { absoluteSlot: 500, blockHeight: 151 } };
  if (method !== 'getSignatureStatuses') return { result: 'signature' };
  const state = !node.inHistoryOnly || searchesHistory({ params }) ? node.state : null;
  return { result: { context: { slot: node.statusSlot }, value: [state] } };
}

function searchesHistory({ params }: Pick<ReceivedCall, 'params'>): boolean {
  return JSON.stringify(params[1]) === '{"searchTransactionHistory":true}';
}

function deliver(): Promise<Landing> {
  return delivery.deliver({
    transaction: Uint8Array.of(1),
    signature: 'signature',
    blockhash: 'hash',
    lastValidBlockHeight: 150,
    commitment: 'confirmed',
    preflight: false,
    timeoutMs: 600_000,
  });
}

describe('the last look-up before a transaction is called expired', () => {
  it('must come from a node that is as far as the one that told the height', async () => {
    node.statusSlot = 499;
    let landing: Landing | undefined;
    const done = deliver().then((result) => {
      landing = result;
    });
    await until(() => endpoint.calls.filter(searchesHistory).length >= 5);
    expect(landing).toBeUndefined();
    node.statusSlot = 500;
    await done;
    expect(landing).toEqual({ status: 'expired' });
  });

  it('goes into the history, and wins over the height', async () => {
    node.state = LANDED;
    node.inHistoryOnly = true;
    await expect(deliver()).resolves.toEqual({ status: 'landed', slot: 300, err: null });
  });

  it('is made again when it fails', async () => {
    endpoint.react = (call) => (searchesHistory(call) ? { error: { code: -32602 } } : react(call));
    let ended = false;
    const done = deliver().then((landing) => {
      ended = true;
      return landing;
    });
    await until(() => endpoint.calls.filter(searchesHistory).length >= 3);
    expect(ended).toBe(false);
    endpoint.react = react;
    await expect(done).resolves.toEqual({ status: 'expired' });
  });
});

describe('the height', () => {
  it('is not asked for while the cluster knows the transaction', async () => {
    node.state = { ...LANDED, confirmationStatus: 'processed' };
    const asked = (method: string): number => endpoint.calls.filter((call) => call.method === method).length;
    const landing = deliver();
    await until(() => asked('getSignatureStatuses') >= 3);
    const before = asked('getEpochInfo');
    await until(() => asked('getSignatureStatuses') >= 15);
    expect(asked('getEpochInfo')).toBeLessThanOrEqual(before + 1);
    node.state = LANDED;
    await expect(landing).resolves.toMatchObject({ status: 'landed' });
  });
});

describe('the commitment', () => {
  it.each([
    ['processed', 'confirmed', false],
    ['confirmed', 'confirmed', true],
    ['finalized', 'confirmed', true],
    ['confirmed', 'finalized', false],
    ['processed', 'processed', true],
  ] as const)('%s is, for who wants %s, enough: %s', async (reached, commitment, enough) => {
    node.state = { ...LANDED, confirmationStatus: reached };
    const wanted = { signature: 'signature', blockhash: 'hash', commitment, timeoutMs: 600_000 };
    const landing = delivery.watch(wanted);
    await until(
      () => endpoint.calls.filter(({ method }) => method === 'getSignatureStatuses').length >= (enough ? 1 : 4),
    );
    if (!enough) await delivery.close();
    await expect(landing).resolves.toMatchObject({ status: enough ? 'landed' : 'unknown' });
  });
});

describe('a send that a node refuses', () => {
  const REFUSAL = { error: { code: -32_002, data: { err: 'BlockhashNotFound', logs: [] } } };
  const looks = (): number => endpoint.calls.filter(({ method }) => method === 'getSignatureStatuses').length;
  const refuse = (call: ReceivedCall): Reaction => {
    if (call.method === 'getEpochInfo') return { result: { absoluteSlot: 500, blockHeight: 1 } };
    return call.method === 'sendTransaction' ? REFUSAL : react(call);
  };

  it('is looked for four times, and then the node is believed', async () => {
    endpoint.react = refuse;
    await expect(deliver()).resolves.toEqual({ status: 'rejected', err: 'BlockhashNotFound', logs: [] });
    expect(looks()).toBeGreaterThanOrEqual(4);
    expect(endpoint.calls.filter(({ method }) => method === 'sendTransaction')).toHaveLength(1);
  });

  it('is not believed for looks that failed: nothing is known', async () => {
    endpoint.react = (call) => (call.method === 'getSignatureStatuses' ? { error: { code: -32_602 } } : refuse(call));
    await expect(deliver()).rejects.toMatchObject({ failure: 'answer', details: { code: -32_002 } });
    expect(looks()).toBeGreaterThanOrEqual(2);
  });

  it('was passed on all the same where the chain knows it', async () => {
    endpoint.react = refuse;
    node.state = { ...LANDED, confirmationStatus: 'processed' };
    await expect(deliver()).resolves.toMatchObject({ status: 'rejected', err: 'AlreadyProcessed' });
  });
});
