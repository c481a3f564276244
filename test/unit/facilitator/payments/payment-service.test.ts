import { bindingOf, resourceOf } from '../../../../src/facilitator/payments/payment-binding.js';
import { retryHashOf } from '../../../../src/facilitator/payments/retry-hash.js';
import type { PaymentUse } from '../../../../src/facilitator/types.js';
import { REASONS } from '../../../../src/protocol/reasons.js';
import type { Settlement } from '../../../../src/protocol/types.js';
import type { Landing } from '../../../../src/solana/confirmation/confirmation.js';
import { LEASE_MS, newClaim } from '../../../contracts/ledger-samples.js';
import {
  LANDED,
  newPayment,
  OUTAGE,
  openPaymentService,
  receiptFor,
  secondProcess,
  signatureOf,
} from '../../../helpers/fixtures/payment-service-fixture.js';

const RESOURCE = 'GET /report';
const USE: PaymentUse = { resource: RESOURCE };
const BOUND = { ...USE, fingerprint: 'request', retryHash: retryHashOf({ secret: 'the payer’s' }) };
const OTHERS: readonly Partial<PaymentUse>[] = [
  { resource: 'GET /other' },
  { fingerprint: 'another request' },
  { retryHash: retryHashOf({ secret: 'a guess' }) },
];
const TEN_MINUTES = 600_000;
const FAILED: Landing = { status: 'landed', slot: 7, err: { InstructionError: [2, { Custom: 1 }] } };
const DUPLICATE = { reason: 'duplicate_settlement', message: REASONS.duplicate_settlement } as const;

/** What the chain says of a payment that is brought up to a state; default: it has landed. */
const SENT: Readonly<Record<string, Landing>> = {
  broadcast: { status: 'unknown' },
  failed: FAILED,
  expired: { status: 'expired' },
};

type Opened = ReturnType<typeof openPaymentService>;
type NewPayment = ReturnType<typeof newPayment>;

/** Holds a payment that nobody has brought before. */
async function held({ service }: Pick<Opened, 'service'>, { payment, terms }: NewPayment, use: PaymentUse = USE) {
  const opened = await service.openPayment(payment, terms, use);
  if (opened.status !== 'open') throw new Error(`it is ${opened.status}`);
  return opened.claim;
}

/** Brings a payment up to a state, for a use; unless it is `claimed` nobody holds it afterwards. */
async function bring(fixture: Opened, paid: NewPayment, state: string, use: PaymentUse = USE): Promise<void> {
  const claim = await held(fixture, paid, use);
  fixture.chain.sent = SENT[state] ?? LANDED;
  if (state !== 'claimed') await claim.settle();
  if (state === 'served') await claim.served();
  if (state === 'confirmed') await claim.keep();
  expect((await fixture.ledger.find(paid.decoded.messageHash))?.state).toBe(state);
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
    const fixture = openPaymentService();
    const paid = newPayment();
    await bring(fixture, paid, state, { resource });
    const { payer } = paid;
    const verdicts: Record<string, object> = {
      asked: { ok: true, payer },
      good: { ok: true, payer },
      used: { ok: false, ...DUPLICATE, payer },
    };
    expect(await fixture.service.verify(paid.payment, paid.terms)).toEqual(verdicts[expected]);
  });
});

describe('a payment that is opened again', () => {
  test('while another process holds it is in progress, and settles as such', async () => {
    const fixture = openPaymentService();
    const paid = newPayment();
    await held(fixture, paid);
    const other = secondProcess(fixture);
    expect(await other.service.openPayment(paid.payment, paid.terms, USE)).toEqual({ status: 'in_progress' });
    const own = newPayment();
    await held(fixture, own, { resource: 'settle' });
    const told: Settlement[] = [];
    const deliver = async (it: Settlement) => told.push(it) > 0;
    const settled = await other.service.settle(own.payment, own.terms, { deliver });
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
    const fixture = openPaymentService();
    const paid = newPayment();
    const { payer } = paid;
    await bring(fixture, paid, 'broadcast');
    fixture.chain.found = found;
    fixture.told.length = 0;
    const opened = await fixture.service.openPayment(paid.payment, paid.terms, USE);
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
      expect(opened.claim).toMatchObject({ receipt, resumed: true });
      expect(fixture.told).toEqual([['payment.settled', { ...about, receipt, durationMs: expect.any(Number) }]]);
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
      expect(fixture.told).toEqual([event]);
      expect(await fixture.ledger.find(about.id)).toMatchObject({ state: what, reason });
      return;
    }
    expect(opened).toEqual({ status: 'pending', settlement: { status: 'pending', signature, payer } });
    expect(fixture.told).toEqual([['payment.pending', whose]]);
    expect(await fixture.ledger.find(about.id)).toMatchObject({ state: 'broadcast' });
    expect((await fixture.service.openPayment(paid.payment, paid.terms, USE)).status).toBe('pending');
  });

  test.each(['confirmed', 'served', 'broadcast', 'failed'])(
    'when it is %s is for the use that it was brought for, and for the one who shows its secret',
    async (state) => {
      const fixture = openPaymentService();
      const paid = newPayment();
      await bring(fixture, paid, state, BOUND);
      const open = async (change: Partial<PaymentUse> = {}) =>
        fixture.service.openPayment(paid.payment, paid.terms, { ...BOUND, ...change });
      const receipt = state === 'confirmed' || state === 'served' ? { receipt: receiptFor(paid) } : {};
      for (const other of OTHERS) expect(await open(other)).toStrictEqual({ status: 'used', ...receipt });
      const { resource: _, ...settling } = BOUND;
      expect(await fixture.service.settle(paid.payment, paid.terms, settling)).toEqual({
        status: 'failed',
        ...DUPLICATE,
        // Where the money is can be read on the chain by anybody.
        ...('receipt' in receipt ? { signature: receipt.receipt.signature } : {}),
      });
      fixture.chain.found = { status: 'unknown' };
      const theirs = { confirmed: 'open', served: 'served', broadcast: 'pending', failed: 'refused' }[state];
      const opened = await open();
      expect(opened.status).toBe(theirs);
      if (state === 'served') expect(opened).toEqual({ status: 'served', id: paid.decoded.messageHash, ...receipt });
      if (state === 'failed')
        expect(opened).toMatchObject({ refusal: { payer: paid.payer, reason: expect.any(String) } });
    },
  );

  test('while it is held is not told to others as being served', async () => {
    const fixture = openPaymentService();
    const paid = newPayment();
    await bring(fixture, paid, 'claimed', BOUND);
    const { service } = secondProcess(fixture);
    for (const other of OTHERS) {
      const opened = await service.openPayment(paid.payment, paid.terms, { ...BOUND, ...other });
      expect(opened).toStrictEqual({ status: 'used' });
    }
    expect(await service.openPayment(paid.payment, paid.terms, BOUND)).toEqual({ status: 'in_progress' });
  });

  test.each([
    ['new', 'forgotten', false],
    ['left', 'claimed', false],
    ['sent', 'broadcast', true],
    ['kept', 'confirmed', true],
  ])('is resumed where its handler has run for money that may have moved: it is %s', async (_, state, resumed) => {
    const fixture = openPaymentService();
    const paid = newPayment();
    if (state === 'forgotten') await (await held(fixture, paid, BOUND)).forget();
    else await bring(fixture, paid, state, BOUND);
    await fixture.advance(LEASE_MS);
    expect((await held(secondProcess(fixture), paid, BOUND)).resumed).toBe(resumed);
  });

  test('for the first time by a request, when it was settled for any, is not resumed', async () => {
    const fixture = openPaymentService();
    const paid = newPayment();
    await bring(fixture, paid, 'confirmed', USE);
    const first = await held(fixture, paid, BOUND);
    expect(first.resumed).toBe(false);
    await first.keep();
    expect((await held(fixture, paid, BOUND)).resumed).toBe(true);
    expect(await fixture.ledger.find(first.id)).toMatchObject({ fingerprint: 'request', retryHash: BOUND.retryHash });
  });
});

describe('a payment that is bound to an address', () => {
  const BY_ADDRESS = { ...USE, retryHash: retryHashOf({ address: '192.0.2.7' }) };
  const late = async (state: string, ms: number, use: PaymentUse = BY_ADDRESS) => {
    const fixture = openPaymentService();
    const paid = newPayment();
    await bring(fixture, paid, state, use);
    await fixture.advance(ms);
    return { ...fixture, fixture, paid, open: () => fixture.service.openPayment(paid.payment, paid.terms, use) };
  };

  test('may be asked for again for ten minutes; then it is used, and held by nobody', async () => {
    for (const [state, status] of [
      ['confirmed', 'open'],
      ['served', 'served'],
    ] as const) {
      expect((await (await late(state, TEN_MINUTES)).open()).status).toBe(status);
      const { open, fixture, paid } = await late(state, TEN_MINUTES + 1);
      for (let times = 0; times < 2; times += 1) {
        expect(await open()).toStrictEqual({ status: 'used', receipt: receiptFor(paid) });
      }
      expect(fixture.leases.holds(paid.decoded.messageHash)).toBe(false);
    }
  });

  test('and was never sent may be brought at any time, and so may what is bound to a secret', async () => {
    const abandoned = await late('claimed', TEN_MINUTES + 1);
    const { payment, terms } = abandoned.paid;
    const { service } = secondProcess(abandoned.fixture);
    expect((await service.openPayment(payment, terms, BY_ADDRESS)).status).toBe('open');
    expect((await (await late('confirmed', 100 * TEN_MINUTES, BOUND)).open()).status).toBe('open');
  });
});

describe('to settle for a server elsewhere', () => {
  test('uses the payment up, unless the answer did not arrive', async () => {
    const fixture = openPaymentService();
    const paid = newPayment();
    const { payment, terms, decoded } = paid;
    const state = async () => (await fixture.ledger.find(decoded.messageHash))?.state;
    const settled = { status: 'settled', receipt: receiptFor(paid) };
    expect(await fixture.service.settle(payment, terms, { deliver: async () => false })).toEqual(settled);
    expect(await state()).toBe('confirmed');
    expect(await fixture.service.settle(payment, terms)).toEqual(settled);
    expect(await state()).toBe('served');
  });

  test('gives a lost answer again to the one who shows the secret that came with it, and to nobody else', async () => {
    const { service } = openPaymentService();
    const paid = newPayment();
    const settle = (secret: string, arrives = true) => {
      const options = { retryHash: retryHashOf({ secret }), deliver: async () => arrives };
      return service.settle(paid.payment, paid.terms, options);
    };
    const settled = { status: 'settled', receipt: receiptFor(paid) };
    expect(await settle('the payer’s', false)).toEqual(settled);
    expect(await settle('a guess')).toMatchObject({ status: 'failed', ...DUPLICATE });
    expect(await settle('the payer’s')).toEqual(settled);
    expect(await settle('the payer’s')).toMatchObject({ status: 'failed', ...DUPLICATE });
  });

  test('tells while nothing is known, and settles when it is', async () => {
    const fixture = openPaymentService();
    const paid = newPayment();
    const { payment, terms, payer } = paid;
    fixture.chain.sent = { status: 'unknown' };
    fixture.chain.found = { status: 'unknown' };
    const pending = { status: 'pending', signature: signatureOf(payment.transaction), payer };
    for (let times = 0; times < 2; times += 1) expect(await fixture.service.settle(payment, terms)).toEqual(pending);
    fixture.chain.found = LANDED;
    expect(await fixture.service.settle(payment, terms)).toEqual({ status: 'settled', receipt: receiptFor(paid) });
  });

  test('lets go of the payment when it cannot be answered', async () => {
    const fixture = openPaymentService();
    const paid = newPayment();
    const { payment, terms } = paid;
    const deliver = () => Promise.reject(new Error('the socket is gone'));
    await expect(fixture.service.settle(payment, terms, { deliver })).rejects.toThrow('the socket is gone');
    const settled = { status: 'settled', receipt: receiptFor(paid) };
    expect(await secondProcess(fixture).service.settle(payment, terms)).toEqual(settled);
  });
});

test('what a payment was for is read from its binding, whatever is in the name', () => {
  const { lease: _lease, leaseMs: _leaseMs, ...claim } = newClaim();
  for (const resource of ['settle', 'GET /a|b', '']) {
    const binding = bindingOf(resource, claim.terms);
    expect(resourceOf({ ...claim, binding, state: 'claimed', claimedAt: 0 })).toBe(resource);
  }
});
