import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NextFunction, Request, Response } from 'express';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { openPayFixture, type PayFixture, type Ran } from '../helpers/fixtures/cli-fixture.js';
import { connectGateway } from '../helpers/fixtures/gateway-client.js';

/** What a request brought that proves something. */
interface Shown {
  readonly path: string;
  readonly token: string | undefined;
  readonly signIn: boolean;
  readonly paid: boolean;
}

describe('tollhouse pay, by what was bought before,', () => {
  let fixture: PayFixture;
  let shop: string;
  let other: string;
  let shown: Shown[] = [];
  /** How many times the handler that may fail does. */
  let failures = 0;
  let price = '$0.50';

  beforeAll(async () => {
    fixture = await openPayFixture();
    const { sold } = fixture;
    const handler = (req: Request, res: Response) => void res.send(`read ${req.path}`);
    const routes: Parameters<PayFixture['serve']>[0] = (app) => {
      app.use((req, _res, next) => {
        const { 'sign-in-with-x': proof, 'payment-signature': payment } = req.headers;
        const token = req.get('access-pass');
        shown.push({ path: req.path, token, signIn: proof !== undefined, paid: payment !== undefined });
        next();
      });
      app.get('/report/:id', requirePayment({ ...sold, pass: { uses: 3 } }), handler);
      const group = requirePayment({ ...sold, pass: { for: '24h', group: 'magazine' } });
      app.get(['/essay', '/letter'], group, handler);
      app.get('/other', requirePayment({ ...sold, pass: { uses: 9 } }), handler);
      app.get('/named', requirePayment({ ...sold, baseUrl: 'https://bank.example', pass: { uses: 9 } }), handler);
      app.use('/strict', (req, res, next) => {
        if (req.headers['sign-in-with-x'] === undefined) next();
        else res.status(401).json({ code: 'invalid_sign_in' });
      });
      app.get('/strict', requirePayment({ ...sold, pass: { uses: 9 } }), handler);
      app.get('/subscribed', requirePayment({ ...sold, pass: { for: '30d', renew: true } }), handler);
      app.get('/single', requirePayment(sold), handler);
      const fails = (_req: Request, res: Response, next: NextFunction) =>
        failures-- > 0 ? void res.status(503).send('not now') : next();
      app.get('/flaky/:id', requirePayment({ ...sold, price: () => price, settle: 'before' }), fails, handler);
      app.use('/free', handler);
    };
    [shop, other] = await Promise.all([fixture.serve(routes), fixture.serve(routes)]);
  });
  afterAll(() => fixture.close());
  beforeEach(async () => {
    await fixture.newBuyer('2');
    rmSync(file(), { force: true });
    [shown, failures, price] = [[], 0, '$0.50'];
  });

  const file = () => join(fixture.folder, 'tollhouse/passes.json');
  const pay = (path: string, ...args: readonly string[]): Promise<Ran> =>
    fixture.run(...fixture.payArgs(`${shop}${path}`), ...args);
  const held = () => fixture.held();
  const asked = () =>
    shown.map(({ paid, signIn, token }) => (paid ? 'paid' : signIn ? 'signed' : token ? 'token' : 'bare'));

  test('keeps the token where only the user can read it, and shows it before it pays again', async () => {
    const first = await pay('/report/1');
    expect(first.text).toMatch(
      /settled .*\nanswered +200\nleft +2 of the pass\npass +for GET \/report\/:id, kept for the next time\n/,
    );
    expect([first.code, asked()]).toEqual([0, ['bare', 'signed', 'paid']]);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    const { passes } = JSON.parse(readFileSync(file(), 'utf8'));
    expect(passes).toEqual([
      expect.objectContaining({
        origin: shop,
        scope: 'GET /report/:id',
        wallet: fixture.buyer.payer.publicKey.toBase58(),
      }),
    ]);
    expect(first.text).not.toContain(passes[0].token);

    shown = [];
    const second = await pay('/report/2');
    expect(second).toMatchObject({
      code: 0,
      text: expect.stringMatching(/^pass +for GET \/report\/:id, bought before\n/),
    });
    expect(second.text).toMatch(/→ 200\nleft +1 of the pass\nread \/report\/2$/);
    expect([asked(), held()]).toEqual([['token'], 1_500_000n]);
  });

  test('shows the token of a project at all of its calls, and at no other project', async () => {
    const { url } = fixture.server;
    const client = await connectGateway(url);
    const [seller, stranger] = [
      await fixture.sandbox.createWallet({ usdc: '0' }),
      await fixture.sandbox.createWallet({ usdc: '0' }),
    ];
    const bySeller = await client.signIn(seller);
    const pricing = { offers: [{ amount: '0.50', token: 'USDC', pass: { uses: 5 } }] };
    for (const slug of ['one', 'two']) await client.project(bySeller, { slug, upstream: { url: shop }, pricing });
    const { headers } = await client.key(await client.signIn(stranger));
    const shownKey = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
    const call = async (path: string) => {
      const ran = await fixture.run(
        'pay',
        url + path,
        '--keypair',
        fixture.buyer.key,
        '--rpc',
        fixture.sandbox.rpcUrl,
        '--json',
        ...shownKey,
      );
      return JSON.parse(ran.out);
    };
    expect(await call('/v1/one/free')).toMatchObject({ status: 200, paid: true, pass_left: '4' });
    expect(await call('/v1/one/free/deep?er=1')).toMatchObject({ paid: false, admitted_by: 'pass', pass_left: '3' });
    expect(await call('/v1/two/free')).toMatchObject({ status: 200, paid: true, pass_left: '4' });
    expect(held()).toBe(1_000_000n);
  });

  test('says as JSON what has let it in, and pays when the pass is used up, whose token it forgets', async () => {
    await pay('/report/1');
    const { out } = await pay('/report/1', '--json');
    expect(JSON.parse(out)).toEqual({
      ...{ status: 200, paid: false, admitted_by: 'pass', receipt: null, pass_left: '1', body: 'read /report/1' },
    });
    await pay('/report/1');
    shown = [];
    const anew = JSON.parse((await pay('/report/1', '--json')).out);
    expect([anew, asked()]).toEqual([
      expect.objectContaining({ status: 200, paid: true, pass_left: '2' }),
      ['token', 'signed', 'paid'],
    ]);
    expect(JSON.parse(readFileSync(file(), 'utf8')).passes).toHaveLength(1);
  });

  test('shows the token of what a request that failed has left, before it pays again', async () => {
    failures = 1;
    const first = await pay('/flaky/1');
    expect(first.text).toMatch(/pass +for price of GET \/flaky\/:id, kept for the next time\n/);
    shown = [];
    const second = await pay('/flaky/2');
    expect(second.text).toMatch(/^pass +for price of GET \/flaky\/:id, bought before\n/);
    expect(second.text).toMatch(/→ 200\nleft +0 USDC of the pass\nread \/flaky\/2$/);
    expect([asked(), held()]).toEqual([['token'], 1_500_000n]);
  });

  test('keeps the token of what is too little at a price of today, and says how much it is', async () => {
    failures = 1;
    await pay('/flaky/1');
    const kept = readFileSync(file(), 'utf8');
    price = '$0.60';
    expect((await pay('/flaky/1')).text).toContain('is not taken: pass_used_up, 0.5 USDC is left\n');
    expect(readFileSync(file(), 'utf8')).toBe(kept);
    price = '$0.50';
    expect((await pay('/flaky/1')).text).toContain('left       0 USDC of the pass');
  });

  test('signs in where its token is gone or withdrawn, and has a new one by that', async () => {
    await pay('/report/1');
    rmSync(file());
    shown = [];
    expect((await pay('/report/1')).text).toMatch(/sign-in +offered, signed\nasked .* → 200\nleft +1 of the pass\n/);
    const { passes } = fixture.server.facilitator;
    const [{ id = '' } = {}] = await passes.list(fixture.buyer.payer.publicKey.toBase58());
    await passes.withdrawTokens(id);
    const { text } = await pay('/report/1');
    expect(text).toContain('is not taken: pass_revoked');
    expect(asked()).toEqual(['bare', 'signed', 'token', 'signed']);
    expect(held()).toBe(1_500_000n);
  });

  test('shows a token to what it may cover alone: not to another origin, another route, or for another wallet', async () => {
    await pay('/report/1');
    const stranger = fixture.keyFile(await fixture.sandbox.createWallet({ usdc: '2' }));
    shown = [];
    await pay('/other');
    await fixture.run('pay', `${other}/report/1`, '--keypair', stranger, '--rpc', fixture.sandbox.rpcUrl);
    await fixture.run(
      'pay',
      `${shop}/report/1`,
      '--keypair',
      stranger,
      '--rpc',
      fixture.sandbox.rpcUrl,
      '--max',
      '0.1',
    );
    await pay('/single');
    expect(shown.filter(({ token }) => token !== undefined)).toEqual([]);
  });

  test('has a group covered by one pass', async () => {
    await pay('/essay');
    shown = [];
    expect((await pay('/letter')).text).toContain('for group magazine, bought before');
    expect([asked(), held()]).toEqual([['token'], 1_500_000n]);
  });

  test('pays anew where it is told to, without signing in', async () => {
    await pay('/report/1');
    shown = [];
    expect((await pay('/report/1', '--anew')).code).toBe(0);
    expect([asked(), held()]).toEqual([['bare', 'paid'], 1_000_000n]);
  });

  test('says that a pass has let it in where it pays anew for one that lasts long enough, and is not charged', async () => {
    await pay('/subscribed');
    expect((await pay('/subscribed', '--anew')).text).toMatch(/^settled /m);
    const third = await pay('/subscribed', '--anew');
    expect(third.text).toMatch(
      /^uncharged +the wallet has a pass here until 20\d\d-\S+Z, which has let this request in\n/m,
    );
    expect([third.code, held()]).toEqual([0, 1_000_000n]);
    const { paid, admitted_by } = JSON.parse((await pay('/subscribed', '--anew', '--json')).out);
    expect([paid, admitted_by, held()]).toEqual([false, 'pass', 1_000_000n]);
  });

  test('signs in at no other site than it asks, and says so', async () => {
    const { code, text } = await pay('/named');
    expect(text).toMatch(/sign-in +offered, and not signed: it is for bank\.example, and this is 127\.0\.0\.1:\d+\n/);
    expect([code, asked()]).toEqual([0, ['bare', 'paid']]);
  });

  test('pays where a sign-in is offered and then not taken', async () => {
    const { code, text } = await pay('/strict');
    expect([code, asked()]).toEqual([0, ['bare', 'signed', 'paid']]);
    expect(text).toContain('sign-in    is not taken: invalid_sign_in');
  });

  test('goes on where the file of tokens is no such file, and where a server gives out what is no token', async () => {
    await pay('/single');
    writeFileSync(file(), 'no json', { mode: 0o600 });
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    expect((await pay('/report/1')).code).toBe(0);
    expect(String(warned.mock.calls[0]?.[0])).toContain('passes.json cannot be read');
    warned.mockRestore();
    const odd = await fixture.serve((app) =>
      app.get('/', (_req, res) => void res.set('Access-Pass', 'x.y.z').send('odd')),
    );
    const before = readFileSync(file(), 'utf8');
    expect((await fixture.run('pay', odd, '--keypair', fixture.buyer.key)).code).toBe(0);
    expect(readFileSync(file(), 'utf8')).toBe(before);
  });
});
