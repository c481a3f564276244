import type { IncomingMessage } from 'node:http';
import { gzipSync } from 'node:zlib';
import express, { type RequestHandler } from 'express';
import { verifyGateway } from '../../../src/gateway/proxy/verify-gateway.js';
import { CALL_PRICE, type MadeProject } from '../../helpers/fixtures/gateway-client.js';
import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { EXPRESSES } from '../../helpers/fixtures/toll-fixture.js';
import { keepRaw, preset, swallow } from '../../helpers/http/body-parsers.js';
import { signPayment } from '../../helpers/transactions/payments.js';

const JSON_TYPE = 'application/json';
const FORM = 'application/x-www-form-urlencoded';
const PRETTY = '{ "town": "Köln",\n  "days": [1, 2.5, null] }';
const COMPACT = '{"town":"Köln","days":[1,2.5,null]}';

const fixture = useGatewayFixture();

interface Sent {
  readonly type?: string;
  readonly body: string | Buffer | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
}

type Express = (typeof EXPRESSES)[number][1];

describe.each(EXPRESSES)('a project behind a body parser, %s', (_name, version) => {
  let project: MadeProject;

  beforeAll(async () => {
    project = await fixture().newProject();
  });

  const serve = (...parsers: readonly RequestHandler[]) =>
    fixture().serve((app) => {
      for (const parser of parsers) app.use(parser);
      app.use(fixture().router);
    }, version as Express);

  const balance = () => {
    const { sandbox, payer } = fixture();
    return sandbox.tokenBalance(payer.publicKey.toBase58(), sandbox.tokens[0]!.mint);
  };

  /** Pays for one call through x402 and makes it; tells what it cost and what the upstream got. */
  async function callPaid(url: string, { type, body, headers = {} }: Sent) {
    const { key, payer, sandbox, upstream } = fixture();
    const to = `${url}/v1/${project.slug}`;
    const typed = type === undefined ? {} : { 'content-type': type };
    const init = { method: 'POST', body, headers: { ...key.headers, ...typed, ...headers } };
    const { v2 } = await signPayment({ sandbox, payer }, to, { init });
    const [before, hits] = [balance(), fixture().hits()];
    const answer = await fetch(to, { ...init, headers: { ...init.headers, ...v2 } });
    const text = await answer.text();
    const problem = text.startsWith('{') ? JSON.parse(text) : {};
    return { status: answer.status, text, problem, cost: before - balance(), got: upstream.received.slice(hits) };
  }

  /** It was paid, once, and the upstream got this body, under a signature that covers it. */
  async function expectPassedOn(url: string, sent: Sent, body: string): Promise<IncomingMessage['headers']> {
    const { status, text, cost, got } = await callPaid(url, sent);
    expect([status, text, cost]).toEqual([200, 'paid for', CALL_PRICE]);
    expect(got.map((it) => it.body)).toEqual([body]);
    const [{ headers, path, method }] = got as [(typeof got)[number]];
    expect(headers['content-length']).toBe(String(Buffer.byteLength(body)));
    expect(headers['content-type']).toBe(sent.type);
    const verified = verifyGateway({ method, url: path, headers }, project.gateway_secret, { body });
    expect(verified).toMatchObject({ ok: true, bodyVerified: true });
    return headers;
  }

  /** It was refused before it cost anything. */
  async function expectRefused(url: string, sent: Sent, why: string): Promise<void> {
    const { status, problem, cost, got } = await callPaid(url, sent);
    expect([status, problem.code, cost, got.length]).toEqual([500, 'body_already_read', 0n, 0]);
    expect(problem.detail).toContain(why);
    expect(problem.detail).toContain('mount createRouter() before express.json()');
  }

  test.each<[string, RequestHandler[], Sent, string]>([
    ['express.json()', [express.json()], { type: JSON_TYPE, body: PRETTY }, COMPACT],
    ['express.json(), an empty object', [express.json()], { type: JSON_TYPE, body: '{}' }, '{}'],
    [
      'express.json(), a type of its own',
      [express.json({ type: ['+json'] })],
      { type: 'application/ld+json', body: PRETTY },
      COMPACT,
    ],
    [
      'express.json(), in capitals',
      [express.json()],
      { type: 'Application/JSON; Charset=UTF-8', body: PRETTY },
      COMPACT,
    ],
    ['express.json() for every type', [express.json({ type: '*/*' })], { type: 'text/plain', body: COMPACT }, COMPACT],
    [
      'express.json() that takes all values',
      [express.json({ strict: false })],
      { type: JSON_TYPE, body: '"5"' },
      '"5"',
    ],
    [
      'express.json() that keeps the bytes',
      [express.json({ verify: keepRaw })],
      { type: JSON_TYPE, body: PRETTY },
      PRETTY,
    ],
    ['express.raw()', [express.raw({ type: '*/*' })], { type: 'application/pdf', body: PRETTY }, PRETTY],
    ['express.text()', [express.text()], { type: 'text/plain', body: 'Köln' }, 'Köln'],
    ['express.text() for every type', [express.text({ type: '*/*' })], { type: JSON_TYPE, body: PRETTY }, PRETTY],
    [
      'express.urlencoded()',
      [express.urlencoded()],
      { type: FORM, body: 'town=K%C3%B6ln&sky=a%20b' },
      'town=K%C3%B6ln&sky=a+b',
    ],
    ['express.urlencoded(), a list', [express.urlencoded()], { type: FORM, body: 'a=1&a=2&b=3' }, 'a=1&a=2&b=3'],
    [
      'express.urlencoded(), nested',
      [express.urlencoded({ extended: true })],
      { type: FORM, body: 'at[town][name]=Rome' },
      'at%5Btown%5D%5Bname%5D=Rome',
    ],
    ['parsers of other types', [express.json(), express.urlencoded()], { type: 'text/csv', body: 'a;b' }, 'a;b'],
    [
      'all parsers',
      [express.json(), express.urlencoded({ extended: true }), express.text(), express.raw()],
      { type: JSON_TYPE, body: PRETTY },
      COMPACT,
    ],
    [
      'express.json() that keeps the text',
      [express.json({ verify: (req, _res, bytes) => void Object.assign(req, { rawBody: String(bytes) }) })],
      { type: JSON_TYPE, body: PRETTY },
      PRETTY,
    ],
    [
      'a parser that leaves rawBody alone',
      [swallow((rawBody) => ({ rawBody }))],
      { type: FORM, body: 'a[]=1' },
      'a[]=1',
    ],
  ])('%s: the body is passed on', async (_what, parsers, sent, body) => {
    await expectPassedOn(await serve(...parsers), sent, body);
  });

  test('none: the body is passed on as it came', async () => {
    await expectPassedOn(await serve(), { type: JSON_TYPE, body: PRETTY }, PRETTY);
  });

  test.each<[string, RequestHandler]>([
    ['parsed', express.json()],
    ['kept', express.json({ verify: keepRaw })],
    ['in a Buffer', express.raw({ type: JSON_TYPE })],
  ])('a compressed body, %s, is passed on decompressed, without what was said of its bytes', async (_what, parser) => {
    const url = await serve(parser);
    const digests = { 'content-md5': 'x', 'content-digest': 'sha-256=:x:', digest: 'sha-256=x' };
    const headers = { 'content-encoding': 'gzip', ...digests };
    const got = await expectPassedOn(url, { type: JSON_TYPE, body: gzipSync(COMPACT), headers }, COMPACT);
    for (const name of Object.keys(headers)) expect(got).not.toHaveProperty(name);
  });

  test('a compressed body that was kept as it came stays compressed', async () => {
    const url = await serve(swallow((rawBody) => ({ rawBody })));
    const sent = { type: JSON_TYPE, body: gzipSync(COMPACT), headers: { 'content-encoding': 'gzip' } };
    const { status, cost, got } = await callPaid(url, sent);
    expect([status, cost]).toEqual([200, CALL_PRICE]);
    expect(got[0]?.headers).toMatchObject({ 'content-encoding': 'gzip', 'content-length': String(sent.body.length) });
  });

  const MULTIPART = 'multipart/form-data; boundary=x';
  const PART = '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n';

  test.each<[string, RequestHandler[], Sent, string]>([
    [
      'files',
      [swallow(() => ({ body: { a: '1' }, files: [] }))],
      { type: MULTIPART, body: PART },
      'its type is multipart/form-data',
    ],
    ['nothing at all', [swallow(() => ({}))], { type: JSON_TYPE, body: PRETTY }, 'nothing of it was kept'],
    [
      'nothing, before other parsers',
      [swallow(() => ({ body: {} })), express.urlencoded()],
      { type: JSON_TYPE, body: PRETTY },
      'nothing of it was kept',
    ],
    [
      'a number with too many digits',
      [express.json()],
      { type: JSON_TYPE, body: '{"id":12345678901234567890}' },
      'rounded',
    ],
    ['an infinite number', [express.json()], { type: JSON_TYPE, body: '{"id":1e999}' }, 'rounded'],
    [
      'another charset',
      [express.json()],
      { type: `${JSON_TYPE}; charset=utf-16le`, body: Buffer.from('{"a":1}', 'utf16le') },
      'utf-16le',
    ],
    [
      'bytes that are no text',
      [express.text({ type: '*/*' })],
      { type: 'text/plain', body: Buffer.from([0xf0, 0x9f, 0x98]) },
      'UTF-8',
    ],
    [
      'a list that was written another way',
      [express.urlencoded({ extended: true })],
      { type: FORM, body: 'a[]=1&a[]=2' },
      'lists',
    ],
    ['a form in another charset', [express.urlencoded()], { type: FORM, body: 'a=J%F6rg' }, 'UTF-8'],
    [
      'an unknown type',
      [express.json({ type: '*/*' })],
      { type: 'text/plain', body: PRETTY },
      'its type is text/plain',
    ],
  ])('%s: what cannot be written again is refused before it costs anything', async (_what, parsers, sent, why) => {
    await expectRefused(await serve(...parsers), sent, why);
  });

  test('a payment that has landed stays good where the body is lost', async () => {
    const { client, key, pay, hits } = fixture();
    const { header } = await pay({ project });
    const before = hits();
    const init = { method: 'POST', body: PART, headers: { ...key.headers, ...header, 'content-type': MULTIPART } };
    const url = await serve(swallow(() => ({ body: { a: '1' }, files: [] })));
    const refused = await fetch(`${url}/v1/${project.slug}`, init);
    expect([refused.status, await refused.json()]).toMatchObject([500, { code: 'body_already_read' }]);
    expect((await client.call(project.slug, init)).status).toBe(200);
    expect(hits()).toBe(before + 1);
  });

  test('a body that is longer than the parser takes is the parser’s 413, and costs nothing', async () => {
    const url = await serve(express.json());
    const { key, payer, sandbox } = fixture();
    const to = `${url}/v1/${project.slug}`;
    const { v2 } = await signPayment({ sandbox, payer }, to, { init: { method: 'POST', headers: key.headers } });
    const before = balance();
    const headers = { ...key.headers, ...v2, 'content-type': JSON_TYPE };
    const answer = await fetch(to, { method: 'POST', headers, body: JSON.stringify('x'.repeat(102_400)) });
    expect([answer.status, before - balance()]).toEqual([413, 0n]);
  });

  test('the same payment for another body is refused, for the same body answered again', async () => {
    const url = await serve(express.json());
    const { key, payer, sandbox } = fixture();
    const to = `${url}/v1/${project.slug}`;
    const init = { method: 'POST', headers: { ...key.headers, 'content-type': JSON_TYPE } };
    const { v2 } = await signPayment({ sandbox, payer }, to, { init: { ...init, body: '{}' } });
    const call = async (body: string) => {
      const answer = await fetch(to, { ...init, headers: { ...init.headers, ...v2 }, body });
      return [answer.status, answer.headers.get('idempotency-replayed')];
    };
    expect(await call('{"a":1}')).toEqual([200, null]);
    expect((await call('{"a":2}'))[0]).toBe(402);
    expect(await call('{"a":1}')).toEqual([200, 'true']);
  });

  test('a body that was there before the request was made is passed on', async () => {
    await expectPassedOn(
      await serve(preset({ town: 'Rome' })),
      { type: JSON_TYPE, body: '{ "town": "Rome" }' },
      '{"town":"Rome"}',
    );
  });
});

describe('what a project does not take', () => {
  const CHUNKED = { duplex: 'half' } as const;
  const stream = (bytes: number) => new Blob(['x'.repeat(bytes)]).stream();

  test.each<[string, () => RequestInit, Readonly<Record<string, unknown>>]>([
    ['a long body', () => ({ method: 'POST', body: 'x'.repeat(1_001) }), { limits: { max_body_bytes: 1_000 } }],
    [
      'a long body in chunks',
      () => ({ method: 'POST', body: stream(1_001), ...CHUNKED }),
      { limits: { max_body_bytes: 1_000 } },
    ],
    ['a very long body in chunks', () => ({ method: 'POST', body: stream(1_048_577), ...CHUNKED }), {}],
  ])('%s: is told the price when it is not paid, and costs nothing when it is', async (_what, init, wanted) => {
    const { client, key, newProject, payer, sandbox } = fixture();
    const project = await newProject(wanted);
    const to = `${client.url}/v1/${project.slug}`;
    const unpaid = await client.call(project.slug, { ...init(), headers: key.headers });
    expect([unpaid.status, unpaid.body['code']]).toEqual([402, 'payment_required']);
    const { v2 } = await signPayment({ sandbox, payer }, to, { init: { headers: key.headers } });
    const balance = () => sandbox.tokenBalance(payer.publicKey.toBase58(), sandbox.tokens[0]!.mint);
    const before = balance();
    const paid = await client.call(project.slug, { ...init(), headers: { ...key.headers, ...v2 } });
    expect([paid.status, paid.body['code'], before - balance()]).toEqual([413, 'body_too_large', 0n]);
    const small = await client.call(project.slug, { method: 'GET', headers: { ...key.headers, ...v2 } });
    expect([small.status, before - balance()]).toEqual([200, CALL_PRICE]);
  });

  test('an empty body in chunks is none, and is paid for', async () => {
    const { client, key, newProject, payer, sandbox } = fixture();
    const project = await newProject();
    const to = `${client.url}/v1/${project.slug}`;
    const init = () => ({ method: 'POST', body: stream(0), ...CHUNKED });
    const { v2 } = await signPayment({ sandbox, payer }, to, { init: { headers: key.headers } });
    expect((await client.call(project.slug, { ...init(), headers: { ...key.headers, ...v2 } })).status).toBe(200);
  });

  test('a path that leads elsewhere is told the price when it is not paid', async () => {
    const { client, key, newProject } = fixture();
    const { slug } = await newProject();
    const unpaid = await client.call(`${slug}/..%2fsecret`, { headers: key.headers });
    expect([unpaid.status, unpaid.body['code']]).toEqual([402, 'payment_required']);
  });
});
