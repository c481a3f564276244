import express, { type Express } from 'express';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { CALL_PRICE } from '../../helpers/fixtures/gateway-client.js';
import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { EXPRESSES } from '../../helpers/fixtures/toll-fixture.js';
import { callAsFunction } from '../../helpers/processes/cloud-function.js';
import { signPayment } from '../../helpers/transactions/payments.js';

const BODY = '{ "town": "Rome" }';
const COMPACT = '{"town":"Rome"}';

const fixture = useGatewayFixture();

describe.each(EXPRESSES)('an app that runs as a function in a cloud, %s', (_name, version) => {
  const appOf = (isParsed: boolean): Express => {
    const { facilitator, payTo, router } = fixture();
    const app = version();
    if (isParsed) app.use(express.json());
    for (const settle of ['after', 'before'] as const) {
      app.post(`/${settle}`, requirePayment({ facilitator, price: '$0.01', payTo, settle }), (_req, res) => {
        res.send('served');
      });
    }
    app.use(router);
    return app;
  };

  /** Pays for one request of the app, and tells how it ended and what it cost. */
  async function callPaid(app: Express, path: string) {
    const { key, payer, sandbox } = fixture();
    // The terms are the same over a connection.
    const server = await fixture().serve((it) => it.use(app), version);
    const headers = { ...key.headers, 'content-type': 'application/json' };
    const { v2 } = await signPayment({ sandbox, payer }, server + path, { init: { method: 'POST', headers } });
    const balance = () => sandbox.tokenBalance(payer.publicKey.toBase58(), sandbox.tokens[0]!.mint);
    const before = balance();
    const answer = await callAsFunction(app, { method: 'POST', url: path, headers: { ...headers, ...v2 }, body: BODY });
    return { ...answer, cost: before - balance() };
  }

  describe.each([
    ['alone', false, BODY],
    ['behind express.json()', true, COMPACT],
  ])('%s', (_where, isParsed, passedOn) => {
    test.each(['/after', '/before'])('the gate %s is paid, and answers', async (path) => {
      const { status, text, headers, cost } = await callPaid(appOf(isParsed), path);
      expect([status, text, cost]).toEqual([200, 'served', 10_000n]);
      expect(headers).toHaveProperty('payment-response');
    });

    test('a project is paid, and its upstream gets body and headers', async () => {
      const { newProject, upstream } = fixture();
      const { slug } = await newProject();
      const before = upstream.received.length;
      const { status, text, cost } = await callPaid(appOf(isParsed), `/v1/${slug}`);
      expect([status, text, cost]).toEqual([200, 'paid for', CALL_PRICE]);
      expect(upstream.received.slice(before)).toMatchObject([
        { body: passedOn, headers: { 'content-type': 'application/json' } },
      ]);
    });

    test('the service reads its bodies', async () => {
      const event = { method: 'POST', url: '/verify', headers: { 'content-type': 'application/json' } };
      const answer = await callAsFunction(appOf(isParsed), { ...event, body: '{"tx_signature":"nonsense"}' });
      expect(JSON.parse(answer.text)).toMatchObject({ code: 'invalid_signature' });
    });
  });
});
