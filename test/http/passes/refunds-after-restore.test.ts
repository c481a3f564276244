import { randomBytes } from 'node:crypto';
import bs58 from 'bs58';
import { refundIdOf } from '../../../src/facilitator/refunds/past-refunds.js';
import { USDC } from '../../helpers/crash/crash-fixture.js';
import { reconciled } from '../../helpers/crash/reconciled.js';
import { openRestoredShop, type RestoredShop } from '../../helpers/fixtures/restored-shop.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { rejectionOf } from '../../helpers/nodes/fake-node.js';
import { startRpcProxy } from '../../helpers/nodes/rpc-proxy.js';
import { emptyDatabases } from '../../helpers/storage/empty-databases.js';
import { confirmed, sendToChain, signTransfer } from '../../helpers/transactions/direct-transfer.js';
import { until } from '../../helpers/until.js';

const PRICE = 10_000n;
const LEFT = PRICE - 1_000n;
/** Longer than anything that comes between a refund that is sent and one that is asked for after the restore. */
const UNDER_WAY_SLOTS = 1_000;
const STRANGERS = 12;

describe.each(emptyDatabases())('credit in books of $dialect that were restored', ({ newUrl }) => {
  let fixture: TollFixture;
  let shop: RestoredShop;

  beforeEach(async () => {
    fixture = await openTollFixture();
    shop = await openRestoredShop(fixture, await newUrl());
  });
  afterEach(async () => {
    await fixture.close();
    await shop.close();
  });

  /** Waits for something, while the blocks go by in which what was sent before can land. */
  const asBlocksGoBy = (holds: () => boolean | Promise<boolean>) =>
    until(async () => {
      fixture.sandbox.expireBlockhashes();
      return holds();
    });

  test('that was paid back meanwhile buys nothing, and none buys before that is known; the rest buys on', async () => {
    const before = await shop.open();
    const [refunded, honest] = [await shop.buyer(), await shop.buyer()];
    await shop.backUp();
    const { id } = await before.refund(refunded.pass.paymentId);
    const held = refunded.held();
    await shop.restore([{ refund: id, pass: refunded.pass }]);

    const { faults } = fixture.sandbox;
    faults.add({ kind: 'error', method: 'getSignaturesForAddress' });
    await shop.open();
    const inTheDark = [await refunded.use(), await honest.use()];
    expect(inTheDark.map(({ status, code }) => [status, code])).toEqual([
      [503, 'payment_backend_unavailable'],
      [503, 'payment_backend_unavailable'],
    ]);
    // What is bought now is in the books.
    expect((await (await shop.buyer()).use()).status).toBe(200);
    faults.clear();
    await asBlocksGoBy(async () => (await honest.use()).status === 200);
    const served = shop.runs();
    expect(await refunded.use()).toMatchObject({ status: 402, code: 'pass_used_up' });
    expect(shop.runs()).toBe(served);
    const [booked] = await shop.storage().refunds.ofPayment(refunded.pass.paymentId);
    expect(booked).toMatchObject({ id, state: 'paid', amount: LEFT });
    expect(refunded.held()).toBe(held);
  });

  test('whose refund was under way at the restore is paid back once, and buys nothing besides', async () => {
    const before = await shop.open();
    const [refunded, honest] = [await shop.buyer(), await shop.buyer()];
    await shop.backUp();
    const { faults } = fixture.sandbox;
    faults.add({ kind: 'late', slots: UNDER_WAY_SLOTS });
    const { id, state, signature } = await before.refund(refunded.pass.paymentId);
    expect(state).toBe('broadcast');
    const held = refunded.held();
    await shop.restore([{ refund: id, pass: refunded.pass }]);
    faults.clear();

    const after = await shop.open();
    expect(await rejectionOf(after.refund(refunded.pass.paymentId))).toMatchObject({
      code: 'chain_unavailable',
      context: { retryAfterSeconds: expect.any(Number) },
      message: expect.stringMatching(/restored from a backup.*may still land.*in about \d+ s/),
    });
    expect((await refunded.use()).status).toBe(503);
    expect(await shop.storage().refunds.ofPayment(refunded.pass.paymentId)).toEqual([]);

    await asBlocksGoBy(() => refunded.held() > held);
    await asBlocksGoBy(async () => (await honest.use()).status === 200);
    expect(await refunded.use()).toMatchObject({ status: 402, code: 'pass_used_up' });
    expect(await rejectionOf(after.refund(refunded.pass.paymentId))).toMatchObject({ code: 'nothing_to_refund' });
    expect(refunded.held() - held).toBe(LEFT);
    const booked = await shop.storage().refunds.ofPayment(refunded.pass.paymentId);
    expect(booked).toMatchObject([{ id, state: 'paid', amount: LEFT, signed: { signature } }]);
  });

  test('that was revoked in them and paid back is booked once, and holds nobody up', async () => {
    const before = await shop.open();
    const [refunded, honest] = [await shop.buyer(), await shop.buyer()];
    await shop.backUp();
    const { id } = await before.refund(refunded.pass.paymentId);
    await shop.restore([{ refund: id, pass: refunded.pass }]);
    await shop.storage().passes.revoke(refunded.pass.id);
    await shop.open();
    await asBlocksGoBy(async () => (await honest.use()).status === 200);
    const booked = await shop.storage().refunds.ofPayment(refunded.pass.paymentId);
    expect(booked).toMatchObject([{ id, state: 'paid', amount: LEFT, taken: LEFT }]);
  });

  test('is found however many strangers name the refund wallet, and each of them is asked for once', async () => {
    const before = await shop.open();
    const [refunded, honest] = [await shop.buyer(), await shop.buyer()];
    await shop.backUp();
    const { id } = await before.refund(refunded.pass.paymentId);
    const stranger = await fixture.sandbox.createWallet({ usdc: '1', sol: '1' });
    for (let n = 0; n < STRANGERS; n += 1) {
      const legs = [{ recipient: shop.refundWallet, amount: 1n }];
      const { bytes, signature } = await signTransfer(fixture.sandbox, {
        ...{ wallet: stranger, legs, names: [shop.refundWallet] },
        memos: [`rfd_${bs58.encode(randomBytes(20))}`],
      });
      await sendToChain(fixture.sandbox, bytes);
      await confirmed(fixture.sandbox, signature);
    }
    await shop.restore([{ refund: id, pass: refunded.pass }]);
    const { faults, calls } = fixture.sandbox;
    const looks = calls.getTransaction;
    // Each try gets a little further.
    for (let n = 0; n < STRANGERS; n += 3) faults.add({ kind: 'error', method: 'getTransaction', times: 1 });
    await shop.open();
    await asBlocksGoBy(async () => (await honest.use()).status === 200);
    expect(await refunded.use()).toMatchObject({ status: 402, code: 'pass_used_up' });
    expect(calls.getTransaction - looks).toBeLessThan(2 * STRANGERS);
  });

  test('is held while the node tells of a transaction that may be its refund, and does not show it', async () => {
    const before = await shop.open();
    const buyer = await shop.buyer();
    await shop.backUp();
    const { id } = await before.refund(buyer.pass.paymentId);
    await shop.restore([{ refund: id, pass: buyer.pass }]);
    const proxy = await startRpcProxy(fixture.sandbox.rpcUrl);
    let unshown = 0;
    let hides = true;
    proxy.decide = ({ id: call, method }) => {
      if (method !== 'getTransaction' || !hides) return 'pass';
      unshown += 1;
      return { status: 200, body: JSON.stringify({ jsonrpc: '2.0', id: call, result: null }), isUnheard: true };
    };
    const after = await shop.open(proxy.url);
    await asBlocksGoBy(() => unshown > 1);
    expect((await buyer.use()).status).toBe(503);
    expect(await rejectionOf(after.refund(buyer.pass.paymentId))).toMatchObject({ code: 'chain_unavailable' });
    hides = false;
    await asBlocksGoBy(async () => (await buyer.use()).code === 'pass_used_up');
    expect(await shop.storage().refunds.ofPayment(buyer.pass.paymentId)).toMatchObject([{ id, state: 'paid' }]);
    await after.close();
    await proxy.close();
  });

  test('of which a part was in use at the backup is not paid back again when that part is given back', async () => {
    const before = await shop.open();
    const [refunded, honest] = [await shop.buyer(), await shop.buyer()];
    await shop.backUp();
    const { id } = await before.refund(refunded.pass.paymentId);
    await shop.restore([{ refund: id, pass: refunded.pass }]);
    const inUse = { passId: refunded.pass.id, requestId: 'in use at the backup', amount: 2_000n };
    await shop.storage().passes.debit(inUse);
    const after = await shop.open();
    await asBlocksGoBy(async () => (await honest.use()).status === 200);
    expect(await shop.storage().refunds.find(id)).toMatchObject({ amount: LEFT, taken: LEFT - inUse.amount });
    await shop.storage().passes.giveBack(inUse.passId, inUse.requestId);
    const held = refunded.held();
    expect(await rejectionOf(after.refund(refunded.pass.paymentId))).toMatchObject({ code: 'nothing_to_refund' });
    expect(refunded.held()).toBe(held);
    const [feePayer, wallet] = [fixture.feePayer.publicKey.toBase58(), shop.refundWallet];
    const compared = { feePayers: [feePayer], splitWallets: [], refundWallets: [wallet], sandbox: fixture.sandbox };
    const { found } = await reconciled(compared, shop.storage(), true);
    expect(found.filter(({ kind }) => kind === 'refund' || kind === 'pass')).toEqual([]);
  });

  test('that was paid back under another id than the one that is begun in them is not paid back twice', async () => {
    const before = await shop.open();
    const [refunded, honest] = [await shop.buyer(), await shop.buyer()];
    const { pass } = refunded;
    const first = { id: refundIdOf(pass.paymentId, 0), passId: pass.id, paymentId: pass.paymentId };
    const money = { recipient: refunded.wallet, owner: fixture.payTo, mint: USDC, amount: LEFT, taken: LEFT };
    const begun = { ...first, ...money, network: fixture.sandbox.network, wallet: shop.refundWallet };
    const bound = { amount: PRICE, since: 0 };
    const plan = (lease: string, leaseMs: number) => shop.storage().refunds.plan(begun, bound, lease, leaseMs);
    // The shop that runs must not go on with it.
    await plan('before', 60_000);
    expect(await shop.storage().refunds.recordFailed(first.id, 'before', 'refund_wallet_short')).toBe(true);
    await shop.backUp();
    const { id } = await before.refund(pass.paymentId);
    expect(id).toBe(refundIdOf(pass.paymentId, 1));
    const held = refunded.held();
    await shop.restore([
      { refund: id, pass },
      { refund: first.id, pass },
    ]);
    await plan('at the backup', 1);
    await shop.storage().passes.debit({ passId: pass.id, requestId: first.id, amount: LEFT });
    await shop.storage().refunds.recordTaken(first.id, 'at the backup');
    await shop.open();
    await asBlocksGoBy(async () => (await honest.use()).status === 200);
    await until(async () => (await shop.storage().refunds.find(first.id))?.state === 'failed');
    expect(await shop.storage().refunds.find(id)).toMatchObject({ state: 'paid', amount: LEFT });
    expect(await refunded.use()).toMatchObject({ status: 402, code: 'pass_used_up' });
    expect(refunded.held()).toBe(held);
  });

  test('that was never paid back is so once, when nothing from before the restore can land any more', async () => {
    await shop.open();
    const buyer = await shop.buyer();
    await shop.backUp();
    const held = buyer.held();
    await shop.restore([]);

    const after = await shop.open();
    expect(await rejectionOf(after.refund(buyer.pass.paymentId))).toMatchObject({ code: 'chain_unavailable' });
    let paid: unknown;
    await asBlocksGoBy(async () => {
      paid = await after.refund(buyer.pass.paymentId).catch(() => undefined);
      return paid !== undefined;
    });
    await until(async () => (await shop.storage().refunds.ofPayment(buyer.pass.paymentId))[0]?.state === 'paid');
    expect(await rejectionOf(after.refund(buyer.pass.paymentId))).toMatchObject({ code: 'nothing_to_refund' });
    expect(buyer.held() - held).toBe(LEFT);
  });
});
