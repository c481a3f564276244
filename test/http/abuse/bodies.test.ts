import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { idempotency } from '../../../src/middleware/idempotency/idempotency.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { createMemoryIdempotencyStore } from '../../../src/storage/idempotency/memory-idempotency-store.js';
import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { DAILY_EXPRESSES } from '../../helpers/fixtures/toll-fixture.js';
import { ask } from '../../helpers/http/raw-http.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { askTerms, encodeHeader } from '../../helpers/transactions/payments.js';

const MIB = 1024 * 1024;
const DEPTH = 45_000;
const DEEP = '['.repeat(DEPTH) + ']'.repeat(DEPTH);
const JSON_TYPE = 'application/json';

/** Addresses that take a JSON body, and a field of theirs that is an object. */
const OPEN = [
  '/settle',
  '/verify',
  '/create-payment',
  '/token-gate/check-access',
  '/api/v1/auth/challenge',
  '/api/v1/auth/token',
];
const SIGNED_IN = ['/api/v1/projects', '/api/v1/keys/generate', '/api/v1/webhooks'];
const ALL = [...OPEN, ...SIGNED_IN];

type Body = string | Uint8Array<ArrayBuffer>;
type Case = readonly [what: string, body: Body, headers: ProofHeaders, status: readonly number[]];

const bytes = (data: Uint8Array): Uint8Array<ArrayBuffer> => Uint8Array.from(data);
const numbered = (count: number, item: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => item(n)).join(',');
const coded = (coding: string): ProofHeaders => ({ 'content-encoding': coding });
const typed = (type: string): ProofHeaders => ({ 'content-type': type });
const REFUSED = [400, 422];

const CASES: readonly Case[] = [
  ['nested 45,000 levels deep', DEEP, {}, REFUSED],
  ['nested 14,000 objects deep', `${'{"a":'.repeat(14_000)}0${'}'.repeat(14_000)}`, {}, REFUSED],
  ['nested and never closed', '['.repeat(100_000), {}, [400]],
  ['nested 100,000 levels deep', '['.repeat(100_000) + ']'.repeat(100_000), {}, [413]],
  ['of 8,000 keys', `{${numbered(8_000, (n) => `"k${n}":0`)}}`, {}, REFUSED],
  ['an array of 50,000', `[${numbered(50_000, () => '0')}]`, {}, REFUSED],
  ['a number of 90,000 digits', '9'.repeat(90_000), {}, [400]],
  ['a text of 90,000 characters', JSON.stringify('x'.repeat(90_000)), {}, [400]],
  ['with a byte order mark', '\ufeff{}', {}, REFUSED],
  ['with two of them', '\ufeff\ufeff{}', {}, [400]],
  ['not UTF-8', bytes(Buffer.from('7b22ff223a317d', 'hex')), {}, REFUSED],
  ['Latin-1', '{}', typed(`${JSON_TYPE}; charset=iso-8859-1`), [415]],
  ['of an unknown character set', '{}', typed(`${JSON_TYPE}; charset=utf-99`), [415]],
  ['UTF-16', bytes(Buffer.from('\ufeff{}', 'utf16le')), typed(`${JSON_TYPE}; charset=utf-16`), REFUSED],
  ['UTF-16 that says UTF-8', bytes(Buffer.from('{}', 'utf16le')), {}, [400]],
  ['of a type that cannot be read', '{}', typed(';;; charset="'), [415]],
  ['of two types', '{}', typed(`${JSON_TYPE}, text/plain`), [415]],
  ['a form', 'a=1', typed('application/x-www-form-urlencoded'), [415]],
  ['50 MiB in gzip', bytes(gzipSync(Buffer.alloc(50 * MIB, ' '))), coded('gzip'), [413]],
  ['50 MiB in deflate', bytes(deflateSync(Buffer.alloc(50 * MIB, ' '))), coded('deflate'), [413]],
  ['50 MiB in brotli', bytes(brotliCompressSync(Buffer.alloc(50 * MIB, ' '))), coded('br'), [413]],
  ['a bomb in a bomb', bytes(gzipSync(gzipSync(Buffer.alloc(50 * MIB)))), coded('gzip, gzip'), [415]],
  ['no gzip', '{}', coded('gzip'), [400]],
  ['half a gzip', bytes(gzipSync('{"a":1}').subarray(0, 12)), coded('gzip'), [400]],
  ['of a coding that nobody knows', '{}', coded('x-rot13'), [415]],
];

const fixture = useGatewayFixture();

/** Whether this Node can write as JSON what it could read; before 26 it runs out of stack where that is nested deeply. */
function canWrite(value: unknown): boolean {
  try {
    JSON.stringify(value);
    return true;
  } catch {
    return false;
  }
}

describe.each(DAILY_EXPRESSES)('bodies that nobody means well with, %s', (_name, express) => {
  let url: string;
  let runs = 0;

  beforeAll(async () => {
    const { facilitator, payTo, router } = fixture();
    url = await fixture().serve((app) => {
      app.use(router);
      const json = express.json({ limit: '10mb' });
      app.post('/paid', json, requirePayment({ facilitator, payTo, price: '$0.01' }), (_req, res) => {
        runs += 1;
        res.send('paid');
      });
      app.post(
        '/once',
        json,
        idempotency({ store: createMemoryIdempotencyStore() }),
        (_req, res) => void res.send('done'),
      );
    }, express);
  });

  /** A POST by somebody who has signed in, where that is asked for; the response must be a problem and short. */
  async function refusal(path: string, body: Body, headers: ProofHeaders = {}, method = 'POST') {
    const proof = SIGNED_IN.some((it) => path.startsWith(it)) ? fixture().asOwner : {};
    const answer = await fetch(url + path, {
      method,
      body,
      headers: { 'content-type': JSON_TYPE, ...proof, ...headers },
    });
    const text = await answer.text();
    const problem = JSON.parse(text) as Readonly<Record<string, unknown>>;
    expect([answer.headers.get('content-type'), problem['status']]).toEqual([
      'application/problem+json',
      answer.status,
    ]);
    expect([text.length < 10_000, text]).toEqual([true, text]);
    return { status: answer.status, problem };
  }

  test.each(CASES)('%s', async (_what, body, headers, statuses) => {
    for (const path of ALL) {
      const { status, problem } = await refusal(path, body, headers);
      expect([path, statuses.includes(status), problem]).toEqual([path, true, problem]);
    }
  });

  test('of 1,000,000 keys', async () => {
    const body = `{${numbered(1_000_000, (n) => `"k${n}":0`)}}`;
    expect((await refusal('/api/v1/projects', body)).status).toBe(413);
  });

  const wanted = {
    slug: 'abused',
    name: 'x',
    upstream: { url: 'https://example.com' },
    pricing: { amount: '1', token: 'USDC' },
  };
  const withField = (body: object, field: string): string => `${JSON.stringify(body).slice(0, -1)},${field}}`;

  test.each(['openapi', 'example', 'metadata', 'split', 'tags', 'limits', 'description'])(
    'nested deeply in "%s" of a project',
    async (field) => {
      const value = field === 'example' ? `{"method":"GET","body":${DEEP}}` : `{"a":${DEEP}}`;
      expect((await refusal('/api/v1/projects', withField(wanted, `"${field}":${value}`))).status).toBe(422);
      const path = `/api/v1/projects/${fixture().project.id}`;
      expect((await refusal(path, `{"${field}":${value}}`, {}, 'PATCH')).status).toBe(422);
    },
  );

  test.each(['/settle', '/verify'])('nested deeply in a payment for %s', async (path) => {
    const asked = await askTerms(`${url}/paid`, { method: 'POST' });
    const terms = JSON.stringify(asked.accepts[0]);
    const payment = (more: string) =>
      `{"x402Version":2,"accepted":${terms},"payload":{"transaction":"AAAA"},"extensions":{"a":${more}}}`;
    const call = (inPayment: string, inTerms: string) =>
      `{"x402Version":2,"paymentPayload":${payment(inPayment)},"paymentRequirements":${withField(JSON.parse(terms), `"a":${inTerms}`)}}`;
    const half = DEEP.slice(DEPTH / 2, -DEPTH / 2);
    for (const body of [call(half, '0'), call('0', half)]) {
      expect(await refusal(path, body)).toMatchObject({ status: 400, problem: { code: 'invalid_request' } });
    }
  });

  test('nested deeply before a gate or Idempotency-Key, who compare bodies', async () => {
    const asked = await askTerms(`${url}/paid`, { method: 'POST' });
    const extensions = { 'payment-identifier': { info: { required: false, id: 'an-id-of-16-characters' } } };
    const payment = { x402Version: 2, accepted: asked.accepts[0], payload: { transaction: 'AAAA' }, extensions };
    const headers = { 'content-type': JSON_TYPE, 'payment-signature': encodeHeader(payment) };
    const answer = await fetch(`${url}/paid`, { method: 'POST', body: DEEP, headers });

    expect([answer.status, runs]).toEqual([402, 0]);
    const repeatable = { 'idempotency-key': 'a-key-of-mine' };
    if (canWrite(JSON.parse(DEEP))) {
      const once = { method: 'POST', body: DEEP, headers: { 'content-type': JSON_TYPE, ...repeatable } };
      expect(await (await fetch(`${url}/once`, once)).text()).toBe('done');
    } else {
      const refused = { status: 413, problem: { code: 'body_too_large' } };
      expect(await refusal('/once', DEEP, repeatable)).toMatchObject(refused);
    }
  });

  test.each([
    ['/create-payment', '"amount":1,"token":"USDC","recipient":"x","metadata"', 400],
    ['/api/v1/keys/generate', '"name":"x","metadata"', 422],
    ['/api/v1/projects', `${JSON.stringify(wanted).slice(1, -1)},"metadata"`, 422],
  ])('thousands of faults in one body for %s are told in a few', async (path, start, status) => {
    const answer = await refusal(path, `{${start}:{${numbered(6_000, (n) => `"${n}":0`)}}}`);

    expect(answer).toMatchObject({ status, problem: { detail: expect.stringMatching(/and \d{4} more/) } });
    expect(answer.problem['errors']).toHaveLength(20);
  });

  test.each([
    '9007199254740993',
    '1e309',
    '-1',
    '-0',
    '1e-400',
    '12345678901234567890123',
    '"0x10"',
    '"1_0"',
    '"１"',
    '[1]',
    'null',
  ])('the amount %s', async (amount) => {
    const body = `{"amount":${amount},"token":"USDC","recipient":"${fixture().payTo}"}`;
    expect(await refusal('/create-payment', body)).toMatchObject({ status: 400, problem: { code: 'invalid_amount' } });
  });

  test('of keys that come twice the last one counts, for checks and for money', async () => {
    const rest = `"token":"USDC","recipient":"${fixture().payTo}"`;
    const headers = { 'content-type': JSON_TYPE };
    const create = (body: string) => fetch(`${url}/create-payment`, { method: 'POST', body, headers });

    expect((await create(`{"amount":1,${rest},"amount":-1}`)).status).toBe(400);
    const made = await create(`{"amount":-1,${rest},"amount":2}`);
    expect(await made.json()).toMatchObject({ transaction: { amount: 2_000_000 } });
  });

  test.each([
    ['both a length and chunks', ['Content-Length: 2', 'Transfer-Encoding: chunked'], '2\r\n{}\r\n0\r\n\r\n'],
    ['two lengths', ['Content-Length: 2', 'Content-Length: 3'], '{}'],
    ['a list of lengths', ['Content-Length: 2, 2'], '{}'],
    ['a length with a sign', ['Content-Length: +2'], '{}'],
    ['a length in hexadecimal', ['Content-Length: 0x2'], '{}'],
    ['chunks that are not last', ['Transfer-Encoding: chunked, identity'], '0\r\n\r\n'],
    ['chunks twice', ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
    ['chunks of no size', ['Transfer-Encoding: chunked'], '-1\r\n\r\n'],
    ['chunks of more than there is', ['Transfer-Encoding: chunked'], 'fffffffffffffffff\r\n{}'],
    ['a chunk with a long extension', ['Transfer-Encoding: chunked'], `2;${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`],
  ])('%s: is no request', async (_what, headers, body) => {
    const { status } = await ask(url, 'POST /create-payment', [`Content-Type: ${JSON_TYPE}`, ...headers], body);
    expect([400, 413]).toContain(status);
  });
});
