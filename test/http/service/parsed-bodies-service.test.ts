import express, { type RequestHandler } from 'express';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { serviceKeyAuth } from '../../../src/middleware/service-key/service-key-auth.js';
import { CALL_PRICE, connectGateway } from '../../helpers/fixtures/gateway-client.js';
import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { EXPRESSES } from '../../helpers/fixtures/toll-fixture.js';
import { keepRaw, preset, swallow } from '../../helpers/http/body-parsers.js';
import { signPayment } from '../../helpers/transactions/payments.js';

const JSON_TYPE = 'application/json';

const PARSERS: readonly [string, RequestHandler][] = [
  ['express.json()', express.json()],
  ['express.json() that keeps the bytes', express.json({ verify: keepRaw })],
  ['express.urlencoded()', express.urlencoded({ extended: true })],
  ['express.text() for every type', express.text({ type: '*/*' })],
  ['express.raw() for every type', express.raw({ type: '*/*' })],
];

const fixture = useGatewayFixture();
let stories = 0;

const balance = () => {
  const { sandbox, payer } = fixture();
  return sandbox.tokenBalance(payer.publicKey.toBase58(), sandbox.tokens[0]!.mint);
};

const post = (url: string, body: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(url, { method: 'POST', headers: { 'content-type': JSON_TYPE, ...headers }, body });

describe.each(EXPRESSES)('the service behind a body parser, %s', (name, version) => {
  const serve = (...handlers: readonly RequestHandler[]) =>
    fixture().serve((app) => {
      for (const handler of handlers) app.use(handler);
      app.use(fixture().router);
    }, version);

  test.each(PARSERS)('%s: sign-in, keys, projects, payments and their proof work', async (_what, parser) => {
    const { owner, payer, upstream } = fixture();
    const client = await connectGateway(await serve(parser));
    const asOwner = await client.signIn(owner);
    stories += 1;
    const slug = `story-${name.at(-1)}-${stories}`;
    const project = await client.project(asOwner, { slug, upstream: { url: upstream.origin } });
    const key = await client.key(await client.signIn(payer));
    const before = balance();
    const { signature, header } = await client.pay({ project, payer, key });
    expect(before - balance()).toBe(CALL_PRICE);
    const verified = await client.ask('POST', '/verify', { tx_signature: signature });
    expect(verified.body).toMatchObject({ verified: true });
    const wallet = payer.publicKey.toBase58();
    const [usdc] = fixture().sandbox.tokens;
    const access = await client.ask('POST', '/token-gate/check-access', { wallet, token: usdc!.mint, min_balance: 1 });
    expect(access.body).toMatchObject({ has_access: true });
    const called = await client.call(slug, { method: 'POST', headers: { ...key.headers, ...header } });
    expect(called.status).toBe(200);
  });

  test.each(PARSERS)('%s: verifies and settles for other servers', async (_what, parser) => {
    const { facilitator, payer, payTo, sandbox } = fixture();
    const url = await serve(parser);
    const app = await fixture().serve((it) => it.get('/x', requirePayment({ facilitator, price: '$0.01', payTo })));
    const { accepted, transaction } = await signPayment({ sandbox, payer }, `${app}/x`);
    const payload = { transaction: Buffer.from(transaction).toString('base64') };
    const paymentPayload = { x402Version: 2, accepted, payload };
    const body = JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements: accepted });
    const before = balance();
    expect(await (await post(`${url}/verify`, body)).json()).toMatchObject({ isValid: true });
    expect(await (await post(`${url}/settle`, body)).json()).toMatchObject({ success: true });
    expect(before - balance()).toBe(10_000n);
  });

  const PATHS = ['/settle', '/verify', '/create-payment', '/token-gate/check-access', '/api/v1/auth/challenge'];

  test.each(PATHS)('POST %s says that somebody before has read the body and kept nothing', async (path) => {
    for (const left of [{}, { body: {} }]) {
      const answer = await post(`${await serve(swallow(() => left))}${path}`, '{"payment_id":"pay_1"}');
      const told = await answer.json();
      expect(told).toMatchObject({ status: 500, code: 'body_already_read', retryable: false });
      expect(Reflect.get(Object(told), 'detail')).toContain('mount createRouter() before whatever reads bodies');
    }
  });

  test('a text that is no JSON is told so', async () => {
    const url = await serve(express.text({ type: '*/*' }));
    for (const body of ['{"amount"', 'null and void', '"']) {
      expect(await (await post(`${url}/create-payment`, body)).json()).toMatchObject({ code: 'invalid_json' });
    }
  });

  test('a body that was there before the request was made is taken, as an object, a text or bytes', async () => {
    const body = { tx_signature: 'nonsense' };
    const text = JSON.stringify(body);
    for (const given of [body, text, Buffer.from(text)]) {
      const answer = await post(`${await serve(preset(given))}/verify`, text);
      expect(await answer.json()).toMatchObject({ code: 'invalid_signature' });
    }
  });

  test('a body that is too long for the parser of the app is its 413', async () => {
    const url = await serve(express.json());
    expect((await post(`${url}/verify`, JSON.stringify({ a: 'x'.repeat(102_400) }))).status).toBe(413);
  });
});

describe.each(EXPRESSES)('a gate behind a body parser, %s', (_name, version) => {
  const files = swallow((bytes) => ({ body: { name: 'a' }, files: [{ buffer: bytes, size: bytes.length }] }));

  test.each([
    ...PARSERS.map(([what, parser]) => [what, parser, JSON_TYPE, '{"a":1}', '{"a":2}'] as const),
    ['nothing', (_req, _res, next) => next(), JSON_TYPE, '{"a":1}', '{"a":2}'],
    ['a form', express.urlencoded(), 'application/x-www-form-urlencoded', 'a=1', 'a=2'],
    ['files', files, 'multipart/form-data; boundary=x', 'one', 'three'],
    ['a reader that keeps nothing', swallow(() => ({})), JSON_TYPE, '{"a":1}', '{"a":22}'],
  ] satisfies (readonly [string, RequestHandler, string, string, string])[])(
    '%s: a payment is for one body, which can be sent again, and another one costs nothing',
    async (_what, parser, type, body, other) => {
      const { facilitator, payTo, payer, sandbox } = fixture();
      for (const settle of ['after', 'before'] as const) {
        const url = await fixture().serve((app) => {
          app.post('/echo', parser, requirePayment({ facilitator, price: '$0.01', payTo, settle }), (_req, res) => {
            res.send('served');
          });
        }, version);
        const init = { method: 'POST', headers: { 'content-type': type } };
        const { v2 } = await signPayment({ sandbox, payer }, `${url}/echo`, { init: { ...init, body } });
        const before = balance();
        const send = async (sent: string) => {
          const answer = await post(`${url}/echo`, sent, { ...init.headers, ...v2 });
          return [answer.status, answer.headers.get('idempotency-replayed'), before - balance()];
        };
        expect(await send(body)).toEqual([200, null, 10_000n]);
        expect(await send(other)).toEqual([402, null, 10_000n]);
        expect(await send(body)).toEqual([200, 'true', 10_000n]);
      }
    },
  );

  test.each(PARSERS)('serviceKeyAuth lets in behind %s', async (_what, parser) => {
    const { gateway, key } = fixture();
    const url = await fixture().serve((app) => {
      app.post('/job', parser, serviceKeyAuth({ gateway }), (req, res) => {
        res.json({ key: req.serviceKey?.id });
      });
    }, version);
    expect(await (await post(`${url}/job`, '{"a":1}', key.headers)).json()).toEqual({ key: key.id });
  });
});
