import {
  appendPaymentIdentifierToExtensions,
  declarePaymentIdentifierExtension,
  extractPaymentIdentifier,
  PAYMENT_IDENTIFIER,
  validatePaymentIdentifier,
} from '@x402/extensions/payment-identifier';
import { wrapFetchWithPayment } from '@x402/fetch';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { declareIdentifier, readIdentifier } from '../../src/protocol/payment-identifier.js';
import { openTollFixture, type TollFixture } from '../helpers/fixtures/toll-fixture.js';
import { clientV2, type Fetch } from '../helpers/http/official-clients.js';
import { askTerms } from '../helpers/transactions/payments.js';

let fixture: TollFixture;
let url: string;
let served = 0;

beforeAll(async () => {
  fixture = await openTollFixture();
  const { facilitator, payTo } = fixture;
  url = await fixture.serve((app) => {
    app.get('/report', requirePayment({ facilitator, price: '$0.01', payTo }), (_req, res) => {
      served += 1;
      res.json({ served });
    });
  });
});
afterAll(() => fixture.close());

test('what a 402 declares is what the official server declares', async () => {
  const declared = (await askTerms(`${url}/report`)).extensions?.[PAYMENT_IDENTIFIER];
  expect(declared).toEqual(declarePaymentIdentifierExtension());
  expect(declareIdentifier(true)).toEqual(declarePaymentIdentifierExtension(true));
  expect(validatePaymentIdentifier(declared)).toEqual({ valid: true });
});

test('the official helper names a payment of the official client; sent again it is answered again, and served once', async () => {
  let request: Request | undefined;
  const listening: Fetch = async (input, init) => {
    const sent = new Request(input, init);
    if (sent.headers.has('payment-signature')) request = sent.clone();
    return fetch(sent);
  };
  const client = await clientV2({ wallet: fixture.payer, rpcUrl: fixture.sandbox.rpcUrl });
  client.onBeforePaymentCreation(async ({ paymentRequired }) => {
    appendPaymentIdentifierToExtensions(paymentRequired.extensions ?? {});
  });
  const paid = await wrapFetchWithPayment(listening, client)(`${url}/report`);
  expect([paid.status, paid.headers.get('idempotency-replayed')]).toEqual([200, null]);
  if (request === undefined) throw new Error('nothing was paid');
  const payload = JSON.parse(atob(request.headers.get('payment-signature') ?? ''));
  expect(readIdentifier(payload.extensions)).toEqual({ ok: true, id: extractPaymentIdentifier(payload) });

  let again = await fetch(request.clone());
  while (again.status === 409) again = await fetch(request.clone());
  expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
  expect([await again.json(), again.headers.get('payment-response')]).toEqual([
    await paid.json(),
    paid.headers.get('payment-response'),
  ]);
  expect(served).toBe(1);
});
