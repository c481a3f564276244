import type { InspectedPayment } from '../../../../src/facilitator/backend/backend.js';
import { createPaymentEventBus } from '../../../../src/facilitator/events/events.js';
import { followOutcomes, sponsoredEnd } from '../../../../src/facilitator/sponsorship/outcomes.js';
import { RpcError } from '../../../../src/solana/rpc/rpc.js';
import {
  another,
  idOf,
  newInspected,
  OURS,
  openSponsorship as open,
  PRICE,
} from '../../../helpers/fixtures/sponsorship-fixture.js';

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
    // The node is as far: nothing has to be waited for.
    expect([chain.looks, chain.asked, chain.pauses]).toEqual([2, 1, 0]);
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
    sponsorship.drop(idOf(first));
    expect(await check(another(first, 'second'))).toMatchObject({ reason: 'insufficient_funds' });
    sponsorship.ended(idOf(first), first.payer, { status: 'expired' });
    expect(await check(another(first, 'second'))).toBeUndefined();
  });

  test('of one whose landing is known is waited for, and nobody asks for the others meanwhile', async () => {
    const { check, begin, sponsorship, chain } = open(1_000_000n);
    const events = createPaymentEventBus();
    followOutcomes(sponsorship, events);
    chain.held = PRICE * 2n;
    const first = newInspected();
    for (const it of [first, another(first, 'second')]) {
      expect(await begin(it)).toBeUndefined();
      sponsorship.sent(idOf(it), idOf(it));
    }
    const { payer, terms } = first;
    const { network, payTo, asset, amount } = terms;
    const receipt = { signature: 's', network, payer, payTo, asset, amount, slot: chain.slot + 1 };
    events.emit('payment.settled', { id: idOf(first), resource: 'x', receipt });
    chain.slotsAPause = 1;
    // There was money for three, and what the node shows from the next slot on is without the first.
    expect(await check(another(first, 'third'))).toBeUndefined();
    expect([chain.asked, chain.pauses]).toEqual([0, 1]);
  });

  test('of one that landed with an error stays taken until its end is told', async () => {
    const { check, begin, sponsorship, chain } = open();
    const first = newInspected();
    await begin(first);
    sponsorship.sent(idOf(first), 'signature');
    chain.states.set('signature', { slot: 9, err: 'AccountInUse', commitment: 'confirmed' });
    expect(await check(another(first, 'second'))).toMatchObject({ reason: 'insufficient_funds' });
    expect(chain.looks).toBe(1);
  });

  test('is refused as the look at the chain says', async () => {
    const { sponsorship, flight } = open();
    const it = newInspected();
    const refusal = { reason: 'invalid_exact_svm_transaction_simulation_failed', message: 'x' } as const;
    expect(await sponsorship.checkFunds(it, undefined, async () => ({ ok: false, refusal }), true)).toBe(refusal);
    expect(flight.has(idOf(it))).toBe(false);
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

  test('that expired is given back though the payment was asked for again meanwhile', async () => {
    const { begin, sponsorship } = open();
    const it = newInspected();
    for (let times = 0; times < 5; times += 1) {
      const next = another(it, `p${times}`);
      expect(await begin(next)).toBeUndefined();
      sponsorship.sent(idOf(next), 'signature');
      sponsorship.resumed(next, 'signature');
      sponsorship.ended(idOf(next), it.payer, { status: 'expired' });
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
    const third = another(it, 'third');
    expect(await settled.begin(third)).toMatchObject({ reason: 'payer_fee_limit_reached' });
    expect(await settled.sponsorship.admit(third, OURS)).toMatchObject({ reason: 'payer_fee_limit_reached' });

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
  test('waits by wallet and by the accounts that are its own, once for each failure however often it is told', async () => {
    const { begin, check, sponsorship } = open();
    const it = newInspected();
    await check(it);
    await begin(it);
    for (let times = 0; times < 3; times += 1) {
      sponsorship.ended(idOf(it), it.payer, { status: 'failed' });
      sponsorship.drop(idOf(it));
    }
    const sameAccount = { ...another(it, 'second'), payer: 'another wallet' };
    expect(await sponsorship.admit(sameAccount, OURS)).toMatchObject({
      reason: 'payer_must_wait',
      message: expect.stringContaining('60 seconds'),
    });
    expect(await begin(another(it, 'third'))).toMatchObject({ message: expect.stringContaining('60 seconds') });
    expect(await sponsorship.admit(newInspected(), OURS)).toBeUndefined();
  });

  test('does not have the owner of its account wait, whose delegate it is or may be', async () => {
    const { begin, check, sponsorship } = open();
    const [seen, unseen] = [newInspected(), newInspected()];
    const delegated = { ...seen, payer: 'a delegate' };
    expect(await check(seen, true)).toBeUndefined();
    for (const it of [{ ...delegated, transaction: seen.transaction }, unseen]) {
      await begin(it);
      sponsorship.ended(idOf(it), it.payer, { status: 'failed' });
      const owner = { ...another(it, `owner of ${idOf(it)}`), payer: 'the owner' };
      expect(await sponsorship.admit(it, OURS)).toMatchObject({ reason: 'payer_must_wait' });
      expect(await sponsorship.admit(owner, OURS)).toBeUndefined();
    }
  });

  test('waits as well where another process had sent it', async () => {
    const { sponsorship } = open();
    const it = newInspected();
    sponsorship.resumed(it, 'signature');
    sponsorship.ended(idOf(it), it.payer, { status: 'failed' });
    expect(await sponsorship.admit(it, OURS)).toMatchObject({ reason: 'payer_must_wait' });
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

test('a payment whose fee is not ours may be sent, and be over, as any other', async () => {
  const { sponsorship, flight } = open();
  const it = newInspected();
  sponsorship.sent(idOf(it), 'signature');
  sponsorship.drop(idOf(it));
  sponsorship.ended(idOf(it), it.payer, { status: 'landed', slot: 1 });
  expect(flight.hasOthers({ id: 'next', payer: 'payer', spending: [] })).toBe(false);
  expect(await sponsorship.admit(it, OURS)).toBeUndefined();
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

describe('payments that are not looked at', () => {
  test('are four at once at most whose accounts may be anybody’s; the next one is looked at', async () => {
    const { begin, chain, sponsorship } = open();
    const all = Array.from({ length: 6 }, newInspected);
    for (const it of all.slice(0, 4)) expect(await begin(it)).toBeUndefined();
    expect(chain.looks).toBe(0);
    expect([await begin(all[4]!), chain.looks]).toEqual([undefined, 1]);
    sponsorship.ended(idOf(all[0]!), all[0]!.payer, { status: 'landed', slot: 1 });
    expect([await begin(all[5]!), chain.looks]).toEqual([undefined, 1]);
  });

  test('are four of eight that come at the same moment: the others are looked at, and none waits', async () => {
    const { begin, chain } = open();
    const all = await Promise.all(Array.from({ length: 8 }, newInspected).map((it) => begin(it)));
    expect([all.filter((refusal) => refusal === undefined).length, chain.looks]).toEqual([8, 4]);
  });

  test('are one at once after one of them has failed', async () => {
    const { begin, chain, sponsorship } = open();
    const [failed, alone, beside] = [newInspected(), newInspected(), newInspected()];
    await begin(failed);
    sponsorship.ended(idOf(failed), failed.payer, { status: 'failed' });
    expect([await begin(alone), chain.looks]).toEqual([undefined, 0]);
    expect([await begin(beside), chain.looks]).toEqual([undefined, 1]);
  });

  test('give their place back where they are not sent', async () => {
    const { begin, chain, sponsorship } = open();
    for (let times = 0; times < 7; times += 1) {
      const it = newInspected();
      await begin(it);
      sponsorship.drop(idOf(it));
    }
    expect(chain.looks).toBe(0);
  });

  test('are as many as come of accounts that were looked at within the hour', async () => {
    const { begin, check, chain, sponsorship } = open();
    const all = Array.from({ length: 7 }, newInspected);
    for (const it of all) {
      await check(it);
      sponsorship.drop(idOf(it));
    }
    const looks = chain.looks;
    for (const it of all) expect(await begin(another(it, `again ${idOf(it)}`))).toBeUndefined();
    // Nor do they take the places of those of whom nothing is known.
    expect(await begin(newInspected())).toBeUndefined();
    expect(chain.looks).toBe(looks);
  });
});
