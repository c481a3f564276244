import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Keypair } from '@solana/web3.js';
import { readConfiguration } from '../../../src/server/configuration/configuration.js';
import { type RunningServer, startServer } from '../../../src/server/start-server.js';
import { type ClientResponse, connectGateway, type GatewayClient } from '../../helpers/fixtures/gateway-client.js';
import { type Receiver, startReceiver, status } from '../../helpers/http/webhook-receiver.js';
import { testFolder } from '../../helpers/processes/test-folder.js';
import { signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const JWT_SECRET = 'the secret that signs access tokens and that nobody sees';

const folder = testFolder();
/** What must stay between two sides, by name. */
const secrets = new Map<string, string>();
/** Of those, what must be usable later, and so is kept as it is. */
const KEPT = ['gateway secret', 'webhook secret'];
const log: string[] = [];
const warnings: string[] = [];
const refusals: ClientResponse[] = [];
let server: RunningServer;
let upstream: Receiver;
let hook: Receiver;
let events: ClientResponse;
let client: GatewayClient;
let payer: Keypair;

const note = (warning: Error & { readonly detail?: string }) =>
  void warnings.push(`${warning} ${warning.detail ?? ''}`);

/** Everything that is done with secrets, well and badly. */
beforeAll(async () => {
  process.on('warning', note);
  const settings = {
    LOG_LEVEL: 'trace',
    JWT_SECRET,
    RATE_LIMIT_SCALE: '1000',
    DATABASE_URL: `sqlite:${folder.path}/db`,
  };
  server = await startServer(readConfiguration({ PORT: '0', ...settings }), { write: (line) => log.push(line) });
  client = await connectGateway(server.url);
  const sandbox = server.chain.sandbox!;
  payer = await sandbox.createWallet({ usdc: '10' });
  const owner = await sandbox.createWallet({ usdc: '0' });
  [upstream, hook] = [await startReceiver(status(200)), await startReceiver(status(204))];
  const [asOwner, asPayer] = [await client.signIn(owner), await client.signIn(payer)];
  const project = await client.project(asOwner, { slug: 'secretive', upstream: { url: upstream.origin } });
  const webhook = await client.ask('POST', '/api/v1/webhooks', { url: hook.url, events: ['*'] }, asOwner);
  const key = await client.key(asPayer, { spending: { limit: '1', token: 'USDC', window: 'day' } });
  const payment = await client.pay({ project, payer, key });
  const url = `${client.url}/v1/${project.slug}`;
  const { v2, v1 } = await signPayment({ sandbox, payer }, url, { init: { headers: key.headers } });
  for (const [name, value] of [
    ['JWT secret', JWT_SECRET],
    ['token of the owner', asOwner['authorization']!.slice('Bearer '.length)],
    ['token of the caller', asPayer['authorization']!.slice('Bearer '.length)],
    ['secret of the key', key.secret],
    ['gateway secret', project.gateway_secret],
    ['webhook secret', String(webhook.body['secret'])],
    ['PAYMENT-SIGNATURE', v2['payment-signature']!],
    ['X-PAYMENT', v1['x-payment']!],
    ['X-Service-Payment', payment.header['x-service-payment']!],
  ] as const) {
    secrets.set(name, value);
  }

  const call = (headers: object, path = '') =>
    client.call(`secretive${path}`, { headers: { ...key.headers, ...payment.header, ...headers } });
  const paid = [await call({}), await client.call('secretive', { headers: { ...key.headers, ...v2 } })];
  expect(paid.map((it) => it.status)).toEqual([200, 200]);
  upstream.respond((res) => void res.writeHead(500).end());
  const again = await client.pay({ project, payer, key });
  refusals.push(
    await call({}, '?other'),
    await call({ 'payment-signature': v2['payment-signature'] }, '?other'),
    await call({ 'x-service-payment': `${payment.header['x-service-payment']}!` }),
    await call({ 'x-service-secret': `${key.secret.slice(0, -1)}!` }),
    await call({ 'x-service-secret': key.headers['x-service-key'], 'x-service-key': key.secret }),
    await call(again.header),
    await call({}, `/..%2f${key.secret}`),
    await client.call(`nobody-has-${key.secret}`, { headers: key.headers }),
    await client.ask('GET', '/api/v1/keys', undefined, { authorization: `${asOwner['authorization']}x` }),
    await client.ask('POST', '/api/v1/keys/generate', { name: key.secret, secret: key.secret }, asPayer),
    await client.ask('POST', '/api/v1/webhooks', { url: hook.url, events: [project.gateway_secret] }, asOwner),
    await client.ask('POST', '/settle', { payment_id: 'pay_x', signed_transaction: v2['payment-signature'] }),
    await client.ask('POST', '/api/v1/auth/refresh', { refresh_token: asOwner['authorization'] }),
  );
  await until(() => hook.received.some(({ body }) => body.includes('call.failed')));
  events = await client.ask('GET', '/api/v1/events?limit=100', undefined, asOwner);
  await server.close();
});
afterAll(async () => {
  process.off('warning', note);
  await Promise.all([upstream.close(), hook.close()]);
});

/** The names of the secrets that a text gives away. */
function found(text: string, without: readonly string[] = []): string[] {
  return [...secrets]
    .filter(([name, secret]) => !without.includes(name) && text.includes(secret))
    .map(([name]) => name);
}

test('no secret is in the log, nor in a warning', () => {
  expect(log.length).toBeGreaterThan(20);
  expect(found(log.join(''))).toEqual([]);
  expect(found(warnings.join('\n'))).toEqual([]);
});

test('no secret is in an error', () => {
  expect(refusals.filter(({ status: code }) => code < 400)).toEqual([]);
  for (const { text, headers } of refusals) expect(found(text + JSON.stringify([...headers]))).toEqual([]);
});

test('no secret is in an event or in the message of a webhook', () => {
  expect((events.body['data'] as readonly unknown[]).length).toBeGreaterThan(3);
  expect(found(events.text)).toEqual([]);
  expect(hook.received.length).toBeGreaterThan(3);
  expect(found(JSON.stringify(hook.received))).toEqual([]);
});

test('no secret of a caller reaches the upstream', () => {
  expect(upstream.received.length).toBeGreaterThan(2);
  expect(found(JSON.stringify(upstream.received))).toEqual([]);
});

test('no secret is in the database, but for the two that messages are signed with', () => {
  const files = readdirSync(folder.path).map((name) => readFileSync(join(folder.path, name), 'latin1'));
  const text = files.join('');
  expect(text).toContain('secretive');
  expect(found(text, KEPT)).toEqual([]);
  expect(found(text).sort()).toEqual(KEPT);
});
