import { claimLanded, type LandedUse } from '../../../../src/facilitator/proofs/claim-landed.js';
import type { EventRecord } from '../../../../src/storage/events/events.js';
import type { Ledger } from '../../../../src/storage/ledger/ledger.js';
import {
  landedAs,
  newPayment,
  newRequest,
  openPaymentService,
  paying,
  secondProcess,
} from '../../../helpers/fixtures/payment-service-fixture.js';
import { ledgerWith } from '../../../helpers/storage/ledgers.js';

const SIGNATURE = '5'.repeat(88);
const SELLER = { owner: 'owner', projectId: 'prj_1' };

/** A payment that landed without us. */
function landedUse(change: Partial<LandedUse> = {}): LandedUse {
  const { terms, payer, decoded } = newPayment();
  const landed = landedAs(decoded);
  return { resource: 'prj_1', signature: SIGNATURE, landed, payer, terms, seller: SELLER, ...change };
}

function receiptFor({ terms, payer, landed }: LandedUse) {
  const { network, payTo, asset, amount } = terms;
  return { signature: SIGNATURE, network, payer, payTo, asset, amount, slot: landed.slot };
}

/** A payment service whose ledger's events are noted, and which can be made to do something else right before an attempt is attached. */
function open(attach?: (ledger: Ledger) => Promise<string | undefined>) {
  const fixture = openPaymentService();
  const kept: EventRecord[] = [];
  const ledger = ledgerWith(fixture.ledger, {
    async claimLanded(claim, landed) {
      const record = await fixture.ledger.claimLanded(claim, landed);
      if (record !== undefined) kept.push(...(landed.events ?? []));
      return record;
    },
    ...(attach === undefined ? {} : { attachAttempt: () => attach(fixture.ledger) }),
  });
  const parts = { ...fixture.parts, ledger };
  return { ...fixture, kept, parts };
}

const requested = (now: number): LandedUse => {
  const request = newRequest(now);
  const { decoded, payer } = paying(request);
  return landedUse({ request, resource: request.id, landed: landedAs(decoded), payer });
};

describe('a payment that landed without us', () => {
  test('is held, written down and told when nobody has brought it before', async () => {
    const { parts, ledger, told, kept, leases, now } = open();
    const use = landedUse();
    const { messageHash: id, slot } = use.landed;
    const claim = await claimLanded(parts, use);
    const record = await ledger.find(id);
    const receipt = receiptFor(use);
    expect(claim).toEqual({ status: 'won', record, lease: expect.any(String), receipt, resumed: false });
    expect(record).toMatchObject({ state: 'confirmed', slot, signature: SIGNATURE, ...SELLER });
    expect(told).toEqual([['payment.settled', { id, resource: 'prj_1', receipt }]]);
    expect(kept).toMatchObject([{ type: 'payment.settled', ...SELLER, at: now() }]);
    expect(leases.holds(id)).toBe(true);
  });

  test('is busy while this process, or another one, is at work on it', async () => {
    const fixture = open();
    const use = landedUse();
    const { messageHash: id } = use.landed;
    await claimLanded(fixture.parts, use);
    const record = await fixture.ledger.find(id);
    expect(await claimLanded(secondProcess(fixture).parts, use)).toEqual({ status: 'busy', record });
    // Its clock has jumped ahead: its own lease seems to be over.
    await fixture.advance(60_000);
    expect(await claimLanded(fixture.parts, use)).toEqual({ status: 'busy', record });
    expect((await claimLanded(secondProcess(fixture).parts, use)).status).toBe('won');
  });

  test('is held for as long as is wanted, by default as long as all others', async () => {
    for (const [leaseMs, held] of [
      [5_000, 5_000],
      [undefined, 30_000],
    ] as const) {
      const fixture = open();
      const use = landedUse();
      await claimLanded(fixture.parts, use, leaseMs);
      const other = async () => (await claimLanded(secondProcess(fixture).parts, use)).status;
      await fixture.advance(held - 1);
      expect(await other()).toBe('busy');
      await fixture.advance(1);
      expect(await other()).toBe('won');
    }
  });

  test('that was let go of unused is won again, and told once', async () => {
    const { parts, ledger, told, leases } = open();
    const use = landedUse();
    const first = await claimLanded(parts, use);
    if (first.status !== 'won') throw new Error(first.status);
    leases.drop(first.lease);
    await ledger.keep(first.record.id, first.lease);
    const second = await claimLanded(parts, use);
    const { record } = first;
    const receipt = receiptFor(use);
    expect(second).toEqual({ status: 'won', record, lease: expect.any(String), receipt, resumed: true });
    expect([told.length, leases.holds(record.id)]).toEqual([1, true]);
  });

  test('pays nothing else, nor again', async () => {
    const { parts, ledger } = open();
    const use = landedUse();
    const first = await claimLanded(parts, use);
    if (first.status !== 'won') throw new Error(first.status);
    expect(await claimLanded(parts, { ...use, resource: 'prj_2' })).toEqual({
      status: 'foreign',
      record: first.record,
    });
    await ledger.served(first.record.id, first.lease);
    const record = await ledger.find(first.record.id);
    expect(await claimLanded(parts, use)).toEqual({ status: 'closed', record });
    expect(record?.state).toBe('served');
  });
});

describe('one that pays a request', () => {
  test('is attached to it, held and written down', async () => {
    const { parts, ledger, told, now, leases, kept } = open();
    const use = requested(now());
    const { messageHash: id } = use.landed;
    await ledger.savePaymentRequest(use.request!);
    const claim = await claimLanded(parts, use);
    const receipt = receiptFor(use);
    expect(claim).toMatchObject({ status: 'won', receipt, resumed: false });
    expect(await ledger.find(id)).toMatchObject({ state: 'confirmed', signature: SIGNATURE });
    expect((await ledger.findPaymentRequest(use.request!.id))?.attempt).toBe(id);
    expect(told).toEqual([['payment.settled', { id, resource: use.resource, receipt }]]);
    expect([leases.holds(id), kept]).toEqual([true, []]);
  });

  test('is outrun where another one pays it, and pays nothing then', async () => {
    const { parts, ledger, told, now, leases } = open(async () => 'another');
    const use = requested(now());
    const { messageHash: id } = use.landed;
    expect(await claimLanded(parts, use)).toEqual({ status: 'outrun' });
    expect([await ledger.find(id), told, leases.holds(id)]).toEqual([undefined, [], false]);
  });

  test('is let go of when that cannot be found out', async () => {
    const { parts, ledger, now } = open(() => Promise.reject(new Error('the ledger is away')));
    const use = requested(now());
    await expect(claimLanded(parts, use)).rejects.toThrow('the ledger is away');
    expect(await ledger.find(use.landed.messageHash)).toBeUndefined();
  });
});
