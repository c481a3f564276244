import bs58 from 'bs58';
import { bindingOf } from '../../../../src/facilitator/payments/payment-binding.js';
import {
  type BookCheck,
  type BookCheckParts,
  checkBooked,
} from '../../../../src/facilitator/reconcile/check-booked.js';
import type { SignatureState } from '../../../../src/solana/rpc/rpc.js';
import { NATIVE_SOL } from '../../../../src/solana/transaction/programs.js';
import type { BookedPayment } from '../../../../src/storage/books/payment-reader.js';
import { createMemoryLedger } from '../../../../src/storage/ledger/memory-ledger.js';
import type { PaymentRequestRecord } from '../../../../src/storage/ledger/payment-request.js';
import { newClaim } from '../../../contracts/ledger-samples.js';
import { landedAs, NETWORK, newRequest, paying } from '../../../helpers/fixtures/payment-service-fixture.js';

const LANDED: SignatureState = { slot: 12, err: null, commitment: 'finalized' };
const FAILED: SignatureState = { slot: 13, err: 'AccountInUse', commitment: 'finalized' };
const RETURNED = 'invalid_exact_svm_transaction_failed';

let count = 0;

function booked(change: Partial<BookedPayment>): BookedPayment {
  const { lease: _lease, leaseMs: _leaseMs, ...payment } = newClaim();
  count += 1;
  return { ...payment, state: 'confirmed', signature: bs58.encode(Buffer.alloc(64, count)), claimedAt: 0, ...change };
}

function unsigned(change: Partial<BookedPayment>): BookedPayment {
  const { signature: _signature, ...payment } = booked(change);
  return payment;
}

/** A request that was paid and is in the books, and its transaction. */
function paidRequest(change: Partial<BookedPayment> = {}) {
  const asked = newRequest(0);
  const { decoded, payer } = paying(asked);
  const request = { ...asked, attempt: decoded.messageHash };
  const { network, payTo, amount } = request;
  const terms = {
    scheme: 'transfer',
    network,
    asset: NATIVE_SOL,
    amount,
    payTo,
    maxTimeoutSeconds: 60,
    ...change.terms,
  };
  const payment = booked({ id: decoded.messageHash, payer, terms, binding: bindingOf(request.id, terms), ...change });
  const landed = (after = amount) => landedAs(decoded, { lamports: new Map([[payTo, { before: 0n, after }]]) });
  return { request, payment, landed };
}

/** A chain that knows some transactions, and books with some payment requests. */
async function open(
  known: ReadonlyMap<string | undefined, SignatureState>,
  landed: ReadonlyMap<string | undefined, ReturnType<typeof landedAs>> = new Map(),
  requests: readonly PaymentRequestRecord[] = [],
) {
  const memory = createMemoryLedger({ now: () => 0 });
  for (const it of requests) await memory.savePaymentRequest(it);
  const [asked, shown, sought] = [[] as unknown[], [] as unknown[], [] as string[]];
  let [atWork, most] = [0, 0];
  const parts = (amounts: boolean): BookCheckParts => ({
    amounts,
    network: NETWORK,
    ledger: {
      async findPaymentRequest(id: string) {
        sought.push(id);
        return memory.findPaymentRequest(id);
      },
    },
    rpc: {
      async getSignatureStatuses(...call) {
        asked.push(call);
        return { slot: 20, states: call[0].map((it) => known.get(it) ?? null) };
      },
      async getTransaction(...call) {
        shown.push(call);
        atWork += 1;
        most = Math.max(most, atWork);
        await new Promise((done) => setImmediate(done));
        atWork -= 1;
        return landed.get(call[0]) ?? null;
      },
    },
  });
  const check = (page: readonly BookedPayment[], amounts = false) => checkBooked(parts(amounts), page);
  return { check, asked, shown, sought, most: () => most };
}

const fine = (payment: BookedPayment): BookCheck => ({ payment, verdict: 'fine' });
const wrong = (payment: BookedPayment, detail: string): object => ({
  payment,
  verdict: 'wrong',
  detail,
  advice: expect.stringMatching(/./),
});

describe('a payment in the books, and what the chain says of it', () => {
  const UNKNOWN = 'booked as paid, and the chain does not know it';
  const BROKEN = 'booked as paid, and it failed on the chain';
  test.each<[Partial<BookedPayment>, SignatureState | undefined, 'fine' | 'open' | 'wrong', string?]>([
    [{ state: 'claimed' }, undefined, 'open', 'not sent yet'],
    [{ state: 'claimed' }, LANDED, 'open', 'not sent yet'],
    [{ state: 'broadcast' }, undefined, 'open', 'sent; the chain: does not know it'],
    [{ state: 'broadcast' }, LANDED, 'open', 'sent; the chain: landed in slot 12'],
    [{ state: 'broadcast' }, FAILED, 'open', 'sent; the chain: failed in slot 13'],
    [{ state: 'confirmed' }, LANDED, 'fine'],
    [{ state: 'served' }, LANDED, 'fine'],
    [{ state: 'confirmed' }, undefined, 'wrong', UNKNOWN],
    [{ state: 'served' }, undefined, 'wrong', UNKNOWN],
    [{ state: 'confirmed' }, FAILED, 'wrong', BROKEN],
    [{ state: 'served' }, FAILED, 'wrong', BROKEN],
    [{ state: 'expired' }, undefined, 'fine'],
    [{ state: 'expired' }, FAILED, 'fine'],
    [{ state: 'expired' }, LANDED, 'wrong', 'booked as expired, and it has landed'],
    [{ state: 'failed', reason: RETURNED }, undefined, 'fine'],
    [{ state: 'failed', reason: RETURNED }, FAILED, 'fine'],
    [{ state: 'failed', reason: RETURNED }, LANDED, 'wrong', 'booked as failed, and it has landed'],
    [{ state: 'failed', reason: 'invalid_transfer_not_received' }, LANDED, 'fine'],
    [{ state: 'failed', reason: 'invalid_transfer_not_received' }, undefined, 'fine'],
  ])('%j, %j: %s', async (change, state, verdict, ...[detail]) => {
    const payment = booked(change);
    const at = await open(state === undefined ? new Map() : new Map([[payment.signature, state]]));
    const advice = verdict === 'wrong' ? { advice: expect.stringMatching(/./) } : {};
    const expected = detail === undefined ? { payment, verdict } : { payment, verdict, detail, ...advice };
    expect(await at.check([payment])).toStrictEqual([expected]);
    expect(at.asked).toEqual([[[payment.signature], { searchHistory: true }]]);
    expect(at.shown).toEqual([]);
  });
});

describe('a page of the books', () => {
  test('is asked for in one call: what is signed, on this network', async () => {
    const { terms } = newClaim();
    const elsewhere = booked({ terms: { ...terms, network: 'solana' } });
    const [claimed, paid, other] = [unsigned({ state: 'claimed' }), booked({}), booked({ state: 'expired' })];
    const at = await open(new Map([[paid.signature, LANDED]]));
    expect(await at.check([claimed, elsewhere, paid, other])).toStrictEqual([
      { payment: claimed, verdict: 'open', detail: 'not sent yet' },
      fine(paid),
      fine(other),
    ]);
    expect(at.asked).toEqual([[[paid.signature, other.signature], { searchHistory: true }]]);
  });

  test('without a signature in it costs no call', async () => {
    const at = await open(new Map());
    const [claimed, lost] = [unsigned({ state: 'claimed' }), unsigned({ state: 'served' })];
    expect(await at.check([claimed, lost], true)).toStrictEqual([
      { payment: claimed, verdict: 'open', detail: 'not sent yet' },
      wrong(lost, 'booked as paid, and no transaction is named'),
    ]);
    expect([at.asked, at.shown]).toEqual([[], []]);
  });
});

describe('the amounts', () => {
  test('are compared where the payment is paid and fine', async () => {
    const paid = paidRequest();
    const hidden = booked({ state: 'served' });
    const others = [
      booked({ state: 'claimed' }),
      booked({ state: 'broadcast' }),
      booked({ state: 'expired' }),
      booked({ state: 'confirmed' }),
    ];
    const { payment } = paid;
    const at = await open(
      new Map([payment, hidden].map((it) => [it.signature, LANDED])),
      new Map([[payment.signature, paid.landed()]]),
      [paid.request],
    );
    const checks = await at.check([...others, payment, hidden], true);
    expect(checks.map(({ verdict }) => verdict)).toEqual(['open', 'open', 'fine', 'wrong', 'fine', 'wrong']);
    expect(checks[5]).toStrictEqual(wrong(hidden, 'booked as paid, and the chain cannot show it'));
    expect(at.shown).toEqual([payment, hidden].map(({ signature }) => [signature, 'confirmed']));
  });

  test('are those of the request, where one was paid', async () => {
    const paid = paidRequest();
    const { signature } = paid.payment;
    const at = await open(new Map([[signature, LANDED]]), new Map([[signature, paid.landed(999n)]]), [paid.request]);
    const detail = 'the transaction does not pay its request: invalid_transfer_not_received';
    expect(await at.check([paid.payment], true)).toStrictEqual([wrong(paid.payment, detail)]);
    expect(at.sought).toEqual([paid.request.id]);
    expect(await at.check([paid.payment])).toStrictEqual([fine(paid.payment)]);
  });

  test('are those of the terms, where no request was paid', async () => {
    const { terms } = paidRequest().payment;
    const paid = paidRequest();
    const exact = { ...terms, scheme: 'exact', payTo: paid.request.payTo, amount: 1_001n };
    const payment = { ...paid.payment, terms: exact, binding: bindingOf(paid.request.id, exact) };
    const { signature } = payment;
    const at = await open(new Map([[signature, LANDED]]), new Map([[signature, paid.landed()]]), [paid.request]);
    const detail = 'the transaction pays 1000 of 1001 atomic units';
    expect(await at.check([payment], true)).toStrictEqual([wrong(payment, detail)]);
    expect(at.sought).toEqual([]);
  });

  test('are all asked for, each once and eight at a time', async () => {
    for (const size of [8, 16, 17]) {
      const all = Array.from({ length: size }, () => paidRequest());
      const payments = all.map(({ payment }) => payment);
      const landed = new Map(
        all.map((it, index) => [it.payment.signature, it.landed(index === size - 1 ? 1n : 1_000n)]),
      );
      const requests = all.map(({ request }) => request);
      const at = await open(new Map(payments.map((it) => [it.signature, LANDED])), landed, requests);
      const checks = await at.check(payments, true);
      expect(checks.map(({ verdict }) => verdict)).toEqual([...Array(size - 1).fill('fine'), 'wrong']);
      expect(at.shown).toEqual(payments.map(({ signature }) => [signature, 'confirmed']));
      expect(at.most()).toBe(8);
    }
  });
});
