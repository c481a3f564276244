import { Keypair } from '@solana/web3.js';
import { createPaymentService } from '../../../../src/facilitator/payments/payment-service.js';
import { createPaymentsInFlight } from '../../../../src/facilitator/payments/payments-in-flight.js';
import { retryHashOf } from '../../../../src/facilitator/payments/retry-hash.js';
import type { PaymentUse } from '../../../../src/facilitator/types.js';
import { newPayment, OUTAGE, openPaymentService } from '../../../helpers/fixtures/payment-service-fixture.js';

const USE = { resource: 'GET /report' };

type Opened = ReturnType<typeof openPaymentService>;

/** Opens a payment that nobody has brought before, and takes its money. */
async function settleNew({ service }: Pick<Opened, 'service'>, use: PaymentUse = USE) {
  const paid = newPayment();
  const opened = await service.openPayment(paid.payment, paid.terms, use);
  if (opened.status !== 'open') throw new Error(`it is ${opened.status}`);
  const { claim } = opened;
  return { ...paid, claim, settlement: await claim.settle() };
}

test('what breaks the rules is refused whoever asks, and the chain is not asked', async () => {
  const fixture = openPaymentService();
  fixture.chain.simulated = OUTAGE;
  const { payment, terms, payer } = newPayment();
  const dearer = { ...terms, amount: terms.amount + 1n };
  const reason = 'invalid_exact_svm_payload_amount_mismatch';
  const refusal = { reason, message: expect.any(String), payer };
  expect(await fixture.service.verify(payment, dearer)).toEqual({ ok: false, ...refusal });
  expect(await fixture.service.openPayment(payment, dearer, USE)).toEqual({ status: 'refused', refusal });
  expect(await fixture.service.settle(payment, dearer)).toEqual({ status: 'failed', ...refusal });
});

test('a payment that is given back takes no money from the next one of its payer', async () => {
  const fixture = openPaymentService();
  const payer = Keypair.generate();
  const { drop: _drop, ...forgetful } = fixture.backend;
  for (const backend of [fixture.backend, forgetful]) {
    const service = createPaymentService({ ...fixture.parts, backend });
    const { payment, terms } = newPayment(undefined, payer);
    const opened = await service.openPayment(payment, terms, USE);
    if (opened.status !== 'open') throw new Error(`it is ${opened.status}`);
    await opened.claim.forget();
  }
});

describe('what is simulated', () => {
  const REFUSED = { InstructionError: [2, { Custom: 1 }] };

  test('is not a payment that is to be opened without', async () => {
    const fixture = openPaymentService();
    fixture.chain.simulated = REFUSED;
    const { payment, terms } = newPayment();
    expect((await fixture.service.openPayment(payment, terms, { ...USE, simulate: false })).status).toBe('open');
  });

  test('is not what has landed: its money is gone from where it was', async () => {
    const fixture = openPaymentService();
    const { claim, payment, terms } = await settleNew(fixture, { ...USE, simulate: false });
    await claim.keep();
    fixture.chain.simulated = REFUSED;
    expect((await fixture.service.openPayment(payment, terms, USE)).status).toBe('open');
  });

  test('is what a server elsewhere brings for the first time', async () => {
    const fixture = openPaymentService();
    const { payment, terms, payer } = newPayment();
    expect(await fixture.service.verify(payment, terms)).toEqual({ ok: true, payer });
    fixture.chain.simulated = REFUSED;
    const other = newPayment();
    expect(await fixture.service.verify(other.payment, other.terms)).toMatchObject({ reason: 'insufficient_funds' });
  });
});

test.each([
  ['buys nothing where it was sent before a backup that was restored: it may have been served', true, 'served'],
  ['is served where no backup was restored', false, 'open'],
])('a payment that was on its way, and has landed since, %s', async (_what, isRestored, status) => {
  const fixture = openPaymentService(
    isRestored ? { remembersUntil: 1, remembersSince: Number.MAX_SAFE_INTEGER } : undefined,
  );
  fixture.chain.sent = { status: 'unknown' };
  const { claim, payment, terms, settlement } = await settleNew(fixture);
  expect(settlement.status).toBe('pending');
  await claim.keep();
  const opened = await fixture.service.openPayment(payment, terms, USE);
  expect(opened.status).toBe(status);
});

test('a payment of which the chain could not be asked is free at once', async () => {
  const fixture = openPaymentService();
  const { payment, terms } = newPayment();
  fixture.chain.simulated = OUTAGE;
  await expect(fixture.service.openPayment(payment, terms, USE)).rejects.toMatchObject({
    code: 'payment_backend_unavailable',
  });
  fixture.chain.simulated = null;
  expect((await fixture.service.openPayment(payment, terms, USE)).status).toBe('open');
});

test('a payment that nobody wants any more as it is to be sent is as if it had never been brought', async () => {
  const { service, delivered } = openPaymentService();
  const { payment, terms } = newPayment();
  const opened = await service.openPayment(payment, terms, USE);
  if (opened.status !== 'open') throw new Error(`it is ${opened.status}`);
  expect(await opened.claim.settle({ isWanted: async () => false })).toMatchObject({ status: 'failed' });
  expect([delivered, opened.claim.mayBeSent, await service.knownTerms(payment)]).toEqual([[], false, undefined]);
  expect((await service.openPayment(payment, terms, USE)).status).toBe('open');
});

test('a payment that is held here is verified in its own place, however few there are', async () => {
  const { parts } = openPaymentService();
  const service = createPaymentService({ ...parts, inFlight: createPaymentsInFlight({ maxPaymentsInFlight: 1 }) });
  const { payment, terms, payer } = newPayment();
  expect((await service.openPayment(payment, terms, USE)).status).toBe('open');
  expect(await service.verify(payment, terms)).toEqual({ ok: true, payer });
  const other = newPayment();
  await expect(service.verify(other.payment, other.terms)).rejects.toMatchObject({ code: 'too_many_payments' });
});

describe('a payment that breaks a bound which was lowered since', () => {
  const reason = 'invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high';

  test('is served where it had landed before', async () => {
    const fixture = openPaymentService();
    const { claim, payment, terms } = await settleNew(fixture);
    await claim.keep();
    fixture.policy.maxFeeLamports = 1n;
    expect((await fixture.service.openPayment(payment, terms, USE)).status).toBe('open');
    const other = newPayment();
    expect(await fixture.service.openPayment(other.payment, other.terms, USE)).toMatchObject({ refusal: { reason } });
  });

  test('is refused, and held by nobody, where it turns out that it was never sent', async () => {
    const sent = openPaymentService();
    sent.chain.sent = { status: 'unknown' };
    const { payment, terms, decoded } = await settleNew(sent);
    const stale = await sent.ledger.find(decoded.messageHash);
    const fixture = openPaymentService({ find: async () => stale });
    fixture.policy.maxFeeLamports = 1n;
    expect(await fixture.service.openPayment(payment, terms, USE)).toMatchObject({
      status: 'refused',
      refusal: { reason },
    });
    fixture.policy.maxFeeLamports = 100_000n;
    expect((await fixture.service.openPayment(payment, terms, USE)).status).toBe('open');
  });
});

test('terms are known of a payment that was sent, not of one that is only held or that nobody knows', async () => {
  const { service } = openPaymentService();
  const { payment, terms } = newPayment();
  expect(await service.knownTerms(payment)).toBeUndefined();
  const opened = await service.openPayment(payment, terms, USE);
  if (opened.status !== 'open') throw new Error(`it is ${opened.status}`);
  expect(await service.knownTerms(payment)).toBeUndefined();
  await opened.claim.settle();
  expect(await service.knownTerms(payment)).toEqual(terms);
  expect(await service.knownTerms({ ...payment, transaction: new Uint8Array(3) })).toBeUndefined();
});

describe('whom gates let in with a payment', () => {
  const [secret, address] = [retryHashOf({ secret: 'nonce 1' }), retryHashOf({ address: '192.0.2.7' })];
  const bound = { ...USE, fingerprint: 'request', admitted: 'a holder' };
  const coming = (retryHash: string, fingerprint: string | undefined = 'request') => ({
    retryHash,
    fingerprint: async () => fingerprint,
  });

  test('is told to who comes again for the same request with the secret, until it is as if it had never come', async () => {
    const { service } = openPaymentService();
    const { payment, terms } = newPayment();
    expect(await service.admittedWith(payment, coming(secret))).toBeUndefined();
    const opened = await service.openPayment(payment, terms, { ...bound, retryHash: secret });
    if (opened.status !== 'open') throw new Error(`it is ${opened.status}`);
    expect(await service.admittedWith(payment, coming(secret))).toBe('a holder');
    for (const other of [coming(retryHashOf({ secret: 'nonce 2' })), coming(secret, 'another'), coming(address)]) {
      expect(await service.admittedWith(payment, other)).toBeUndefined();
    }
    expect(await service.admittedWith({ ...payment, transaction: new Uint8Array(3) }, coming(secret))).toBeUndefined();
    await opened.claim.forget();
    expect(await service.admittedWith(payment, coming(secret))).toBeUndefined();
  });

  test('is told while the payment is sent, has landed, and is used up', async () => {
    const { service } = openPaymentService();
    const { payment, claim } = await settleNew({ service }, { ...bound, retryHash: secret });
    expect(await service.admittedWith(payment, coming(secret))).toBe('a holder');
    await claim.served();
    expect(await service.admittedWith(payment, coming(secret))).toBe('a holder');
  });

  test('is not told to who is known by an address, nor where the client is gone, nor where nobody was let in', async () => {
    const { service } = openPaymentService();
    const byIpAddress = await settleNew({ service }, { ...bound, retryHash: address });
    expect(await service.admittedWith(byIpAddress.payment, coming(address))).toBeUndefined();
    const { fingerprint: _fingerprint, ...anyRequest } = { ...bound, retryHash: secret };
    const unbound = await settleNew({ service }, anyRequest);
    expect(
      await service.admittedWith(unbound.payment, { retryHash: secret, fingerprint: async () => undefined }),
    ).toBeUndefined();
    const nobody = await settleNew({ service }, { ...USE, fingerprint: 'request', retryHash: secret });
    expect(await service.admittedWith(nobody.payment, coming(secret))).toBeUndefined();
  });
});

describe('settling for servers elsewhere', () => {
  test('uses no more than a fifth of the fees of an hour, and leaves the rest to our own routes', async () => {
    const forTen = 101_000n;
    const { service } = openPaymentService({}, forTen);
    const settle = () => {
      const { payment, terms } = newPayment();
      return service.settle(payment, terms);
    };
    for (let times = 0; times < 2; times += 1) expect(await settle()).toMatchObject({ status: 'settled' });
    await expect(settle()).rejects.toMatchObject({ code: 'fee_limit_reached' });
    expect((await settleNew({ service })).settlement).toMatchObject({ status: 'settled' });
  });

  test('has nothing to keep of money that was not taken, whether or not the answer arrives', async () => {
    const away = () => Promise.reject(new Error('the ledger is away'));
    const fixture = openPaymentService({ keep: away, served: away });
    fixture.chain.sent = { status: 'expired' };
    const settle = (deliver: () => Promise<boolean>) => {
      const { payment, terms } = newPayment();
      return fixture.service.settle(payment, terms, { deliver });
    };
    expect(await settle(async () => false)).toMatchObject({ status: 'failed' });
    await expect(settle(() => Promise.reject(new Error('the socket is gone')))).rejects.toThrow('the socket is gone');
  });
});
