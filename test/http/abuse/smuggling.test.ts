import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { type GatewayFixture, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { DAILY_EXPRESSES } from '../../helpers/fixtures/toll-fixture.js';
import { ask, exchange, linesOf, rawRequest } from '../../helpers/http/raw-http.js';

const fixture = useGatewayFixture();
const servers: Server[] = [];
afterAll(() => Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve)))));

/** An upstream that answers every connection with the same bytes; answers its address. */
async function upstreamSaying(bytes: string): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined).once('data', () => socket.end(bytes, 'latin1'));
  });
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The fields that pay for a call and show the key. */
async function paying({ pay, key }: GatewayFixture, by: Parameters<GatewayFixture['pay']>[0] = {}): Promise<string[]> {
  return linesOf({ ...key.headers, ...(await pay(by)).header });
}

/** A request within a request. */
const HIDDEN = 'GET /hidden HTTP/1.1\r\nHost: x\r\nX-Hidden: yes\r\n\r\n';
const LAST = HIDDEN.replace('X-Hidden: yes', 'Connection: close');
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

describe.each(DAILY_EXPRESSES)('what the gateway passes on, %s', (_name, express) => {
  let url: string;
  let path: string;

  beforeAll(async () => {
    url = await fixture().serve((app) => app.use(fixture().router), express);
    path = `/v1/${fixture().project.slug}`;
  });

  const since = (count: number) => fixture().upstream.received.slice(count);

  test.each<[string, string[], string, string]>([
    ['of a length', [`Content-Length: ${HIDDEN.length}`], HIDDEN, HIDDEN],
    ['in chunks', ['Transfer-Encoding: chunked'], `${chunk(HIDDEN)}0\r\n\r\n`, HIDDEN],
    [
      'in chunks with an extension',
      ['Transfer-Encoding: chunked'],
      `5;a=b\r\nabcde\r\n${chunk(HIDDEN)}0\r\n\r\n`,
      `abcde${HIDDEN}`,
    ],
    ['in chunks with a trailer', ['Transfer-Encoding: chunked'], `${chunk(HIDDEN)}0\r\nX-Hidden: yes\r\n\r\n`, HIDDEN],
    ['that is awaited', ['Expect: 100-continue', `Content-Length: ${HIDDEN.length}`], HIDDEN, HIDDEN],
  ])('a body %s that looks like a request is a body', async (_what, fields, sent, body) => {
    const before = fixture().hits();
    const answers = await exchange(
      url,
      rawRequest(`POST ${path}/a`, ['Connection: close', ...(await paying(fixture())), ...fields], sent),
    );

    expect(answers.at(-1)).toMatchObject({ status: 200, body: 'paid for' });
    expect(since(before)).toMatchObject([{ method: 'POST', path: '/a', body }]);
    expect(since(before)[0]?.headers).not.toHaveProperty('x-hidden');
  });

  test.each<[string, string[]]>([
    ['a length and chunks', ['Content-Length: 4', 'Transfer-Encoding: chunked']],
    ['chunks and a length', ['Transfer-Encoding: chunked', 'Content-Length: 4']],
    ['a coding that is nearly chunked', ['Transfer-Encoding: xchunked']],
    ['a coding before chunks', ['Transfer-Encoding: gzip, chunked']],
    ['a coding in quotes', ['Transfer-Encoding: "chunked"']],
    ['a coding behind a tab', ['Transfer-Encoding:\tchunked', 'Transfer-Encoding: identity']],
    ['a coding behind a folded line', ['Transfer-Encoding:\r\n chunked']],
    ['a space behind the name', ['Transfer-Encoding : chunked', 'Content-Length: 4']],
    ['two lengths', ['Content-Length: 4', 'Content-Length: 400']],
  ])('nothing, where the end of a request can be read in two ways: %s', async (_what, fields) => {
    const before = fixture().hits();
    const lines = await paying(fixture());
    const answers = await exchange(url, rawRequest(`POST ${path}`, [...lines, ...fields], `0\r\n\r\n${LAST}`));

    expect([400, 501]).toContain(answers[0]?.status);
    expect(answers.length).toBeLessThanOrEqual(2);
    for (const { status } of answers) expect([400, 404, 501]).toContain(status);
    expect(since(before)).toEqual([]);
    expect(await ask(url, `POST ${path}`, [...lines, 'Content-Length: 0'])).toMatchObject({ status: 200 });
    expect(since(before)).toHaveLength(1);
  });

  test('a second request on the connection has to pay for itself', async () => {
    const before = fixture().hits();
    const lines = await paying(fixture());
    const requests = [
      rawRequest(`POST ${path}/one`, [...lines, 'Content-Length: 2'], '{}'),
      rawRequest(`GET ${path}/two`, linesOf(fixture().key.headers)),
      rawRequest(`GET ${path}/three`),
      rawRequest(`GET ${path}/four`, ['Connection: close', ...lines]),
    ];
    const answers = await exchange(url, requests.join(''));

    expect(answers[0]).toMatchObject({ status: 200, body: 'paid for' });
    expect(answers.slice(1, 3).map(({ status }) => status)).toEqual([402, 401]);
    expect([402, 409]).toContain(answers[3]?.status);
    expect(since(before).map((it) => it.path)).toEqual(['/one']);
  });

  test.each([
    ['%0d%0aX-Hidden:%20yes', '/a%0d%0aX-Hidden:%20yes'],
    ['%20HTTP/1.1%0d%0a%0d%0aGET%20/hidden', '/a%20HTTP/1.1%0d%0a%0d%0aGET%20/hidden'],
    ['?x=%0d%0a%0d%0a', '/a?x=%0d%0a%0d%0a'],
    ['%00', '/a%00'],
  ])('%s stays as it was written', async (end, passed) => {
    const before = fixture().hits();

    expect(await ask(url, `GET ${path}/a${end}`, await paying(fixture()))).toMatchObject({ status: 200 });
    expect(since(before)).toMatchObject([{ method: 'GET', path: passed, body: '' }]);
    expect(since(before)[0]?.headers).not.toHaveProperty('x-hidden');
  });

  test('a target in absolute form leads to the same upstream, at the path that it names', async () => {
    const before = fixture().hits();
    const { origin } = new URL(fixture().upstream.origin);

    for (const authority of ['http://evil.example', origin, 'http://a']) {
      expect(await ask(url, `GET ${authority}${path}/a?x=1`, await paying(fixture()))).toMatchObject({ status: 200 });
    }
    expect(since(before).map((it) => it.path)).toEqual(['/a?x=1', '/a?x=1', '/a?x=1']);
  });

  test.each(['Content-Length', 'X-Tollhouse-Signature', 'X-Service-Payment', 'Host'])(
    'Connection cannot take %s away, nor does a field that looks like it count',
    async (name) => {
      const before = fixture().hits();
      const fields = [`Connection: close, ${name}`, `${name.replaceAll('-', '_')}: 400`, 'Content-Length: 2'];
      const answers = await exchange(url, rawRequest(`POST ${path}`, [...(await paying(fixture())), ...fields], '{}'));

      expect(answers).toMatchObject([{ status: 200 }]);
      expect(since(before)).toMatchObject([{ body: '{}', headers: { 'x-tollhouse-signature': expect.any(String) } }]);
    },
  );

  test('a key, a proof and a payment that come several times', async () => {
    const before = fixture().hits();
    const [one, other] = [await paying(fixture()), await paying(fixture())];
    const proof = other.at(-1) ?? '';

    expect((await ask(url, `GET ${path}`, [...one, one[0] ?? ''])).status).toBe(401);
    expect((await ask(url, `GET ${path}`, [...one, one[1] ?? ''])).status).toBe(401);
    expect((await ask(url, `GET ${path}`, [...one, proof])).status).toBe(400);
    expect((await ask(url, `GET ${path}`, [...one, 'PAYMENT-SIGNATURE: garbage', 'X-PAYMENT: garbage'])).status).toBe(
      200,
    );
    expect((await ask(url, `GET ${path}`, other)).status).toBe(200);
    expect(since(before)).toHaveLength(2);
  });

  test.each([
    ['a carriage return', 'X-A: b\rSet-Cookie: injected=1'],
    ['a line feed', 'X-A: b\nSet-Cookie: injected=1'],
    ['a zero byte', 'X-A: b\0'],
    ['a control character', 'X-A: b\x01'],
    ['a name that is none', 'X-Ä: b'],
  ])('an answer with %s in a field is told as broken, and costs nothing', async (_what, field) => {
    const origin = await upstreamSaying(`HTTP/1.1 200 OK\r\n${field}\r\nContent-Length: 2\r\n\r\nok`);
    const project = await fixture().newProject({ upstream: { url: origin } });
    const lines = await paying(fixture(), { project });
    const [answer, ...more] = [
      await ask(url, `GET /v1/${project.slug}`, lines),
      await ask(url, `GET /v1/${project.slug}`, lines),
    ];

    expect(answer).toMatchObject({ status: 502, body: expect.stringContaining('upstream_reset') });
    expect(answer?.headers.get('set-cookie')).toBeNull();
    expect(more).toMatchObject([{ status: 502, body: expect.stringContaining('Nothing was charged') }]);
  });

  test('a place that an upstream names cannot break out of its field', async () => {
    const origin = await upstreamSaying(
      'HTTP/1.1 302 Found\r\nLocation: /b%0d%0aX-Hidden:%20yes\xe9\r\nContent-Length: 0\r\n\r\n',
    );
    const project = await fixture().newProject({ upstream: { url: origin } });
    const answer = await ask(url, `GET /v1/${project.slug}`, await paying(fixture(), { project }));

    expect([answer.status, answer.headers.get('x-hidden')]).toEqual([302, null]);
    expect(answer.headers.get('location')).toBe(`/v1/${project.slug}/b%0d%0aX-Hidden:%20yes%C3%A9`);
  });
});
