import { defined } from '../../src/lib/defined.js';
import {
  type ClaimRequest,
  type Ledger,
  MAX_RERUNS,
  type Outcome,
  type PaymentRecord,
} from '../../src/storage/ledger/ledger.js';
import { atHost } from '../../src/storage/ledger/payment-use.js';
import { ledgerModelContract } from './ledger-model.js';
import { paymentRequestsContract } from './ledger-requests.js';
import { LEASE_MS, newClaim, rivalOf, TERMS } from './ledger-samples.js';
import { paymentStatesContract } from './ledger-states.js';
import { interruptedPaymentsContract, unresolvedPaymentsContract } from './ledger-unresolved.js';

/** A ledger under test, and a way to let its time pass. */
export interface LedgerUnderTest {
  readonly ledger: Ledger;
  /** The ledger's clock, milliseconds since the epoch. */
  readonly now: () => number;
  /** Lets so many milliseconds pass on the ledger's clock. */
  advance(milliseconds: number): Promise<void>;
}

const LANDED = { slot: 300_000_000_000, signature: '5'.repeat(88) };
const CONFIRMED: Outcome = { ...LANDED, state: 'confirmed' };
const SERVED: Outcome = { ...LANDED, state: 'served' };
const EXPIRED: Outcome = { state: 'expired', reason: 'invalid_exact_svm_transaction_expired' };
const FAILED: Outcome = { state: 'failed', reason: 'invalid_exact_svm_transaction_failed' };

/**
 * What every implementation of {@link Ledger} must do.
 * @param histories - how many random ones are compared with the model; fewer where each step takes longer
 */
export function ledgerContract(name: string, open: () => Promise<LedgerUnderTest>, histories: number): void {
  describe(`${name} keeps the contract of Ledger`, () => {
    let ledger: Ledger;
    let fixture: LedgerUnderTest;
    const advance = (milliseconds: number) => fixture.advance(milliseconds);

    beforeEach(async () => {
      fixture = await open();
      ({ ledger } = fixture);
    });
    afterEach(() => ledger.close());

    /** A payment that was brought as far as a state, still held. */
    async function claimIn(state: PaymentRecord['state']): Promise<ClaimRequest> {
      const claim = newClaim();
      await ledger.claim(claim);
      if (state === 'claimed') return claim;
      await ledger.recordBroadcast(claim.id, claim.lease, { signature: '5'.repeat(88), lastValidBlockHeight: 900 });
      if (state === 'broadcast') return claim;
      const outcome = { expired: EXPIRED, failed: FAILED, confirmed: CONFIRMED, served: CONFIRMED }[state];
      await ledger.recordOutcome(claim.id, claim.lease, outcome);
      if (state === 'served') await ledger.served(claim.id, claim.lease);
      return claim;
    }

    const stateOf = async ({ id }: ClaimRequest) => (await ledger.find(id))?.state;

    describe('a claim', () => {
      test('of an unknown payment is won, and everything about it is kept exactly', async () => {
        const claim = newClaim();
        const { status, record } = await ledger.claim(claim);
        const { lease: _lease, leaseMs: _leaseMs, ...payment } = claim;

        expect(status).toBe('won');
        expect(record).toEqual({ ...payment, state: 'claimed', claimedAt: expect.any(Number) });
        expect(await ledger.find(claim.id)).toEqual(record);
        expect(await ledger.find(newClaim().id)).toBeUndefined();
      });

      test('of twenty at once is won by one; the others find it busy', async () => {
        const claim = newClaim();
        const rivals = Array.from({ length: 20 }, () => rivalOf(claim));
        const results = await Promise.all(rivals.map((rival) => ledger.claim(rival)));
        const winner = rivals[results.findIndex(({ status }) => status === 'won')];

        expect(results.map(({ status }) => status).sort()).toEqual([...Array(19).fill('busy'), 'won']);
        expect(await ledger.extend(claim.id, winner?.lease ?? '', LEASE_MS)).toBe(true);
      });

      test('of different payments at once are all won', async () => {
        const results = await Promise.all(Array.from({ length: 20 }, () => ledger.claim(newClaim())));
        expect(results.map(({ status }) => status)).toEqual(Array(20).fill('won'));
      });

      test('at another host is foreign, and at any host wins what was bound before hosts were told apart', async () => {
        const request = 'f'.repeat(64);
        const [one, two] = [atHost(request, 'one.example'), atHost(request, 'two.example')];
        for (const [bound, brought, status] of [
          [one, one, 'won'],
          [one, two, 'foreign'],
          [one, request, 'foreign'],
          [request, one, 'won'],
          [undefined, one, 'won'],
        ] as const) {
          const claim = newClaim(defined({ fingerprint: bound, retryHash: bound && 'r'.repeat(64) }));
          await ledger.claim(claim);
          await ledger.recordOutcome(claim.id, claim.lease, CONFIRMED);
          await ledger.keep(claim.id, claim.lease);
          const again = rivalOf(claim, { fingerprint: brought, retryHash: 'r'.repeat(64) });
          expect([bound, brought, (await ledger.claim(again)).status]).toEqual([bound, brought, status]);
        }
      });

      test('for something else is foreign, whatever the state, and changes nothing', async () => {
        for (const state of ['claimed', 'broadcast', 'confirmed', 'served', 'expired', 'failed'] as const) {
          const claim = await claimIn(state);
          const before = await ledger.find(claim.id);
          const { status, record } = await ledger.claim(rivalOf(claim, { binding: 'GET /other|terms' }));

          expect(status).toBe('foreign');
          expect(record.binding).toBe(claim.binding);
          expect(await ledger.find(claim.id)).toEqual(before);
        }
      });

      test.each(['served', 'expired', 'failed'] as const)(
        'of a payment that is %s is closed, with its record',
        async (state) => {
          const claim = await claimIn(state);
          const { status, record } = await ledger.claim(rivalOf(claim));

          expect(status).toBe('closed');
          expect(record).toMatchObject({ id: claim.id, state });
          expect(record).toEqual(await ledger.find(claim.id));
        },
      );

      test.each(['claimed', 'broadcast', 'confirmed'] as const)(
        'of one that is held, and %s, is busy',
        async (state) => {
          const claim = await claimIn(state);
          expect((await ledger.claim(rivalOf(claim))).status).toBe('busy');
          expect((await ledger.claim(claim)).status).toBe('busy');
        },
      );
    });

    describe('a claim of money that has landed', () => {
      const landed = { slot: 300_000_000_000, signature: '5'.repeat(88) };

      test('is won for a payment that nobody has heard of, which is confirmed then, and held', async () => {
        const claim = newClaim();
        const record = await ledger.claimLanded(claim, landed);
        const { lease: _lease, leaseMs: _leaseMs, ...payment } = claim;

        expect(record).toEqual({ ...payment, ...landed, state: 'confirmed', claimedAt: expect.any(Number) });
        expect(await ledger.find(claim.id)).toEqual(record);
        expect((await ledger.claim(rivalOf(claim))).status).toBe('busy');
        expect(await ledger.served(claim.id, claim.lease)).toBe(true);
      });

      test('keeps what is not there as not there', async () => {
        const { owner: _owner, projectId: _projectId, owedLegs: _owedLegs, ...claim } = newClaim();
        const record = await ledger.claimLanded(claim, landed);
        expect(await ledger.find(claim.id)).toEqual(record);
      });

      test('of twenty at once is won by one', async () => {
        const claim = newClaim();
        const rivals = Array.from({ length: 20 }, () => rivalOf(claim));
        const records = await Promise.all(rivals.map((rival) => ledger.claimLanded(rival, landed)));
        const winner = rivals[records.findIndex((record) => record !== undefined)];

        expect(records.filter((record) => record !== undefined)).toHaveLength(1);
        expect(await ledger.served(claim.id, winner?.lease ?? '')).toBe(true);
      });

      test('of different payments at once are all won', async () => {
        const claims = Array.from({ length: 20 }, () => newClaim());
        const records = await Promise.all(claims.map((claim) => ledger.claimLanded(claim, landed)));
        expect(records.map((record) => record?.id)).toEqual(claims.map(({ id }) => id));
      });

      test('changes nothing where the payment is known, whatever its state', async () => {
        for (const state of ['claimed', 'broadcast', 'confirmed', 'served', 'expired', 'failed'] as const) {
          const claim = await claimIn(state);
          await advance(LEASE_MS);
          const before = await ledger.find(claim.id);

          expect(await ledger.claimLanded(rivalOf(claim), landed)).toBeUndefined();
          expect(await ledger.find(claim.id)).toEqual(before);
        }
      });

      test('that was given back can be claimed again', async () => {
        const claim = newClaim();
        await ledger.claimLanded(claim, landed);
        expect(await ledger.keep(claim.id, claim.lease)).toBe(true);
        expect(await ledger.claim(rivalOf(claim))).toMatchObject({ status: 'won', record: { state: 'confirmed' } });
      });
    });

    describe('a lease', () => {
      test('holds until it ends, and then passes to the next who asks', async () => {
        const claim = await claimIn('broadcast');
        await advance(LEASE_MS - 1);
        const early = await ledger.claim(rivalOf(claim));
        await advance(1);
        const heir = rivalOf(claim);
        const taken = await ledger.claim(heir);

        expect([early.status, taken.status]).toEqual(['busy', 'won']);
        expect(taken.record).toMatchObject({
          state: 'broadcast',
          signature: '5'.repeat(88),
          lastValidBlockHeight: 900,
        });
        expect((await ledger.claim(rivalOf(claim))).status).toBe('busy');
      });

      test('that ended passes to one of twenty who ask at once', async () => {
        const claim = await claimIn('confirmed');
        await advance(LEASE_MS);
        const results = await Promise.all(Array.from({ length: 20 }, () => ledger.claim(rivalOf(claim))));

        expect(results.filter(({ status }) => status === 'won')).toHaveLength(1);
      });

      test('that ended and passed to nobody is still good', async () => {
        const claim = await claimIn('broadcast');
        await advance(10 * LEASE_MS);

        expect(await ledger.recordOutcome(claim.id, claim.lease, CONFIRMED)).toBe(true);
        expect(await ledger.served(claim.id, claim.lease)).toBe(true);
        expect(await stateOf(claim)).toBe('served');
      });

      test('that was taken over lasts as long as the heir asked for', async () => {
        const claim = await claimIn('claimed');
        await advance(LEASE_MS);
        await ledger.claim(rivalOf(claim, { leaseMs: 5 * LEASE_MS }));
        await advance(4 * LEASE_MS);
        const busy = await ledger.claim(rivalOf(claim));
        await advance(LEASE_MS);
        const won = await ledger.claim(rivalOf(claim));

        expect([busy.status, won.status]).toEqual(['busy', 'won']);
      });

      test.each(['claimed', 'broadcast', 'confirmed'] as const)(
        'that is lost changes nothing any more (%s)',
        async (state) => {
          const claim = await claimIn(state);
          await advance(LEASE_MS);
          const heir = rivalOf(claim);
          await ledger.claim(heir);
          const before = await ledger.find(claim.id);

          expect(await allWrites(claim)).toEqual(REFUSED);
          expect(await ledger.find(claim.id)).toEqual(before);
          expect((await ledger.claim(rivalOf(claim))).status).toBe('busy');
          expect(await ledger.keep(heir.id, heir.lease)).toBe(true);
        },
      );

      test('of somebody else, or of a payment that nobody knows, changes nothing', async () => {
        const claim = await claimIn('broadcast');
        const before = await ledger.find(claim.id);

        expect(await allWrites(rivalOf(claim))).toEqual(REFUSED);
        expect(await allWrites(newClaim())).toEqual(REFUSED);
        expect(await ledger.find(claim.id)).toEqual(before);
      });
    });

    describe('the life of a payment', () => {
      test('money that has landed stays landed: its holder can neither take it back nor call it lost', async () => {
        const claim = await claimIn('confirmed');
        const before = await ledger.find(claim.id);

        expect(await ledger.recordBroadcast(claim.id, claim.lease, { signature: '7'.repeat(88) })).toBe(false);
        expect(await ledger.forget(claim.id, claim.lease)).toBe(false);
        expect(await ledger.recordOutcome(claim.id, claim.lease, EXPIRED)).toBe(false);
        expect(await ledger.find(claim.id)).toEqual(before);
        expect(await ledger.served(claim.id, claim.lease)).toBe(true);
      });

      test('claimed, broadcast, confirmed, served; each step keeps what the earlier ones wrote', async () => {
        const claim = newClaim();
        const { id, lease } = claim;
        await ledger.claim(claim);
        expect(await ledger.recordBroadcast(id, lease, { signature: '5'.repeat(88), lastValidBlockHeight: 900 })).toBe(
          true,
        );
        expect(await ledger.find(id)).toMatchObject({
          state: 'broadcast',
          signature: '5'.repeat(88),
          lastValidBlockHeight: 900,
        });
        expect(await ledger.recordOutcome(id, lease, CONFIRMED)).toBe(true);
        expect(await ledger.find(id)).toMatchObject({ ...CONFIRMED, lastValidBlockHeight: 900, terms: TERMS });
        expect(await ledger.served(id, lease)).toBe(true);
        expect(await ledger.find(id)).toMatchObject({
          ...CONFIRMED,
          state: 'served',
          payer: claim.payer,
          terms: TERMS,
        });
      });

      test('a broadcast may name neither signature nor height; the outcome then names the signature', async () => {
        const claim = await claimIn('claimed');
        expect(await ledger.recordBroadcast(claim.id, claim.lease, {})).toBe(true);
        const sent = await ledger.find(claim.id);
        await ledger.recordOutcome(claim.id, claim.lease, CONFIRMED);

        expect(sent?.signature).toBeUndefined();
        expect(await ledger.find(claim.id)).toMatchObject(CONFIRMED);
      });

      test.each([EXPIRED, FAILED])('$state keeps the reason', async (outcome) => {
        const claim = await claimIn('broadcast');
        expect(await ledger.recordOutcome(claim.id, claim.lease, outcome)).toBe(true);
        expect(await ledger.find(claim.id)).toMatchObject({ ...outcome, signature: '5'.repeat(88) });
      });

      test.each(['served', 'expired', 'failed'] as const)('%s is final', async (state) => {
        const claim = await claimIn(state);
        const before = await ledger.find(claim.id);
        await advance(10 * LEASE_MS);

        expect(await allWrites(claim)).toEqual(REFUSED);
        expect(await ledger.find(claim.id)).toEqual(before);
        expect((await ledger.claim(rivalOf(claim))).status).toBe('closed');
      });

      test('a broadcast that was not sent is forgotten: it may be claimed for anything, and its holder has lost it', async () => {
        const claim = await claimIn('broadcast');
        expect(await ledger.forget(claim.id, claim.lease)).toBe(true);
        expect(await ledger.find(claim.id)).toBeUndefined();
        expect(await allWrites(claim)).toEqual(REFUSED);
        const next = rivalOf(claim, { binding: 'GET /other|terms' });
        expect(await ledger.claim(next)).toMatchObject({ status: 'won', isFirstUse: true });
        expect(await ledger.recordBroadcast(claim.id, next.lease, { signature: '6'.repeat(88) })).toBe(true);
        expect(await ledger.find(claim.id)).toMatchObject({ state: 'broadcast', signature: '6'.repeat(88) });
      });

      test('money that landed and owes nothing is served in one step, by the one who holds it', async () => {
        const claim = await claimIn('broadcast');
        expect(await ledger.recordOutcome(claim.id, 'somebody else', SERVED)).toBe(false);
        expect(await ledger.recordOutcome(claim.id, claim.lease, SERVED)).toBe(true);
        expect(await ledger.find(claim.id)).toMatchObject({ ...SERVED, lastValidBlockHeight: 900 });
        expect(await allWrites(claim)).toEqual(REFUSED);
      });

      test('runs of the handler are counted whoever holds the payment, and by twenty at once no further than twice', async () => {
        const claim = await claimIn('confirmed');
        expect(await ledger.runAgain(claim.id, claim.lease)).toBe(true);
        await ledger.keep(claim.id, claim.lease);
        const heir = rivalOf(claim);
        expect(await ledger.claim(heir)).toMatchObject({ status: 'won', record: { reruns: 1 } });
        const runs = await Promise.all(Array.from({ length: 20 }, () => ledger.runAgain(heir.id, heir.lease)));

        expect(runs.filter(Boolean)).toHaveLength(MAX_RERUNS - 1);
        expect((await ledger.find(claim.id))?.reruns).toBe(MAX_RERUNS);
      });
    });

    describe('a payment that is given back', () => {
      test.each(['broadcast', 'confirmed'] as const)(
        'and is %s is kept for the next attempt at the same thing',
        async (state) => {
          const claim = await claimIn(state);
          const before = await ledger.find(claim.id);
          expect(await ledger.keep(claim.id, claim.lease)).toBe(true);
          const elsewhere = await ledger.claim(rivalOf(claim, { binding: 'GET /other|terms' }));
          const again = await ledger.claim(rivalOf(claim));

          expect(elsewhere.status).toBe('foreign');
          expect(again).toEqual({ status: 'won', record: before, isFirstUse: false });
        },
      );

      test('and was never sent may be claimed for anything, by one of twenty', async () => {
        const claim = await claimIn('claimed');
        expect(await ledger.keep(claim.id, claim.lease)).toBe(true);
        const rivals = Array.from({ length: 20 }, (_, at) => rivalOf(claim, { binding: `GET /${at}|terms` }));
        const results = await Promise.all(rivals.map((rival) => ledger.claim(rival)));
        const winner = rivals[results.findIndex(({ status }) => status === 'won')];

        expect(results.map(({ status }) => status).sort()).toEqual([...Array(19).fill('foreign'), 'won']);
        expect((await ledger.find(claim.id))?.binding).toBe(winner?.binding);
      });

      test('ends the lease: nothing can be written with it any more', async () => {
        const claim = await claimIn('confirmed');
        await ledger.keep(claim.id, claim.lease);

        expect(await allWrites(claim)).toEqual(REFUSED);
        expect(await stateOf(claim)).toBe('confirmed');
      });
    });

    const REFUSED = {
      broadcast: false,
      landed: false,
      failed: false,
      extend: false,
      served: false,
      runAgain: false,
      forget: false,
      keep: false,
    };

    /** Everything that can be written with a lease. */
    async function allWrites({ id, lease }: ClaimRequest) {
      return {
        broadcast: await ledger.recordBroadcast(id, lease, { signature: '7'.repeat(88) }),
        landed: await ledger.recordOutcome(id, lease, CONFIRMED),
        failed: await ledger.recordOutcome(id, lease, FAILED),
        extend: await ledger.extend(id, lease, LEASE_MS),
        served: await ledger.served(id, lease),
        runAgain: await ledger.runAgain(id, lease),
        forget: await ledger.forget(id, lease),
        keep: await ledger.keep(id, lease),
      };
    }

    paymentStatesContract(() => fixture);
    ledgerModelContract(() => fixture, histories);
    unresolvedPaymentsContract(() => ledger, advance);
    interruptedPaymentsContract(() => ledger, advance);
    paymentRequestsContract(() => ledger, advance);
  });
}
