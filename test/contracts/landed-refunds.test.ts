import { randomUUID } from 'node:crypto';
import { newId } from '../../src/lib/ids.js';
import { createSqlEventLog } from '../../src/storage/events/sql-event-log.js';
import { openStorage } from '../../src/storage/open-storage.js';
import type { SignedPayout } from '../../src/storage/payouts/payout-store.js';
import type { NewRefund } from '../../src/storage/payouts/refund-store.js';
import type { Storage } from '../../src/storage/storage.js';
import { emptyDatabases } from '../helpers/storage/empty-databases.js';
import { USDC } from './call-samples.js';

const WALLET = 'wallet of a payer';
const NO_BOUND = { amount: 1_000_000n, since: 0 };
const LEASE_MS = 60_000;
const SLOT = 77;

function signedAs(signature: string): SignedPayout {
  return {
    signature,
    transaction: new Uint8Array(),
    blockhash: 'blockhash',
    lastValidBlockHeight: 0,
    signedSlot: SLOT,
  };
}

describe.each(emptyDatabases())('a refund that has landed and that books on $dialect do not know', ({ newUrl }) => {
  let storage: Storage;
  let refund: NewRefund;

  beforeEach(async () => {
    storage = await openStorage(await newUrl());
    const paymentId = randomUUID();
    const opened = { id: newId('pas'), paymentId, wallet: WALLET, site: 'site', scope: 'GET /credit', owner: 'seller' };
    const { id: passId } = await storage.passes.open({
      ...opened,
      kind: 'credit',
      mint: USDC,
      bought: 100n,
      left: 90n,
    });
    const whose = { wallet: 'refund wallet', recipient: WALLET, owner: 'seller', mint: USDC } as const;
    refund = { id: newId('rfd'), paymentId, passId, network: 'solana', ...whose, amount: 60n, taken: 100n };
  });
  afterEach(() => storage.close());

  const book = (signature = 'one') => storage.refunds.bookLanded(refund, signedAs(signature), SLOT);
  const left = async () => (await storage.passes.find(refund.passId))?.left;
  const events = async () =>
    (await createSqlEventLog(storage.database).list('seller', { limit: 9 })).map(({ type }) => type);

  test('is booked as paid once, however many book it at once, takes all that is left, and is told once', async () => {
    const booked = await Promise.all(['one', 'one', 'one', 'one'].map(book));
    expect(booked.filter(Boolean)).toHaveLength(1);
    const known = { state: 'paid', amount: 60n, taken: 90n, slot: SLOT, signed: { signature: 'one' } };
    expect(await storage.refunds.find(refund.id)).toMatchObject(known);
    expect([await left(), await events()]).toEqual([0n, ['payment.refunded']]);
    const debit = { passId: refund.passId, requestId: 'a request', amount: 1n };
    expect(await storage.passes.debit(debit)).toMatchObject({ ok: false, fault: 'used_up' });
  });

  test.each([
    ['was revoked', async () => void (await storage.passes.revoke(refund.passId)), 0n, 90n],
    [
      'was used up meanwhile',
      async () => void (await storage.passes.debit({ passId: refund.passId, requestId: 'another', amount: 90n })),
      0n,
      0n,
    ],
  ])('is booked as paid where its pass %s', async (_what, happen, stays, taken) => {
    await happen();
    expect(await book()).toBe(true);
    expect(await storage.refunds.find(refund.id)).toMatchObject({ state: 'paid', taken });
    expect(await left()).toBe(stays);
    const passes = await storage.refunds.refundable(WALLET, '');
    expect(passes).toEqual([{ passId: refund.passId, paymentId: refund.paymentId, bought: 100n }]);
  });

  test('ends the one that was begun for it, which takes nothing more', async () => {
    const lease = randomUUID();
    const planned = { ...refund, taken: 90n };
    await storage.refunds.plan(planned, NO_BOUND, lease, LEASE_MS);
    await storage.passes.debit({ passId: refund.passId, requestId: refund.id, amount: 90n });
    await storage.refunds.recordTaken(refund.id, lease);
    expect(await book()).toBe(true);
    expect(await storage.refunds.find(refund.id)).toMatchObject({ state: 'paid', taken: 90n, amount: 60n });
    expect(await storage.refunds.recordSigned(refund.id, lease, signedAs('another'))).toBe(false);
    expect(await storage.refunds.recordFailed(refund.id, lease, 'credit_used')).toBe(false);
    expect([await left(), await book()]).toEqual([0n, false]);
  });

  test('is booked though it was given up', async () => {
    const lease = randomUUID();
    await storage.refunds.plan(refund, NO_BOUND, lease, LEASE_MS);
    await storage.refunds.recordFailed(refund.id, lease, 'credit_used');
    expect(await book()).toBe(true);
    expect(await storage.refunds.find(refund.id)).toMatchObject({ state: 'paid', taken: 90n });
    expect(await left()).toBe(0n);
  });

  test('changes nothing of one that was signed otherwise: whoever is at work on it finds out', async () => {
    const lease = randomUUID();
    await storage.refunds.plan({ ...refund, taken: 90n }, NO_BOUND, lease, LEASE_MS);
    await storage.refunds.recordTaken(refund.id, lease);
    await storage.refunds.recordSigned(refund.id, lease, signedAs('another'));
    expect(await book()).toBe(false);
    expect(await storage.refunds.find(refund.id)).toMatchObject({
      state: 'broadcast',
      signed: { signature: 'another' },
    });
    expect([await left(), await events()]).toEqual([90n, []]);
  });

  test('takes what another one of its payment had taken that was begun and not signed, which fails', async () => {
    const [lease, other] = [randomUUID(), { ...refund, id: newId('rfd'), taken: 90n }];
    await storage.refunds.plan(other, NO_BOUND, lease, LEASE_MS);
    await storage.passes.debit({ passId: refund.passId, requestId: other.id, amount: 90n });
    await storage.refunds.recordTaken(other.id, lease);
    expect(await book()).toBe(true);
    expect(await storage.refunds.recordSigned(other.id, lease, signedAs('another'))).toBe(false);
    expect(await storage.refunds.find(other.id)).toMatchObject({ state: 'failed', reason: 'credit_used' });
    expect(await storage.refunds.find(refund.id)).toMatchObject({ state: 'paid', taken: 90n });
    expect(await left()).toBe(0n);
  });

  test('leaves another one alone that is begun once it is booked', async () => {
    await book();
    const [lease, other] = [randomUUID(), { ...refund, id: newId('rfd'), taken: 0n }];
    await storage.refunds.plan(other, NO_BOUND, lease, LEASE_MS);
    expect(await book()).toBe(false);
    expect(await storage.refunds.find(other.id)).toMatchObject({ state: 'planned' });
  });

  test('is not begun anew under its id', async () => {
    await book();
    expect(await storage.refunds.plan(refund, NO_BOUND, randomUUID(), LEASE_MS)).toBe(false);
  });

  test('is looked for again after a second restore by a clock that is behind that of the first', async () => {
    const { refunds } = storage;
    await refunds.noteSearched('solana', 'refund wallet', 2_000);
    expect(await refunds.isSearched('solana', 'refund wallet', 2_000)).toBe(true);
    expect(await refunds.isSearched('solana', 'refund wallet', 1_000)).toBe(false);
  });
});
