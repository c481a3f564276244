import { createPaymentService } from '../../../src/facilitator/payments/payment-service.js';
import { receiptOf } from '../../../src/facilitator/payments/receipt.js';
import { REASONS } from '../../../src/protocol/reasons.js';
import type { EventRecord } from '../../../src/storage/events/events.js';
import { newClaim } from '../../contracts/ledger-samples.js';
import {
  LANDED,
  newPayment,
  OUTAGE,
  openPaymentService,
  receiptFor,
  secondProcess,
} from '../../helpers/fixtures/payment-service-fixture.js';
import { ledgerWith } from '../../helpers/storage/ledgers.js';

const USE = { resource: 'GET /report' };

type Opened = ReturnType<typeof openPaymentService>;

/** Opens a payment that nobody has brought before, and takes its money. */
async function settleNew({ service }: Pick<Opened, 'service'>, options?: { readonly served: boolean }) {
  const paid = newPayment();
  const opened = await service.openPayment(paid.payment, paid.terms, USE);
  if (opened.status !== 'open') throw new Error(`it is ${opened.status}`);
  const { claim } = opened;
  const settlement = await claim.settle(options).catch((error: Error) => error);
  return { ...paid, claim, settlement };
}

describe('money that is taken', () => {
  test('is owed an answer for, unless that is kept already: then one step uses the payment up', async () => {
    for (const [served, state] of [
      [false, 'confirmed'],
      [true, 'served'],
    ] as const) {
      const fixture = openPaymentService();
      const { claim, settlement, ...paid } = await settleNew(fixture, { served });
      const receipt = receiptFor(paid);
      expect(settlement).toEqual({ status: 'settled', receipt });
      expect(claim.receipt).toEqual(receipt);
      expect(await fixture.ledger.find(claim.id)).toMatchObject({ state, slot: 7, signature: receipt.signature });
      expect(fixture.leases.holds(claim.id)).toBe(!served);
      expect(fixture.told).toMatchObject([['payment.settled', { id: claim.id, receipt }]]);
    }
  });

  test.each<[string, Opened['chain']['sent'], string | undefined, string]>([
    ['was not sent', { status: 'rejected', err: 'BlockhashNotFound', logs: [] }, undefined, 'open'],
    ['may have landed', { status: 'unknown' }, 'broadcast', 'open'],
    ['reached no node', OUTAGE, undefined, 'open'],
    ['may have been sent when we broke down', new Error('a bug'), 'broadcast', 'open'],
    ['failed', { status: 'landed', slot: 7, err: 'AccountInUse' }, 'failed', 'refused'],
    ['can land no more', { status: 'expired' }, 'expired', 'refused'],
  ])('that %s ends the claim: the payment is nobody’s any more', async (_, sent, state, again) => {
    const fixture = openPaymentService();
    fixture.chain.sent = sent;
    const { claim, settlement, payment, terms } = await settleNew(fixture);
    expect(settlement).not.toMatchObject({ status: 'settled' });
    expect((await fixture.ledger.find(claim.id))?.state).toBe(state);
    expect(fixture.leases.holds(claim.id)).toBe(false);
    const { service } = secondProcess(fixture);
    expect((await service.openPayment(payment, terms, USE)).status).toBe(again);
  });

  test('is written down together with the event that tells of it, which says how long it took', async () => {
    const kept: EventRecord[] = [];
    const fixture = openPaymentService({
      async recordOutcome(_id, _lease, _outcome, events = []) {
        kept.push(...events);
        return true;
      },
    });
    const since = performance.now();
    const { claim } = await settleNew(fixture);
    const longest = performance.now() - since;
    expect(fixture.told).toMatchObject([['payment.settled', { id: claim.id }]]);
    const [durationMs = -1] = fixture.told.map(([, data]) => ('durationMs' in data ? data.durationMs : undefined));
    expect(durationMs).toBeGreaterThanOrEqual(0);
    expect(durationMs).toBeLessThanOrEqual(longest);
    expect(kept).toMatchObject([{ type: 'payment.settled' }]);
  });

  test('is waited for until it is confirmed, unless the use of it says otherwise', async () => {
    for (const [use, commitment] of [
      [USE, 'confirmed'],
      [{ ...USE, commitment: 'finalized' }, 'finalized'],
    ] as const) {
      const fixture = openPaymentService();
      const { payment, terms } = newPayment();
      const opened = await fixture.service.openPayment(payment, terms, use);
      if (opened.status === 'open') await opened.claim.settle();
      expect(fixture.delivered).toMatchObject([{ commitment }]);
    }
  });

  test('that was provably not sent is forgotten, should the ledger be away for a moment just then', async () => {
    const fixture = openPaymentService();
    const away = new Error('the ledger is away');
    let tries = 0;
    const ledger = ledgerWith(fixture.ledger, {
      async forget(...call) {
        tries += 1;
        if (tries === 1) throw away;
        return fixture.ledger.forget(...call);
      },
    });
    fixture.chain.sent = OUTAGE;
    const { claim, settlement } = await settleNew({ service: createPaymentService({ ...fixture.parts, ledger }) });
    expect(settlement).toBe(away);
    expect(await fixture.ledger.find(claim.id)).toBeUndefined();
  });

  test('whose signature cannot be written down is not sent, and the payment is forgotten', async () => {
    const away = new Error('the ledger is away');
    const fixture = openPaymentService({ recordBroadcast: () => Promise.reject(away) });
    const { claim, settlement } = await settleNew(fixture);
    expect(settlement).toBe(away);
    expect(fixture.delivered).toEqual([]);
    expect([await fixture.ledger.find(claim.id), fixture.leases.holds(claim.id)]).toEqual([undefined, false]);
  });

  test('whose outcome cannot be written down is found again by the same payment', async () => {
    let isAway = true;
    const fixture = openPaymentService();
    const { recordOutcome } = fixture.ledger;
    const ledger = ledgerWith(fixture.ledger, {
      async recordOutcome(...call) {
        if (isAway) throw new Error('the ledger is away');
        return recordOutcome.apply(fixture.ledger, call);
      },
    });
    const service = createPaymentService({ ...fixture.parts, ledger });
    const { claim, settlement, payment, terms, ...paid } = await settleNew({ service });
    expect(settlement).toEqual(new Error('the ledger is away'));
    expect((await fixture.ledger.find(claim.id))?.state).toBe('broadcast');
    isAway = false;
    const settled = await service.openPayment(payment, terms, USE);
    expect(settled).toMatchObject({ status: 'open', claim: { receipt: receiptFor({ ...paid, payment, terms }) } });
    expect(fixture.delivered).toHaveLength(1);
  });
});

describe('what the chain would refuse', () => {
  test('is not known while it cannot be asked: the payment is held no more, and is as new when it can', async () => {
    const fixture = openPaymentService();
    const paid = newPayment();
    const { payment, terms, decoded } = paid;
    fixture.chain.simulated = OUTAGE;
    const opening = fixture.service.openPayment(payment, terms, USE);
    await expect(opening).rejects.toMatchObject({ code: 'payment_backend_unavailable' });
    expect(await fixture.ledger.find(decoded.messageHash)).toBeUndefined();
    expect(fixture.leases.holds(decoded.messageHash)).toBe(false);
    fixture.chain.simulated = null;
    expect((await secondProcess(fixture).service.openPayment(payment, terms, USE)).status).toBe('open');
  });

  test('is refused, told, and held no more', async () => {
    const fixture = openPaymentService();
    const { payment, terms, payer, decoded } = newPayment();
    fixture.chain.simulated = { InstructionError: [2, { Custom: 1 }] };
    const reason = 'insufficient_funds';
    const refusal = { ok: false, payer, reason, message: REASONS[reason] };
    for (let times = 0; times < 2; times += 1) {
      expect(await fixture.service.openPayment(payment, terms, USE)).toMatchObject({ status: 'refused', refusal });
    }
    const told = { id: decoded.messageHash, resource: USE.resource, payer, terms, reason };
    expect(fixture.told).toEqual([
      ['payment.failed', told],
      ['payment.failed', told],
    ]);
    expect(await fixture.service.settle(payment, terms)).toEqual({ status: 'failed', ...refusal });
  });

  test('when it is sent was not sent, and may be tried again', async () => {
    const fixture = openPaymentService();
    const paid = newPayment();
    const { payment, terms, payer, decoded } = paid;
    fixture.chain.sent = { status: 'rejected', err: { InstructionError: [2, { Custom: 1 }] }, logs: [] };
    const reason = 'insufficient_funds';
    const failed = { status: 'failed', reason, message: REASONS[reason], payer };
    expect(await fixture.service.settle(payment, terms)).toEqual(failed);
    expect(fixture.told).toEqual([
      ['payment.failed', { id: decoded.messageHash, resource: 'settle', payer, terms, reason }],
    ]);
    expect(await fixture.ledger.find(decoded.messageHash)).toBeUndefined();
    fixture.chain.sent = LANDED;
    expect(await fixture.service.settle(payment, terms)).toEqual({ status: 'settled', receipt: receiptFor(paid) });
  });
});

test('a payment that was taken over meanwhile is not served: who settled it is to ask again', async () => {
  const fixture = openPaymentService({ recordOutcome: async () => false });
  const { payment, terms } = newPayment();
  await expect(fixture.service.settle(payment, terms)).rejects.toMatchObject({
    code: 'payment_in_progress',
    message: 'The payment was taken over by another request; ask again in a moment.',
    context: { retryAfterSeconds: 1 },
  });
  expect(fixture.told).toEqual([]);
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
