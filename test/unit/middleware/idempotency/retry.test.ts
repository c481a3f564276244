import type { Request } from 'express';
import { retryHashOf } from '../../../../src/facilitator/payments/retry-hash.js';
import { retryOf } from '../../../../src/middleware/idempotency/retry.js';
import { PAYMENT_IDENTIFIER } from '../../../../src/protocol/payment-identifier.js';
import type { Payment } from '../../../../src/protocol/types.js';
import { serveApp } from '../../../helpers/http/app-server.js';
import { NONCE, PAYMENT } from '../../protocol/samples.js';

const IDENTIFIER = 'order_0123456789';
const KEY = 'key-0123456789ab';

const BY = {
  nonce: bySecret(`nonce ${NONCE}`),
  identifier: bySecret(`identifier ${IDENTIFIER}`),
  key: bySecret(`key ${KEY}`),
};

function bySecret(secret: string) {
  return { secret, hash: retryHashOf({ secret }) };
}

function byIpAddress(address: string) {
  return { secret: `address ${address}`, hash: retryHashOf({ address }), byIpAddress: true };
}

function identified(id: unknown): Pick<Payment, 'extensions'> {
  return { extensions: { [PAYMENT_IDENTIFIER]: { info: { required: false, id } } } };
}

/** Who may come again for a payment that is brought over HTTP, from an address that a proxy names. */
async function whoBrings(change: Partial<Payment>, headers: Record<string, string> = {}) {
  const seen: ReturnType<typeof retryOf>[] = [];
  const app = await serveApp((it) => {
    it.set('trust proxy', 'loopback');
    it.use((req: Request, res) => {
      seen.push(retryOf(req, { ...PAYMENT, ...change }));
      res.end();
    });
  });
  await fetch(app.url, { headers: { 'X-Forwarded-For': '192.0.2.7', ...headers } });
  await app.close();
  return seen[0];
}

const WITH_KEY = { 'Idempotency-Key': KEY };

test.each<[string, Partial<Payment>, Record<string, string>, object]>([
  ['the nonce of the 402', { nonce: NONCE, ...identified(IDENTIFIER) }, WITH_KEY, BY.nonce],
  ['the payment identifier', identified(IDENTIFIER), WITH_KEY, BY.identifier],
  ['the Idempotency-Key', {}, WITH_KEY, BY.key],
  ['the address', {}, {}, byIpAddress('192.0.2.7')],
])('who may come again is known by %s, where nothing that goes before it is there', async (_, change, headers, by) => {
  expect(await whoBrings(change, headers)).toEqual(by);
});

test.each<[string, Partial<Payment>, Record<string, string>, object]>([
  ['an identifier that is too short', identified('order_012345678'), WITH_KEY, BY.key],
  ['an identifier that is no text', identified(1234567890123456), {}, byIpAddress('192.0.2.7')],
  ['a key that can be guessed', {}, { 'Idempotency-Key': KEY.slice(1) }, byIpAddress('192.0.2.7')],
])('%s is no secret', async (_, change, headers, by) => {
  expect(await whoBrings(change, headers)).toEqual(by);
});

test('the same text is another secret in another place', () => {
  const [text] = [NONCE];
  const hashes = ['nonce', 'identifier', 'key'].map((kind) => retryHashOf({ secret: `${kind} ${text}` }));
  expect(new Set([...hashes, retryHashOf({ address: text })]).size).toBe(4);
});

test('addresses of one household of version 6 are one, as for the rate limits', async () => {
  const [one, neighbour, other] = await Promise.all(
    ['2001:db8:0:1::7', '2001:db8:0:2::8', '2001:db9::7'].map((it) => whoBrings({}, { 'X-Forwarded-For': it })),
  );
  expect(one).toEqual(neighbour);
  expect(one).not.toEqual(other);
});
