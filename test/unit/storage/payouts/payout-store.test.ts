import fc from 'fast-check';
import { splitAmount } from '../../../../src/protocol/money/split.js';
import { createSqlLedger } from '../../../../src/storage/ledger/sql-ledger.js';
import type { OwedAccount } from '../../../../src/storage/payouts/payout-store.js';
import { createSqlPayoutStore } from '../../../../src/storage/payouts/sql-payout-store.js';
import { openSqlite } from '../../../../src/storage/sql/sqlite/sqlite-database.js';
import { newClaim, TERMS } from '../../../contracts/ledger-samples.js';
import { testClock } from '../../../helpers/test-clock.js';

const RECIPIENTS = ['anna', 'bert', 'carl', 'dora', 'emil'];
const ACCOUNT: OwedAccount = { projectId: 'prj_1', network: TERMS.network, wallet: TERMS.payTo, mint: TERMS.asset };

/** Shares of some recipients; whatever is left is the first one's. */
const shares = fc
  .tuple(fc.uniqueArray(fc.constantFrom(...RECIPIENTS), { minLength: 1 }), fc.array(fc.integer({ min: 1, max: 2_000 })))
  .map(([recipients, weights]) => {
    const rest = recipients.slice(1).map((recipient, index) => ({ recipient, bps: weights[index] ?? 1 }));
    const first = { recipient: recipients[0]!, bps: 10_000 - rest.reduce((sum, { bps }) => sum + bps, 0) };
    return [first, ...rest];
  });

const step = fc.oneof(
  fc.record({ kind: fc.constant('earn' as const), total: fc.bigInt(1n, 2n ** 64n - 1n), split: shares }),
  fc.record({ kind: fc.constant('plan' as const), recipients: fc.uniqueArray(fc.constantFrom(...RECIPIENTS)) }),
  fc.record({ kind: fc.constantFrom('pay' as const, 'fail' as const, 'accrue' as const) }),
);

test('whatever happens in whatever order, what came in is what is owed, being paid, or paid; once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const { now, advance } = testClock();
      const database = await openSqlite(':memory:');
      const [book, ledger] = [createSqlPayoutStore(database, now), createSqlLedger(database, now)];
      let earned = 0n;

      async function end(isPaid: boolean): Promise<void> {
        const [payout] = await book.take(ACCOUNT.network, 'lease', 1, 1);
        if (payout === undefined) return;
        const { id } = payout;
        const signature = id;
        const signed = { signature, transaction: new Uint8Array(), blockhash: '', lastValidBlockHeight: 1 };
        await book.recordSigned(id, 'lease', signed);
        if (isPaid) await book.recordPaid(id, 'lease', 1);
        else await book.recordFailed(id, 'lease', { reason: 'expired', heldUntil: 0, signature });
      }

      for (const it of steps) {
        await advance(1);
        if (it.kind === 'earn') {
          const claim = newClaim({ projectId: ACCOUNT.projectId, owedLegs: splitAmount(it.total, it.split) });
          await ledger.claim(claim);
          await ledger.recordOutcome(claim.id, claim.lease, { state: 'confirmed', slot: 1, signature: '1' });
          earned += it.total;
        } else if (it.kind === 'plan') await book.plan(ACCOUNT, it.recipients);
        else if (it.kind === 'accrue') await book.accrue(2);
        else await end(it.kind === 'pay');
      }
      while ((await book.accrue(100)) > 0);

      const owed = (await book.owed(ACCOUNT.projectId)).reduce((sum, { amount }) => sum + amount, 0n);
      const payouts = (await book.list(ACCOUNT.projectId, 1_000)).filter(({ state }) => state !== 'failed');
      const taken = payouts.reduce((sum, { total }) => sum + total, 0n);
      expect(owed + taken).toBe(earned);
      for (const { legs, total } of payouts) expect(legs.reduce((sum, { amount }) => sum + amount, 0n)).toBe(total);
      await database.close();
    }),
    { numRuns: 60 },
  );
});
