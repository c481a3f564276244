import { allowanceFor } from '../../../src/facilitator/payments/allowance.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import type { MadeProject } from '../../helpers/fixtures/gateway-client.js';
import { type Caller, type GatewayFixture, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { buyPass } from '../../helpers/http/passes.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';
import { until } from '../../helpers/until.js';

const DAY_MS = 86_400_000;
const USES = { amount: '0.05', token: 'USDC', pass: { uses: 3 } };
const CREDIT = { amount: '0.06', token: 'USDC', pass: { credit: true, cost: '0.02' } };
const TIME = { amount: '0.07', token: 'USDC', pass: { for: '1d' } };

describe.each(DAILY_DATABASES)('what is said of passes, on %s', (name, openDatabase) => {
  const start = Date.now();
  let time = start;
  const opened = useGatewayFixture([name, openDatabase], { keepsPasses: true, clock: () => time });
  let fixture: GatewayFixture;
  let caller: Caller;

  beforeAll(() => {
    fixture = opened();
  });
  beforeEach(async () => {
    time = start;
    fixture.upstream.respond((res) => void res.end('paid for'));
    caller = await fixture.newCaller();
  });

  const newProject = (offer: object) => fixture.newProject({ pricing: { offers: [offer] } });
  const urlOf = ({ slug }: MadeProject) => `${fixture.client.url}/v1/${slug}`;
  const buy = (project: MadeProject, { wallet: payer, key } = caller) =>
    buyPass({ sandbox: fixture.sandbox, payer }, urlOf(project), { headers: key.headers });
  const use = async (project: MadeProject, { key } = caller) =>
    (await fetch(urlOf(project), { headers: key.headers })).status;
  const passesOf = async ({ id }: MadeProject) => {
    // An access token does not last as long as the clock is moved.
    const by = await fixture.client.signIn(fixture.owner);
    const { body } = await fixture.client.ask('GET', `/api/v1/projects/${id}/analytics`, undefined, by);
    return body['passes'] as Readonly<Record<string, unknown>>;
  };
  const spendingOf = async (query = '', { wallet } = caller) => {
    const by = await fixture.client.signIn(wallet);
    const { body } = await fixture.client.ask('GET', `/api/v1/spending${query}`, undefined, by);
    return body as { readonly passes: readonly object[]; readonly totals: readonly object[] };
  };

  test('an owner sees what he owes of uses: their share of the price of each pass, rounded up', async () => {
    const project = await newProject(USES);
    const none = { open: 0, owed: {}, owed_atomic: {}, first_end: null, last_end: null };
    expect(await passesOf(project)).toEqual(none);
    const others = [await fixture.newCaller(), await fixture.newCaller()];
    for (const it of [caller, ...others]) await buy(project, it);
    // Two thirds of 50,000 are 33,333 and a part.
    expect(await passesOf(project)).toEqual({
      ...none,
      open: 3,
      owed: { USDC: '0.100002' },
      owed_atomic: { USDC: '100002' },
    });
    expect(await use(project)).toBe(200);
    expect(await passesOf(project)).toMatchObject({ open: 3, owed_atomic: { USDC: String(2 * 33_334 + 16_667) } });
    expect([await use(project), await use(project)]).toEqual([200, 402]);
    expect(await passesOf(project)).toMatchObject({ open: 2, owed_atomic: { USDC: String(2 * 33_334) } });
  });

  test('an owner sees what is left of credit, and of a time what has not passed, and when it ends', async () => {
    const [credit, day] = [await newProject(CREDIT), await newProject(TIME)];
    await buy(credit);
    expect(await passesOf(credit)).toMatchObject({ open: 1, owed_atomic: { USDC: '40000' }, first_end: null });
    await buy(day);
    const end = String((await passesOf(day))['first_end']);
    time = Date.parse(end) - DAY_MS / 2;
    expect(await passesOf(day)).toMatchObject({ open: 1, owed_atomic: { USDC: '35000' }, last_end: end });
    time += 1;
    // A millisecond of it is less than an atomic unit, and rounded up.
    expect(await passesOf(day)).toMatchObject({ owed_atomic: { USDC: '35000' } });
    time = Date.parse(end);
    expect(await passesOf(day)).toMatchObject({ open: 0, owed_atomic: {}, first_end: null });
  });

  test('a buyer sees what he has bought, used and left, at which project, and spent it once', async () => {
    const [one, two] = [await newProject(USES), await newProject(CREDIT)];
    await buy(one);
    time += 1_000;
    await buy(two);
    expect(await use(one)).toBe(200);
    await until(async () => (await spendingOf()).totals.length > 0);
    const { passes, totals } = await spendingOf();
    const price = { token: 'USDC', mint: fixture.sandbox.tokens[0]?.mint };
    expect(passes).toEqual([
      expect.objectContaining({
        ...{ project_id: two.id, covers: `project ${two.id}`, kind: 'credit', status: 'active', ends_at: null },
        ...{
          bought: '60000',
          used: '20000',
          left: '40000',
          price: { amount: '0.06', amount_atomic: '60000', ...price },
        },
      }),
      expect.objectContaining({
        ...{ project_id: one.id, covers: `project ${one.id}`, kind: 'uses', status: 'active', ends_at: null },
        ...{ bought: '3', used: '2', left: '1', price: { amount: '0.05', amount_atomic: '50000', ...price } },
      }),
    ]);
    expect(totals).toMatchObject([{ amount_atomic: '110000', calls: 2 }]);
    expect((await spendingOf(`?project=${one.id}`)).passes).toMatchObject([{ project_id: one.id }]);
    expect((await spendingOf('', await fixture.newCaller())).passes).toEqual([]);
  });

  test('a buyer sees what was refunded, which is not used, and no allowance among what he has bought', async () => {
    const { storage, payTo, sandbox } = fixture;
    const keypair = await sandbox.createWallet({ usdc: '5' });
    const shop = fixture.facilitatorWith({ storage, refunds: { keypair } });
    const sold = { facilitator: shop, payTo, price: '$0.06', settle: 'before' } as const;
    const credit = requirePayment({ ...sold, pass: { credit: true, cost: '$0.02' } });
    const url = await fixture.serve((app) => app.get('/shop', credit, (_req, res) => void res.send('goods')));
    const wallet = caller.wallet.publicKey.toBase58();
    await buyPass({ sandbox, payer: caller.wallet }, `${url}/shop`);
    const place = { wallet, site: `${payTo} solana-devnet`, scope: 'group all' };
    await storage.passes.open(allowanceFor(place, { uses: 10n, perMs: DAY_MS }, time));
    const [before] = (await spendingOf()).passes as readonly { readonly payment_id: string }[];
    expect(before).toMatchObject({ used: '20000', left: '40000', refunded: null });
    expect(await shop.refund(before!.payment_id)).toMatchObject({ state: 'paid', amount: 40_000n });
    const price = { token: 'USDC', mint: sandbox.tokens[0]?.mint };
    expect((await spendingOf()).passes).toEqual([
      expect.objectContaining({
        ...{ bought: '60000', used: '20000', left: '0', status: 'used_up' },
        refunded: { amount: '0.04', amount_atomic: '40000', ...price },
      }),
    ]);
  });

  test('a payment stays in the books as long as its pass is good, and not longer', async () => {
    const project = await newProject(USES);
    await buy(project);
    const { storage } = fixture;
    const far = time + 1_000 * DAY_MS;
    const forget = async () => {
      while ((await storage.prune(far, 100, far)) > 0);
    };
    await forget();
    expect(await passesOf(project)).toMatchObject({ open: 1, owed_atomic: { USDC: '33334' } });
    expect([await use(project), await use(project)]).toEqual([200, 200]);
    await forget();
    expect((await spendingOf()).passes).toEqual([]);
  });
});
