import { decodePaymentRequiredHeader } from '@x402/core/http';
import type { Express, Request, Response } from 'express';
import { request } from 'undici';
import type { Facilitator } from '../../../src/facilitator/types.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { signIn } from '../../helpers/http/sign-in.js';
import { type PaymentHeaders, signPayment } from '../../helpers/transactions/payments.js';
import { type WalletKey, walletKeyOf } from '../../helpers/transactions/wallet-key.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';

describe('who is told what is left of a payment whose request failed', () => {
  let fixture: TollFixture;
  let facilitator: Facilitator;
  let url: string;
  let wallet: WalletKey;
  let offer = 'usual';
  let isFailing = true;
  let site = 0;

  beforeAll(async () => {
    fixture = await openTollFixture();
    facilitator = fixture.facilitatorWith({ storage: await openStorage('memory:') });
    wallet = walletKeyOf(fixture.payer.secretKey.subarray(0, 32));
  });
  afterAll(() => fixture.close());
  beforeEach(async () => {
    [offer, isFailing, site] = ['usual', true, site + 1];
    url = await fixture.serve(routes);
  });

  function routes(app: Express): void {
    const gated = { facilitator, payTo: fixture.payTo, price: '$0.10', settle: 'before' } as const;
    const offers: Readonly<Record<string, ReturnType<typeof requirePayment>>> = {
      usual: requirePayment(gated),
      dearer: requirePayment({ ...gated, price: '$0.20' }),
      cheap: requirePayment({ ...gated, price: '$0.04' }),
      pack: requirePayment({ ...gated, pass: { uses: 3 } }),
      bulk: requirePayment({ ...gated, pass: { credit: true, cost: '$0.06' } }),
    };
    const handler = (_req: Request, res: Response) =>
      isFailing ? void res.status(503).send('not now') : void res.send('done');
    app.get('/named/:site', requirePayment({ ...gated, baseUrl: 'https://shop.example' }), handler);
    app.get('/:site', (req, res, next) => offers[offer]?.(req, res, next), handler);
  }

  const address = () => `${url}/${site}`;
  const get = (headers: PaymentHeaders = {}) => fetch(address(), { headers });
  const told = async (answer: globalThis.Response) => {
    const { code, detail } = JSON.parse(await answer.text());
    return { status: answer.status, left: answer.headers.get('access-pass-remaining'), code, detail };
  };

  async function failed() {
    const payment = await signPayment(fixture, address());
    const answer = await get(payment.v2);
    expect(answer.status).toBe(503);
    isFailing = false;
    return { ...payment, token: { 'access-pass': answer.headers.get('access-pass') ?? '' } };
  }

  test.each([
    ['dearer', 'pass_used_up', 'and this request costs 0.2 USDC now. Send the very payment again'],
    [
      'pack',
      'pass_of_another_token',
      'and no single request is sold here in its token any more. Send the very payment again',
    ],
  ])(
    'by its token, of all of it at a price that is %s: how much, and that its payment is still good',
    async (now, code, detail) => {
      const { token, v2 } = await failed();
      offer = now;
      const refused = await get(token);
      expect(refused.headers.get('access-control-expose-headers')).toContain('Access-Pass-Remaining');
      expect(await told(refused)).toMatchObject({ status: 402, left: '0.1 USDC', code });
      const { detail: words } = await told(await get(token));
      expect(words).toContain(`0.1 USDC is left of what was paid here for a request that failed, ${detail}`);
      const before = fixture.sandbox.tokenBalance(fixture.payTo, USDC);
      const again = await get(v2);
      expect([again.status, await again.text()]).toEqual([200, 'done']);
      expect(fixture.sandbox.tokenBalance(fixture.payTo, USDC)).toBe(before);
      expect(await told(await get(token))).toMatchObject({ status: 402, left: null, code: 'pass_used_up' });
    },
  );

  test.each(['dearer', 'pack'])('by signing in, at a price that is %s', async (now) => {
    await failed();
    offer = now;
    const refused = await get(await signIn(wallet, address()));
    expect(await told(refused)).toMatchObject({
      left: '0.1 USDC',
      detail: expect.stringContaining('again that has left it'),
    });
  });

  test('of a part of it, that its seller can pay it back', async () => {
    const { token } = await failed();
    offer = 'cheap';
    for (const left of ['0.06 USDC', '0.02 USDC']) {
      const served = await get(token);
      expect([served.status, served.headers.get('access-pass-remaining')]).toEqual([200, left]);
    }
    const refused = await told(await get(token));
    expect(refused).toMatchObject({ code: 'pass_used_up', left: '0.02 USDC' });
    expect(refused.detail).toMatch(
      /costs 0.04 USDC now\. Pay one of .* pay it back \(npx tollhouse refund \w{64}\)\.$/,
    );
    const [id = ''] = /\w{64}/.exec(refused.detail) ?? [];
    await expect(facilitator.passes.findByPayment(id)).resolves.toMatchObject({ left: 20_000n });
  });

  test('of credit that was bought: how much, and what the request costs', async () => {
    [offer, isFailing] = ['bulk', false];
    const { v2 } = await signPayment(fixture, address());
    const paid = await get(v2);
    const token = { 'access-pass': paid.headers.get('access-pass') ?? '' };
    const refused = await told(await get(token));
    expect(refused).toEqual({
      ...{ status: 402, left: '0.04 USDC', code: 'pass_used_up' },
      detail:
        '0.04 USDC is left of the access pass, and this request costs 0.06 USDC now. Pay one of the offered terms to go on.',
    });
  });

  describe('with a version 1 client that has lost its response', () => {
    /** The same payment again, at a host of which nobody but the client says what it is. */
    async function again(path: string, host: string) {
      const { v1 } = await signPayment(fixture, url + path);
      const send = async () => {
        const { statusCode, headers, body } = await request(url + path, { headers: { ...v1, host } });
        const required = String(headers['payment-required'] ?? '');
        return { status: statusCode, required, text: await body.text() };
      };
      expect((await send()).status).toBe(503);
      isFailing = false;
      const { status, text, required } = await send();
      const { detail } = JSON.parse(text) as { readonly detail: string };
      return { status, detail, extensions: Object.keys(decodePaymentRequiredHeader(required).extensions ?? {}) };
    }

    test('is told that its seller can pay it back, and not to sign in, where the site has no name', async () => {
      const { status, detail, extensions } = await again(`/${site}`, 'shop.example');
      expect(status).toBe(402);
      expect(detail).toMatch(
        /0\.1 USDC is left .*: show the Access-Pass that an earlier response has brought, or have its seller pay it back \(npx tollhouse refund \w{64}\), and do not pay again\.$/,
      );
      expect(extensions).not.toContain('sign-in-with-x');
    });

    test.each(['127.0.0.1', 'shop.example'])('is offered to sign in where it has one, at %s', async (host) => {
      const path = host === '127.0.0.1' ? `/${site}` : `/named/${site}`;
      const { detail, extensions } = await again(path, host);
      expect(detail).toMatch(/, or sign in with the wallet that has paid, or have its seller pay it back/);
      expect(extensions).toContain('sign-in-with-x');
    });
  });
});
