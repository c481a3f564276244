import type { FacilitatorOptions } from '../../src/facilitator/facilitator-options.js';
import { retryHashOf } from '../../src/facilitator/payments/retry-hash.js';
import type { Claim, Facilitator, OpenedPayment } from '../../src/facilitator/types.js';
import type { Payment, Terms } from '../../src/protocol/types.js';
import { writeTerms } from '../../src/protocol/wire/terms.js';
import { openTollFixture, type TollFixture } from '../helpers/fixtures/toll-fixture.js';
import { countOpenHandles } from '../helpers/processes/open-handles.js';
import { ONE_CENT, offeredTerms, payTerms } from '../helpers/transactions/core-payments.js';

/** A way to have a facilitator on a fixture's chain. */
export type OpenFacilitator = (
  fixture: TollFixture,
  options: Pick<FacilitatorOptions, 'settleTimeoutMs'>,
) => Promise<{ readonly facilitator: Facilitator; close(): Promise<void> }>;

const USE = { resource: 'GET /report' };
const OTHER_USE = { resource: 'GET /other' };
const SHORT = { settleTimeoutMs: 60 };

/** What every facilitator must do, whoever settles for it. */
export function facilitatorContract(name: string, open: OpenFacilitator): void {
  describe(`the contract of a facilitator: ${name}`, () => {
    let fixture: TollFixture;
    let closers: (() => Promise<void>)[] = [];

    beforeAll(async () => {
      fixture = await openTollFixture();
    });
    afterEach(async () => {
      fixture.sandbox.faults.clear();
      fixture.sandbox.resumeSlots();
      for (const close of closers.splice(0)) await close();
    });
    afterAll(() => fixture.close());

    async function facilitatorWith(options: Pick<FacilitatorOptions, 'settleTimeoutMs'> = {}): Promise<Facilitator> {
      const opened = await open(fixture, options);
      closers = [opened.close, ...closers];
      return opened.facilitator;
    }

    async function aPayment(facilitator: Facilitator, change: Partial<Terms> = {}) {
      const terms = await offeredTerms(facilitator, fixture.payTo, change);
      return { terms, payment: await payTerms(fixture, terms) };
    }

    async function openedClaim(facilitator: Facilitator, payment: Payment, terms: Terms): Promise<Claim> {
      return claimOf(await facilitator.openPayment(payment, terms, USE));
    }

    const balance = (terms: Terms) => fixture.sandbox.tokenBalance(fixture.payTo, terms.asset);

    test('once closed it holds no socket and no timer', async () => {
      const handles = countOpenHandles();
      const opened = await open(fixture, {});
      const { payment, terms } = await aPayment(opened.facilitator);
      await opened.facilitator.settle(payment, terms);
      await opened.facilitator.health();
      expect(handles.count()).toBeGreaterThan(0);
      await opened.close();
      await handles.allClosed();
      handles.stop();
    });

    test('it supports "exact" on its network, with a fee payer that is among its signers', async () => {
      const facilitator = await facilitatorWith();
      const { kinds, signers } = await facilitator.supported();
      expect(kinds).toEqual([expect.objectContaining({ scheme: 'exact', network: 'solana-devnet' })]);
      expect(signers).toEqual([fixture.feePayer.publicKey.toBase58()]);
      expect(kinds[0]?.feePayer).toBe(signers[0]);
    });

    test('it is active while it can settle', async () => {
      const wallet = fixture.feePayer.publicKey.toBase58();
      expect(await (await facilitatorWith()).health()).toMatchObject({ status: 'active', wallet });
    });

    test('verify says yes to a good payment and holds nothing', async () => {
      const facilitator = await facilitatorWith();
      const { payment, terms } = await aPayment(facilitator);
      const yes = { ok: true, payer: fixture.payer.publicKey.toBase58() };
      expect(await facilitator.verify(payment, terms)).toEqual(yes);
      expect(await facilitator.verify(payment, terms)).toEqual(yes);
    });

    test.each<[string, Partial<Terms>, string]>([
      ['another amount', { amount: ONE_CENT + 1n }, 'invalid_exact_svm_payload_amount_mismatch'],
      [
        'another fee payer',
        { feePayer: 'So11111111111111111111111111111111111111112' },
        'invalid_exact_svm_fee_payer_not_managed_by_facilitator',
      ],
      ['another memo', { memo: 'order 7' }, 'invalid_exact_svm_payload_memo_mismatch'],
    ])('a payment for %s than the terms is refused by name, sent nowhere and not held', async (_, change, reason) => {
      const facilitator = await facilitatorWith();
      const { payment, terms } = await aPayment(facilitator);
      const others = { ...terms, ...change };
      const { sendTransaction } = fixture.sandbox.calls;
      expect(await facilitator.verify(payment, others)).toMatchObject({ ok: false, reason });
      expect(await facilitator.openPayment(payment, others, USE)).toMatchObject({
        status: 'refused',
        refusal: { reason },
      });
      expect(await facilitator.settle(payment, others)).toMatchObject({ status: 'failed', reason });
      expect(fixture.sandbox.calls.sendTransaction).toBe(sendTransaction);
      expect((await facilitator.openPayment(payment, terms, USE)).status).toBe('open');
    });

    test('a payer without the money is told so, and may send the same payment once it is there', async () => {
      const facilitator = await facilitatorWith();
      const terms = await offeredTerms(facilitator, fixture.payTo);
      const payer = await fixture.sandbox.createWallet({ usdc: '0' });
      const payment = await payTerms({ sandbox: fixture.sandbox, payer }, terms);
      const reason = 'insufficient_funds';
      expect(await facilitator.verify(payment, terms)).toMatchObject({ ok: false, reason });
      expect(await facilitator.openPayment(payment, terms, USE)).toMatchObject({
        status: 'refused',
        refusal: { reason },
      });
      expect(await facilitator.settle(payment, terms)).toMatchObject({ status: 'failed', reason });
      fixture.sandbox.fundToken(payer.publicKey.toBase58(), terms.asset, ONE_CENT);
      expect(await facilitator.settle(payment, terms)).toMatchObject({ status: 'settled' });
    });

    test('open, settle, served: the amount moves once, to the atomic unit, and the receipt says so', async () => {
      const facilitator = await facilitatorWith();
      const { payment, terms } = await aPayment(facilitator, { amount: 12_345n });
      const before = balance(terms);
      const claim = await openedClaim(facilitator, payment, terms);
      expect(claim.receipt).toBeUndefined();
      const settlement = await claim.settle();
      const payer = fixture.payer.publicKey.toBase58();
      const { network, payTo, asset } = terms;
      const receipt = expect.objectContaining({ network, payer, payTo, asset, amount: 12_345n });
      expect(settlement).toEqual({ status: 'settled', receipt });
      expect(claim.receipt).toEqual(receipt);
      expect(await claim.settle()).toEqual(settlement);
      await claim.served();
      expect(balance(terms) - before).toBe(12_345n);
    });

    test('a payment that was served is known to its use as such, to others as used with what is on the chain', async () => {
      const facilitator = await facilitatorWith();
      const { payment, terms } = await aPayment(facilitator);
      const claim = await openedClaim(facilitator, payment, terms);
      await claim.settle();
      await claim.served();
      const { id, receipt } = claim;
      expect(await facilitator.openPayment(payment, terms, USE)).toEqual({ status: 'served', id, receipt });
      expect(await facilitator.openPayment(payment, terms, OTHER_USE)).toEqual({ status: 'used', receipt });
      expect(await facilitator.settle(payment, terms)).toMatchObject({ reason: 'duplicate_settlement' });
      expect(await facilitator.verify(payment, terms)).toMatchObject({
        ok: false,
        reason: 'duplicate_settlement',
      });
    });

    test('twenty copies at once are opened once, other bytes in the fee payer slot or not', async () => {
      const facilitator = await facilitatorWith();
      const { payment, terms } = await aPayment(facilitator);
      const copies = Array.from({ length: 20 }, (_, fill) => {
        const transaction = Uint8Array.from(payment.transaction);
        transaction.fill(fill, 1, 65);
        return { ...payment, transaction };
      });
      const opened = await Promise.all(copies.map((copy) => facilitator.openPayment(copy, terms, USE)));
      expect(opened.map(({ status }) => status).sort()).toEqual([...Array(19).fill('in_progress'), 'open']);
    });

    test('twenty settlements at once settle once', async () => {
      const facilitator = await facilitatorWith();
      const { payment, terms } = await aPayment(facilitator);
      const before = balance(terms);
      const all = await Promise.all(Array.from({ length: 20 }, () => facilitator.settle(payment, terms)));
      expect(all.filter(({ status }) => status === 'settled')).toHaveLength(1);
      expect(balance(terms) - before).toBe(ONE_CENT);
    });

    test('a payment that is forgotten before it was settled is good for anything again', async () => {
      const facilitator = await facilitatorWith();
      const { payment, terms } = await aPayment(facilitator);
      const before = balance(terms);
      await (await openedClaim(facilitator, payment, terms)).forget();
      expect((await facilitator.openPayment(payment, terms, OTHER_USE)).status).toBe('open');
      expect(balance(terms)).toBe(before);
    });

    test('a payment that is kept after it was settled stays good for the same use, without moving money again', async () => {
      const facilitator = await facilitatorWith();
      const { payment, terms } = await aPayment(facilitator);
      const first = await openedClaim(facilitator, payment, terms);
      const settlement = await first.settle();
      await first.keep();
      const { receipt } = first;
      expect(await facilitator.openPayment(payment, terms, OTHER_USE)).toEqual({ status: 'used', receipt });
      const before = balance(terms);
      const second = await openedClaim(facilitator, payment, terms);
      expect(await second.settle()).toEqual(settlement);
      expect(balance(terms)).toBe(before);
    });

    test('a payment is for one request, and for the one who shows the secret that came with it first', async () => {
      const facilitator = await facilitatorWith();
      const { payment, terms } = await aPayment(facilitator);
      const bound = { ...USE, fingerprint: 'request', retryHash: retryHashOf({ secret: 'the payer’s' }) };
      const others = [{ fingerprint: 'another' }, { retryHash: retryHashOf({ secret: 'a guess' }) }];
      const open = (change: object = {}) => facilitator.openPayment(payment, terms, { ...bound, ...change });
      const claim = claimOf(await open());
      for (const other of others) expect(await open(other)).toEqual({ status: 'used' });
      await claim.settle();
      const { id, receipt } = claim;
      await claim.keep();
      for (const other of others) expect(await open(other)).toEqual({ status: 'used', receipt });
      const again = claimOf(await open());
      expect(again).toMatchObject({ id, receipt, resumed: true });
      await again.settle({ served: true });
      expect(await open()).toEqual({ status: 'served', id, receipt });
      for (const other of others) expect(await open(other)).toEqual({ status: 'used', receipt });
    });

    test('a handler that failed is run again twice, and no more', async () => {
      const facilitator = await facilitatorWith();
      const { payment, terms } = await aPayment(facilitator);
      const first = await openedClaim(facilitator, payment, terms);
      expect(first.resumed).toBe(false);
      await first.settle();
      await first.keep();
      for (const isAllowed of [true, true, false]) {
        const claim = await openedClaim(facilitator, payment, terms);
        expect([claim.resumed, await claim.runAgain()]).toEqual([true, isAllowed]);
        await claim.keep();
      }
    });

    test('an outcome that is not known in time is pending, and the same payment learns it later', async () => {
      const facilitator = await facilitatorWith(SHORT);
      const { payment, terms } = await aPayment(facilitator);
      const before = balance(terms);
      fixture.sandbox.pauseSlots();
      const claim = await openedClaim(facilitator, payment, terms);
      expect(await claim.settle()).toMatchObject({ status: 'pending' });
      expect((await facilitator.openPayment(payment, terms, USE)).status).toBe('pending');
      expect(await facilitator.openPayment(payment, terms, OTHER_USE)).toEqual({ status: 'used' });
      fixture.sandbox.resumeSlots();
      const resolved = await untilOpen(() => facilitator.openPayment(payment, terms, USE));
      expect(resolved.receipt).toMatchObject({ amount: ONE_CENT });
      expect(balance(terms) - before).toBe(ONE_CENT);
    });

    test('a transaction that never lands is pending until its blockhash has expired, then it is refused for good', async () => {
      const facilitator = await facilitatorWith(SHORT);
      const { payment, terms } = await aPayment(facilitator);
      const before = balance(terms);
      fixture.sandbox.faults.add({ kind: 'drop' });
      expect(await facilitator.settle(payment, terms)).toMatchObject({ status: 'pending' });
      const settleLater = () => {
        fixture.sandbox.expireBlockhashes();
        return facilitator.settle(payment, terms);
      };
      let last = await settleLater();
      while (last.status === 'pending') last = await settleLater();
      const reason = 'invalid_exact_svm_transaction_expired';
      expect(last).toMatchObject({ status: 'failed', reason });
      fixture.sandbox.faults.clear();
      expect(await facilitator.settle(payment, terms)).toMatchObject({ status: 'failed', reason });
      expect(balance(terms)).toBe(before);
    });

    test('a settlement that did not arrive can be asked for again, once it did it cannot', async () => {
      const facilitator = await facilitatorWith();
      const { payment, terms } = await aPayment(facilitator);
      const lost = await facilitator.settle(payment, terms, { deliver: async () => false });
      expect(lost.status).toBe('settled');
      expect(await facilitator.settle(payment, terms)).toEqual(lost);
      expect(await facilitator.settle(payment, terms)).toMatchObject({ reason: 'duplicate_settlement' });
    });

    test('while the chain is out of reach nothing is held, and the same payment is good afterwards', async () => {
      const facilitator = await facilitatorWith();
      const { payment, terms } = await aPayment(facilitator);
      fixture.sandbox.faults.add({ kind: 'disconnect' });
      const unavailable = expect.objectContaining({ code: 'payment_backend_unavailable' });
      await expect(facilitator.openPayment(payment, terms, USE)).rejects.toEqual(unavailable);
      await expect(facilitator.verify(payment, terms)).rejects.toEqual(unavailable);
      fixture.sandbox.faults.clear();
      const claim = await untilOpen(() => facilitator.openPayment(payment, terms, OTHER_USE));
      expect((await claim.settle()).status).toBe('settled');
    });

    test('it tells of what was settled, failed and left open, until nobody listens', async () => {
      const facilitator = await facilitatorWith({ settleTimeoutMs: 2_000 });
      const told: string[] = [];
      const ends = (['payment.settled', 'payment.failed', 'payment.pending'] as const).map((event) =>
        facilitator.on(event, () => told.push(event)),
      );
      const good = await aPayment(facilitator);
      await facilitator.settle(good.payment, good.terms);
      const poor = await fixture.sandbox.createWallet({ usdc: '0' });
      const unfunded = await payTerms({ sandbox: fixture.sandbox, payer: poor }, good.terms);
      await facilitator.settle(unfunded, good.terms);
      const stuck = await aPayment(facilitator);
      fixture.sandbox.pauseSlots();
      await facilitator.settle(stuck.payment, stuck.terms);
      expect(told).toEqual(['payment.settled', 'payment.failed', 'payment.pending']);
      for (const end of ends) end();
      fixture.sandbox.resumeSlots();
      await facilitator.settle(stuck.payment, stuck.terms);
      expect(told).toHaveLength(3);
    });

    test('for @x402/core it speaks the objects of the wire, and garbage is a response', async () => {
      const facilitator = await facilitatorWith();
      const client = facilitator.x402Client;
      const { payment, terms } = await aPayment(facilitator);
      const requirements = writeTerms(terms);
      const transaction = Buffer.from(payment.transaction).toString('base64');
      const payload = { x402Version: 2, accepted: requirements, payload: { transaction } };
      const payer = fixture.payer.publicKey.toBase58();
      expect((await client.getSupported()).kinds).toContainEqual(
        expect.objectContaining({ x402Version: 2, scheme: 'exact', network: requirements.network }),
      );
      expect(await client.verify(payload, requirements)).toEqual({ isValid: true, payer });
      const settled = await client.settle(payload, requirements);
      expect(settled).toMatchObject({ success: true, payer, network: requirements.network, amount: '10000' });
      expect(settled.transaction).toMatch(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/);
      expect(await client.settle(payload, requirements)).toMatchObject({ errorReason: 'duplicate_settlement' });
      const garbage = { ...payload, payload: { transaction: 'AAAA' } };
      expect(await client.verify(garbage, requirements)).toMatchObject({ isValid: false });
      expect(await client.settle(garbage, requirements)).toMatchObject({ success: false, transaction: '' });
    });
  });
}

function claimOf(opened: OpenedPayment): Claim {
  if (opened.status === 'open') return opened.claim;
  throw new Error(`the payment was not opened: ${JSON.stringify(opened)}`);
}

/** The claim, once an outage or a time-out that is just over lets it be opened. */
async function untilOpen(openAgain: () => Promise<OpenedPayment>): Promise<Claim> {
  for (;;) {
    const opened = await openAgain().catch(() => undefined);
    if (opened !== undefined && opened.status !== 'pending') return claimOf(opened);
  }
}
