import { createHash, createHmac } from 'node:crypto';
import { TollhouseError } from '../../../../src/errors/errors.js';
import { signatureHeaders, UNSIGNED_BODY } from '../../../../src/gateway/proxy/gateway-signature.js';
import { type GatewayRequest, verifyGateway } from '../../../../src/gateway/proxy/verify-gateway.js';

const SECRET = 'gws_one';
const NOW = 1_800_000_000_000;
const now = () => NOW;
const BODY = '{"ask":"the price of bread"}';

const CALL = {
  id: 'req_1',
  timestamp: String(NOW / 1000),
  method: 'POST',
  path: '/base/a?q=1',
  bodyDigest: createHash('sha256').update(BODY).digest('hex'),
  payer: 'B4RvNpz2DhCZBUPrxXA8Y1x9GzEaHBAKdnZKTMsTdSzD',
  amount: '0.01',
  token: 'USDC',
  payment: 'pay_1',
};

function requestOf(call: Partial<typeof CALL> = {}, secrets = [SECRET]) {
  const signed = { ...CALL, ...call };
  return { method: signed.method, url: signed.path, headers: signatureHeaders(signed, secrets) };
}

/** A request that was changed after it was signed. */
function forged(headers: Record<string, string | undefined>, more: Partial<GatewayRequest> = {}): GatewayRequest {
  const request = requestOf();
  return { ...request, ...more, headers: { ...request.headers, ...headers } };
}

test('a signed call is verified, and tells who paid', () => {
  const { id, payer, amount, token, payment } = CALL;
  const expected = { ok: true, id, payer, amount, token, payment, bodyVerified: true };
  expect(verifyGateway(requestOf(), SECRET, { body: BODY, now })).toEqual(expected);
  expect(verifyGateway(requestOf(), SECRET, { body: Buffer.from(BODY), now })).toEqual(expected);
  expect(verifyGateway(requestOf(), SECRET, { now })).toEqual({ ...expected, bodyVerified: false });
});

test('a call without payment tells nothing of one', () => {
  const { id, timestamp, method, path, bodyDigest } = CALL;
  const headers = signatureHeaders({ id, timestamp, method, path, bodyDigest }, [SECRET]);
  expect(verifyGateway({ method, url: path, headers }, SECRET, { now })).toEqual({ ok: true, id, bodyVerified: false });
});

test('the signature is the documented one, for whoever verifies it in another language', () => {
  const lines = ['tollhouse-gateway-v1', CALL.id, CALL.timestamp, 'POST', CALL.path, CALL.bodyDigest];
  const text = [...lines, CALL.payer, CALL.amount, CALL.token, CALL.payment].join('\n');
  const expected = createHmac('sha256', SECRET).update(text).digest('base64');
  expect(requestOf().headers['x-tollhouse-signature']).toBe(`v1,${expected}`);
});

test.each([
  ['payer', forged({ 'x-tollhouse-payer': 'somebody else' })],
  ['no payer', forged({ 'x-tollhouse-payer': undefined })],
  ['amount', forged({ 'x-tollhouse-amount': '100' })],
  ['token', forged({ 'x-tollhouse-token': 'SOL' })],
  ['payment', forged({ 'x-tollhouse-payment': 'pay_2' })],
  ['id', forged({ 'x-tollhouse-id': 'req_2' })],
  ['time', forged({ 'x-tollhouse-timestamp': String(NOW / 1000 + 1) })],
  ['digest', forged({ 'x-tollhouse-body-digest': UNSIGNED_BODY })],
  ['method', forged({}, { method: 'DELETE' })],
  ['path', forged({}, { url: '/base/b?q=1' })],
  ['query', forged({}, { url: '/base/a?q=2' })],
  ['signature', forged({ 'x-tollhouse-signature': 'v1,AAAA' })],
  ['version', forged({ 'x-tollhouse-signature': requestOf().headers['x-tollhouse-signature']?.replace('v1', 'v2') })],
  ['empty signature', forged({ 'x-tollhouse-signature': 'v1,' })],
  ['fields that are moved', forged({ 'x-tollhouse-payer': `${CALL.payer}\n0.01`, 'x-tollhouse-amount': '' })],
])('another %s is a wrong signature', (_what, request) => {
  expect(verifyGateway(request, SECRET, { now })).toEqual({ ok: false, reason: 'wrong_signature' });
});

test.each(['x-tollhouse-signature', 'x-tollhouse-id', 'x-tollhouse-timestamp', 'x-tollhouse-body-digest'])(
  'without %s there is no signature',
  (name) => {
    expect(verifyGateway(forged({ [name]: undefined }), SECRET, { now })).toEqual({
      ok: false,
      reason: 'missing_signature',
    });
  },
);

test('a call is good for five minutes, unless told otherwise', () => {
  const after = (seconds: number, toleranceSeconds?: number) =>
    verifyGateway(requestOf(), SECRET, {
      now: () => NOW + seconds * 1000,
      ...(toleranceSeconds === undefined ? {} : { toleranceSeconds }),
    });
  const late = { ok: false, reason: 'outside_tolerance' };
  expect(after(300)).toMatchObject({ ok: true });
  expect(after(301)).toEqual(late);
  expect(after(-300)).toMatchObject({ ok: true });
  expect(after(-301)).toEqual(late);
  expect(after(11, 10)).toEqual(late);
  expect(after(3600, 3600)).toMatchObject({ ok: true });
});

test('a time that is none is refused although it was signed', () => {
  for (const timestamp of ['', 'NaN', 'Infinity', '1e9', '0x1', '-1']) {
    expect(verifyGateway(requestOf({ timestamp }), SECRET, { now })).toEqual({
      ok: false,
      reason: 'outside_tolerance',
    });
  }
});

test('another body is refused', () => {
  const wrong = { ok: false, reason: 'wrong_body' };
  expect(verifyGateway(requestOf(), SECRET, { body: `${BODY} `, now })).toEqual(wrong);
  expect(verifyGateway(requestOf(), SECRET, { body: '', now })).toEqual(wrong);
  expect(verifyGateway(requestOf(), SECRET, { body: {}, now })).toEqual(wrong);
});

test('the empty object of Express 4 is an empty body', () => {
  const empty = requestOf({ bodyDigest: createHash('sha256').digest('hex') });
  expect(verifyGateway(empty, SECRET, { body: {}, now })).toMatchObject({ ok: true, bodyVerified: true });
});

test('a body that was streamed is not verified, and says so', () => {
  const streamed = requestOf({ bodyDigest: UNSIGNED_BODY });
  expect(verifyGateway(streamed, SECRET, { body: 'anything', now })).toMatchObject({ ok: true, bodyVerified: false });
});

test('old and new secrets, on either side', () => {
  expect(verifyGateway(requestOf({}, ['gws_new', 'gws_old']), 'gws_old', { now })).toMatchObject({ ok: true });
  expect(verifyGateway(requestOf({}, ['gws_new', 'gws_old']), 'gws_new', { now })).toMatchObject({ ok: true });
  expect(verifyGateway(requestOf({}, ['gws_old']), ['gws_new', 'gws_old'], { now })).toMatchObject({ ok: true });
  expect(verifyGateway(requestOf({}, ['gws_other']), ['gws_new', 'gws_old'], { now })).toMatchObject({ ok: false });
});

test('behind an Express router, or something that rewrites paths', () => {
  const { headers } = requestOf();
  const cut = { method: 'POST', url: '/a?q=1', headers };
  expect(verifyGateway(cut, SECRET, { now })).toMatchObject({ ok: false });
  expect(verifyGateway({ ...cut, originalUrl: CALL.path }, SECRET, { now })).toMatchObject({ ok: true });
  expect(verifyGateway(cut, SECRET, { path: CALL.path, now })).toMatchObject({ ok: true });
});

test.each([
  ['no secret', undefined],
  ['an empty secret', ''],
  ['no secrets', []],
  ['an empty secret among others', ['gws_one', '']],
])('%s is a wrong option, not an open door', (_what, secret) => {
  expect(() => verifyGateway(requestOf(), secret, { now })).toThrow(TollhouseError);
});

test('a body that was parsed already is a wrong option', () => {
  expect(() => verifyGateway(requestOf(), SECRET, { body: { ask: 1 }, now })).toThrow('not parsed');
});
