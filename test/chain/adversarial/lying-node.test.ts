import { GENESIS_HASHES } from '../../../src/protocol/networks/networks.js';
import { type LyingNode, startLyingNode } from '../../helpers/nodes/lying-node.js';
import { buildDraft } from '../../helpers/transactions/draft.js';
import { paymentOf, useArena } from '../../helpers/transactions/hostile.js';

const arena = useArena();
let node: LyingNode;

// A node that was caught is left to rest for a moment.
beforeEach(async () => {
  node = await startLyingNode(arena().fixture, { settleTimeoutMs: 3_000 });
});
afterEach(async () => {
  arena().fixture.sandbox.faults.clear();
  await node.close();
});

async function payment() {
  const terms = arena().terms();
  const { draft } = await arena().honest(terms);
  return { terms, payment: paymentOf(buildDraft(draft), terms) };
}

/** The statuses that a lie makes of the true ones. */
function statuses(told: (slot: number) => unknown) {
  return (method: string, result: unknown): unknown => {
    if (method !== 'getSignatureStatuses') return result;
    return told((result as { context: { slot: number } }).context.slot);
  };
}

const landed = (slot: number) => ({ slot, confirmations: null, err: null, confirmationStatus: 'finalized' });

test.each<[string, (slot: number) => unknown]>([
  ['with more statuses than were asked for', (slot) => ({ context: { slot }, value: [landed(slot), landed(slot)] })],
  [
    'without saying whether it succeeded',
    (slot) => ({ context: { slot }, value: [{ ...landed(slot), err: undefined }] }),
  ],
  [
    'by a commitment that there is not',
    (slot) => ({ context: { slot }, value: [{ ...landed(slot), confirmationStatus: 'rooted' }] }),
  ],
  ['without a slot', () => ({ context: {}, value: [landed(0)] })],
  ['with a text', () => 'all is well'],
])('a node that tells of success %s is not believed', async (_name, told) => {
  const { terms, payment: unpaid } = await payment();
  arena().fixture.sandbox.faults.add({ kind: 'drop' });
  node.lie = statuses(told);
  const short = { ...terms, maxTimeoutSeconds: 1 };
  const settlement = await node.facilitator.settle({ ...unpaid, accepted: short }, short);
  expect(settlement).toMatchObject({ status: 'pending' });
});

test('a node that lags behind does not make a landed payment expire', async () => {
  const { terms, payment: paid } = await payment();
  node.lie = (method, result) => {
    if (method === 'getEpochInfo') return { ...(result as object), absoluteSlot: 1e9, blockHeight: 1e9 };
    return statuses((slot) => ({ context: { slot }, value: [null] }))(method, result);
  };
  expect(await node.facilitator.settle(paid, terms)).toMatchObject({ status: 'pending' });
  node.lie = (_method, result) => result;
  expect(await node.facilitator.settle(paid, terms)).toMatchObject({ status: 'settled' });
});

test('a node that calls a payment good which is not, and sends it so, gets nothing served', async () => {
  const { sandbox } = arena().fixture;
  const terms = arena().terms();
  const poor = await sandbox.createWallet({ usdc: '0.001' });
  const { draft } = await arena().honest(terms, poor);
  const unpaid = paymentOf(buildDraft(draft), terms);
  node.lie = (method, result) =>
    method === 'simulateTransaction' ? { ...(result as object), value: { err: null, logs: [] } } : result;
  node.twist = ({ method, params }) => {
    if (method === 'sendTransaction') Object.assign(params[1] as object, { skipPreflight: true });
  };
  const before = sandbox.balance(terms.feePayer!);
  expect(await node.facilitator.verify(unpaid, terms)).toMatchObject({ ok: true });
  const settlement = await node.facilitator.settle(unpaid, terms);
  expect(settlement).toMatchObject({ status: 'failed', reason: 'invalid_exact_svm_transaction_failed' });
  expect(sandbox.tokenBalance(poor.publicKey.toBase58(), terms.asset)).toBe(1_000n);
  // What such a node can cost us is the network fee (two signatures and the payer's price), once for each payment.
  expect(before - sandbox.balance(terms.feePayer!)).toBe(10_001n);
  expect(await node.facilitator.settle(unpaid, terms)).toMatchObject({ status: 'failed' });
  expect(before - sandbox.balance(terms.feePayer!)).toBe(10_001n);
});

test('a node of another network leaves a facilitator that offers nothing', async () => {
  const stray = await startLyingNode(arena().fixture);
  stray.lie = (method, result) => (method === 'getGenesisHash' ? GENESIS_HASHES['solana-testnet'] : result);
  expect(await stray.facilitator.health()).toMatchObject({ status: 'down', faults: ['wrong_network'] });
  expect((await stray.facilitator.supported()).kinds).toEqual([]);
  await stray.close();

  expect(await node.facilitator.health()).toMatchObject({ status: 'active', faults: [] });
  expect((await node.facilitator.supported()).kinds).toHaveLength(1);
});
