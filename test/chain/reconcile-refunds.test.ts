import { randomUUID } from 'node:crypto';
import type { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import type { EmbeddedFacilitator } from '../../src/facilitator/create-facilitator.js';
import type { Refund } from '../../src/facilitator/types.js';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../src/storage/open-storage.js';
import type { Storage } from '../../src/storage/storage.js';
import { type Reconciled, reconciled } from '../helpers/crash/reconciled.js';
import { openTollFixture, QUICK, type TollFixture } from '../helpers/fixtures/toll-fixture.js';
import { DAILY_DATABASES, type OwnDatabase } from '../helpers/storage/both-databases.js';
import { confirmed, transferDirectly } from '../helpers/transactions/direct-transfer.js';
import { signPayment } from '../helpers/transactions/payments.js';
import { until } from '../helpers/until.js';

const DAY_MS = 86_400_000;
const PRICE = 10_000n;
const NOWHERE = bs58.encode(Buffer.alloc(64, 7));
const STRANGER = bs58.encode(Buffer.alloc(32, 9));

describe.each(DAILY_DATABASES)('the books of refunds in %s', (_name, open) => {
  let database: OwnDatabase;
  let fixture: TollFixture;
  let storage: Storage;
  let keypair: Keypair;
  let facilitator: EmbeddedFacilitator;
  /** Of a single request, and of a pack of uses. */
  let single: Refund;
  let pack: Refund;
  /** From an empty wallet. */
  let failed: Refund;

  beforeAll(async () => {
    [database, fixture] = await Promise.all([open(), openTollFixture()]);
    storage = await openStorage(database.url);
    keypair = await fixture.sandbox.createWallet({ usdc: '5' });
    facilitator = refunding(keypair);
    const url = await fixture.serve((app) => {
      const gated = { facilitator, payTo: fixture.payTo, price: '$0.01', settle: 'before' } as const;
      app.get('/single', requirePayment(gated), (_req, res) => void res.status(503).send('no'));
      app.get('/pack', requirePayment({ ...gated, pass: { uses: 3 } }), (_req, res) => void res.status(503).send('no'));
    });
    const pay = async (path: string): Promise<string> => {
      await fetch(url + path, { headers: (await signPayment(fixture, url + path)).v2 });
      return (await storage.passes.list(fixture.payer.publicKey.toBase58()))[0]?.paymentId ?? '';
    };
    single = await facilitator.refund(await pay('/single'));
    pack = await facilitator.refund(await pay('/pack'));
    const poor = refunding(await fixture.sandbox.createWallet({ usdc: '0' }));
    failed = await poor.refund(await pay('/single'));
    await poor.close();
    expect([single, pack, failed].map(({ state }) => state)).toEqual(['paid', 'paid', 'failed']);
    await change('create table test_refund as select * from tollhouse_refund');
  });
  afterAll(async () => {
    await fixture.close();
    await storage.close();
    await database.stop();
  });

  const refunding = (key: Keypair) => fixture.facilitatorWith({ storage, refunds: { keypair: key } }, QUICK);

  const compare = (more: Parameters<typeof reconciled>[3] = {}): Promise<Reconciled> => {
    const [feePayer, wallet] = [fixture.feePayer, keypair].map((it) => it.publicKey.toBase58()) as [string, string];
    const compared = { sandbox: fixture.sandbox, feePayers: [feePayer], splitWallets: [], refundWallets: [wallet] };
    return reconciled(compared, storage, true, more);
  };
  const change = (text: string) => storage.database.query({ name: `test_${randomUUID()}`, text });
  const REFUND = 'update tollhouse_refund set';
  const about = (kind: string, detail: RegExp | string, ids: readonly string[]) =>
    expect.objectContaining({
      kind,
      detail: typeof detail === 'string' ? detail : expect.stringMatching(detail),
      ids: expect.arrayContaining([...ids]),
    });

  test('are right where refunds were paid, and one has failed', async () => {
    expect(await compare()).toMatchObject({ payments: 3, refunds: 3, found: [], notes: [], differences: 0 });
  });

  /** Columns of a refund that are spoilt and mended again. */
  const SPOILT: readonly [what: string, of: () => Refund, set: string, detail: RegExp][] = [
    [
      'that is booked as paid never landed',
      () => single,
      `signature = '${NOWHERE}'`,
      /paid, and the chain does not know it/,
    ],
    ['that is booked as paid was never signed', () => single, 'signature = null', /paid, and it was never signed/],
    [
      'has landed and is booked as failed',
      () => single,
      `state = 'failed'`,
      /^booked as failed, and it has landed in slot \d+$/,
    ],
    ['has another slot', () => single, 'slot = slot - 1000', /booked in slot \d+, and it landed in slot \d+/],
    [
      'is of more than was paid',
      () => single,
      'amount = amount + 1',
      /^it is of 10001, and the refund wallet has lost 10000$/,
    ],
    ['pays more than it took', () => single, 'amount = amount + 1', /^it pays 10001, and what it took is worth 10000$/],
    [
      'of uses pays more than they cost',
      () => pack,
      'amount = amount + 1',
      /^it pays 10001, and what it took is worth 10000$/,
    ],
    ['is booked to somebody else', () => single, `recipient = '${STRANGER}'`, /^it pays 10000 to \w+, who has got 0$/],
    [
      'goes to somebody else than the payer',
      () => single,
      `recipient = '${STRANGER}'`,
      /^it pays \w+, and \w+ has paid$/,
    ],
    ['is booked in another token', () => single, `mint = '${STRANGER}'`, /^it pays in \w+, and was paid in \w+$/],
    [
      'took something else than it says',
      () => pack,
      'taken = taken - 1',
      /^it has taken 3 of its pass, and is booked with 2$/,
    ],
  ];

  test.each(SPOILT)('tell that one %s', async (_what, of, set, detail) => {
    const { id, paymentId } = of();
    await change(`${REFUND} ${set} where id = '${id}'`);
    const { found } = await compare();
    await change('delete from tollhouse_refund');
    await change('insert into tollhouse_refund select * from test_refund');
    expect(found).toContainEqual(about('refund', detail, [id, paymentId]));
    expect((await compare()).found).toEqual([]);
  });

  test('tell that two have one transaction', async () => {
    const { signature, slot } = single;
    await change(`${REFUND} state = 'paid', signature = '${signature}', slot = ${slot} where id = '${failed.id}'`);
    const { found } = await compare();
    await change(`${REFUND} state = 'failed', signature = null, slot = null where id = '${failed.id}'`);
    expect(found).toContainEqual(
      about('refund', 'its transaction is that of another refund as well', [String(signature)]),
    );
    expect(found).toContainEqual(about('refund', 'its transaction does not name it', [failed.id]));
    expect(found).toContainEqual(
      about('refund', 'it is booked as paid, and has taken nothing of its pass', [failed.id]),
    );
  });

  test('tell that the payment of one was not paid, and that one that failed still has what it took', async () => {
    const { id, paymentId } = single;
    await change(`update tollhouse_payment set state = 'failed' where id = '${paymentId}'`);
    const unpaid = await compare();
    await change(`update tollhouse_payment set state = 'confirmed' where id = '${paymentId}'`);
    expect(unpaid.found).toContainEqual(about('refund', 'its payment is failed, and has left nothing', [id]));
    await change(`insert into tollhouse_pass_debit (pass_id, request, amount, at)
      select pass_id, id, 1, created_at from tollhouse_refund where id = '${failed.id}'`);
    const kept = await compare();
    await change(`delete from tollhouse_pass_debit where request = '${failed.id}'`);
    const still = 'it is booked as failed, and has still taken 1 of its pass';
    expect(kept.found).toContainEqual(about('refund', still, [failed.id]));
  });

  test('tell that an event is missing, and that one tells of what was not paid', async () => {
    const ofSingle = `type = 'payment.refunded' and data like '%${single.id}%'`;
    await change(`update tollhouse_event set data = replace(data, '${single.id}', 'rfd_other') where ${ofSingle}`);
    const { found } = await compare();
    await change(`update tollhouse_event set data = replace(data, 'rfd_other', '${single.id}')
      where type = 'payment.refunded'`);
    const untold = 'the refund is in the books, and no event tells payment.refunded of its amount';
    const stray = 'it tells payment.refunded, and in the books there is no such refund';
    expect(found).toEqual([about('event', untold, [single.id]), about('event', stray, ['rfd_other'])]);
  });

  test('name what was taken out of the refund wallet and is no refund, and say that it may have been its owner', async () => {
    const { sandbox, payTo } = fixture;
    const feePayer = await sandbox.createWallet({ sol: '1' });
    const taken = { wallet: keypair, legs: [{ recipient: payTo, amount: 7n }], feePayer };
    const signature = await transferDirectly(sandbox, taken);
    await confirmed(sandbox, signature);
    expect(await compare()).toMatchObject({
      found: [],
      notes: [about('transaction', /^takes 7 of \w+ out of the refund wallet, and names no refund$/, [signature])],
    });
  });

  test('agree on what was paid, taken and paid back when it is forgotten what requests took', async () => {
    await storage.prune(Date.now() + 1_000, 100, 0);
    expect(await change(`select 1 from tollhouse_pass_debit where request like 'rfd_%'`)).toEqual([]);
    const later = { now: () => Date.now() + 2 * DAY_MS };
    expect((await compare(later)).found).toEqual([]);
    const refunded = `where payment_id = '${single.paymentId}'`;
    await change(`update tollhouse_pass set remaining = remaining + 1 ${refunded}`);
    const { found } = await compare(later);
    await change(`update tollhouse_pass set remaining = remaining - 1 ${refunded}`);
    const detail = `more is left than can be: 1 of ${PRICE} are left, and requests took ${PRICE}`;
    expect(found).toEqual([about('pass', detail, [single.paymentId])]);
  });

  test('find one on the chain of which they have forgotten that it was sent, and do not pay it again', async () => {
    await change(`${REFUND} state = 'taken', signature = null, slot = null, lease_ends = 0 where id = '${single.id}'`);
    const now = () => storage.refunds.find(single.id);
    await until(async () => (await now())?.state === 'paid');
    expect((await now())?.signed?.signature).toBe(single.signature);
  });

  test('tell that one was paid twice, by two transactions', async () => {
    const second = '1'.repeat(64);
    await change(`${REFUND} signature = '${second}' where id = '${single.id}'`);
    const { found } = await compare({ now: () => Date.now() + 2 * DAY_MS });
    const twice = `takes 10000 of ${single.mint} out of the refund wallet for a refund that is booked as paid with ${second}`;
    expect(found).toContainEqual(about('transaction', twice, [String(single.signature), single.id]));
  });

  test('tell of one that they do not know, as it is after a backup was restored', async () => {
    await change(`delete from tollhouse_refund where id = '${pack.id}'`);
    await change(`delete from tollhouse_event where type = 'payment.refunded' and data like '%${pack.id}%'`);
    const { found } = await compare({ now: () => Date.now() + 2 * DAY_MS });
    const unknown = `takes 10000 of ${pack.mint} out of the refund wallet for a refund that the books do not know`;
    expect(found).toContainEqual(about('transaction', unknown, [String(pack.signature), pack.id]));
  });

  test('have no pass opened for a payment that one they do not know has paid back', async () => {
    const { paymentId } = pack;
    await change(`delete from tollhouse_pass where payment_id = '${paymentId}'`);
    const { found } = await compare({ opensIn: storage.passes });
    const detail =
      /^the payment has bought a pass, there is none, and a refund that the books do not know has paid it back$/;
    expect(found).toContainEqual(about('pass', detail, [paymentId, pack.id]));
    expect(await storage.passes.findByPayment(paymentId)).toBeUndefined();
  });
});
