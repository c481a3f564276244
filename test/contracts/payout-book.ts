import { randomUUID } from 'node:crypto';
import type { Leg } from '../../src/protocol/money/split.js';
import { createSqlLedger } from '../../src/storage/ledger/sql-ledger.js';
import type { OwedAccount, PayoutRecord, PayoutStore, SignedPayout } from '../../src/storage/payouts/payout-store.js';
import { createSqlPayoutStore } from '../../src/storage/payouts/sql-payout-store.js';
import type { SqlDatabase, Statement } from '../../src/storage/sql/sql-database.js';
import { newClaim, TERMS } from './ledger-samples.js';

/** A database whose books are under test, and a clock for them. */
export interface PayoutBookUnderTest {
  readonly database: SqlDatabase;
  readonly now: () => number;
  advance(milliseconds: number): Promise<void>;
}

const LEASE_MS = 60_000;
const MAX = 18_446_744_073_709_551_615n;
const [ANNA, BERT, CARL] = [
  '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin',
  '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T',
  '7LoRd9sZMb3ejWqSmHqoADGuHR1mGZBLCMGWQFKQGwoR',
] as const;
const SIGNED: SignedPayout = {
  signature: '5'.repeat(88),
  transaction: Buffer.from([1, 2, 255]),
  blockhash: 'EkSnNWid2cvwEVnVx9aBqawnmiCNiDgp3gUdkDPTKN1N',
  lastValidBlockHeight: 300_000_000_000,
  signedSlot: 400_000_000_000,
};
const EVENTS: Statement = {
  name: 'test_payout_events',
  text: 'select type, owner, data from tollhouse_event where project_id = $1 order by seq',
};

/** What every payout book must do. */
export function payoutBookContract(name: string, open: () => Promise<PayoutBookUnderTest>): void {
  describe(`${name} keeps the contract of PayoutStore`, () => {
    let under: PayoutBookUnderTest;
    let book: PayoutStore;
    let projectId: string;

    beforeAll(async () => {
      under = await open();
      book = createSqlPayoutStore(under.database, under.now);
    });
    afterAll(() => under.database.close());
    beforeEach(() => {
      projectId = `prj_${randomUUID()}`;
    });

    const account = (): OwedAccount => {
      const { network, asset, payTo } = TERMS;
      return { projectId, network, wallet: payTo, mint: asset };
    };

    /** A payment of the project that has landed, and that is owed to these. */
    async function land(owed: readonly Leg[], served = true): Promise<void> {
      const ledger = createSqlLedger(under.database, under.now);
      const claim = newClaim({ projectId, owedLegs: owed });
      await ledger.claim(claim);
      await ledger.recordOutcome(claim.id, claim.lease, { state: 'confirmed', slot: 7, signature: '5'.repeat(88) });
      if (served) await ledger.served(claim.id, claim.lease);
    }

    async function accrueAll(): Promise<void> {
      while ((await book.accrue(100)) > 0);
    }

    async function owe(...owed: readonly Leg[]): Promise<void> {
      await land(owed);
      await accrueAll();
    }

    const owedNow = async () =>
      (await book.owed(projectId)).map(({ recipient, amount, held }) => [recipient, amount, held]);

    /** Takes the project's payouts; those of other tests are left to themselves. */
    async function take(lease: string): Promise<readonly PayoutRecord[]> {
      const taken = await book.take(TERMS.network, lease, LEASE_MS, 100);
      return taken.filter((it) => it.projectId === projectId);
    }

    async function planned(): Promise<{ payout: PayoutRecord; lease: string }> {
      const payout = await book.plan(account(), [ANNA, BERT]);
      const lease = randomUUID();
      await take(lease);
      return { payout: payout!, lease };
    }

    const only = async () => (await book.list(projectId, 100))[0];

    const eventsOf = async () =>
      (await under.database.query(EVENTS, projectId)).map((row) => ({
        type: row['type'],
        owner: row['owner'],
        data: JSON.parse(String(row['data'])) as object,
      }));

    describe('what is owed', () => {
      test('is what the payments that have landed say, served or not, summed by recipient, beyond 64 bits', async () => {
        await land([{ recipient: ANNA, amount: MAX }]);
        await land(
          [
            { recipient: ANNA, amount: MAX - 3n },
            { recipient: BERT, amount: 3n },
          ],
          false,
        );
        await accrueAll();

        expect(await owedNow()).toEqual([
          [BERT, 3n, undefined],
          [ANNA, 2n * MAX - 3n, undefined],
        ]);
        expect((await book.owed(projectId)).map(({ payments }) => payments)).toEqual([1, 2]);
      });

      test('is not booked for a payment that has not landed, failed, or owes nobody', async () => {
        const ledger = createSqlLedger(under.database, under.now);
        const claims = [newClaim({ projectId }), newClaim({ projectId }), newClaim({ projectId })] as const;
        for (const claim of claims) await ledger.claim(claim);
        await ledger.recordBroadcast(claims[1].id, claims[1].lease, {});
        const reason = 'invalid_exact_svm_transaction_failed';
        await ledger.recordOutcome(claims[2].id, claims[2].lease, { state: 'failed', reason });
        await accrueAll();

        expect(await owedNow()).toEqual([]);
      });

      test('is booked once, however often and by however many it is asked for', async () => {
        for (let index = 0; index < 10; index += 1) await land([{ recipient: ANNA, amount: 10n }]);
        await Promise.all(Array.from({ length: 6 }, () => book.accrue(100)));
        await accrueAll();

        expect(await owedNow()).toEqual([[ANNA, 100n, undefined]]);
      });

      test('to one recipient by several shares is one sum; a share of nothing is not owed', async () => {
        await owe({ recipient: ANNA, amount: 4n }, { recipient: BERT, amount: 0n }, { recipient: ANNA, amount: 5n });
        expect(await owedNow()).toEqual([[ANNA, 9n, undefined]]);
      });

      test('is ready to be tried unless it is held', async () => {
        await owe({ recipient: ANNA, amount: 4n }, { recipient: BERT, amount: 6n });
        const ready = async () =>
          (await book.ready(TERMS.network, TERMS.payTo)).filter((it) => it.projectId === projectId);
        expect(await ready()).toMatchObject([{ ...account(), amount: 10n }]);

        await book.hold(account(), BERT, 'recipient_token_account_missing', under.now() + 1_000);
        expect(await ready()).toMatchObject([{ amount: 4n }]);
        expect(await owedNow()).toEqual([
          [BERT, 6n, 'recipient_token_account_missing'],
          [ANNA, 4n, undefined],
        ]);
        await under.advance(1_000);
        expect(await ready()).toMatchObject([{ amount: 10n }]);
        expect(await book.ready(TERMS.network, CARL)).toEqual([]);
      });
    });

    test('what is held back is listed of all projects', async () => {
      await owe({ recipient: ANNA, amount: 4n }, { recipient: BERT, amount: 6n });
      const heldBack = async () =>
        (await book.heldBack()).filter((it) => it.projectId === projectId).map((it) => [it.recipient, it.held]);
      expect(await heldBack()).toEqual([]);
      await book.hold(account(), BERT, 'below_minimum', under.now());
      expect(await heldBack()).toEqual([[BERT, 'below_minimum']]);
    });

    describe('a payout', () => {
      beforeEach(() =>
        owe({ recipient: ANNA, amount: 90n }, { recipient: BERT, amount: 10n }, { recipient: CARL, amount: 1n }),
      );

      test('takes all that is owed to its recipients, and nothing else; and tells it', async () => {
        const payout = await book.plan(account(), [ANNA, BERT]);

        expect(payout).toMatchObject({
          ...account(),
          state: 'created',
          owner: newClaim().owner,
          total: 100n,
          legs: [
            { recipient: BERT, amount: 10n },
            { recipient: ANNA, amount: 90n },
          ],
        });
        expect(payout?.id).toMatch(/^pyo_[1-9A-HJ-NP-Za-km-z]{20,22}$/);
        expect(await owedNow()).toEqual([[CARL, 1n, undefined]]);
        expect(await eventsOf()).toMatchObject([
          { type: 'payout.created', owner: newClaim().owner, data: { payout_id: payout?.id, amount_atomic: '100' } },
        ]);
      });

      test('is not made where nothing is owed, or another took it', async () => {
        const plans = await Promise.all(Array.from({ length: 8 }, () => book.plan(account(), [ANNA, BERT])));
        const made = plans.filter((it) => it !== undefined);

        expect(made).toHaveLength(1);
        expect(await book.list(projectId, 100)).toEqual(made);
        expect(await book.plan({ ...account(), wallet: CARL }, [CARL])).toBeUndefined();
      });

      test('has at most eight recipients', async () => {
        await expect(book.plan(account(), Array(9).fill(ANNA))).rejects.toThrow(RangeError);
      });

      test('is taken by one of many, until its lease ends or it is given back', async () => {
        await book.plan(account(), [ANNA]);
        const takers = await Promise.all(Array.from({ length: 6 }, () => take(randomUUID())));
        expect(takers.flat()).toHaveLength(1);
        await under.advance(LEASE_MS);

        const lease = randomUUID();
        const [payout] = await take(lease);
        await book.release(payout!.id, lease, under.now() + 500);
        expect(await take(randomUUID())).toEqual([]);
        await under.advance(500);
        expect(await take(randomUUID())).toEqual([payout]);
      });

      test('that is half planned is finished by who takes it', async () => {
        const id = `pyo_${randomUUID()}`;
        const { network, wallet, mint } = account();
        await under.database.batch([
          [INSERT, projectId, network, wallet, mint, id, under.now()],
          [CLAIM, projectId, ANNA, id],
        ]);
        expect(await book.list(projectId, 100)).toEqual([]);

        expect(await take(randomUUID())).toMatchObject([{ id, state: 'created', total: 90n }]);
        expect((await eventsOf()).map(({ type }) => type)).toEqual(['payout.created']);
      });

      test('is taken by its id once nobody holds it, whenever it was to be looked at again', async () => {
        const { payout, lease } = await planned();
        expect(await book.takeOne(payout.id, randomUUID(), LEASE_MS)).toBeUndefined();
        await book.release(payout.id, lease, under.now() + LEASE_MS, 'outcome_unknown');
        expect(await take(randomUUID())).toEqual([]);
        const taken = await book.takeOne(payout.id, randomUUID(), LEASE_MS);
        expect(taken).toEqual({ ...payout, reason: 'outcome_unknown' });
        expect(await book.takeOne('pyo_none', randomUUID(), LEASE_MS)).toBeUndefined();
        expect((await book.unfinished()).filter((it) => it.projectId === projectId)).toEqual([taken]);
      });

      test('is part of what its wallet must hold until it is paid', async () => {
        const { network, wallet, mint } = account();
        const due = () => book.due(network, wallet, mint);
        const before = await due();
        const { payout, lease } = await planned();
        expect(await due()).toBe(before);
        await book.recordSigned(payout.id, lease, SIGNED);
        expect(await due()).toBe(before);
        await book.recordPaid(payout.id, lease, 9);
        expect(await due()).toBe(before - payout.total);
        expect(await book.due(network, CARL, mint)).toBe(0n);
      });

      test('tells whose the project is, also when all is paid', async () => {
        const { payout, lease } = await planned();
        const { owner } = newClaim();
        expect(await book.ownerOf(projectId)).toBe(owner);
        await book.recordSigned(payout.id, lease, SIGNED);
        await book.recordPaid(payout.id, lease, 9);
        expect([await book.ownerOf(projectId), await book.ownerOf('prj_none')]).toEqual([owner, undefined]);
        expect(await book.ownerOf('\0')).toBeUndefined();
      });

      test('keeps its transaction exactly, and gets only one', async () => {
        const { payout, lease } = await planned();
        expect(await book.recordSigned(payout.id, lease, SIGNED)).toBe(true);
        expect(await book.recordSigned(payout.id, lease, { ...SIGNED, signature: '6'.repeat(88) })).toBe(false);

        expect(await only()).toMatchObject({ state: 'broadcast', signed: SIGNED, signedAt: under.now() });
      });

      test('is paid once it was sent; what it paid is owed no more', async () => {
        const { payout, lease } = await planned();
        expect(await book.recordPaid(payout.id, lease, 9)).toBe(false);
        await book.recordSigned(payout.id, lease, SIGNED);
        expect(await book.recordPaid(payout.id, lease, 9)).toBe(true);

        expect(await only()).toMatchObject({ state: 'paid', slot: 9, legs: payout.legs });
        expect(await owedNow()).toEqual([[CARL, 1n, undefined]]);
        expect((await eventsOf()).at(-1)).toMatchObject({
          type: 'payout.paid',
          data: { signature: SIGNED.signature, state: 'paid', reason: null },
        });
        await under.advance(LEASE_MS);
        expect(await take(randomUUID())).toEqual([]);
      });

      test('that failed keeps its shares, and they are owed again, held where that is known', async () => {
        const { payout, lease } = await planned();
        const heldUntil = under.now() + 1_000;
        const failure = { reason: 'transfer_refused', recipient: BERT, heldUntil } as const;
        expect(await book.recordFailed(payout.id, lease, failure)).toBe(true);

        expect(await only()).toMatchObject({ state: 'failed', reason: 'transfer_refused', legs: payout.legs });
        expect(await owedNow()).toEqual([
          [BERT, 10n, 'transfer_refused'],
          [CARL, 1n, undefined],
          [ANNA, 90n, undefined],
        ]);
        expect((await eventsOf()).at(-1)).toMatchObject({
          type: 'payout.failed',
          data: { reason: 'transfer_refused' },
        });
        expect((await book.plan(account(), [ANNA, BERT]))?.total).toBe(100n);
      });

      test('that was signed fails only for who knows the signature', async () => {
        const { payout, lease } = await planned();
        const failure = { reason: 'expired', heldUntil: 0 } as const;
        await book.recordSigned(payout.id, lease, SIGNED);

        expect(await book.recordFailed(payout.id, lease, failure)).toBe(false);
        expect(await book.recordFailed(payout.id, lease, { ...failure, signature: SIGNED.signature })).toBe(true);
        expect(await book.recordPaid(payout.id, lease, 9)).toBe(false);
      });

      test('is not changed by who has lost the lease', async () => {
        const { payout, lease } = await planned();
        await under.advance(LEASE_MS);
        const other = randomUUID();
        await take(other);

        expect(await book.recordSigned(payout.id, lease, SIGNED)).toBe(false);
        expect(await book.recordFailed(payout.id, lease, { reason: 'expired', heldUntil: 0 })).toBe(false);
        expect(await book.release(payout.id, lease, 0)).toBe(false);
        await book.recordSigned(payout.id, other, SIGNED);
        expect(await book.recordPaid(payout.id, lease, 9)).toBe(false);
        expect((await only())?.state).toBe('broadcast');
      });
    });

    test('payouts are listed newest first, page by page', async () => {
      const made: string[] = [];
      for (let index = 0; index < 5; index += 1) {
        await owe({ recipient: ANNA, amount: 1n });
        made.unshift((await book.plan(account(), [ANNA]))!.id);
        if (index % 2 === 1) await under.advance(10);
      }
      const pages: PayoutRecord[][] = [];
      for (let last: PayoutRecord | undefined; ; ) {
        const page = [...(await book.list(projectId, 2, last))];
        if (page.length === 0) break;
        pages.push(page);
        last = page.at(-1);
      }

      expect(pages.map((page) => page.length)).toEqual([2, 2, 1]);
      expect(
        pages
          .flat()
          .map(({ id }) => id)
          .sort(),
      ).toEqual(made.sort());
      const times = pages.flat().map(({ createdAt }) => createdAt);
      expect(times).toEqual([...times].sort((a, b) => b - a));
    });

    test('a payout that landed and is not in the books is booked for the project that owed exactly that', async () => {
      const [one, two] = [`r1_${projectId}`, `r2_${projectId}`];
      await owe({ recipient: one, amount: MAX }, { recipient: two, amount: 7n });
      await under.advance(1_000);
      await owe({ recipient: one, amount: 5n });
      const first = projectId;
      projectId = `prj_${randomUUID()}`;
      await owe({ recipient: one, amount: 3n }, { recipient: two, amount: 7n });
      const { network, wallet, mint } = account();
      for (const recipient of [one, two]) await book.hold(account(), recipient, 'unknown_payout', under.now() + 1);
      const legs = [
        { recipient: one, amount: MAX },
        { recipient: two, amount: 7n },
      ];
      const id = `pyo_${randomUUID()}`;
      const landed = { id, signature: SIGNED.signature, wallet, mint, legs, slot: 9, blockhash: SIGNED.blockhash };

      expect(await book.bookLanded(network, { ...landed, legs: [{ recipient: one, amount: 4n }] })).toBeUndefined();
      expect(await book.signaturesOf([id])).toEqual(new Map());
      expect(await book.bookLanded(network, landed)).toMatchObject({ payout: { id, projectId: first }, beyond: 0n });
      expect(await book.bookLanded(network, landed)).toBeUndefined();

      expect(await book.find(id)).toMatchObject({ state: 'paid', total: MAX + 7n, slot: 9, legs });
      expect(await book.signaturesOf([id, 'pyo_none'])).toEqual(new Map([[id, SIGNED.signature]]));
      expect(await book.owedSince(network, wallet)).toEqual(expect.any(Number));
      expect(await book.owedSince(network, 'another')).toBeUndefined();
      expect(await owedNow()).toEqual([
        [one, 3n, undefined],
        [two, 7n, undefined],
      ]);
      projectId = first;
      expect(await owedNow()).toEqual([[one, 5n, undefined]]);
      expect((await eventsOf()).map(({ type }) => type)).toEqual(['payout.paid']);
      expect(new Set((await book.owedByAll()).filter((it) => it.recipient === one).map((it) => it.amount))).toEqual(
        new Set([5n, 3n]),
      );
    });

    test('pruning forgets what is paid, and keeps what is owed and the payouts', async () => {
      await under.advance(1);
      await owe({ recipient: ANNA, amount: 90n }, { recipient: CARL, amount: 1n });
      const { payout, lease } = await planned();
      await book.recordSigned(payout.id, lease, SIGNED);
      await book.recordPaid(payout.id, lease, 9);
      const paidAt = under.now();
      await under.advance(1);
      // Those of other tests went before.
      await book.prune(paidAt, 100);
      expect(await book.prune(paidAt, 100)).toBe(0);
      expect(await book.prune(under.now(), 100)).toBe(1);
      expect(await owedNow()).toEqual([[CARL, 1n, undefined]]);
      expect(await only()).toMatchObject({ state: 'paid', total: 90n });
    });
  });
}

const INSERT: Statement = {
  name: 'test_payout_insert',
  text: `insert into tollhouse_payout (project_id, network, wallet, mint, id, owner, state, legs, total, created_at, updated_at)
    values ($1, $2, $3, $4, $5, '', 'planned', '[]', '0', $6, $6)`,
};
const CLAIM: Statement = {
  name: 'test_payout_claim',
  text: 'update tollhouse_owed set payout_id = $3 where project_id = $1 and recipient = $2',
};
