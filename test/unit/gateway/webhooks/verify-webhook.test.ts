import { Webhook } from 'standardwebhooks';
import { verifyWebhook } from '../../../../src/gateway/webhooks/verify-webhook.js';
import { newWebhookSecret, webhookHeaders, webhookKey } from '../../../../src/gateway/webhooks/webhook-signature.js';

const NOW = 1_700_000_000_000;
const now = () => NOW;
const secret = newWebhookSecret();
const body = JSON.stringify({ id: 'evt_1', type: 'payment.settled', text: 'ünï 🔑' });
const message = { id: 'evt_1', timestamp: NOW / 1_000, body };
const headers = webhookHeaders(message, [secret]);

test('what the official package signs is taken, and the other way round', () => {
  const signed = new Webhook(secret).sign('evt_1', new Date(NOW), body);
  expect(headers['webhook-signature']).toBe(signed);
  expect(verifyWebhook({ headers, body }, secret, { now })).toEqual({ ok: true, event: JSON.parse(body) });
});

test('the body may be bytes, headers those of fetch, and one of several secrets is enough', () => {
  const received = { headers: new Headers(headers), body: Buffer.from(body) };
  expect(verifyWebhook(received, [newWebhookSecret(), secret], { now }).ok).toBe(true);
  const twice = webhookHeaders(message, [newWebhookSecret(), secret]);
  expect(verifyWebhook({ headers: twice, body }, secret, { now }).ok).toBe(true);
});

test.each([
  ['another body', { body: `${body} ` }, 'wrong_signature'],
  ['another id', { headers: { ...headers, 'webhook-id': 'evt_2' } }, 'wrong_signature'],
  ['another time', { headers: { ...headers, 'webhook-timestamp': String(NOW / 1_000 + 1) } }, 'wrong_signature'],
  ['a signature of another kind', { headers: { ...headers, 'webhook-signature': 'v1a,AAAA v2,' } }, 'wrong_signature'],
  ['no signature', { headers: { ...headers, 'webhook-signature': undefined } }, 'missing_signature'],
  ['a time that is none', { headers: { ...headers, 'webhook-timestamp': 'now' } }, 'missing_signature'],
])('%s is found out', (_what, changes, reason) => {
  expect(verifyWebhook({ headers, body, ...changes }, secret, { now })).toEqual({ ok: false, reason });
});

test('another secret is found out', () => {
  expect(verifyWebhook({ headers, body }, newWebhookSecret(), { now })).toEqual({
    ok: false,
    reason: 'wrong_signature',
  });
});

test('a copy is good for five minutes, unless another tolerance is asked for', () => {
  const at = (seconds: number, options = {}) =>
    verifyWebhook({ headers, body }, secret, { now: () => NOW + seconds * 1_000, ...options });
  expect([at(300).ok, at(-300).ok]).toEqual([true, true]);
  expect([at(301), at(-301)]).toEqual(Array(2).fill({ ok: false, reason: 'outside_tolerance' }));
  expect(at(11, { toleranceSeconds: 10 }).ok).toBe(false);
});

test('mistakes of the receiver are told at once', () => {
  for (const wrong of ['', 'whsec_c2hvcnQ=', 'whsec_!', []]) {
    expect(() => verifyWebhook({ headers, body }, wrong, { now })).toThrow(/^verifyWebhook: the secret must be whsec_/);
  }
  const parsed = { headers, body: JSON.parse(body) };
  expect(() => verifyWebhook(parsed, secret, { now })).toThrow(/not parsed/);
});

test('secrets have 24 to 64 bytes', () => {
  const length = (bytes: number) => webhookKey(`whsec_${Buffer.alloc(bytes, 1).toString('base64')}`)?.length;
  expect([length(23), length(24), length(64), length(65)]).toEqual([undefined, 24, 64, undefined]);
  expect(webhookKey(secret)).toHaveLength(32);
});
