import { decodePaymentRequiredHeader } from '@x402/core/http';
import type { Request, Response as ServerAnswer } from 'express';
import { createRouter } from '../../../src/http/create-router.js';
import { createIdentity } from '../../../src/identity/create-identity.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { requireTokenBalance } from '../../../src/middleware/wallet/require-token-balance.js';
import { SECRET } from '../../helpers/fixtures/identity-fixture.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { ask, linesOf } from '../../helpers/http/raw-http.js';
import { accessTokenFor } from '../../helpers/http/sign-in.js';
import { signPayment } from '../../helpers/transactions/payments.js';
import { walletKey } from '../../helpers/transactions/wallet-key.js';

const INJECTED = 'ünï✓\r\nSet-Cookie: injected=1\r\n\r\nHTTP/1.1 200 OK\r\nX-Injected: 1\r\n\r\n';

describe.each(DAILY_EXPRESSES)('header fields, %s', (_name, express) => {
  let fixture: TollFixture;
  let url: string;
  let runs = 0;
  let token: string;

  const serve = (_req: Request, res: ServerAnswer): void => {
    runs += 1;
    res.send('served');
  };

  beforeAll(async () => {
    fixture = await openTollFixture({ maxBlockhashAgeBlocks: 5_000 });
    const { facilitator, payTo } = fixture;
    const identity = createIdentity({ network: facilitator.network, jwtSecret: SECRET, domain: 'shop.example' });
    const { authorization } = await accessTokenFor(walletKey('alice'), identity, 'http://shop.example/');
    token = String(authorization);
    const options = { facilitator, payTo, price: '$0.01' };
    url = await fixture.serve((app) => {
      app.get('/report', requirePayment(options), serve);
      app.get(
        '/told',
        requirePayment({ ...options, description: INJECTED, mimeType: INJECTED, memo: INJECTED }),
        serve,
      );
      const club = { facilitator, identity, mint: 'USDC', minBalance: 0 };
      app.get('/club', requireTokenBalance(club), serve);
      app.use(createRouter({ facilitator, identity, limits: false }));
    }, express);
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    runs = 0;
  });

  const paymentLines = async (path = '/report') => {
    const { v1, v2 } = await signPayment(fixture, url + path);
    return { v1: linesOf(v1).join(), v2: linesOf(v2).join() };
  };
  const statusOf = async (path: string, lines: readonly string[]) => (await ask(url, `GET ${path}`, lines)).status;

  test('what a seller says of a route is told as it is, and is no header of ours', async () => {
    const paid = linesOf((await signPayment(fixture, `${url}/told`)).v2);
    const answers = [
      await ask(url, 'GET /told'),
      await ask(url, 'GET /told', ['Accept: text/html']),
      await ask(url, 'GET /told', paid),
    ];

    expect(answers.map(({ status }) => status)).toEqual([402, 402, 200]);
    for (const { headers } of answers) {
      expect([headers.get('set-cookie'), headers.get('x-injected')]).toEqual([null, null]);
    }
    const { resource, accepts } = decodePaymentRequiredHeader(answers[0]?.headers.get('payment-required') ?? '');
    expect([resource.description, accepts[0]?.extra['memo']]).toEqual([INJECTED, INJECTED]);
  });

  test('nor is what a caller says', async () => {
    const text = encodeURIComponent(INJECTED);
    const lines = ['Content-Type: application/json'];
    const asked = { amount: 1, token: 'USDC', recipient: fixture.payTo, memo: INJECTED, metadata: { name: INJECTED } };
    const body = JSON.stringify(asked);
    const answers = await Promise.all([
      ...['/report', '/club', '/payments', '/token-gate/get-tier', '/discovery/search', '/nowhere'].map((path) =>
        ask(url, `GET ${path}?wallet=${text}&query=${text}`),
      ),
      ask(url, `GET /payments/${text}`),
      ask(
        url,
        'POST /create-payment',
        [...lines, `Content-Length: ${Buffer.byteLength(body)}`],
        Buffer.from(body).toString('latin1'),
      ),
    ]);

    for (const { status, headers } of answers) {
      expect(status).toBeLessThan(500);
      expect([headers.get('set-cookie'), headers.get('x-injected')]).toEqual([null, null]);
    }
  });

  test.each(['ünï', '\xff', 'a b', 'a\tb', '"', '<b>', '%0d%0a', 'x'.repeat(129), ''])(
    'the request id %j is replaced',
    async (id) => {
      const { status, headers } = await ask(url, 'GET /health', [`X-Request-Id: ${id}`]);
      expect([status, headers.get('x-request-id')]).toEqual([200, expect.stringMatching(/^req_\w+$/)]);
    },
  );

  test.each([
    ['a control character', 'X-A: a\x01b'],
    ['a zero byte', 'X-A: a\0b'],
    ['a line that goes on in the next', 'X-A: a\r\n b'],
    ['a carriage return alone', 'X-A: a\rX-B: b'],
    ['a space behind its name', 'X-A : a'],
    ['a name that is none', 'X-Ä: a'],
    ['no name', ': a'],
    ['a host that comes twice', 'Host: a\r\nHost : b'],
  ])('a field with %s: is no request', async (_what, line) => {
    const lines = linesOf((await signPayment(fixture, `${url}/report`)).v2);

    expect([await statusOf('/report', [...lines, line]), runs]).toEqual([400, 0]);
    expect([await statusOf('/report', lines), runs]).toEqual([200, 1]);
  });

  test.each([
    'PAYMENT-SIGNATURE',
    'X-PAYMENT',
    'Authorization',
    'SIGN-IN-WITH-X',
    'Accept',
    'X-Forwarded-For',
    'X-Request-Id',
    'Idempotency-Key',
    'Cookie',
  ])('%s of 15 KiB is answered, of 17 KiB refused by its size', async (name) => {
    for (const filling of ['a', ' a', ',', 'Bearer ', 'eyJ', ';q=0.1,']) {
      const fits = filling.repeat(15_000 / filling.length);
      for (const path of ['/report', '/club'])
        expect([400, 401, 402]).toContain(await statusOf(path, [`${name}: ${fits}`]));
      expect(await statusOf('/report', [`${name}: ${fits}${filling.repeat(2_000)}`])).toBe(431);
    }
    expect(runs).toBe(0);
  });

  test('thousands of fields are refused by their size', async () => {
    expect(await statusOf('/report', Array<string>(5_000).fill('ab: cd'))).toBe(431);
  });

  describe('a payment', () => {
    test.each(['v1', 'v2'] as const)('that comes twice through door %s is taken neither time', async (door) => {
      const [one, other] = [(await paymentLines())[door], (await paymentLines())[door]];

      for (const lines of [
        [one, other],
        [one, one],
      ])
        expect(await statusOf('/report', lines)).toBe(400);
      expect(runs).toBe(0);
      expect([await statusOf('/report', [one]), await statusOf('/report', [other])]).toEqual([200, 200]);
    });

    test('and another through the other door: the newer door counts, the other payment is untouched', async () => {
      const [one, other] = [(await paymentLines()).v2, (await paymentLines()).v1];

      expect([await statusOf('/report', [other, one]), runs]).toEqual([200, 1]);
      expect([await statusOf('/report', [one]), await statusOf('/report', [other]), runs]).toEqual([200, 200, 2]);
    });

    test('through both doors at once is one payment', async () => {
      const { v1, v2 } = await paymentLines();

      expect(await statusOf('/report', [v1, v2])).toBe(200);
      // It is the payment of the one who has shown the newer one; what the other shows is on the chain.
      expect([await statusOf('/report', [v1]), await statusOf('/report', [v2]), runs]).toEqual([402, 200, 1]);
    });

    test('behind a door that nobody can read is not looked for behind the next', async () => {
      const { v1 } = await paymentLines();

      expect([await statusOf('/report', ['PAYMENT-SIGNATURE: garbage', v1]), runs]).toEqual([400, 0]);
      expect([await statusOf('/report', [v1]), runs]).toEqual([200, 1]);
    });
  });

  test('of two tokens the first counts, and of a key that comes twice none', async () => {
    const [good, bad] = [`Authorization: ${token}`, 'Authorization: Bearer forged'];

    expect([await statusOf('/club', [good, bad]), await statusOf('/club', [bad, good]), runs]).toEqual([200, 401, 1]);
    expect(await statusOf('/club', [`${good}, Bearer forged`])).toBe(401);
  });
});
