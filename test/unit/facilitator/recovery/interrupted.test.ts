import { paidForRequest } from '../../../../src/facilitator/payments/price-credit.js';
import { createFreeing, type FreeingParts } from '../../../../src/facilitator/recovery/interrupted.js';
import { type ClaimRequest, type Ledger, MAX_RERUNS } from '../../../../src/storage/ledger/ledger.js';
import { createMemoryPassStore } from '../../../../src/storage/passes/memory-pass-store.js';
import type { NewPass } from '../../../../src/storage/passes/pass-store.js';
import { newClaim } from '../../../contracts/ledger-samples.js';
import { openPaymentService } from '../../../helpers/fixtures/payment-service-fixture.js';
import { ledgerWith } from '../../../helpers/storage/ledgers.js';

const LEASE_MS = 1_000;
/** A quarter of the leases of a facilitator: whoever lives has been heard of by then. */
const REST_MS = 7_500;
const LANDED = { state: 'confirmed', slot: 7, signature: '5'.repeat(88) } as const;

/** Books of payments and passes, and what frees what was taken in runs that broke off. */
function open(own: (ledger: Ledger) => Partial<Ledger> = () => ({})) {
  const { ledger, leases, now, advance } = openPaymentService();
  const passes = createMemoryPassStore();
  const { network } = newClaim().terms;
  const parts: FreeingParts = { network, ledger: ledgerWith(ledger, own(ledger)), leases, passes, now };
  return { ledger, leases, passes, advance, parts, free: createFreeing(parts) };
}

type Opened = ReturnType<typeof open>;

/** A payment that is being run for its request. */
async function running({ ledger }: Opened, change: Partial<ClaimRequest> = {}): Promise<ClaimRequest> {
  const { buys: _buys, ...single } = newClaim({ leaseMs: LEASE_MS });
  const claim = { ...single, ...change };
  await ledger.claim(claim);
  await ledger.recordOutcome(claim.id, claim.lease, LANDED);
  return claim;
}

/** The credit that a failed run has left its payer; the run that is under way has taken some of it. */
async function leftCredit({ passes }: Opened, { id, payer, terms }: ClaimRequest, taken: bigint): Promise<string> {
  const place = { site: 'https://shop.example', scope: 'price of GET /report' };
  const credit: NewPass = {
    id: `pas_${id}`,
    paymentId: id,
    wallet: payer,
    ...place,
    kind: 'credit',
    mint: terms.asset,
  };
  const pass = await passes.open({ ...credit, bought: terms.amount, left: terms.amount });
  if (taken > 0n) await passes.debit({ passId: pass.id, requestId: id, amount: 1n });
  if (taken > 1n) await passes.adjust({ passId: pass.id, requestId: id, amount: taken });
  return pass.id;
}

const isTaken = async ({ passes }: Opened, passId: string) => (await passes.find(passId))?.left === 0n;

/** What is seen is seen again before it is freed. */
async function freed({ advance, free }: Pick<Opened, 'advance' | 'free'>): Promise<void> {
  await free();
  await advance(REST_MS);
  await free();
}

describe('what a run has taken that broke off', () => {
  test('is free again once the lease is over, and the payment stays good for its request', async () => {
    const fixture = open();
    const claim = await running(fixture);
    const passId = await leftCredit(fixture, claim, claim.terms.amount);
    await fixture.free();
    expect(await isTaken(fixture, passId)).toBe(true);
    await fixture.advance(LEASE_MS);
    await freed(fixture);
    expect(await fixture.passes.find(passId)).toMatchObject({ left: claim.terms.amount });
    expect(await fixture.ledger.find(claim.id)).toMatchObject({ state: 'confirmed', reruns: 1 });
    expect((await fixture.ledger.claim({ ...claim, lease: 'its payer' })).status).toBe('won');
  });

  test('is free again however long nobody has looked', async () => {
    const fixture = open();
    await fixture.free();
    const claim = await running(fixture);
    const passId = await leftCredit(fixture, claim, claim.terms.amount);
    await fixture.advance(86_400_000);
    await freed(fixture);
    expect(await isTaken(fixture, passId)).toBe(false);
    const other = open();
    const left = await running(other);
    const otherId = await leftCredit(other, left, left.terms.amount);
    await other.advance(86_400_000);
    await freed(other);
    expect(await isTaken(other, otherId)).toBe(false);
  });

  test('is its token’s alone when the payment was run often enough', async () => {
    const fixture = open();
    const claim = await running(fixture);
    for (let count = 0; count < MAX_RERUNS; count += 1) await fixture.ledger.runAgain(claim.id, claim.lease);
    const passId = await leftCredit(fixture, claim, claim.terms.amount);
    await fixture.advance(LEASE_MS);
    await freed(fixture);
    expect(await isTaken(fixture, passId)).toBe(false);
    expect(await fixture.ledger.find(claim.id)).toMatchObject({ state: 'served' });
  });

  test('of what a payment has bought is free again as well', async () => {
    const fixture = open();
    const place = { site: 'https://shop.example', scope: 'GET /report' };
    const buys = { ...place, kind: 'uses', bought: 1n, left: 0n } as const;
    const claim = await running(fixture, { buys });
    const { id: passId } = await fixture.passes.open({
      ...buys,
      id: 'pas_1',
      paymentId: claim.id,
      wallet: claim.payer,
    });
    await fixture.advance(LEASE_MS);
    await freed(fixture);
    expect(await fixture.passes.find(passId)).toMatchObject({ left: 1n });
    expect([paidForRequest(claim), await fixture.passes.taken(passId, claim.id)]).toEqual([1n, undefined]);
  });

  test('beyond what was paid for the request stays taken: that was charged of a stream', async () => {
    const fixture = open();
    const place = { site: 'https://shop.example', scope: 'GET /report' };
    const buys = { ...place, kind: 'credit', mint: 'a mint', bought: 100n, left: 99n } as const;
    const claim = await running(fixture, { buys });
    const { id: passId } = await fixture.passes.open({
      ...buys,
      id: 'pas_2',
      paymentId: claim.id,
      wallet: claim.payer,
    });
    await fixture.passes.adjust({ passId, requestId: claim.id, amount: 2n });
    await fixture.advance(LEASE_MS);
    await freed(fixture);
    expect(await fixture.passes.find(passId)).toMatchObject({ left: 98n });
    expect(
      await fixture.parts.ledger.interrupted({ ...fixture.parts, endedWithinMs: Number.MAX_SAFE_INTEGER, limit: 1 }),
    ).toEqual([]);
  });

  test('is nothing where the payment has left its payer nothing, or the run has taken nothing: it is only let go', async () => {
    const fixture = open();
    const [none, untouched] = [await running(fixture), await running(fixture)];
    await leftCredit(fixture, untouched, 0n);
    await fixture.advance(LEASE_MS);
    await freed(fixture);
    for (const { id } of [none, untouched]) {
      const record = await fixture.ledger.find(id);
      expect([record?.state, record?.reruns]).toEqual(['confirmed', undefined]);
    }
    expect(
      await fixture.parts.ledger.interrupted({ ...fixture.parts, endedWithinMs: Number.MAX_SAFE_INTEGER, limit: 1 }),
    ).toEqual([]);
  });

  test('is not free while this process is at work on the payment, whatever its clock says', async () => {
    const fixture = open();
    const claim = await running(fixture);
    const passId = await leftCredit(fixture, claim, claim.terms.amount);
    fixture.leases.hold(claim.id, claim.lease, LEASE_MS);
    await fixture.advance(LEASE_MS);
    await freed(fixture);
    expect(await isTaken(fixture, passId)).toBe(true);
    fixture.leases.drop(claim.lease);
    await freed(fixture);
    expect(await isTaken(fixture, passId)).toBe(false);
  });

  test('is not free while its process lives and could not say so: when the store is back it has a moment for that', async () => {
    const fixture = open();
    const [alive, dead] = [await running(fixture), await running(fixture)];
    const passIds = [alive, dead].map((it) => leftCredit(fixture, it, it.terms.amount));
    await fixture.advance(10 * LEASE_MS);
    await fixture.free();
    await fixture.advance(REST_MS - 1);
    await fixture.free();
    await fixture.ledger.extend(alive.id, alive.lease, LEASE_MS);
    await fixture.advance(1);
    await fixture.free();
    expect(await Promise.all(passIds.map(async (it) => isTaken(fixture, await it)))).toEqual([true, false]);
  });

  test('is left to the payer who comes again meanwhile, and to whoever takes the payment over', async () => {
    for (const step of ['claim', 'extend'] as const) {
      const fixture = open((ledger) => ({
        async claim(request) {
          if (step === 'claim') await ledger.claim({ ...request, lease: 'its payer' });
          return ledger.claim(request);
        },
        extend: async (...it) => step === 'claim' && ledger.extend(...it),
      }));
      const claim = await running(fixture);
      const passId = await leftCredit(fixture, claim, claim.terms.amount);
      await fixture.advance(LEASE_MS);
      await fixture.free();
      expect([step, await isTaken(fixture, passId)]).toEqual([step, true]);
    }
  });

  test('is found again when a store could not be reached', async () => {
    const fixture = open();
    const claim = await running(fixture);
    const passId = await leftCredit(fixture, claim, claim.terms.amount);
    await fixture.advance(LEASE_MS);
    const outage = async (): Promise<never> => {
      throw new Error('the store is away');
    };
    const free = createFreeing({ ...fixture.parts, passes: { ...bound(fixture), giveBack: outage } });
    await expect(freed({ ...fixture, free })).rejects.toThrow('the store is away');
    expect(await isTaken(fixture, passId)).toBe(true);
    await fixture.advance(fixture.leases.leaseMs);
    await freed(fixture);
    expect(await isTaken(fixture, passId)).toBe(false);
  });

  test('is free again for all of more than a hundred payments', async () => {
    const fixture = open();
    const ids: string[] = [];
    for (let count = 0; count < 101; count += 1) {
      const claim = await running(fixture);
      ids.push(await leftCredit(fixture, claim, claim.terms.amount));
    }
    await fixture.advance(LEASE_MS);
    await freed(fixture);
    await freed(fixture);
    expect((await Promise.all(ids.map((it) => isTaken(fixture, it)))).some(Boolean)).toBe(false);
  });
});

function bound({ passes }: Opened): FreeingParts['passes'] {
  return {
    findByPayment: (...it) => passes.findByPayment(...it),
    taken: (...it) => passes.taken(...it),
    giveBack: (...it) => passes.giveBack(...it),
  };
}
