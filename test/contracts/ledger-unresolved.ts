import type { NetworkId } from '../../src/protocol/types.js';
import type { ClaimRequest, Ledger, Outcome } from '../../src/storage/ledger/ledger.js';
import { LEASE_MS, newClaim, rivalOf, TERMS } from './ledger-samples.js';

const REST_MS = 10_000;
const CONFIRMED: Outcome = { state: 'confirmed', slot: 7, signature: '5'.repeat(88) };

/** What every ledger must do for payments that were sent and that nobody brings to an end. */
export function unresolvedPaymentsContract(
  ledgerOf: () => Ledger,
  advance: (milliseconds: number) => Promise<void>,
): void {
  describe('payments that were sent and that nobody brings to an end', () => {
    /** Each test has a network of its own, so that it sees its own payments only. */
    let network: NetworkId;
    let tests = 0;
    beforeEach(() => {
      tests += 1;
      network = `solana-test-${Date.now()}-${tests}` as NetworkId;
    });

    async function claimed(change: Partial<ClaimRequest> = {}): Promise<ClaimRequest> {
      const claim = newClaim({ terms: { ...TERMS, network }, ...change });
      await ledgerOf().claim(claim);
      return claim;
    }

    async function sent(): Promise<ClaimRequest> {
      const claim = await claimed();
      await ledgerOf().recordBroadcast(claim.id, claim.lease, { signature: '5'.repeat(88), lastValidBlockHeight: 900 });
      return claim;
    }

    async function take(limit = 100): Promise<readonly string[]> {
      const records = await ledgerOf().takeUnresolved({ network, restMs: REST_MS, limit });
      return records.map(({ id }) => id);
    }

    test('a heart-beat holds a payment for as long as was asked for, from then on', async () => {
      const claim = await claimed();
      await advance(LEASE_MS - 1);
      expect(await ledgerOf().extend(claim.id, claim.lease, 2 * LEASE_MS)).toBe(true);
      await advance(2 * LEASE_MS - 1);
      const busy = await ledgerOf().claim(rivalOf(claim));
      await advance(1);
      const won = await ledgerOf().claim(rivalOf(claim));

      expect([busy.status, won.status]).toEqual(['busy', 'won']);
    });

    test('which buy a pass are found by their wallet from when they are sent until their outcome is known', async () => {
      const ledger = ledgerOf();
      const payer = `payer of ${network}`;
      const buys = { site: 'https://a.example', scope: 'GET /a', kind: 'uses', bought: 5n, left: 4n } as const;
      const mine = await claimed({ payer, buys });
      const others = await claimed({ payer: `another ${payer}`, buys });
      expect(await ledger.openPurchases(payer)).toEqual([]);
      for (const { id, lease } of [mine, others]) await ledger.recordBroadcast(id, lease, {});
      expect(await ledger.openPurchases(payer)).toMatchObject([{ id: mine.id, buys }]);
      await ledger.recordOutcome(mine.id, mine.lease, CONFIRMED);
      expect(await ledger.openPurchases(payer)).toEqual([]);
    });

    test('are their holder’s for as long as it asks when it notes them, though their lease was over by then', async () => {
      const [late, early] = [await claimed(), await claimed()];
      expect(await ledgerOf().recordBroadcast(early.id, early.lease, {}, LEASE_MS / 2)).toBe(true);
      await advance(LEASE_MS - 1);
      expect(await ledgerOf().claim(rivalOf(early))).toMatchObject({ status: 'busy' });
      await advance(1);
      expect(await ledgerOf().recordBroadcast(late.id, late.lease, { signature: '5'.repeat(88) }, LEASE_MS)).toBe(true);
      expect(await take()).toEqual([]);
      await advance(LEASE_MS);
      expect(await take()).toEqual([late.id]);
    });

    test('are answered when their lease is over, as they are; those of a living holder are not', async () => {
      const [dead, alive] = [await sent(), await sent()];
      const before = await ledgerOf().find(dead.id);
      await advance(LEASE_MS - 1);
      expect(await take()).toEqual([]);
      await ledgerOf().extend(alive.id, alive.lease, LEASE_MS);
      await advance(1);

      const records = await ledgerOf().takeUnresolved({ network, restMs: REST_MS, limit: 100 });
      expect(records).toEqual([before]);
      expect(await ledgerOf().recordOutcome(alive.id, alive.lease, CONFIRMED)).toBe(true);
    });

    test('are also those that their holder gave back', async () => {
      const { id, lease } = await sent();
      await ledgerOf().keep(id, lease);
      await advance(LEASE_MS);

      expect(await take()).toEqual([id]);
    });

    test('are those that were sent only: not those that nobody sent, that have landed, or that are over', async () => {
      await claimed();
      const landed = await sent();
      await ledgerOf().recordOutcome(landed.id, landed.lease, CONFIRMED);
      const served = await sent();
      await ledgerOf().recordOutcome(served.id, served.lease, CONFIRMED);
      await ledgerOf().served(served.id, served.lease);
      const failed = await sent();
      const reason = 'invalid_exact_svm_transaction_failed';
      await ledgerOf().recordOutcome(failed.id, failed.lease, { state: 'failed', reason });
      const elsewhere = await claimed();
      await ledgerOf().recordBroadcast(elsewhere.id, elsewhere.lease, {});
      await advance(10 * LEASE_MS);

      expect(await take()).toEqual([]);
    });

    test('are those of one network only', async () => {
      await sent();
      await advance(LEASE_MS);
      network = 'solana-testnet';
      expect(await take()).toEqual([]);
    });

    test('rest after each look, and are nobody’s meanwhile: their payer can claim them at once', async () => {
      const claim = await sent();
      await advance(LEASE_MS);
      expect([await take(), await take()]).toEqual([[claim.id], []]);
      await advance(REST_MS - 1);
      expect(await take()).toEqual([]);
      await advance(1);
      expect(await take()).toEqual([claim.id]);

      const payer = rivalOf(claim);
      expect((await ledgerOf().claim(payer)).status).toBe('won');
      await advance(REST_MS);
      expect(await take()).toEqual([]);
      expect(await ledgerOf().recordOutcome(claim.id, claim.lease, CONFIRMED)).toBe(false);
    });

    test('come in turn, those first that were looked at longest ago', async () => {
      const first = await sent();
      await advance(1);
      const second = await sent();
      await advance(1);
      const third = await sent();
      await advance(LEASE_MS);

      expect(await take(2)).toEqual(expect.arrayContaining([first.id, second.id]));
      expect(await take(2)).toEqual([third.id]);
      await advance(REST_MS);
      await sent();
      expect(await take(3)).toHaveLength(3);
    });

    test('come in the order in which they were left, whichever was brought first', async () => {
      const [first, second, third] = [await sent(), await sent(), await sent()];
      await advance(1);
      await ledgerOf().extend(second.id, second.lease, LEASE_MS);
      await advance(1);
      await ledgerOf().extend(first.id, first.lease, LEASE_MS);
      await advance(LEASE_MS);

      expect([await take(1), await take(1), await take(1)]).toEqual([[third.id], [second.id], [first.id]]);
    });

    test('of several that ask at once, one gets each', async () => {
      const ids: string[] = [];
      for (let count = 0; count < 10; count += 1) ids.push((await sent()).id);
      await advance(LEASE_MS);
      const taken = await Promise.all(Array.from({ length: 5 }, () => take(4)));

      expect(new Set(taken.flat()).size).toBe(taken.flat().length);
      const rest = await take();
      expect([...taken.flat(), ...rest].sort()).toEqual(ids.sort());
    });
  });
}

/** What every ledger must do for payments that have landed and whose process died in the run of their request. */
export function interruptedPaymentsContract(
  ledgerOf: () => Ledger,
  advance: (milliseconds: number) => Promise<void>,
): void {
  describe('payments that have landed and whose holder is gone', () => {
    let network: NetworkId;
    let tests = 0;
    beforeEach(() => {
      tests += 1;
      network = `solana-broken-off-${Date.now()}-${tests}` as NetworkId;
    });

    async function landed(): Promise<ClaimRequest> {
      const claim = newClaim({ terms: { ...TERMS, network } });
      await ledgerOf().claim(claim);
      await ledgerOf().recordOutcome(claim.id, claim.lease, CONFIRMED);
      return claim;
    }

    async function found({ limit = 100, endedWithinMs = Number.MAX_SAFE_INTEGER } = {}): Promise<readonly string[]> {
      const records = await ledgerOf().interrupted({ network, endedWithinMs, limit });
      return records.map(({ id }) => id);
    }

    test('are found as they are once their lease is over, as often as they are looked for', async () => {
      const { id } = await landed();
      await advance(LEASE_MS - 1);
      expect(await found()).toEqual([]);
      await advance(1);
      const record = await ledgerOf().find(id);
      const look = { network, endedWithinMs: 1, limit: 1 };
      expect([await ledgerOf().interrupted(look), await ledgerOf().interrupted(look)]).toEqual([[record], [record]]);
    });

    test('are not those that are held, were given back, or are over', async () => {
      const ledger = ledgerOf();
      const [alive, kept, served, claimed] = [await landed(), await landed(), await landed(), await landed()];
      await ledger.keep(kept.id, kept.lease);
      await ledger.served(served.id, served.lease);
      await advance(LEASE_MS);
      await ledger.extend(alive.id, alive.lease, LEASE_MS);
      const heir = rivalOf(claimed);
      await ledger.claim(heir);
      expect(await found()).toEqual([]);
      await advance(LEASE_MS);
      expect((await found()).toSorted()).toEqual([alive.id, claimed.id].toSorted());
      await ledger.keep(heir.id, heir.lease);
      expect(await found()).toEqual([alive.id]);
    });

    test('are found within the time that is asked for, the oldest lease first', async () => {
      const first = await landed();
      await advance(10);
      const second = await landed();
      await advance(LEASE_MS);
      expect(await found()).toEqual([first.id, second.id]);
      expect([await found({ endedWithinMs: 10 }), await found({ limit: 1 })]).toEqual([[second.id], [first.id]]);
    });

    test('are those of one network only', async () => {
      await landed();
      await advance(LEASE_MS);
      network = 'solana-testnet';
      expect(await found({ endedWithinMs: 1 })).toEqual([]);
    });
  });
}
