import { TollhouseError } from '../../../../src/errors/errors.js';
import { asked, failureText, online, unknownInOutage } from '../../../../src/facilitator/backend/chain-landing.js';
import { inspectPayment } from '../../../../src/facilitator/backend/inspect-payment.js';
import { REASONS } from '../../../../src/protocol/reasons.js';
import type { Payment, Terms } from '../../../../src/protocol/types.js';
import { PROGRAMS } from '../../../../src/solana/transaction/programs.js';
import {
  FEE_PAYER_ADDRESS,
  LANDED,
  NETWORK,
  newPayment,
  OUTAGE,
  openPaymentService,
  signatureOf,
} from '../../../helpers/fixtures/payment-service-fixture.js';

const BUG = new TypeError('bug');
const AWAY = 'The Solana RPC cannot be reached at the moment;';

type Opened = ReturnType<typeof openPaymentService>;

/** A payment that the rules let pass, and the steps of a settlement, which are noted. */
function inspected({ parts }: Opened) {
  const paid = newPayment();
  const inspection = inspectPayment(paid.payment, paid.terms, NETWORK, parts.policy);
  if (!inspection.ok) throw new Error(inspection.refusal.message);
  const steps: string[] = [];
  const step = {
    commitment: 'finalized',
    recordBroadcast: async () => steps.push('recorded') > 0,
    notSent: async () => steps.push('withdrawn') > 0,
  } as const;
  const { messageHash: id, blockhash } = paid.decoded;
  const { payer, terms } = paid;
  const record = { id, state: 'broadcast', binding: 'x', payer, terms, blockhash, claimedAt: 0 } as const;
  return { ...paid, inspected: inspection.inspected, steps, step, record };
}

async function rejection(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('an outage', () => {
  test('of the chain is told as such, whoever asked', async () => {
    const unavailable = await rejection(online(Promise.reject(OUTAGE)));
    expect(unavailable).toMatchObject({
      code: 'payment_backend_unavailable',
      message: `${AWAY} nothing was charged.`,
      context: { retryAfterSeconds: 2, cause: OUTAGE },
    });
    const later = await rejection(asked(Promise.reject(OUTAGE)));
    expect(later).toMatchObject({
      code: 'chain_unavailable',
      message: `${AWAY} ask again in a moment.`,
      context: { retryAfterSeconds: 2, cause: OUTAGE },
    });
    expect(unknownInOutage(OUTAGE)).toEqual({ status: 'unknown' });
  });

  test('is what the RPC says, and no bug of ours', async () => {
    expect(await rejection(online(Promise.reject(BUG)))).toBe(BUG);
    expect(await rejection(asked(Promise.reject(BUG)))).toBe(BUG);
    expect(() => unknownInOutage(BUG)).toThrow(BUG);
    expect([await online(Promise.resolve(1)), await asked(Promise.resolve(2))]).toEqual([1, 2]);
  });
});

test('a failure on the chain is told with what the chain said, up to 200 characters', () => {
  const err = { InstructionError: [0, 'x'.repeat(300)] };
  const said = JSON.stringify(err).slice(0, 200);
  expect(failureText(err)).toBe(`${REASONS.invalid_exact_svm_transaction_failed} The chain said: ${said}.`);
});

describe('the rules that need no call', () => {
  const { payment, terms } = newPayment();

  test.each<[string, Partial<Payment>, Partial<Terms>, keyof typeof REASONS]>([
    ['terms of another network', { network: 'solana' }, { network: 'solana' }, 'invalid_network'],
    ['a payment for another network', { network: 'solana' }, {}, 'invalid_exact_svm_network_mismatch'],
    ['another scheme', { scheme: 'upto' }, {}, 'invalid_exact_svm_unsupported_scheme'],
  ])('refuse %s', (_, paid, asked, reason) => {
    const { policy } = openPaymentService().parts;
    const verdict = inspectPayment({ ...payment, ...paid }, { ...terms, ...asked }, NETWORK, policy);
    expect(verdict).toEqual({ ok: false, refusal: { reason, message: REASONS[reason] } });
  });

  test('refuse what is no transaction, and what does not pay, and let pass what does', () => {
    const { policy } = openPaymentService().parts;
    const inspect = (it: Payment, asked: Terms) => inspectPayment(it, asked, NETWORK, policy);
    const torn = inspect({ ...payment, transaction: payment.transaction.subarray(0, 9) }, terms);
    const reason = 'invalid_exact_svm_payload_transaction_could_not_be_decoded';
    expect(torn).toEqual({ ok: false, refusal: { reason, message: expect.stringMatching(/./) } });
    const short = inspect(payment, { ...terms, amount: terms.amount + 1n });
    expect(short).toMatchObject({ ok: false, refusal: { reason: expect.stringContaining('amount') } });
    expect(Object.keys(short)).toEqual(['ok', 'refusal']);
    expect(inspect(payment, terms)).toMatchObject({ ok: true, inspected: { payment, terms, sponsored: true } });
  });
});

test('a token that the policy does not take is refused before anything is asked or signed', async () => {
  const fixture = openPaymentService();
  const { payment, terms, payer } = newPayment({
    symbol: 'NEW',
    mint: newPayment().terms.payTo,
    decimals: 6,
    program: PROGRAMS.token2022,
  });
  fixture.chain.simulated = 'AccountNotFound';
  const reason = 'invalid_exact_svm_mint_unknown';
  const message = REASONS[reason];
  expect(await fixture.service.verify(payment, terms)).toEqual({ ok: false, reason, message, payer });
  expect(fixture.delivered).toEqual([]);
});

describe('a settlement', () => {
  test('sends what it signed, with the limits that it has', async () => {
    const fixture = openPaymentService();
    const { inspected: it, step, steps, payment, decoded } = inspected(fixture);
    expect((await fixture.backend.settle(it, step)).status).toBe('settled');
    expect(fixture.delivered).toStrictEqual([
      {
        transaction: expect.any(Uint8Array),
        signature: signatureOf(payment.transaction),
        blockhash: decoded.blockhash,
        commitment: 'finalized',
        preflight: true,
        timeoutMs: 1_000,
      },
    ]);
    expect(steps).toEqual(['recorded']);
  });

  test('whose fee no key of ours pays is not sent', async () => {
    const fixture = openPaymentService();
    const { inspected: it, step, payer, record } = inspected(fixture);
    const { feePayer: _, ...terms } = it.terms;
    const reason = 'invalid_exact_svm_fee_payer_not_managed_by_facilitator';
    const foreign = { ...it, terms };
    const unsent = { status: 'unsent', reason, message: REASONS[reason], payer };
    expect(await fixture.backend.settle(foreign, step)).toEqual(unsent);
    expect(fixture.delivered).toEqual([]);
    const sent = { ...record, signature: '5'.repeat(88) };
    expect((await fixture.backend.resume(foreign, sent, step)).status).toBe('settled');
    expect(fixture.watched[0]).not.toHaveProperty('transaction');
  });

  test('that did not leave costs nothing of what may be spent in an hour', async () => {
    // Of what may be spent, a fifth is for what is settled for servers elsewhere.
    const fixture = openPaymentService({}, 125_000n);
    const settle = async (): Promise<string> => {
      const { payment, terms } = newPayment();
      return (await fixture.service.settle(payment, terms)).status;
    };
    fixture.chain.sent = { status: 'rejected', err: 'BlockhashNotFound', logs: [] };
    for (let times = 0; times < 3; times += 1) expect(await settle()).toBe('failed');
    fixture.chain.sent = OUTAGE;
    for (let times = 0; times < 3; times += 1) {
      expect(await rejection(settle())).toMatchObject({
        code: 'payment_backend_unavailable',
        message: `${AWAY} nothing was charged.`,
        context: { retryAfterSeconds: 2, cause: OUTAGE },
      });
    }
    fixture.chain.sent = LANDED;
    expect([await settle(), await settle()]).toEqual(['settled', 'settled']);
    expect(await rejection(settle())).toMatchObject({ code: 'fee_limit_reached' });
  });

  test('that may have left stays noted, whatever went wrong', async () => {
    const fixture = openPaymentService();
    const { inspected: it, step, steps } = inspected(fixture);
    fixture.chain.sent = BUG;
    expect(await rejection(fixture.backend.settle(it, step))).toBe(BUG);
    expect(steps).toEqual(['recorded']);
    fixture.chain.sent = OUTAGE;
    expect(await rejection(fixture.backend.settle(it, step))).toBeInstanceOf(TollhouseError);
    expect(steps).toEqual(['recorded', 'recorded', 'withdrawn']);
  });
});

describe('what was sent before', () => {
  test('is asked about, and given along to be sent again only where it is the same transaction', async () => {
    const fixture = openPaymentService();
    const { inspected: it, step, record, payment, decoded } = inspected(fixture);
    const { blockhash } = decoded;
    const asked = { blockhash, commitment: 'finalized', timeoutMs: 1_000 };
    const [own, other] = [signatureOf(payment.transaction), '5'.repeat(88)];
    const known = { ...record, lastValidBlockHeight: 12 };
    for (const signature of [own, other]) await fixture.backend.resume(it, { ...known, signature }, step);
    await fixture.backend.resume(it, { ...record, signature: other }, step);
    expect(fixture.watched).toStrictEqual([
      { ...asked, signature: own, lastValidBlockHeight: 12, transaction: expect.any(Uint8Array) },
      { ...asked, signature: other, lastValidBlockHeight: 12 },
      { ...asked, signature: other },
    ]);
    expect(it.terms.feePayer).toBe(FEE_PAYER_ADDRESS);
  });

  test('without a signature being known cannot have been sent by us', async () => {
    const fixture = openPaymentService();
    const { inspected: it, step, record } = inspected(fixture);
    const message = `payment ${record.id} was sent without its signature being recorded`;
    await expect(fixture.backend.resume(it, record, step)).rejects.toThrow(message);
    expect(fixture.watched).toEqual([]);
  });
});
