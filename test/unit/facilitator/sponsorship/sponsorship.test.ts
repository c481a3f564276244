import type { InspectedPayment } from '../../../../src/facilitator/backend/backend.js';
import { inspectPayment } from '../../../../src/facilitator/backend/inspect-payment.js';
import { createPaymentEventBus } from '../../../../src/facilitator/events/events.js';
import { followOutcomes, type LookAtFunds, sponsoredEnd } from '../../../../src/facilitator/sponsorship/sponsorship.js';
import type { SignatureState } from '../../../../src/solana/rpc/rpc.js';
import { RpcError } from '../../../../src/solana/rpc/rpc.js';
import { FEE_PAYER_ADDRESS, NETWORK, newPayment } from '../../../helpers/fixtures/payment-service-fixture.js';
import { newSponsorship } from '../../../helpers/sponsorship.js';
import { testClock } from '../../../helpers/test-clock.js';

const POLICY = { managedKeys: new Set([FEE_PAYER_ADDRESS]), maxFeeLamports: 30_000n };
/** A fifth is for two fees. */
const FEES = 101_000n;
const PRICE = 10_000n;
const OURS = {};

function newInspected(): InspectedPayment {
  const { payment, terms } = newPayment();
  const inspection = inspectPayment(payment, terms, NETWORK, POLICY);
  if (!inspection.ok) throw new Error(inspection.refusal.message);
  return inspection.inspected;
}

const idOf = ({ transaction }: InspectedPayment): string => transaction.messageHash;
const accountOf = ({ transfer }: InspectedPayment): string => transfer?.source ?? '';

/** Another payment from the same account: the same but for its id. */
const another = (it: InspectedPayment, id: string): InspectedPayment => ({
  ...it,
  transaction: { ...it.transaction, messageHash: id },
});

function open(maxFeeLamportsPerHour = FEES) {
  const { now, advance } = testClock();
  const chain = {
    slot: 10,
    asked: 0,
    looks: 0,
    pauses: 0,
    slotsAPause: 0,
    held: PRICE,
    states: new Map<string, SignatureState>(),
  };
  const rpc = {
    async getSignatureStatuses(signatures: readonly string[]) {
      chain.asked += 1;
      return { slot: chain.slot, states: signatures.map((it) => chain.states.get(it) ?? null) };
    },
  };
  const pause = async () => {
    chain.pauses += 1;
    chain.slot += chain.slotsAPause;
  };
  const parts = newSponsorship(rpc, maxFeeLamportsPerHour, now, pause);
  const look =
    (it: InspectedPayment): LookAtFunds =>
    async () => {
      chain.looks += 1;
      const left = new Map([[accountOf(it), chain.held - PRICE]]);
      return { ok: true, sight: { look: parts.flight.nextLook(), slot: chain.slot, left } };
    };
  const check = (it: InspectedPayment, keep = true) => parts.sponsorship.checkFunds(it, undefined, look(it), keep);
  const begin = (it: InspectedPayment) => parts.sponsorship.begin(it, OURS, look(it));
  return { ...parts, chain, check, begin, advance };
}

describe('the money of a payer', () => {
  test('that is taken is not there for another payment, until the first is dropped', async () => {
    const { check, sponsorship, chain } = open();
    const first = newInspected();
    const second = another(first, 'second');
    expect(await check(first)).toBeUndefined();
    expect(await check(second)).toMatchObject({ reason: 'insufficient_funds', message: expect.stringMatching(/way/) });
    // Nothing was sent: no status can tell anything.
    expect([chain.looks, chain.asked]).toEqual([2, 0]);
    sponsorship.drop(idOf(first));
    expect(await check(second)).toBeUndefined();
  });

  test('is only looked at where somebody only asks', async () => {
    const { check } = open();
    const first = newInspected();
    expect(await check(first, false)).toBeUndefined();
    expect(await check(another(first, 'second'))).toBeUndefined();
  });

  test('that was sent stays taken when its request goes away', async () => {
    const { check, begin, sponsorship, chain } = open();
    const first = newInspected();
    expect(await begin(first)).toBeUndefined();
    expect(chain.looks).toBe(0);
    sponsorship.sent(idOf(first), 'signature');
    sponsorship.drop(idOf(first));
    expect(await check(another(first, 'second'))).toMatchObject({ reason: 'insufficient_funds' });
    expect([chain.looks, chain.asked]).toEqual([1, 1]);
  });

  test('of one that landed unnoticed is subtracted once: the chain is asked before anybody is refused', async () => {
    const { check, begin, sponsorship, chain } = open();
    const first = newInspected();
    await begin(first);
    sponsorship.sent(idOf(first), 'signature');
    // It held money for two, and shows what the first has left.
    chain.states.set('signature', { slot: 9, err: null, commitment: 'confirmed' });
    expect(await check(another(first, 'second'))).toBeUndefined();
    expect([chain.looks, chain.asked]).toEqual([2, 1]);
    expect(await check(another(first, 'third'))).toMatchObject({ reason: 'insufficient_funds' });
  });

  test('of one that landed later than what is shown is not counted as there', async () => {
    const { check, begin, sponsorship, chain } = open();
    const first = newInspected();
    await begin(first);
    sponsorship.sent(idOf(first), 'signature');
    chain.states.set('signature', { slot: chain.slot + 1, err: null, commitment: 'processed' });
    expect(await check(another(first, 'second'))).toMatchObject({ reason: 'insufficient_funds' });
    expect([chain.looks, chain.pauses]).toEqual([20, 20]);
    // The node comes as far.
    chain.slotsAPause = 1;
    expect(await check(another(first, 'second'))).toBeUndefined();
    expect(chain.looks).toBe(22);
  });

  test('is looked at without a simulation only while another payment is on its way', async () => {
    const { begin, chain } = open(1_000_000n);
    chain.held = PRICE * 2n;
    const first = newInspected();
    expect(await begin(first)).toBeUndefined();
    expect(chain.looks).toBe(0);
    expect(await begin(another(first, 'second'))).toBeUndefined();
    expect(chain.looks).toBe(1);
    // What was seen a moment ago is known to be too little.
    expect(await begin(another(first, 'third'))).toMatchObject({ reason: 'insufficient_funds' });
    expect(await begin(newInspected())).toBeUndefined();
    expect(chain.looks).toBe(1);
  });

  test('that a resumed payment may still take counts as on its way', async () => {
    const { check, sponsorship } = open();
    const first = newInspected();
    sponsorship.resumed(first, 'signature');
    expect(await check(another(first, 'second'))).toMatchObject({ reason: 'insufficient_funds' });
    sponsorship.ended(idOf(first), first.payer, { status: 'expired' });
    expect(await check(another(first, 'second'))).toBeUndefined();
  });

  test('is not decided where the chain cannot be asked', async () => {
    const { check, begin, sponsorship, chain } = open();
    const first = newInspected();
    await begin(first);
    sponsorship.sent(idOf(first), 'signature');
    const outage = new RpcError('unreachable', 'away');
    Object.defineProperty(chain.states, 'get', {
      value: () => {
        throw outage;
      },
    });
    await expect(check(another(first, 'second'))).rejects.toMatchObject({ code: 'payment_backend_unavailable' });
  });
});

describe('the fee of a payment', () => {
  test.each(['expired', 'unsent'] as const)('that is %s is given back', async (status) => {
    const { begin, sponsorship } = open();
    const it = newInspected();
    for (let times = 0; times < 5; times += 1) {
      const next = another(it, `p${times}`);
      expect(await begin(next)).toBeUndefined();
      sponsorship.ended(idOf(next), it.payer, { status });
      sponsorship.ended(idOf(next), it.payer, { status });
    }
  });

  test('that landed is spent, and that of one that failed counts twice', async () => {
    const settled = open();
    const it = newInspected();
    settled.chain.held = PRICE * 9n;
    for (const id of ['first', 'second']) {
      expect(await settled.begin(another(it, id))).toBeUndefined();
      settled.sponsorship.ended(id, it.payer, { status: 'landed', slot: 1 });
    }
    expect(await settled.begin(another(it, 'third'))).toMatchObject({ reason: 'payer_fee_limit_reached' });

    const failed = open();
    expect(await failed.begin(it)).toBeUndefined();
    failed.sponsorship.ended(idOf(it), it.payer, { status: 'failed' });
    await failed.advance(60_001);
    expect(await failed.begin(another(it, 'second'))).toMatchObject({ reason: 'payer_fee_limit_reached' });
  });

  test('whose payer is refused leaves nothing taken', async () => {
    const { begin, sponsorship, flight } = open();
    const it = newInspected();
    for (const id of ['first', 'second']) {
      await begin(another(it, id));
      sponsorship.ended(id, it.payer, { status: 'landed', slot: 1 });
    }
    const third = another(it, 'third');
    expect(await begin(third)).toMatchObject({ reason: 'payer_fee_limit_reached' });
    sponsorship.drop('third');
    expect(flight.has('third')).toBe(false);
  });
});

describe('a payer whose transaction failed', () => {
  test('waits by wallet and by account, once for each failure however often it is told', async () => {
    const { begin, sponsorship } = open();
    const it = newInspected();
    await begin(it);
    for (let times = 0; times < 3; times += 1) sponsorship.ended(idOf(it), it.payer, { status: 'failed' });
    const sameAccount = { ...another(it, 'second'), payer: 'another wallet' };
    expect(await sponsorship.admit(sameAccount, OURS)).toMatchObject({
      reason: 'payer_must_wait',
      message: expect.stringContaining('60 seconds'),
    });
  });

  test('waits as well where the failure is found out elsewhere; who paid the fee does not', async () => {
    const { sponsorship } = open(1_000_000n);
    const events = createPaymentEventBus();
    followOutcomes(sponsorship, events);
    const [sponsored, own, refused] = [newInspected(), newInspected(), newInspected()];
    const told = ({ payer, terms }: InspectedPayment) => ({ id: payer, resource: 'x', payer, terms });
    const { feePayer: _, ...ownTerms } = own.terms;
    const reason = 'invalid_exact_svm_transaction_failed';
    events.emit('payment.failed', { ...told(sponsored), reason });
    events.emit('payment.failed', { ...told(own), terms: ownTerms, reason });
    events.emit('payment.failed', { ...told(refused), reason: 'insufficient_funds' });
    expect(await sponsorship.admit(sponsored, OURS)).toMatchObject({ reason: 'payer_must_wait' });
    expect(await sponsorship.admit(own, OURS)).toBeUndefined();
    expect(await sponsorship.admit(refused, OURS)).toBeUndefined();
  });

  test('has money and fee back when an outcome that was open is found out', async () => {
    const { begin, sponsorship, flight } = open();
    const events = createPaymentEventBus();
    followOutcomes(sponsorship, events);
    const it = newInspected();
    const ids = ['a', 'b', 'c', 'd'];
    for (const id of ids) {
      expect(await begin(another(it, id))).toBeUndefined();
      sponsorship.sent(id, id);
      events.emit('payment.expired', { id, resource: 'x', payer: it.payer, terms: it.terms });
    }
    expect(ids.some((id) => flight.has(id))).toBe(false);
  });
});

test('only an outcome that is known ends a payment', () => {
  const { payer, terms } = newInspected();
  const { network, payTo, asset, amount } = terms;
  const receipt = { signature: 's', network, payer, payTo, asset, amount, slot: 7 };
  const refusal = { reason: 'insufficient_funds', message: 'x', payer } as const;
  expect(sponsoredEnd({ status: 'settled', receipt })).toEqual({ status: 'landed', slot: 7 });
  expect(sponsoredEnd({ status: 'unsent', ...refusal })).toEqual({ status: 'unsent' });
  expect(sponsoredEnd({ status: 'failed', final: 'failed', ...refusal })).toEqual({ status: 'failed' });
  expect(sponsoredEnd({ status: 'failed', final: 'expired', ...refusal })).toEqual({ status: 'expired' });
  expect(sponsoredEnd({ status: 'pending', payer })).toBeUndefined();
});
