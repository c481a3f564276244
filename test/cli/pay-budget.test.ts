import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readChanged } from '../../src/cli/state/change-state.js';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { openPayFixture, type PayFixture, type Ran } from '../helpers/fixtures/cli-fixture.js';
import { endOf, runFile, stopFiles } from '../helpers/processes/run-file.js';
import { askTerms } from '../helpers/transactions/payments.js';
import { until } from '../helpers/until.js';

const LEFT = /nothing was paid: the price is 0.5 USDC, and 0 USDC is left of the budget of/;

describe('tollhouse pay with a budget', () => {
  let fixture: PayFixture;
  let shop: string;
  /** How many responses to payments a proxy turns into what it likes. */
  let lies: number[] = [];
  /** How payments are kept from the shop: it is asked without, and refuses, or somebody before it answers. */
  let kept: 'without' | 'somebody' | undefined;

  beforeAll(async () => {
    fixture = await openPayFixture();
    const { sold } = fixture;
    shop = await fixture.serve((app) => {
      app.use((req, res, next) => {
        const pays = req.headers['payment-signature'] !== undefined;
        if (pays && kept === 'somebody') return void res.status(404).end('no');
        if (kept === 'without') delete req.headers['payment-signature'];
        const lie = pays ? lies.shift() : undefined;
        const end = res.end.bind(res);
        if (lie !== undefined) {
          res.setHeader('Retry-After', '300');
          const lying = () => {
            for (const name of res.getHeaderNames()) if (name !== 'retry-after') res.removeHeader(name);
            res.statusCode = lie;
            return end('no');
          };
          Object.assign(res, { end: lying });
        }
        next();
      });
      // What the lies look like to the gate is a request that has failed.
      const single = requirePayment({ ...sold, settle: 'before', compensate: false });
      app.get('/single', single, (_req, res) => void res.end('read'));
      app.get('/pack', requirePayment({ ...sold, pass: { uses: 3 } }), (_req, res) => void res.end('read'));
    });
  });
  afterAll(() => fixture.close());
  beforeEach(async () => {
    await fixture.newBuyer('5');
    lies = [];
    kept = undefined;
  });
  afterEach(stopFiles);

  const payArgs = (path: string) => fixture.payArgs(`${shop}${path}`);
  const pay = (path: string, budget: string | undefined, ...more: readonly string[]): Promise<Ran> =>
    fixture.run(...payArgs(path), ...(budget === undefined ? [] : ['--budget', budget]), ...more);
  const held = () => fixture.held();
  const offeredBlockhash = async () => (await askTerms(`${shop}/single`)).accepts[0]?.extra?.['recentBlockhash'];
  /** After that no signed payment can land any more, and the shop has noticed that it is late. */
  async function passBlocks(): Promise<void> {
    const before = await offeredBlockhash();
    fixture.sandbox.advanceSlots(600);
    await until(async () => (await offeredBlockhash()) !== before);
  }

  test('counts what was paid, refuses what is more, and says what is left and when it renews', async () => {
    expect((await pay('/single', '1 USDC/month')).code).toBe(0);
    expect((await pay('/single', '1', '--budget-window', '31d')).code).toBe(0);
    const third = await pay('/single', '1 USDC/day');
    expect(third).toMatchObject({ code: 1, text: expect.stringMatching(LEFT) });
    expect(third.text).toMatch(/budget of 1 USDC\/day; there is enough again at \d{4}-\d\d-\d\dT00:00:00.000Z\n/);
    expect((await pay('/single', '1 USDC/total')).text).toContain('1 USDC/total, which does not begin anew');
    expect(held()).toBe(4_000_000n);
    expect((await pay('/single', '1.5 USDC/total')).code).toBe(0);
  });

  test('keeps nothing of it where others can read it, and not for other wallets', async () => {
    await pay('/single', '0.5 USDC/total');
    const folder = join(fixture.folder, 'tollhouse/budgets');
    expect(readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777)).toContain(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    await fixture.newBuyer('1');
    expect((await pay('/single', '0.5 USDC/total')).code).toBe(0);
  });

  test('counts neither what a pass covers nor what was paid without one', async () => {
    expect((await pay('/single', undefined)).code).toBe(0);
    expect((await pay('/pack', '0.5 USDC/total')).code).toBe(0);
    expect((await pay('/pack', '0.5 USDC/total')).text).toMatch(/left +1 of the pass/);
    expect(held()).toBe(4_000_000n);
  });

  test('pays in no other token', async () => {
    const { code, text } = await pay('/single', '1 USDT/day');
    expect([code, text]).toEqual([1, expect.stringContaining('price is 0.5 USDC, and the budget is in USDT')]);
  });

  test.each([
    ['was refused', 'without', /not paid +402/],
    ['somebody before the shop has answered', 'somebody', /not known +404/],
  ] as const)('is given back what %s, once it cannot be charged any more', async (_what, how, told) => {
    kept = how;
    expect(await pay('/single', '0.5 USDC/total')).toMatchObject({ code: 1, text: expect.stringMatching(told) });
    kept = undefined;
    expect((await pay('/single', '0.5 USDC/total')).text).toMatch(LEFT);
    await passBlocks();
    expect((await pay('/single', '0.5 USDC/total')).code).toBe(0);
  });

  test('is not given back what a seller does not say that he has charged', async () => {
    lies = [402];
    expect((await pay('/single', '0.5 USDC/total')).text).toMatch(/not known +402/);
    expect(held()).toBe(4_500_000n);
    await passBlocks();
    expect((await pay('/single', '0.5 USDC/total')).text).toMatch(LEFT);
    expect(held()).toBe(4_500_000n);
  });

  test('counts a payment of which nothing is known, and once only when its response is had', async () => {
    lies = [503];
    const lost = await pay('/single', '1 USDC/total');
    expect(lost.text).toMatch(/not known +whether 0.5 USDC was paid: 503/);
    const [, file = ''] = /--resume (\S+\.json)/.exec(lost.text) ?? [];
    expect((await pay('/single', '0.5 USDC/total')).text).toMatch(LEFT);
    expect((await fixture.run('pay', '--resume', file)).code).toBe(0);
    expect((await pay('/single', '1 USDC/total')).code).toBe(0);
    expect((await pay('/single', '1 USDC/total')).text).toMatch(LEFT);
    expect(held()).toBe(4_000_000n);
  });

  test('has nothing taken where the payment cannot be kept, and pays nothing where its book cannot be read', async () => {
    const payments = join(fixture.folder, 'tollhouse/payments');
    rmSync(payments, { recursive: true, force: true });
    writeFileSync(payments, 'no folder');
    expect((await pay('/single', '0.5 USDC/total')).text).toContain('the payment cannot be kept in a file');
    rmSync(payments);
    expect((await pay('/single', '0.5 USDC/total')).code).toBe(0);
    const folder = join(fixture.folder, 'tollhouse/budgets');
    for (const name of readdirSync(folder)) writeFileSync(join(folder, name), '{');
    const broken = await pay('/single', '9 USDC/total');
    expect(broken).toMatchObject({ code: 1, text: expect.stringMatching(/nothing was paid: .* cannot be read/) });
    rmSync(folder, { recursive: true });
  });

  test('is not overspent by several that pay at once', async () => {
    const args = [...payArgs('/single'), '--budget', '1 USDC/total'];
    const ended = await Promise.all([1, 2, 3, 4].map(() => endOf(runFile('src/cli/main.ts', args))));
    const refused = ended.filter(({ text }) => LEFT.test(text));
    const others = ended.filter((it) => !refused.includes(it));
    expect(others).toMatchObject([{ code: 0 }, { code: 0 }]);
    expect(refused).toMatchObject([{ code: 1 }, { code: 1 }]);
    expect(held()).toBe(4_000_000n);
  });

  test('has every change of its book kept, whoever makes them at once', async () => {
    const files = [1, 2, 3].map(() => runFile('test/helpers/processes/counting-process.ts', ['40']));
    for (const { code, text } of await Promise.all(files.map(endOf))) expect([code, text]).toEqual([0, '']);
    expect(JSON.parse(readChanged('count') ?? '[]')).toHaveLength(120);
  });
});
