import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { settleRestored } from '../../../src/storage/sql/backup/after-restore.js';
import { NOTE_MOMENT } from '../../../src/storage/sql/backup/moments.js';
import type { Storage } from '../../../src/storage/storage.js';
import { USDC } from '../../helpers/crash/crash-fixture.js';
import { openTollFixture, QUICK, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { passAnswer } from '../../helpers/http/passes.js';
import { emptyDatabases } from '../../helpers/storage/empty-databases.js';
import { signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const PRICE = 10_000n;

describe.each(emptyDatabases())('credit in books of $dialect that were restored', ({ newUrl }) => {
  let fixture: TollFixture;
  let url: string;
  let storage: Storage;
  let path: string;
  let runs = 0;

  beforeAll(async () => {
    [fixture, url] = await Promise.all([openTollFixture({ maxBlockhashAgeBlocks: 10_000 }), newUrl()]);
    storage = await openStorage(url);
  });
  afterAll(async () => {
    await fixture.close();
    await storage.close();
  });

  /** Sells credit; a refund is paid by this wallet. */
  async function openShop(keypair: Awaited<ReturnType<TollFixture['sandbox']['createWallet']>>) {
    const facilitator = fixture.facilitatorWith({ storage, refunds: { keypair } }, QUICK);
    const sold = { facilitator, payTo: fixture.payTo, price: '$0.01', settle: 'before' } as const;
    const origin = await fixture.serve((app) => {
      app.get('/credit', requirePayment({ ...sold, pass: { credit: true, cost: '$0.001' } }), (_req, res) => {
        runs += 1;
        res.send('sold');
      });
    });
    path = `${origin}/credit`;
    return facilitator;
  }

  async function buyer() {
    const payer = await fixture.sandbox.createWallet({ usdc: '1' });
    const wallet = payer.publicKey.toBase58();
    const { v2 } = await signPayment({ sandbox: fixture.sandbox, payer }, path);
    const bought = await fetch(path, { headers: v2 });
    const token = { 'access-pass': bought.headers.get('access-pass') ?? '' };
    const [pass] = await storage.passes.list(wallet);
    return {
      pass: pass!,
      held: () => fixture.sandbox.tokenBalance(wallet, USDC),
      use: async () => passAnswer(await fetch(path, { headers: token })),
    };
  }

  /** The books as they were before a refund: as a backup has them. */
  async function forget(refund: string, { id, left = 0n }: { readonly id: string; readonly left?: bigint }) {
    const run = (name: string, text: string, ...values: (string | number)[]) =>
      storage.database.query({ name: `test_forget_${name}`, text }, ...values);
    await run('refund', 'delete from tollhouse_refund where id = $1', refund);
    await run('debit', 'delete from tollhouse_pass_debit where request = $1', refund);
    await run('taken', 'update tollhouse_pass set remaining = $2, over_at = null where id = $1', id, Number(left));
  }

  test('that was paid back meanwhile buys nothing, and none buys before that is known; the rest buys on', async () => {
    const keypair = await fixture.sandbox.createWallet({ usdc: '5' });
    const before = await openShop(keypair);
    const [refunded, honest] = [await buyer(), await buyer()];
    await storage.database.query(NOTE_MOMENT, 'backed_up', Date.now());
    const { id } = await before.refund(refunded.pass.paymentId);
    const held = refunded.held();
    await before.close();
    await forget(id, refunded.pass);
    await settleRestored(storage.database, Date.now());
    await storage.close();
    storage = await openStorage(url);
    runs = 0;

    const { faults } = fixture.sandbox;
    faults.add({ kind: 'error', method: 'getSignaturesForAddress' });
    await openShop(keypair);
    const inTheDark = [await refunded.use(), await honest.use()];
    expect(inTheDark.map(({ status, code }) => [status, code])).toEqual([
      [503, 'payment_backend_unavailable'],
      [503, 'payment_backend_unavailable'],
    ]);
    // What is bought now is in the books.
    expect((await (await buyer()).use()).status).toBe(200);
    faults.clear();
    await until(async () => (await honest.use()).status === 200);
    runs = 0;
    expect(await refunded.use()).toMatchObject({ status: 402, code: 'pass_used_up' });
    expect(runs).toBe(0);
    const [booked] = await storage.refunds.ofPayment(refunded.pass.paymentId);
    expect(booked).toMatchObject({ id, state: 'paid', amount: PRICE - 1_000n });
    expect(refunded.held()).toBe(held);
  });
});
