import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { z } from 'zod';
import { TollhouseError } from '../../src/errors/errors.js';
import {
  isInside,
  isNetwork,
  isPublicAddress,
  readAddressRange,
} from '../../src/gateway/network-guard/address-ranges.js';
import { mergePatch } from '../../src/gateway/projects/merge-patch.js';
import { SIGNED_HEADERS, signatureHeaders } from '../../src/gateway/proxy/gateway-signature.js';
import { upstreamTarget } from '../../src/gateway/proxy/upstream-target.js';
import { verifyGateway } from '../../src/gateway/proxy/verify-gateway.js';
import { verifyWebhook } from '../../src/gateway/webhooks/verify-webhook.js';
import { newWebhookSecret, webhookHeaders } from '../../src/gateway/webhooks/webhook-signature.js';
import { encodeCursor, readCursor } from '../../src/http/framework/list-response.js';
import {
  clientOfAddress,
  isAllowedAddress,
  readAllowedAddress,
} from '../../src/identity/service-keys/allowed-addresses.js';
import { isPublicKey, isSecret, newPublicKey, newSecret } from '../../src/identity/service-keys/service-key.js';
import { buildSiwsMessage, parseSiwsMessage } from '../../src/identity/sign-in/siws-message.js';
import { PAYER } from '../unit/protocol/samples.js';
import { type Fuzz, fuzz, nearly, nearlyText, orRefuses } from './fuzz.js';

const SIWS = buildSiwsMessage({
  domain: 'shop.example',
  address: PAYER,
  statement: 'Sign in.',
  uri: 'https://shop.example/report',
  version: '1',
  chainId: 'mainnet',
  nonce: 'abcdefgh12345678',
  issuedAt: '2026-01-02T03:04:05.678Z',
  expirationTime: '2026-01-02T03:09:05.678Z',
  resources: ['https://shop.example/'],
});
const ADDRESSES = [
  '10.0.0.0/8',
  '::ffff:10.0.0.1/104',
  '2001:db8::/32',
  '192.0.2.1',
  'fe80::1%eth0',
  '0x7f.1',
  '127.1',
];
const CURSOR = z.tuple([z.int(), z.string()]);
const KEYS = { public: newPublicKey('live', randomBytes), secret: newSecret('test', randomBytes) };
const LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const SECRET = 'gws_secret';
const CALL = { id: 'call_1', timestamp: '1790000000', method: 'POST', path: '/a?b', bodyDigest: 'UNSIGNED-PAYLOAD' };
const SIGNED_CALL = { ...signatureHeaders({ ...CALL, payer: PAYER }, [SECRET]) };
const now = () => Number(CALL.timestamp) * 1_000;

const HOOK_SECRET = newWebhookSecret();
const BODY = JSON.stringify({ id: 'evt_1', type: 'call.succeeded', data: {} });
const SIGNED_HOOK = webhookHeaders({ id: 'evt_1', timestamp: Number(CALL.timestamp), body: BODY }, [HOOK_SECRET]);

const BASE = 'https://upstream.example:8443/base/path?key=1';

/** What the service reads beside payments: none throws but its own errors, and nothing gets past it. */
export const SERVICE: readonly Fuzz[] = [
  fuzz('service key', nearlyText(KEYS.public, KEYS.secret), (text) => {
    assert.equal(isPublicKey(text) && isSecret(text), false);
  }),
  fuzz('service key with a slip of the pen', fc.tuple(fc.nat(), fc.nat()), ([at, letter]) => {
    const from = 'toll_sk_test_'.length;
    const place = from + (at % (KEYS.secret.length - from));
    const slip = KEYS.secret.slice(0, place) + LETTERS.charAt(letter % LETTERS.length) + KEYS.secret.slice(place + 1);
    assert.equal(isSecret(slip), slip === KEYS.secret);
  }),
  fuzz('cursor', nearlyText(encodeCursor([7, 'prj_x'])), (text) => {
    const key = orRefuses(TollhouseError, () => readCursor(text, CURSOR));
    if (key !== undefined) assert.deepEqual(readCursor(encodeCursor(key), CURSOR), key);
  }),
  fuzz('merge patch', fc.tuple(fc.jsonValue(), fc.jsonValue()), ([target, patch]) => {
    const merged = mergePatch(target, patch);
    assert.deepEqual(mergePatch(merged, patch), merged);
    assert.equal(Object.getPrototypeOf({}), Object.prototype);
    assert.deepEqual(Object.keys(Object.prototype), []);
  }),
  fuzz('allowed address', nearlyText(...ADDRESSES), (text) => {
    const kept = readAllowedAddress(text);
    if (kept !== undefined) assert.equal(readAllowedAddress(kept), kept);
    isAllowedAddress(text, ['10.0.0.0/8', '2001:db8::/32', ...(kept === undefined ? [] : [kept])]);
    assert.equal(typeof clientOfAddress(text), 'string');
  }),
  fuzz('network', nearlyText(...ADDRESSES), (text) => {
    if (isNetwork(text)) isInside('10.0.0.1', [readAddressRange(text)]);
  }),
  fuzz('private address, however it is written', aPrivateAddress(), (text) => {
    assert.equal(isPublicAddress(text), false);
  }),
  fuzz('message of a sign-in', nearlyText(SIWS), (text) => {
    const reading = parseSiwsMessage(text);
    if (reading.ok) assert.equal(buildSiwsMessage(reading.value), text);
  }),
  fuzz('headers of a call that the gateway signed', nearly(SIGNED_CALL), (headers) => {
    const given = typeof headers === 'object' && headers !== null ? { ...headers } : {};
    const found = verifyGateway({ method: 'POST', url: CALL.path, headers: given }, SECRET, { now });
    const signed = Object.values(SIGNED_HEADERS).every((name) => SIGNED_CALL[name] === Reflect.get(given, name));
    if (found.ok) assert.ok(signed);
  }),
  fuzz('headers of a webhook', fc.tuple(nearly(SIGNED_HOOK), nearlyText(BODY)), ([headers, body]) => {
    const given = typeof headers === 'object' && headers !== null ? { ...headers } : {};
    const found = verifyWebhook({ headers: given, body }, HOOK_SECRET, { now });
    if (found.ok) assert.equal(body, BODY);
  }),
  fuzz(
    'rest of a path behind the gateway',
    nearlyText('/a/../../b', '/%2e%2e/%2E./x?y', '/..;/', '/%252e%252e%2f'),
    (rest) => {
      const target = upstreamTarget(BASE, rest);
      if (target === undefined) return;
      const { host, pathname, searchParams } = new URL(target.origin + target.path);
      assert.equal(host, 'upstream.example:8443');
      assert.ok(pathname === '/base/path' || pathname.startsWith('/base/path/'), pathname);
      assert.equal(searchParams.get('key'), '1');
    },
  ),
];

/** Loopback, private, link-local and mapped addresses. */
function aPrivateAddress(): fc.Arbitrary<string> {
  const byte = fc.nat({ max: 255 });
  const v4 = fc
    .tuple(fc.constantFrom([10], [127], [192, 168], [169, 254], [172, 16], [100, 64], [0]), byte, byte, byte)
    .map(([head, ...rest]) => [...head, ...rest].slice(0, 4).join('.'));
  const group = fc.nat({ max: 0xffff }).map((it) => it.toString(16));
  const v6 = fc
    .tuple(fc.constantFrom('fc00', 'fd12', 'fe80', 'ff02', '64:ff9b:', '2002', '2001:0'), group, group)
    .map(([head, one, other]) => `${head}::${one}:${other}`.replace(':::', '::'));
  return fc.oneof(
    v4,
    v4.map((it) => `::ffff:${it}`),
    v6,
  );
}
