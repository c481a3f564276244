import { bindingOf, resourceOf } from '../../../src/facilitator/payment-desk.js';
import { receiptOf } from '../../../src/facilitator/settle.js';
import { REASONS } from '../../../src/protocol/reasons.js';
import type { Receipt, Settlement } from '../../../src/protocol/types.js';
import { newClaim } from '../../contracts/ledger-samples.js';
import { LANDED, newPayment, OUTAGE, openDesk, secondProcess, signatureOf } from '../../helpers/desk-stand.js';

const RESOURCE = 'GET /report';
const USE = { resource: RESOURCE };
const FAILED = { status: 'landed', slot: 7, err: { InstructionError: [2, { Custom: 1 }] } } as const;
const DUPLICATE = { reason: 'duplicate_settlement', message: REASONS.duplicate_settlement } as const;

type Desk = ReturnType<typeof openDesk>;
type NewPayment = ReturnType<typeof newPayment>;

function receiptFor({ payment, terms, payer }: NewPayment, slot = 7): Receipt {
  const { network, payTo, asset, amount } = terms;
  return { signature: signatureOf(payment.transaction), network, payer, payTo, asset, amount, slot };
}

/** Holds a payment that nobody has brought before. */
async function held({ desk }: Pick<Desk, 'desk'>, { payment, terms }: NewPayment, resource = RESOURCE) {
  const opened = await desk.openPayment(payment, terms, { resource });
  if (opened.status !== 'open') throw new Error(`it is ${opened.status}`);
  return opened.claim;
}

/** Brings a payment up to a state, for a resource, and lets go of it. */
async function bring(stand: Desk, paid: NewPayment, state: string, resource: string): Promise<void> {
  const claim = await held(stand, paid, resource);
  stand.chain.sent = state === 'broadcast' ? { status: 'unknown' } : LANDED;
  if (state !== 'claimed') await claim.settle();
  if (state === 'served') await claim.complete();
  else if (state !== 'claimed') await claim.release();
  expect((await stand.ledger.find(paid.decoded.messageHash))?.state).toBe(state);
}

describe('to verify', () => {
  test.each([
    ['claimed', 'settle', 'asked'],
    ['claimed', RESOURCE, 'asked'],
    ['broadcast', 'settle', 'good'],
    ['broadcast', RESOURCE, 'used'],
    ['confirmed', 'settle', 'good'],
    ['confirmed', RESOURCE, 'used'],
    ['served', 'settle', 'used'],
    ['served', RESOURCE, 'used'],
  ])('a payment that is %s for %s: it is %s', async (state, resource, expected) => {
    const stand = openDesk();
    const paid = newPayment();
    await bring(stand, paid, state, resource);
    const { payer } = paid;
    const verdicts: Record<string, object> = {
      asked: { ok: true, payer },
      good: { ok: true, payer },
      used: { ok: false, ...DUPLICATE, payer },
    };
    expect(await stand.desk.verifyPayment(paid.payment, paid.terms)).toEqual(verdicts[expected]);
  });
});

describe('a payment that is opened again', () => {
  test('while another process holds it is in progress, and settles as such', async () => {
    const stand = openDesk();
    const paid = newPayment();
    await held(stand, paid);
    const other = secondProcess(stand);
    expect(await other.desk.openPayment(paid.payment, paid.terms, USE)).toEqual({ status: 'in_progress' });
    const own = newPayment();
    await held(stand, own, 'settle');
    const told: Settlement[] = [];
    const deliver = async (it: Settlement) => told.push(it) > 0;
    const settled = await other.desk.settlePayment(own.payment, own.terms, { deliver });
    const reason = 'settlement_in_progress';
    expect(settled).toEqual({ status: 'failed', reason, message: REASONS[reason] });
    expect(told).toEqual([settled]);
  });

  test.each([
    ['unknown', { status: 'unknown' }],
    ['landed', LANDED],
    ['failed', FAILED],
    ['expired', { status: 'expired' }],
    ['outage', OUTAGE],
  ] as const)('after it was sent is what the chain says of it: %s', async (what, found) => {
    const stand = openDesk();
    const paid = newPayment();
    const { payer } = paid;
    await bring(stand, paid, 'broadcast', RESOURCE);
    stand.chain.found = found;
    stand.told.length = 0;
    const opened = await stand.desk.openPayment(paid.payment, paid.terms, USE);
    const signature = signatureOf(paid.payment.transaction);
    const [failed, expired] = [
      'invalid_exact_svm_transaction_failed',
      'invalid_exact_svm_transaction_expired',
    ] as const;
    const about = { id: paid.decoded.messageHash, resource: RESOURCE };
    const whose = { ...about, payer, terms: paid.terms };

    if (what === 'landed') {
      if (opened.status !== 'open') throw new Error(opened.status);
      const receipt = receiptFor(paid);
      expect(opened.claim.receipt).toEqual(receipt);
      expect(stand.told).toEqual([['payment.settled', { ...about, receipt, durationMs: expect.any(Number) }]]);
      return;
    }
    if (what === 'failed' || what === 'expired') {
      const reason = what === 'failed' ? failed : expired;
      const message =
        what === 'failed'
          ? `${REASONS[failed]} The chain said: {"InstructionError":[2,{"Custom":1}]}.`
          : REASONS[expired];
      expect(opened).toEqual({ status: 'refused', refusal: { status: 'failed', reason, message, payer, signature } });
      const event = what === 'failed' ? ['payment.failed', { ...whose, reason }] : ['payment.expired', whose];
      expect(stand.told).toEqual([event]);
      expect(await stand.ledger.find(about.id)).toMatchObject({ state: what, reason });
      return;
    }
    expect(opened).toEqual({ status: 'pending', settlement: { status: 'pending', signature, payer } });
    expect(stand.told).toEqual([['payment.pending', whose]]);
    expect(await stand.ledger.find(about.id)).toMatchObject({ state: 'broadcast' });
    expect((await stand.desk.openPayment(paid.payment, paid.terms, USE)).status).toBe('pending');
  });

  test('when it is over shows its receipt to whom it belongs, and to nobody else', async () => {
    const stand = openDesk();
    const paid = newPayment();
    await bring(stand, paid, 'served', RESOURCE);
    const open = (resource: string) => stand.desk.openPayment(paid.payment, paid.terms, { resource });
    expect(await open(RESOURCE)).toEqual({ status: 'used', receipt: receiptFor(paid) });
    expect(await open('GET /other')).toEqual({ status: 'used' });
    const settled = await stand.desk.settlePayment(paid.payment, paid.terms);
    expect(settled).toEqual({ status: 'failed', ...DUPLICATE });
  });

  test('when it was used up without having been settled has no receipt', async () => {
    const stand = openDesk();
    const [unsent, unknown] = [newPayment(), newPayment()];
    await (await held(stand, unsent)).complete();
    stand.chain.sent = { status: 'unknown' };
    const claim = await held(stand, unknown);
    await claim.settle();
    await claim.complete();
    for (const { payment, terms } of [unsent, unknown]) {
      expect(await stand.desk.openPayment(payment, terms, USE)).toStrictEqual({ status: 'used' });
    }
  });
});

describe('what the chain would refuse', () => {
  test('is refused, told, and held no more', async () => {
    const stand = openDesk();
    const { payment, terms, payer, decoded } = newPayment();
    stand.chain.simulated = { InstructionError: [2, { Custom: 1 }] };
    const reason = 'insufficient_funds';
    const refusal = { ok: false, payer, reason, message: REASONS[reason] };
    for (let times = 0; times < 2; times += 1) {
      expect(await stand.desk.openPayment(payment, terms, USE)).toEqual({ status: 'refused', refusal });
    }
    const told = { id: decoded.messageHash, resource: RESOURCE, payer, terms, reason };
    expect(stand.told).toEqual([
      ['payment.failed', told],
      ['payment.failed', told],
    ]);
    expect(await stand.desk.settlePayment(payment, terms)).toEqual({ status: 'failed', ...refusal });
  });

  test('when it is sent was not sent, and may be tried again', async () => {
    const stand = openDesk();
    const paid = newPayment();
    const { payment, terms, payer, decoded } = paid;
    stand.chain.sent = { status: 'rejected', err: { InstructionError: [2, { Custom: 1 }] }, logs: [] };
    const reason = 'insufficient_funds';
    const failed = { status: 'failed', reason, message: REASONS[reason], payer };
    expect(await stand.desk.settlePayment(payment, terms)).toEqual(failed);
    expect(stand.told).toEqual([
      ['payment.failed', { id: decoded.messageHash, resource: 'settle', payer, terms, reason }],
    ]);
    expect(await stand.ledger.find(decoded.messageHash)).toBeUndefined();
    stand.chain.sent = LANDED;
    expect(await stand.desk.settlePayment(payment, terms)).toEqual({ status: 'settled', receipt: receiptFor(paid) });
  });
});

describe('to settle for a server elsewhere', () => {
  test('uses the payment up, unless the answer did not arrive', async () => {
    const stand = openDesk();
    const paid = newPayment();
    const { payment, terms, decoded } = paid;
    const state = async () => (await stand.ledger.find(decoded.messageHash))?.state;
    const settled = { status: 'settled', receipt: receiptFor(paid) };
    expect(await stand.desk.settlePayment(payment, terms, { deliver: async () => false })).toEqual(settled);
    expect(await state()).toBe('confirmed');
    expect(await stand.desk.settlePayment(payment, terms)).toEqual(settled);
    expect(await state()).toBe('served');
  });

  test('tells while nothing is known, and settles when it is', async () => {
    const stand = openDesk();
    const paid = newPayment();
    const { payment, terms, payer } = paid;
    stand.chain.sent = { status: 'unknown' };
    stand.chain.found = { status: 'unknown' };
    const pending = { status: 'pending', signature: signatureOf(payment.transaction), payer };
    for (let times = 0; times < 2; times += 1) expect(await stand.desk.settlePayment(payment, terms)).toEqual(pending);
    stand.chain.found = LANDED;
    expect(await stand.desk.settlePayment(payment, terms)).toEqual({ status: 'settled', receipt: receiptFor(paid) });
  });

  test('lets go of the payment when it cannot be answered', async () => {
    const stand = openDesk();
    const paid = newPayment();
    const { payment, terms } = paid;
    const deliver = () => Promise.reject(new Error('the socket is gone'));
    await expect(stand.desk.settlePayment(payment, terms, { deliver })).rejects.toThrow('the socket is gone');
    const settled = { status: 'settled', receipt: receiptFor(paid) };
    expect(await secondProcess(stand).desk.settlePayment(payment, terms)).toEqual(settled);
  });
});

test('a payment that was taken over meanwhile is not served: who settled it is to ask again', async () => {
  const stand = openDesk({ recordOutcome: async () => false });
  const { payment, terms } = newPayment();
  await expect(stand.desk.settlePayment(payment, terms)).rejects.toMatchObject({
    code: 'payment_in_progress',
    message: 'The payment was taken over by another request; ask again in a moment.',
    context: { retryAfterSeconds: 1 },
  });
  expect(stand.told).toEqual([]);
});

test('a receipt is there only where the money has landed', () => {
  const { lease: _lease, leaseMs: _leaseMs, ...claim } = newClaim();
  const { payer, terms } = claim;
  const { network, payTo, asset, amount } = terms;
  const [signature, slot] = ['5'.repeat(88), 0];
  const landed = { ...claim, claimedAt: 0, signature, slot };
  const receipt = { signature, network, payer, payTo, asset, amount, slot };
  for (const state of ['confirmed', 'served'] as const) expect(receiptOf({ ...landed, state })).toEqual(receipt);
  for (const state of ['claimed', 'broadcast', 'expired', 'failed'] as const) {
    expect(receiptOf({ ...landed, state })).toBeUndefined();
  }
  expect(receiptOf({ ...claim, claimedAt: 0, slot, state: 'served' })).toBeUndefined();
  expect(receiptOf({ ...claim, claimedAt: 0, signature, state: 'served' })).toBeUndefined();
});

test('what a payment was for is read from its binding, whatever is in the name', () => {
  const { lease: _lease, leaseMs: _leaseMs, ...claim } = newClaim();
  for (const resource of ['settle', 'GET /a|b', '']) {
    const binding = bindingOf(resource, claim.terms);
    expect(resourceOf({ ...claim, binding, state: 'claimed', claimedAt: 0 })).toBe(resource);
  }
});
