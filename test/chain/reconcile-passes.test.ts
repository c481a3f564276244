import { randomUUID } from 'node:crypto';
import type { Request, Response } from 'express';
import { allowanceFor } from '../../src/facilitator/payments/allowance.js';
import type { Finding } from '../../src/facilitator/reconcile/finding.js';
import { chargeCredit } from '../../src/middleware/gate/request-properties.js';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../src/storage/open-storage.js';
import type { Storage } from '../../src/storage/storage.js';
import { newPass } from '../contracts/passes.js';
import { type Reconciled, reconciled } from '../helpers/crash/reconciled.js';
import { openTollFixture, type TollFixture } from '../helpers/fixtures/toll-fixture.js';
import { type BoughtPass, buyPass } from '../helpers/http/passes.js';
import { DAILY_DATABASES, type OwnDatabase } from '../helpers/storage/both-databases.js';
import { signPayment } from '../helpers/transactions/payments.js';
import { until } from '../helpers/until.js';

const DAY_MS = 86_400_000;
const USED = 3;

describe.each(DAILY_DATABASES)('the books of passes in %s', (_name, open) => {
  let database: OwnDatabase;
  let fixture: TollFixture;
  let storage: Storage;
  let facilitator: TollFixture['facilitator'];
  let wallet: string;

  beforeAll(async () => {
    [database, fixture] = await Promise.all([open(), openTollFixture()]);
    storage = await openStorage(database.url);
    facilitator = fixture.facilitatorWith({ storage });
    wallet = fixture.payer.publicKey.toBase58();
    const sold = { facilitator, payTo: fixture.payTo, price: '$0.50' };
    const url = await fixture.serve((app) => {
      app.get('/pack', requirePayment({ ...sold, pass: { uses: 9, for: '30d' } }), (req, res) => {
        res.status(req.query['fail'] === undefined ? 200 : 500).send('good');
      });
      app.get('/day', requirePayment({ ...sold, pass: { for: '24h' } }), (_req, res) => void res.send('good'));
      app.get('/credit', requirePayment({ ...sold, pass: { credit: true, cost: '$0.01' } }), async (req, res) => {
        await chargeCredit(req, '$0.004');
        res.send('good');
      });
      const first = { ...sold, settle: 'before' } as const;
      const fail = (_req: Request, res: Response) => void res.status(500).send('bad');
      app.get('/failing', requirePayment(first), fail);
      app.get('/failing-pack', requirePayment({ ...first, pass: { uses: 3 } }), fail);
      app.get('/month', requirePayment({ ...sold, pass: { for: '30d', renew: true } }), (_req, res) => {
        res.send('good');
      });
      app.get('/single', requirePayment(sold), (_req, res) => void res.send('good'));
    });
    for (const path of ['/failing', '/failing-pack']) {
      await fetch(url + path, { headers: (await signPayment(fixture, url + path)).v2 });
    }
    const { token }: BoughtPass = await buyPass(fixture, `${url}/pack`);
    for (let times = 0; times < USED; times += 1) await fetch(`${url}/pack`, { headers: token });
    await fetch(`${url}/pack?fail=1`, { headers: token });
    for (const path of ['/day', '/single', '/month', '/month']) await buyPass(fixture, `${url}${path}`);
    const credit = await buyPass(fixture, `${url}/credit`);
    await fetch(`${url}/credit`, { headers: credit.token });
    const isLeft = async (amount: bigint) =>
      (await facilitator.passes.list(wallet)).some(({ left }) => left === amount);
    await until(async () => (await isLeft(5n)) && (await isLeft(492_000n)));
  });
  afterAll(async () => {
    await fixture.close();
    await storage.close();
    await database.stop();
  });

  const compare = (more: Parameters<typeof reconciled>[3] = {}): Promise<Reconciled> => {
    const compared = { sandbox: fixture.sandbox, feePayers: [], splitWallets: [] };
    return reconciled(compared, storage, true, more);
  };
  const change = (text: string) => storage.database.query({ name: `test_${randomUUID()}`, text });
  const only = ({ found }: Reconciled): Finding | undefined => {
    expect(found).toHaveLength(1);
    return found[0];
  };
  const passOf = async (scope: string) => {
    const found = (await facilitator.passes.list(wallet)).find((it) => it.scope === scope);
    if (found === undefined) throw new Error(`there is no pass for ${scope}`);
    return found;
  };

  test('are right where passes were bought, used, renewed, given back and revoked, and requests have failed that were paid', async () => {
    await facilitator.passes.revoke((await passOf('GET /day')).id);
    expect(await compare()).toMatchObject({ payments: 8, found: [], notes: [], differences: 0 });
  });

  const [PACK, DAY, CREDIT, MONTH] = ['pack', 'day', 'credit', 'month'].map((it) => `scope = 'GET /${it}'`);
  const PRICED = `scope = 'price of GET /failing'`;
  const UPDATE = 'update tollhouse_pass set';
  /** The payment that has renewed the month, which another one had opened. */
  const RENEWAL = 'payment_id not in (select payment_id from tollhouse_pass)';
  const OF_PACK = `pass_id in (select id from tollhouse_pass where ${PACK})`;

  test.each([
    [
      'more is left than can be',
      `${UPDATE} remaining = remaining + 1 where ${PACK}`,
      `${UPDATE} remaining = remaining - 1 where ${PACK}`,
      /^more is left than can be: 6 of 9 are left, and requests took 4$/,
    ],
    [
      'a use is lost',
      `${UPDATE} remaining = remaining - 1 where ${PACK}`,
      `${UPDATE} remaining = remaining + 1 where ${PACK}`,
      /^less is left than requests have taken it to: 4 of 9 are left, and requests took 4$/,
    ],
    [
      'credit is lost',
      `${UPDATE} remaining = remaining - 1 where ${CREDIT}`,
      `${UPDATE} remaining = remaining + 1 where ${CREDIT}`,
      /^less is left than requests have taken it to: 491999 of 500000 are left, and requests took 8000$/,
    ],
    [
      'more credit is left than can be',
      `${UPDATE} remaining = remaining + 1 where ${CREDIT}`,
      `${UPDATE} remaining = remaining - 1 where ${CREDIT}`,
      /^more is left than can be: 492001 of 500000 are left, and requests took 8000$/,
    ],
    [
      'what a request took is forgotten too early',
      `update tollhouse_pass_debit set pass_id = 'x' || pass_id where ${OF_PACK}`,
      `update tollhouse_pass_debit set pass_id = substr(pass_id, 2) where pass_id like 'x%'`,
      /^less is left/,
    ],
    [
      'less than nothing is left',
      `${UPDATE} remaining = -1 where ${PACK}`,
      `${UPDATE} remaining = 5 where ${PACK}`,
      /^less than nothing is left/,
    ],
    [
      'a balance is gone',
      `${UPDATE} remaining = null where ${PACK}`,
      `${UPDATE} remaining = 5 where ${PACK}`,
      /^less than nothing is left/,
    ],
    [
      'more was bought than was paid for',
      `${UPDATE} bought = 90 where ${PACK}`,
      `${UPDATE} bought = 9 where ${PACK}`,
      /^its number is 90, and 9 was bought$/,
    ],
    [
      'a pass is longer than was paid for',
      `${UPDATE} ends_at = ends_at + 1 where ${DAY}`,
      `${UPDATE} ends_at = ends_at - 1 where ${DAY}`,
      /^its end is \d+, and \d+ was bought$/,
    ],
    [
      'a renewed pass is shorter than was paid for',
      `${UPDATE} ends_at = ends_at - 1 where ${MONTH}`,
      `${UPDATE} ends_at = ends_at + 1 where ${MONTH}`,
      /^its end is \d+, and \d+ was bought$/,
    ],
    [
      'the payment of a renewal has failed',
      `update tollhouse_payment set state = 'failed', reason = 'settlement_in_progress'
        where id in (select payment_id from tollhouse_pass_period where ${RENEWAL})`,
      `update tollhouse_payment set state = 'served', reason = null where state = 'failed'`,
      /^its payment is failed$/,
    ],
    [
      'a pass has no end',
      `${UPDATE} ends_at = null where ${DAY}`,
      `${UPDATE} ends_at = opened_at + ${DAY_MS} where ${DAY}`,
      /^its end is none, and \d+ was bought$/,
    ],
    [
      'a pass is of another wallet',
      `${UPDATE} wallet = 'x' || wallet where ${DAY}`,
      `${UPDATE} wallet = substr(wallet, 2) where ${DAY}`,
      /^its wallet is x\w+, and \w+ was bought$/,
    ],
    [
      'a pass covers something else',
      `${UPDATE} scope = 'group all' where ${DAY}`,
      `${UPDATE} scope = 'GET /day' where scope = 'group all'`,
      /^its scope is group all, and GET \/day was bought$/,
    ],
    [
      'more credit was left for a failed request than was paid',
      `${UPDATE} bought = bought + 1 where ${PRICED}`,
      `${UPDATE} bought = bought - 1 where ${PRICED}`,
      /^its number is 500001, and 500000 was bought$/,
    ],
    [
      'credit that was left for a failed request is lost',
      `${UPDATE} remaining = remaining - 1 where ${PRICED}`,
      `${UPDATE} remaining = remaining + 1 where ${PRICED}`,
      /^less is left than requests have taken it to: 499999 of 500000 are left, and requests took 0$/,
    ],
    [
      'credit for a failed request covers something else',
      `${UPDATE} scope = 'GET /failing' where ${PRICED}`,
      `${UPDATE} scope = 'price of GET /failing' where scope = 'GET /failing'`,
      /^its payment is confirmed, and buys none$/,
    ],
    [
      'the payment of a pass has failed',
      `update tollhouse_payment set state = 'failed', reason = 'settlement_in_progress'
        where id in (select payment_id from tollhouse_pass where ${DAY})`,
      `update tollhouse_payment set state = 'served', reason = null where state = 'failed'`,
      /^its payment is failed$/,
    ],
  ])('say it when %s', async (_what, spoil, mend, detail) => {
    await change(spoil);
    const { found } = await compare();
    await change(mend);
    expect(found.filter(({ kind }) => kind === 'pass')).toEqual([
      expect.objectContaining({
        ids: expect.arrayContaining([expect.stringMatching(/^pas_/)]),
        detail: expect.stringMatching(detail),
      }),
    ]);
    expect(await compare()).toMatchObject({ found: [] });
  });

  test('say only that nothing is left that was not bought where it is forgotten what requests took', async () => {
    const rows = await change(`select pass_id, request, amount, at from tollhouse_pass_debit where ${OF_PACK}`);
    const { openedAt } = await passOf('GET /pack');
    await change(`delete from tollhouse_pass_debit where ${OF_PACK}`);
    await change(`${UPDATE} opened_at = opened_at - ${DAY_MS}, ends_at = ends_at - ${DAY_MS} where ${PACK}`);
    expect(await compare()).toMatchObject({ found: [] });
    await change(`${UPDATE} remaining = 10 where ${PACK}`);
    expect(only(await compare())?.detail).toMatch(/^more is left than can be: 10 of 9 are left, and requests took 0$/);

    await change(`${UPDATE} remaining = 5, opened_at = ${openedAt}, ends_at = ends_at + ${DAY_MS} where ${PACK}`);
    for (const { pass_id, request, amount, at } of rows) {
      await change(`insert into tollhouse_pass_debit (pass_id, request, amount, at)
        values ('${pass_id}', '${request}', ${amount}, ${at})`);
    }
    expect(await compare()).toMatchObject({ found: [] });
  });

  test('say that a renewal is longer than was paid for', async () => {
    const longer = async (ms: number) => {
      await change(`update tollhouse_pass_period set lasts_ms = lasts_ms + ${ms} where ${RENEWAL}`);
      await change(`${UPDATE} ends_at = ends_at + ${ms} where ${MONTH}`);
    };
    await longer(1);
    const { detail } = only(await compare()) ?? {};
    await longer(-1);
    expect(detail).toBe('its time of this payment is 2592000001, and 2592000000 was bought');
  });

  test('say that a renewal is missing, and have the pass renewed where that is wanted', async () => {
    const { id, endsAt } = await passOf('GET /month');
    await change(`delete from tollhouse_pass_period where ${RENEWAL}`);
    await change(`${UPDATE} ends_at = ends_at - ${30 * DAY_MS} where ${MONTH}`);
    expect(only(await compare())).toMatchObject({ kind: 'pass', advice: expect.stringContaining('--open-passes') });
    expect(await compare({ opensIn: facilitator.passes })).toMatchObject({ found: [] });
    expect([await passOf('GET /month'), await compare()]).toMatchObject([
      { id, endsAt },
      { found: [], notes: [] },
    ]);

    await change(`delete from tollhouse_pass where ${MONTH}`);
    expect((await compare()).found).toHaveLength(2);
    expect(await compare({ opensIn: facilitator.passes })).toMatchObject({ found: [] });
    expect((await passOf('GET /month')).id).not.toBe(id);
    expect(await compare()).toMatchObject({ found: [], notes: [] });
  });

  test('know an allowance, which no payment has bought, and say it where its requests do not add up', async () => {
    const place = { wallet: 'a member', site: 'https://shop.example', scope: 'GET /day' };
    const had = allowanceFor(place, { uses: 9n, perMs: DAY_MS });
    const { id } = await facilitator.passes.open(had);
    await facilitator.passes.debit({ passId: id, requestId: 'one', amount: 1n });
    expect(await compare()).toMatchObject({ found: [], notes: [] });
    await change(`${UPDATE} remaining = 9 where id = '${id}'`);
    expect(only(await compare())).toMatchObject({
      ids: [id, had.paymentId],
      detail: expect.stringMatching(/^more is left than can be: 9 of 9 are left, and requests took 1$/),
    });
    await change(`delete from tollhouse_pass where id = '${id}'`);
  });

  test('note a pass that nobody has paid for, which is no difference', async () => {
    const { id } = await facilitator.passes.open(newPass({ wallet: 'a friend' }));
    const { found, notes } = await compare();
    expect([found, notes]).toEqual([[], [expect.objectContaining({ kind: 'pass', ids: [id, expect.any(String)] })]]);
    await change(`delete from tollhouse_pass where id = '${id}'`);
  });

  test('say that a pass is missing, and have it opened where that is wanted, but not for money that never came', async () => {
    const before = await passOf('GET /pack');
    await change(`delete from tollhouse_pass where ${PACK}`);
    expect(only(await compare())).toMatchObject({
      kind: 'pass',
      ids: [before.paymentId, wallet],
      advice: expect.stringContaining('--open-passes'),
    });

    const payment = `update tollhouse_payment set signature =`;
    const [{ signature } = {}] = await change(
      `select signature from tollhouse_payment where id = '${before.paymentId}'`,
    );
    await change(`${payment} '${'1'.repeat(64)}' where id = '${before.paymentId}'`);
    const opensIn = { opensIn: facilitator.passes };
    expect((await compare(opensIn)).found.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['payment', 'pass']));
    await change(`${payment} '${signature}' where id = '${before.paymentId}'`);
    await expect(passOf('GET /pack')).rejects.toThrow();

    expect(await compare(opensIn)).toMatchObject({
      found: [],
      notes: [expect.objectContaining({ kind: 'pass', detail: expect.stringContaining('it is open now') })],
    });
    expect(await passOf('GET /pack')).toMatchObject({ wallet, bought: 9n, left: 8n, paymentId: before.paymentId });
    expect(await compare(opensIn)).toMatchObject({ found: [], notes: [] });
  });
});
