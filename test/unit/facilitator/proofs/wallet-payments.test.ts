import { bindingOf } from '../../../../src/facilitator/payments/payment-binding.js';
import { LANDING_GRACE_MS } from '../../../../src/facilitator/proofs/late-payment.js';
import { type RequestParts, requestTerms } from '../../../../src/facilitator/proofs/request-terms.js';
import { createWalletPayments } from '../../../../src/facilitator/proofs/wallet-payments.js';
import type { LandedTransaction } from '../../../../src/solana/rpc/landed-transaction.js';
import { createMemoryLedger } from '../../../../src/storage/ledger/memory-ledger.js';
import { fakeNode } from '../../../helpers/nodes/fake-node.js';
import { landedFor, requestOf, requestParts, solTransfer } from '../../../helpers/request-parts.js';
import { walletKey } from '../../../helpers/transactions/wallet-key.js';

const request = requestOf();
const payer = walletKey('payer').address;
const PAYING = landedFor(request);
const SHORT = landedFor(request, {
  messageHash: 'payment 2',
  instructions: [{ ...PAYING.instructions[0], data: solTransfer(4) } as LandedTransaction['instructions'][0]],
});

const PAID = { status: 'paid', id: 'payment 1' };
const NONE = { status: 'none' };
const SEARCHING = { status: 'searching' };

/** A chain with some transactions, newest first; what is told of one can change. */
async function scene(chain: Record<string, LandedTransaction | undefined>, asked = request) {
  const looked: string[] = [];
  const ledger = createMemoryLedger();
  await ledger.savePaymentRequest(asked);
  const rpc = fakeNode({
    getHistory: async (_address: string, before?: string) =>
      before === undefined
        ? Object.keys(chain).map((signature) => ({ signature, slot: 7, failed: false, blockTime: undefined }))
        : [],
  });
  const parts = requestParts({
    ledger,
    rpc,
    landed: async (signature) => {
      looked.push(signature);
      return chain[signature];
    },
  });
  const find = createWalletPayments(parts);
  return { parts, looked, chain, find: () => find(asked) };
}

/** Somebody else holds the payment. */
function claim(
  { ledger, policy }: RequestParts,
  binding = bindingOf(request.id, requestTerms(request, PAYING, policy)),
) {
  const { messageHash: id, blockhash } = PAYING;
  const terms = requestTerms(request, PAYING, policy);
  return ledger.claim({ id, binding, payer, terms, blockhash, lease: 'theirs', leaseMs: 60_000 });
}

test('a payment is written down and used up', async () => {
  const { parts, find } = await scene({ one: PAYING });
  const told: unknown[] = [];
  parts.events.on('payment.settled', (event) => told.push(event));
  expect(await find()).toMatchObject(PAID);
  expect(await parts.ledger.find('payment 1')).toMatchObject({ state: 'served', signature: 'one', slot: 7, payer });
  expect(await parts.ledger.findPaymentRequest(request.id)).toMatchObject({ attempt: 'payment 1' });
  expect(parts.leases.holds('payment 1')).toBe(false);
  expect(told).toMatchObject([{ id: 'payment 1', resource: request.id, receipt: { signature: 'one', amount: 5n } }]);
});

test('one for a project is not used up: it is good for the call that it is shown with', async () => {
  const seller = { projectId: 'prj_1', owner: walletKey('owner').address };
  const { parts, find } = await scene({ one: PAYING }, requestOf(seller));
  expect(await find()).toMatchObject(PAID);
  expect(await parts.ledger.find('payment 1')).toMatchObject({ state: 'confirmed', ...seller });
});

test('one that landed in a time that restored books have lost may have been shown since, and is used up', async () => {
  const asked = requestOf({ projectId: 'prj_1', owner: walletKey('owner').address });
  const { parts, find } = await scene({ one: { ...PAYING, blockTime: 2 } }, asked);
  Object.assign(parts.ledger, { remembersUntil: 1 });
  expect(await find()).toMatchObject(PAID);
  expect(await parts.ledger.find('payment 1')).toMatchObject({ state: 'served', signature: 'one' });
});

test('one that the node cannot tell of yet hides none after it, and is looked at again', async () => {
  const late = await scene({ newer: PAYING, older: undefined });
  expect(await late.find()).toMatchObject(PAID);
  expect(late.looked).toEqual(['older', 'newer']);

  const alone = await scene({ one: undefined });
  expect(await alone.find()).toEqual(SEARCHING);
  alone.chain['one'] = PAYING;
  expect(await alone.find()).toMatchObject(PAID);
});

test('one that does not pay is looked at once', async () => {
  const { looked, find } = await scene({ one: SHORT });
  expect([await find(), await find()]).toEqual([NONE, NONE]);
  expect(looked).toEqual(['one']);
});

test('one that pays for something else is looked at once', async () => {
  const { parts, looked, find } = await scene({ one: PAYING });
  await claim(parts, 'another thing');
  await parts.ledger.recordOutcome('payment 1', 'theirs', { state: 'confirmed', slot: 7, signature: 'one' });
  expect([await find(), await find()]).toEqual([NONE, NONE]);
  expect(looked).toEqual(['one']);
});

test.each([undefined, 'another thing'])(
  'one that somebody else holds, for %s, is left alone, and looked at again',
  async (binding) => {
    const { parts, looked, find } = await scene({ one: PAYING });
    await claim(parts, binding);
    expect(await find()).toEqual(SEARCHING);
    expect(await parts.ledger.find('payment 1')).toMatchObject({ state: 'claimed' });
    await parts.ledger.forget('payment 1', 'theirs');
    expect(await find()).toMatchObject(PAID);
    expect(looked).toEqual(['one', 'one']);
  },
);

test('while another one may still pay the request, none is taken', async () => {
  const { parts, find } = await scene({ one: PAYING });
  const terms = requestTerms(request, PAYING, parts.policy);
  await parts.ledger.claim({ id: 'other', binding: 'x', payer, terms, blockhash: '', lease: 'l', leaseMs: 60_000 });
  await parts.ledger.attachAttempt(request.id, 'other');
  expect(await find()).toEqual(SEARCHING);
  expect(await parts.ledger.find('payment 1')).toBeUndefined();
  await parts.ledger.forget('other', 'l');
  expect(await find()).toMatchObject(PAID);
});

describe('one that landed when the time of its request was over', () => {
  const tooLate = request.expiresAt + LANDING_GRACE_MS + 1;
  const LATE = { ...PAYING, blockTime: tooLate };

  test('is booked as late, once, and told to the seller', async () => {
    const { parts, find } = await scene({ one: LATE });
    const told: unknown[] = [];
    parts.events.on('payment.settled', (event) => told.push(event));
    parts.events.on('payment.expired', (event) => told.push(event));
    expect(await find()).toEqual({ status: 'late', id: 'payment 1', signature: 'one' });
    expect(await find()).toEqual({ status: 'late', id: 'payment 1', signature: 'one' });
    expect(told).toMatchObject([
      { id: 'payment 1', resource: request.id, reason: 'invalid_transfer_late', receipt: { signature: 'one' } },
    ]);
    expect(await parts.ledger.find('payment 1')).toMatchObject({ state: 'served', signature: 'one', slot: 7, payer });
    expect(await parts.ledger.findPaymentRequest(request.id)).toMatchObject({ attempt: 'payment 1' });
  });

  test('is in time to the millisecond', async () => {
    const { find } = await scene({ one: { ...PAYING, blockTime: tooLate - 1 } });
    expect(await find()).toMatchObject(PAID);
  });

  test('makes place for an older one that was in time and of which the node cannot tell yet', async () => {
    const { chain, find } = await scene({ late: { ...LATE, messageHash: 'payment 2' }, inTime: undefined });
    expect(await find()).toEqual(SEARCHING);
    chain['inTime'] = PAYING;
    expect(await find()).toEqual({ ...PAID, signature: 'inTime' });
  });

  test('is left alone where it has bought something else', async () => {
    const { parts, find } = await scene({ one: LATE });
    await claim(parts, 'another thing');
    expect(await find()).toEqual(SEARCHING);
    await parts.ledger.recordOutcome('payment 1', 'theirs', { state: 'confirmed', slot: 7, signature: 'one' });
    expect(await find()).toEqual(NONE);
  });
});
