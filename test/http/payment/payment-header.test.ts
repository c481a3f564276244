import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Express } from 'express';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { askTerms, encodeHeader, signPayment } from '../../helpers/transactions/payments.js';

/** Node's own limit for all headers together is 16 KiB; a server that raises it must still be safe. */
const MAX_HEADER_SIZE = 256 * 1024;

describe.each(EXPRESSES)('a payment header that cannot be read, %s', (_name, express) => {
  let fixture: TollFixture;
  let server: Server;
  let url: string;
  let served = 0;

  beforeAll(async () => {
    fixture = await openTollFixture();
    const facilitator = fixture.facilitatorWith({ blockhashHints: false });
    const app: Express = express();
    app.get('/report', requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.01' }), (_req, res) => {
      served += 1;
      res.send('paid');
    });
    server = createServer({ maxHeaderSize: MAX_HEADER_SIZE }, app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/report`;
  });
  afterAll(async () => {
    server.close();
    server.closeAllConnections();
    await fixture.close();
  });

  async function refusalOf(name: string, value: string) {
    fixture.sandbox.resetCalls();
    const answer = await fetch(url, { headers: { [name]: value } });
    const body = (await answer.json()) as Record<string, unknown>;
    expect(fixture.sandbox.calls.total).toBe(0);
    expect(served).toBe(0);
    return { answer, body };
  }

  async function expectRefused(name: string, value: string, says: RegExp): Promise<void> {
    const { answer, body } = await refusalOf(name, value);
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('access-control-expose-headers')).toContain('PAYMENT-REQUIRED');
    expect(body).toMatchObject({ status: 400, code: 'invalid_payment_header', retryable: false });
    expect(body['detail']).toMatch(says);
  }

  test.each([
    ['not base64', '!!!!', /is not base64/],
    ['base64 for URLs', '--__', /URL-safe/],
    ['base64 without padding', 'eyJhIjoxf', /padding/],
    ['empty', '', /empty/],
    ['not JSON', Buffer.from('hello').toString('base64'), /not JSON/],
    ['not UTF-8', Buffer.from([0xff, 0xfe]).toString('base64'), /UTF-8/],
    ['JSON of another type', encodeHeader('text'), /PAYMENT/],
    ['JSON null', encodeHeader(null), /PAYMENT/],
    ['an array', encodeHeader([]), /PAYMENT/],
    ['nested too deeply', Buffer.from(`${'['.repeat(4000)}${']'.repeat(4000)}`).toString('base64'), /deeper/],
    ['a __proto__ key', Buffer.from('{"__proto__":{"x402Version":2}}').toString('base64'), /__proto__/],
    ['over 16 KiB', encodeHeader('x'.repeat(16 * 1024)), /longer than 16384/],
  ])('%s is 400 and says so, in both versions', async (_what, value, says) => {
    await expectRefused('payment-signature', value, says);
    await expectRefused('x-payment', value, says);
  });

  test.each([
    ['no version', { accepted: {} }, /x402Version/],
    ['another version', { x402Version: 3 }, /x402Version/],
    ['no accepted terms', { x402Version: 2, payload: { transaction: 'AA==' } }, /accepted/],
    ['no payload', { x402Version: 2, accepted: {} }, /PAYMENT-SIGNATURE: /],
  ])('version 2 with %s is 400 and says so', async (_what, value, says) => {
    await expectRefused('payment-signature', encodeHeader(value), says);
  });

  test.each([
    ['no network', { x402Version: 1, scheme: 'exact', payload: { transaction: 'AA==' } }, /network/],
    ['no payload', { x402Version: 1, scheme: 'exact', network: 'solana-devnet' }, /payload/],
    [
      'a transaction that is no text',
      { x402Version: 1, scheme: 'exact', network: 'solana-devnet', payload: { transaction: 7 } },
      /payload.transaction/,
    ],
    [
      'a transaction over 4,096 bytes',
      {
        x402Version: 1,
        scheme: 'exact',
        network: 'solana-devnet',
        payload: { transaction: Buffer.alloc(4097).toString('base64') },
      },
      /4096/,
    ],
  ])('version 1 with %s is 400 and says so', async (_what, value, says) => {
    await expectRefused('x-payment', encodeHeader(value), says);
  });

  test.each([
    ['an amount that is no number', { amount: '1e4' }, /amount/],
    ['a negative amount', { amount: '-1' }, /amount/],
    ['an asset that is no address', { asset: 'USDC' }, /asset/],
    ['a recipient that is no address', { payTo: 'me' }, /payTo/],
  ])('terms with %s are 400 and say so', async (_what, change, says) => {
    const { accepts } = await askTerms(url);
    const value = { x402Version: 2, accepted: { ...accepts[0], ...change }, payload: { transaction: 'AA==' } };
    await expectRefused('payment-signature', encodeHeader(value), says);
  });

  test('a header that comes twice is 400', async () => {
    const { v2 } = await signPayment(fixture, url);
    const value = v2['payment-signature'] ?? '';
    await expectRefused('payment-signature', `${value}, ${value}`, /is not base64/);
  });

  test('a transaction that does not decode is refused with its reason, and fresh terms', async () => {
    const { accepts } = await askTerms(url);
    const value = { x402Version: 2, accepted: accepts[0], payload: { transaction: 'AAAA' } };
    const { answer, body } = await refusalOf('payment-signature', encodeHeader(value));

    expect(answer.status).toBe(402);
    expect(body).toMatchObject({ error: 'invalid_exact_svm_payload_transaction_could_not_be_decoded' });
  });
});
