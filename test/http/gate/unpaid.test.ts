import { decodePaymentRequiredHeader } from '@x402/core/http';
import type { RequestHandler } from 'express';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
/** Of one byte a character, of two, of three, of four. */
const WORDS = ['Report', 'Übersicht', 'Цена', '10 €', '値段 💰'];
const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';

const nameRequest =
  (id: string | number): RequestHandler =>
  (_req, res, next) => {
    res.setHeader('X-Request-Id', id);
    next();
  };

describe.each(EXPRESSES)('a request without payment, %s', (_name, express) => {
  let fixture: TollFixture;
  let url: string;
  let served = 0;

  beforeAll(async () => {
    fixture = await openTollFixture();
    const { facilitator, payTo } = fixture;
    const offer = {
      facilitator,
      payTo,
      price: '$0.01',
      description: 'A <b>report</b> & "more"',
      mimeType: 'text/plain',
    };
    url = await fixture.serve((app) => {
      app.use((_req, res, next) => {
        res.setHeader('Access-Control-Expose-Headers', 'X-Request-Id');
        next();
      });
      app.all('/report', requirePayment(offer), (_req, res) => {
        served += 1;
        res.send('paid');
      });
      for (const description of WORDS) {
        app.get(
          `/described/${encodeURIComponent(description)}`,
          requirePayment({ ...offer, description }),
          (_req, res) => {
            res.send('paid');
          },
        );
      }
      app.get('/named', nameRequest('première'), requirePayment(offer));
      app.get('/numbered', nameRequest(42), requirePayment(offer));
      app.get('/behind-proxy', requirePayment({ ...offer, baseUrl: 'https://shop.example/' }), (_req, res) => {
        res.send('paid');
      });
    }, express);
  });
  afterAll(() => fixture.close());
  afterEach(() => expect(served).toBe(0));

  test.each(WORDS)('is told of %j whole, the first time and again', async (word) => {
    for (let times = 0; times < 2; times += 1) {
      const answer = await fetch(`${url}/described/${encodeURIComponent(word)}`);
      const header = decodePaymentRequiredHeader(answer.headers.get('payment-required') ?? '');
      const bytes = Buffer.from(await answer.arrayBuffer());
      const [terms] = JSON.parse(bytes.toString('utf8')).accepts;
      expect([answer.headers.get('content-length'), terms.description]).toEqual([String(bytes.length), word]);
      expect(header.resource?.description).toBe(word);
    }
  });

  test('is told the id that its app has given it, whatever letters that has', async () => {
    const answer = await fetch(`${url}/named`);
    const body = Buffer.from(await answer.arrayBuffer());
    expect([JSON.parse(body.toString('utf8')).request_id, answer.status]).toEqual(['première', 402]);
    expect(answer.headers.get('content-length')).toBe(String(body.length));
  });

  test('keeps the number that its app has given it', async () => {
    const answer = await fetch(`${url}/numbered`);
    expect([answer.headers.get('x-request-id'), await answer.json()]).toMatchObject(['42', { request_id: '42' }]);
  });

  test('answers 402 with the terms of version 2 in the header and those of version 1 in the body', async () => {
    const answer = await fetch(`${url}/report?day=1`);
    const header = decodePaymentRequiredHeader(answer.headers.get('payment-required') ?? '');
    const body = await answer.json();

    expect(answer.status).toBe(402);
    expect(header).toMatchObject({
      x402Version: 2,
      error: 'payment_required',
      resource: { url: `${url}/report?day=1`, description: 'A <b>report</b> & "more"', mimeType: 'text/plain' },
      accepts: [
        {
          scheme: 'exact',
          network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
          asset: USDC,
          amount: '10000',
          payTo: fixture.payTo,
          maxTimeoutSeconds: 60,
          extra: { feePayer: fixture.feePayer.publicKey.toBase58() },
        },
      ],
    });
    expect(body).toMatchObject({
      x402Version: 1,
      error: 'payment_required',
      code: 'payment_required',
      status: 402,
      accepts: [
        {
          scheme: 'exact',
          network: 'solana-devnet',
          maxAmountRequired: '10000',
          asset: USDC,
          payTo: fixture.payTo,
          resource: `${url}/report?day=1`,
          description: 'A <b>report</b> & "more"',
          mimeType: 'text/plain',
          maxTimeoutSeconds: 60,
          extra: { feePayer: fixture.feePayer.publicKey.toBase58() },
        },
      ],
    });
  });

  test('is kept out of caches, and its headers are readable for scripts of other origins', async () => {
    const answer = await fetch(`${url}/report`);
    const exposed = (answer.headers.get('access-control-expose-headers') ?? '').split(', ');

    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(exposed).toEqual(
      expect.arrayContaining([
        'X-Request-Id',
        'PAYMENT-REQUIRED',
        'PAYMENT-RESPONSE',
        'X-PAYMENT-RESPONSE',
        'Retry-After',
      ]),
    );
    expect(answer.headers.get('payment-response')).toBeNull();
  });

  test('a browser gets a page, with everything from outside escaped, and the same header', async () => {
    const answer = await fetch(`${url}/report?q=<script>alert(1)</script>&x="'`, { headers: { accept: BROWSER } });
    const page = await answer.text();

    expect(answer.status).toBe(402);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(page).toContain('A &lt;b&gt;report&lt;/b&gt; &amp; &quot;more&quot;');
    expect(page).toContain('0.01 USDC');
    expect(page).not.toContain('<script>');
    expect(page).not.toContain('<b>');
    expect(decodePaymentRequiredHeader(answer.headers.get('payment-required') ?? '').accepts).toHaveLength(1);
  });

  test.each([['*/*'], ['application/json'], ['application/json, text/html']])(
    'Accept: %s gets JSON',
    async (accept) => {
      const answer = await fetch(`${url}/report`, { headers: { accept } });

      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(await answer.json()).toHaveProperty('accepts');
    },
  );

  test.each(['HEAD', 'POST', 'PUT', 'DELETE', 'PATCH'])('%s is asked to pay as well', async (method) => {
    const answer = await fetch(`${url}/report`, { method });

    expect(answer.status).toBe(402);
    expect(decodePaymentRequiredHeader(answer.headers.get('payment-required') ?? '').accepts).toHaveLength(1);
    expect((await answer.text()).length > 0).toBe(method !== 'HEAD');
  });

  test('baseUrl is the address in the terms', async () => {
    const answer = await fetch(`${url}/behind-proxy?a=1`);
    const { resource } = decodePaymentRequiredHeader(answer.headers.get('payment-required') ?? '');

    expect(resource.url).toBe('https://shop.example/behind-proxy?a=1');
  });
});

test('a CORS preflight is never asked to pay, and the gate answers it by itself', async () => {
  const fixture = await openTollFixture();
  const { facilitator, payTo } = fixture;
  let served = 0;
  const url = await fixture.serve((app) => {
    app.all('/report', requirePayment({ facilitator, payTo, price: '$0.01' }), (_req, res) => {
      served += 1;
      res.end();
    });
  });
  const headers = { origin: 'https://shop.example', 'access-control-request-method': 'GET' };
  const answer = await fetch(`${url}/report`, { method: 'OPTIONS', headers });

  expect([answer.status, await answer.text()]).toEqual([204, '']);
  expect(answer.headers.get('access-control-allow-headers')).toContain('PAYMENT-SIGNATURE');
  expect(served).toBe(0);
  await fixture.close();
});
