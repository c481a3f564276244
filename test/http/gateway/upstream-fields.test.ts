import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import express from 'express';
import { request } from 'undici';
import { type VerifiedCall, verifyGateway } from '../../../src/gateway/proxy/verify-gateway.js';
import { closeUpstreamFixtures, openUpstreamFixture, STAND_SECRET } from '../../helpers/http/upstream-fixture.js';
import { until } from '../../helpers/until.js';

afterEach(closeUpstreamFixtures);

type Handler = (req: IncomingMessage, res: ServerResponse) => void;

/** Sends bytes and answers what comes until the connection ends, or until that is enough. */
async function raw(url: string, text: string, isEnough = (_told: string) => false): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(text, 'latin1');
  let told = '';
  for await (const chunk of socket) {
    told += String(chunk);
    if (isEnough(told)) break;
  }
  return told;
}

/** What the upstream gets of a request with these header lines, and the call's address. */
async function received(lines: readonly string[], options: Parameters<typeof openUpstreamFixture>[1] = {}) {
  const seen: IncomingHttpHeaders[] = [];
  const http: Handler = (req, res) => {
    seen.push(req.headers);
    res.end();
  };
  const fixture = await openUpstreamFixture({ http }, options);
  const { pathname, host } = new URL(fixture.url);
  const head = [`GET ${pathname}/ HTTP/1.1`, `Host: ${host}`, ...lines];
  const isOpen = /^connection:/im.test(head.join('\n'));
  const text = `${head.join('\r\n')}\r\n${isOpen ? '' : 'Connection: close\r\n'}\r\n`;
  await raw(fixture.url, text, (told) => isOpen && told.includes('\r\n\r\n'));
  expect(fixture.thrown).toEqual([]);
  return { headers: seen[0] ?? {}, host };
}

describe('what the upstream gets', () => {
  test('the fields that are meant for it', async () => {
    const { headers } = await received([
      'Accept: text/plain',
      'X-Custom: one',
      'X-Custom: two',
      'Idempotency-Key: k-1',
      'If-None-Match: "a"',
      'Range: bytes=0-1',
      'X-Bytes: \xe4',
    ]);
    expect(headers).toMatchObject({
      accept: 'text/plain',
      'x-custom': 'one, two',
      'idempotency-key': 'k-1',
      'if-none-match': '"a"',
      range: 'bytes=0-1',
      'x-bytes': '\xe4',
    });
  });

  test.each([
    'Authorization: Bearer secret',
    'Cookie: session=secret',
    'Proxy-Authorization: Basic secret',
    'PAYMENT-SIGNATURE: secret',
    'PAYMENT-anything: secret',
    'X-PAYMENT: secret',
    'X-Payment-Response: secret',
    'SIGN-IN-WITH-X: secret',
    'X-Service-Key: secret',
    'X-Service-Secret: secret',
    'X-Service-Payment: secret',
    'X_Service_Secret: secret',
    'X_PAYMENT: secret',
    'X-Tollhouse-Payer: secret',
    'X_Tollhouse_Payer: secret',
    'X.Tollhouse.Payer: secret',
    'x-tollhouse_amount: secret',
    'X-Tollhouse-Anything: secret',
    'X-Tollhouse-Signature: secret',
    'Forwarded: for=secret',
    'X-Forwarded-For: secret',
    'X-Forwarded-Port: secret',
    'X_Forwarded_For: secret',
    'X-Real-IP: secret',
    'CF-Connecting-IP: secret',
    'True-Client-IP: secret',
    'X-Client-IP: secret',
    'Client-IP: secret',
    'X_Cluster_Client_IP: secret',
    'Fastly-Client-IP: secret',
    'X-Host: secret',
    'X-Original-Host: secret',
    'X-Original-URL: /secret',
    'X-Rewrite-URL: /secret',
    'X-Matched-Path: /secret',
    'X-Middleware-Rewrite: /secret',
    'X-Middleware-Subrequest: secret',
    'X-Now-Route-Matches: secret',
    'X-Invoke-Path: /secret',
    'X-Invoke-Query: secret',
    'X-Invoke-Output: /secret',
    'X-Request-Id: secret',
    'tracestate: secret=1',
    'traceparent: secret',
    'Keep-Alive: secret',
    'TE: trailers, secret',
    'Trailer: secret',
    'Proxy-Connection: secret',
    'X-Upstream-Key: secret',
    'X_Upstream_Key: secret',
  ])('not "%s"', async (line) => {
    const { headers } = await received([line], {
      forward: { additions: () => ({ headers: { 'x-upstream-key': 'ours' }, query: {} }) },
    });
    expect(JSON.stringify(headers)).not.toContain('secret');
    expect(headers['x-upstream-key']).toBe('ours');
  });

  test('what its owner adds, though proxies tell of callers by that name', async () => {
    const { headers } = await received(['X-Client-IP: secret'], {
      forward: { additions: () => ({ headers: { 'x-client-ip': 'ours' }, query: {} }) },
    });
    expect(headers['x-client-ip']).toBe('ours');
  });

  test('nothing that Connection names, and no way to take our own fields off', async () => {
    const { headers } = await received([
      'Connection: close, X-Secret, X-Tollhouse-Signature, X-Forwarded-For, Host',
      'X-Secret: secret',
    ]);
    expect(headers).not.toHaveProperty('x-secret');
    expect(headers).toHaveProperty('x-tollhouse-signature');
    expect(headers).toHaveProperty('x-forwarded-for');
    expect(headers).toHaveProperty('host');
  });

  test('no upgrade: it is asked as if nobody had wished for one', async () => {
    const { headers } = await received(['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']);
    expect(headers).not.toHaveProperty('upgrade');
    expect(headers.connection).not.toContain('upgrade');
  });

  test('where the call comes from, and its id', async () => {
    const { headers, host } = await received([]);
    expect(headers).toMatchObject({
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': host,
      'x-request-id': 'req_1',
    });
    expect(headers.host).not.toBe(host);
  });

  test('where the call comes from by the word of who stands before us', async () => {
    const caller = { address: '198.51.100.7', protocol: 'https', host: 'pay.example' };
    const { headers } = await received(['X-Forwarded-For: 1.2.3.4'], { forward: { caller } });
    expect(headers).toMatchObject({
      'x-forwarded-for': '198.51.100.7',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'pay.example',
    });
  });

  test("the caller's trace, or a new one", async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const traced = await received([`traceparent: ${traceparent}`, 'tracestate: a=1']);
    expect(traced.headers).toMatchObject({ traceparent, tracestate: 'a=1' });
    const fresh = await received([`traceparent: 00-${'0'.repeat(32)}-b7ad6b7169203331-01`, 'tracestate: a=1']);
    expect(fresh.headers.traceparent).toMatch(/^00-[\da-f]{32}-[\da-f]{16}-01$/);
    expect(fresh.headers.traceparent).not.toContain('0'.repeat(32));
    expect(fresh.headers).not.toHaveProperty('tracestate');
  });
});

describe('what the caller gets', () => {
  const answer = (headers: Record<string, string | string[]>, status = 200): { http: Handler } => ({
    http: (_req, res) => void res.writeHead(status, headers).end(),
  });

  test('the fields of the upstream, each line of them', async () => {
    const fixture = await openUpstreamFixture(answer({ 'X-Custom': ['one', 'two'], ETag: '"a"', 'X-Bytes': '\xe4' }));
    const { headers } = await request(`${fixture.url}/`);
    expect(headers).toMatchObject({ 'x-custom': ['one', 'two'], etag: '"a"' });
    expect(await raw(fixture.url, 'GET /v1/demo HTTP/1.0\r\n\r\n')).toContain('X-Bytes: ');
  });

  test.each([
    'X-Service-Error',
    'X-Tollhouse-Payer',
    'PAYMENT-RESPONSE',
    'X-PAYMENT-RESPONSE',
    'X_Service_Error',
    'Set-Cookie',
    'Strict-Transport-Security',
    'Clear-Site-Data',
    'Alt-Svc',
    'NEL',
    'Report-To',
    'Reporting-Endpoints',
    'Use-As-Dictionary',
    'Accept-CH',
    'Refresh',
    'Set-Login',
    'Access-Free-Calls',
    'X-Request-Id',
    'Proxy-Authenticate',
    'Upgrade',
    'Trailer',
    'X-Accel-Redirect',
    'X_Accel_Redirect',
    'X-Accel-Limit-Rate',
    'X-Accel-Charset',
    'X-Accel-Expires',
    'X-Sendfile',
    'X-Sendfile-Temporary',
    'X-LIGHTTPD-send-file',
    'X-LIGHTTPD-send-tempfile',
    'X-Reproxy-URL',
    'X-LiteSpeed-Location',
    'X-Envoy-Immediate-Health-Check-Fail',
    'Fly-Replay',
    'Surrogate-Key',
    'Surrogate-Control',
    'Cache-Tag',
    'Edge-Cache-Tag',
    'Cache-Group-Invalidation',
    'Access-Control-Allow-Credentials',
    'Login-Status',
    'Sec-Session-Registration',
    'Secure-Session-Registration',
    'Speculation-Rules',
    'Attribution-Reporting-Register-Source',
  ])('not %s', async (name) => {
    const fixture = await openUpstreamFixture(answer({ [name]: 'secret' }));
    const { headers } = await request(`${fixture.url}/`);
    expect(JSON.stringify(headers)).not.toContain('secret');
  });

  test('what the upstream says of this one response, also to a proxy that would hold a stream back', async () => {
    const said = {
      'x-accel-buffering': 'no',
      'content-security-policy': "default-src 'none'",
      'www-authenticate': 'Bearer',
      link: '</next>; rel=next',
      'cache-control': 'max-age=60',
      'access-control-allow-origin': '*',
    };
    const fixture = await openUpstreamFixture(answer(said));
    expect((await request(`${fixture.url}/`)).headers).toMatchObject(said);
  });

  test.each<[string, string[], string | undefined]>([
    ['Basic', ['Basic realm="The gateway"'], undefined],
    ['Digest', ['digest realm="x", nonce="a, b", qop="auth"'], undefined],
    ['Negotiate and NTLM', ['Negotiate', 'NTLM TlRMTVNTUAAC=='], undefined],
    ['Basic in any case and with any space', [' ,\t bAsIc   realm = "x"'], undefined],
    [
      'Basic among others',
      ['Bearer realm="a", scope="b c", Basic realm="x", charset="UTF-8"'],
      'Bearer realm="a", scope="b c"',
    ],
    ['Basic before others', ['Basic realm="x", DPoP algs="ES256"'], 'DPoP algs="ES256"'],
    ['Basic in a line of its own', ['Basic realm="x"', 'Bearer'], 'Bearer'],
    ['Basic within a quoted text, for who does not heed quotes', ['Bearer realm="a, Basic realm=b"'], undefined],
    ['Basic behind a quote that does not end', ['Bearer realm="a, Basic realm=x'], undefined],
  ])('no challenge that a browser opens a dialog for: %s', async (_name, sent, left) => {
    const fixture = await openUpstreamFixture(answer({ 'WWW-Authenticate': sent, 'Proxy-Authenticate': sent }, 401));
    const { statusCode, headers } = await request(`${fixture.url}/`);
    expect([statusCode, headers['www-authenticate'], headers['proxy-authenticate']]).toEqual([401, left, undefined]);
  });

  test.each([
    'Bearer realm="basic", error="invalid_token"',
    'Payment id="x", method="solana", request="eyJhIjoxfQ"',
    'L402 macaroon="abc==", invoice="lnbc1"',
    'Basically realm="x"',
    'Bearer, DPoP',
    'Bearer realm="one, two"',
  ])('a challenge for programs as it is: %s', async (sent) => {
    const fixture = await openUpstreamFixture(answer({ 'WWW-Authenticate': sent }, 401));
    expect((await request(`${fixture.url}/`)).headers['www-authenticate']).toBe(sent);
  });

  test('nothing that Connection names', async () => {
    const fixture = await openUpstreamFixture(answer({ Connection: 'close, X-Secret', 'X-Secret': 'secret' }));
    const { headers } = await request(`${fixture.url}/`);
    expect(JSON.stringify(headers)).not.toContain('secret');
  });

  test("the gateway's own fields before those of the upstream, and lists of both", async () => {
    const upstream = answer({
      'X-Mine': 'theirs',
      Vary: 'Accept',
      'Access-Control-Allow-Origin': 'https://theirs.example',
      'X-Receipt': 'theirs',
    });
    const statuses: number[] = [];
    const beforeHead = (status: number) => {
      statuses.push(status);
      return { 'X-Receipt': 'ours' };
    };
    const fixture = await openUpstreamFixture(upstream, {
      forward: { beforeHead },
      headers: { Vary: 'Origin', 'X-Mine': 'ours' },
    });
    const { headers } = await request(`${fixture.url}/`);
    expect(headers).toMatchObject({ 'x-mine': 'ours', vary: ['Origin', 'Accept'], 'x-receipt': 'ours' });
    expect(headers['access-control-allow-origin']).toBe('https://theirs.example');
    expect(statuses).toEqual([200]);
  });

  test.each([301, 302, 303, 307, 308])('a redirect %d as it is, not what is behind it', async (status) => {
    let calls = 0;
    const http: Handler = (req, res) => {
      calls += 1;
      res.writeHead(status, { Location: `http://${req.headers.host}/base/next` }).end();
    };
    const fixture = await openUpstreamFixture({ http }, { basePath: '/base' });
    const { statusCode, headers } = await request(`${fixture.url}/`);
    expect([statusCode, headers.location, calls]).toEqual([status, '/v1/demo/next', 1]);
    await until(() => fixture.outcomes.length === 1);
    expect(fixture.outcomes).toMatchObject([{ delivered: true, status }]);
  });

  test.each([400, 401, 402, 403, 404, 409, 422, 429, 499])('a refusal %d, which is a delivery', async (status) => {
    const fixture = await openUpstreamFixture(answer({ 'Retry-After': '7' }, status));
    const { statusCode, headers } = await request(`${fixture.url}/`);
    expect([statusCode, headers['retry-after']]).toEqual([status, '7']);
    await until(() => fixture.outcomes.length === 1);
    expect(fixture.outcomes).toMatchObject([{ delivered: true, status }]);
  });

  test.each([204, 304])('%d without a body', async (status) => {
    const fixture = await openUpstreamFixture(answer({ ETag: '"a"' }, status));
    const { statusCode, headers, body } = await request(`${fixture.url}/`);
    expect([statusCode, headers.etag, await body.text()]).toEqual([status, '"a"', '']);
  });

  test('the final answer only, after early hints', async () => {
    const http: Handler = (_req, res) => res.writeEarlyHints({ link: '</a>' }, () => void res.end('final'));
    const fixture = await openUpstreamFixture({ http });
    expect(await (await request(`${fixture.url}/`)).body.text()).toBe('final');
  });

  test('the body without its trailers', async () => {
    const http: Handler = (_req, res) => {
      res.writeHead(200, { Trailer: 'X-Sum' });
      res.write('body');
      res.addTrailers({ 'X-Sum': 'secret' });
      res.end();
    };
    const fixture = await openUpstreamFixture({ http });
    const answered = await request(`${fixture.url}/`);
    expect(await answered.body.text()).toBe('body');
    expect(answered.trailers).toEqual({});
  });

  test('an encoded body as it is', async () => {
    const http: Handler = (_req, res) => void res.writeHead(200, { 'Content-Encoding': 'gzip' }).end('not unpacked');
    const fixture = await openUpstreamFixture({ http });
    const { headers, body } = await request(`${fixture.url}/`);
    expect([headers['content-encoding'], await body.text()]).toEqual(['gzip', 'not unpacked']);
  });
});

describe('a hook before the head', () => {
  const http: Handler = (_req, res) => void res.setHeader('X-Theirs', 'theirs').end('answer');

  test.each(['GET', 'HEAD'] as const)('is waited for (%s)', async (method) => {
    let release: () => void = () => {};
    const asked = new Promise<void>((resolve) => {
      release = resolve;
    });
    const beforeHead = async () => {
      await asked;
      return { 'X-Receipt': 'paid' };
    };
    const fixture = await openUpstreamFixture({ http }, { forward: { beforeHead } });
    const answer = request(`${fixture.url}/`, { method });
    setImmediate(release);
    const { headers, body } = await answer;
    expect([headers['x-receipt'], await body.text()]).toEqual(['paid', method === 'GET' ? 'answer' : '']);
    await until(() => fixture.outcomes.length === 1);
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('no receipt');
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('no receipt');
      },
    ],
  ])('that %s ends the call, and forward rejects', async (_what, beforeHead) => {
    const fixture = await openUpstreamFixture({ http }, { forward: { beforeHead }, headers: { 'X-Ours': 'ours' } });
    const { statusCode, headers } = await request(`${fixture.url}/`);
    expect([statusCode, headers['x-ours'], headers['x-theirs']]).toEqual([500, 'ours', undefined]);
    expect(fixture.thrown).toMatchObject([{ message: 'no receipt' }]);
    await until(() => fixture.connections() === 0);
  });

  test('sees the fields of the upstream', async () => {
    const seen: unknown[] = [];
    const gateway: { res?: ServerResponse } = {};
    const beforeHead = () => {
      seen.push(gateway.res?.getHeader('x-theirs'));
      return {};
    };
    const fixture = await openUpstreamFixture({ http }, { forward: { beforeHead }, gateway });
    await request(`${fixture.url}/`);
    expect(seen).toEqual(['theirs']);
  });

  test('has not been answered when the upstream breaks off: the caller gets the problem, and nothing of the answer', async () => {
    let broken: () => void = () => {};
    const asked = new Promise<void>((resolve) => {
      broken = resolve;
    });
    const breaking: Handler = (req, res) => {
      res.writeHead(200, { 'X-Theirs': 'theirs', 'Content-Length': '10' }).write('half');
      void asked.then(() => req.socket.resetAndDestroy());
    };
    const beforeHead = () => {
      broken();
      return new Promise<Record<string, string>>(() => {});
    };
    const fixture = await openUpstreamFixture({ http: breaking }, { forward: { beforeHead } });
    const { statusCode, headers, body } = await request(`${fixture.url}/`);
    expect([statusCode, headers['x-theirs']]).toEqual([502, undefined]);
    expect(await body.json()).toMatchObject({ code: 'upstream_reset' });
  });

  test('is not asked when the upstream fails', async () => {
    let asked = 0;
    const beforeHead = () => {
      asked += 1;
      return {};
    };
    const fixture = await openUpstreamFixture({ http: (_req, res) => void res.destroy() }, { forward: { beforeHead } });
    expect((await request(`${fixture.url}/`)).statusCode).toBe(502);
    expect(asked).toBe(0);
  });
});

describe('what the gateway turns away', () => {
  const http: Handler = (_req, res) => void res.end('reached');

  test.each([
    ['length and chunks', 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['two lengths', 'Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello'],
    ['chunks that are not last', 'Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n'],
    ['a coding that nobody undoes', 'Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
    ['a coding that looks like chunks', 'Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n'],
    ['a space before the colon', 'Content-Length : 5\r\n\r\nhello'],
    ['a bare line feed', 'X-A: b\nX-B: c\r\n\r\n'],
  ])('%s', async (_what, tail) => {
    const fixture = await openUpstreamFixture({ http });
    const told = await raw(fixture.url, `POST /v1/demo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${tail}`);
    expect(told).toMatch(/^HTTP\/1\.1 400 /);
    expect(told).not.toContain('reached');
    expect(fixture.connections()).toBe(0);
  });

  test('a path that leads out of the base', async () => {
    const fixture = await openUpstreamFixture({ http }, { basePath: '/base' });
    const told = await raw(fixture.url, 'GET /v1/demo/%2e%2e/admin HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(told).toMatch(/^HTTP\/1\.1 400 /);
    expect(told).toContain('"invalid_request"');
    expect(fixture.connections()).toBe(0);
  });

  test('TRACE, which would show the caller what was added', async () => {
    const fixture = await openUpstreamFixture({ http });
    const told = await raw(fixture.url, 'TRACE /v1/demo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(told).toMatch(/^HTTP\/1\.1 405 /);
    expect(told).toContain('"method_not_allowed"');
  });

  test('CONNECT', async () => {
    const fixture = await openUpstreamFixture({ http });
    const told = await raw(fixture.url, 'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(told).not.toContain('reached');
  });
});

test.each(['GET', 'HEAD', 'OPTIONS', 'DELETE', 'POST', 'PUT', 'PATCH', 'PROPFIND', 'REPORT'] as const)(
  '%s is passed on with path and query, and is signed',
  async (method) => {
    const calls: (VerifiedCall | object)[] = [];
    const app = express();
    app.use('/base', express.raw({ type: () => true }), (req, res) => {
      calls.push({ ...verifyGateway(req, STAND_SECRET, { body: req.body ?? '' }), method: req.method, url: req.url });
      res.set('Content-Type', 'text/plain').send('answer');
    });
    const payment = { payer: 'wallet', amount: '0.01', token: 'USDC', payment: 'pay_1' };
    const fixture = await openUpstreamFixture({ http: app }, { basePath: '/base', forward: { payment } });
    const answer = await request(`${fixture.url}/a/b?q=%20`, {
      method,
      ...(method === 'POST' ? { body: 'text' } : {}),
    });
    expect(await answer.body.text()).toBe(method === 'HEAD' ? '' : 'answer');
    expect(answer.headers['content-length']).toBe('6');
    const id = expect.stringMatching(/^req_/);
    expect(calls).toEqual([{ ok: true, id, bodyVerified: true, ...payment, method, url: '/a/b?q=%20' }]);
  },
);
