import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { pipeline as pipelineAsync } from 'node:stream/promises';
import type { NextFunction, Request, Response as ServerAnswer } from 'express';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { type PaymentHeaders, signPayment } from '../../helpers/transactions/payments.js';

type Handler = (req: Request, res: ServerAnswer, next: NextFunction) => unknown;

const BYTES = randomBytes(200_000);
const etag = '"fixed"';

/** Each answers the same way with and without a gate in front of it. */
const HANDLERS: readonly (readonly [string, Handler])[] = [
  ['res.json', (_req, res) => res.json({ text: 'ü€😀', list: [1, 2, 3] })],
  ['res.send of text', (_req, res) => res.type('text').send('ü€😀')],
  ['res.send of a Buffer', (_req, res) => res.send(BYTES)],
  ['res.send of nothing', (_req, res) => res.send()],
  ['res.sendStatus', (_req, res) => res.sendStatus(202)],
  ['res.status and res.end', (_req, res) => res.status(201).end()],
  ['res.end of nothing', (_req, res) => res.end()],
  ['res.end with an encoding', (_req, res) => res.end('c3bc', 'hex')],
  ['res.end with a callback alone', (_req, res) => res.end(() => undefined)],
  [
    'res.write in pieces',
    (_req, res) => [BYTES, 'text', new Uint8Array([1, 2])].map((it) => res.write(it)) && res.end('end'),
  ],
  [
    'res.write with encodings and callbacks',
    (_req, res) => res.write('ff', 'hex', () => res.write('/w==', 'base64', () => res.end())),
  ],
  ['204', (_req, res) => res.status(204).end()],
  ['304', (_req, res) => res.status(304).set('ETag', etag).end()],
  ['a redirect', (_req, res) => res.redirect(303, '/elsewhere?x=1')],
  ['writeHead with an object', (_req, res) => res.writeHead(200, { 'X-A': '1', 'Content-Length': '2' }).end('ok')],
  ['writeHead with a message', (_req, res) => res.writeHead(203, 'Quite So', { 'X-A': '1' }).end('ok')],
  ['writeHead with a flat list', (_req, res) => res.writeHead(200, ['Set-Cookie', 'a=1', 'X-A', '1']).end('ok')],
  ['a status message', (_req, res) => Object.assign(res, { statusMessage: 'Fine' }).send('ok')],
  [
    'cookies and several headers of a name',
    (_req, res) => res.cookie('a', '1').cookie('b', '2').append('X-List', ['1', '2']).send('ok'),
  ],
  ['headers taken away', (_req, res) => res.removeHeader('X-Powered-By') ?? res.set('X-A', '1').send('ok')],
  ['flushHeaders first', (_req, res) => res.set('X-A', '1').flushHeaders() ?? res.end('ok')],
  ['a length of its own', (_req, res) => res.set('Content-Length', String(BYTES.length)).end(BYTES)],
  ['pipe', (_req, res) => Readable.from([BYTES, BYTES]).pipe(res)],
  [
    'stream.pipeline',
    (_req, res, next) => pipeline(Readable.from([BYTES, BYTES]), res, (error) => error && next(error)),
  ],
  ['await pipeline', async (_req, res) => pipelineAsync(Readable.from([BYTES, BYTES]), res)],
  ['res.sendFile', (_req, res) => res.sendFile(__filename)],
  ['res.download', (_req, res) => res.download(__filename, 'answer.ts')],
  ['res.download with an umlaut in its name', (_req, res) => res.download(__filename, 'bücher.ts')],
  ['an answer later', async (_req, res) => setImmediate(() => res.json({ later: true }))],
  ['cork and uncork', (_req, res) => res.cork() ?? (res.write('a') && res.uncork()) ?? res.end('b')],
  [
    'Vary, ETag, Cache-Control',
    (_req, res) => res.vary('Accept').set({ ETag: etag, 'Cache-Control': 'public, max-age=60' }).send('ok'),
  ],
];

describe.each(EXPRESSES)('a paid answer arrives as the handler gave it, %s', (_name, express) => {
  let fixture: TollFixture;
  let url: string;
  let handler: Handler = () => undefined;

  beforeAll(async () => {
    fixture = await openTollFixture({ slotMs: 5, maxBlockhashAgeBlocks: 8000 });
    const { facilitator, payTo } = fixture;
    const gate = requirePayment({ facilitator, payTo, price: '$0.01' });
    url = await fixture.serve((app) => {
      app.all('/free', (req, res, next) => handler(req, res, next));
      app.all('/paid', gate, (req, res, next) => handler(req, res, next));
    }, express);
  });
  afterAll(() => fixture.close());

  /** Everything that comes over the wire, but for what the gate adds and what depends on the time. */
  async function wire(path: string, init: { method?: string; headers?: PaymentHeaders } = {}) {
    const { status, statusText, headers, body } = await plain(`${url}${path}`, init);
    const rest = headers.filter(([name]) => !ADDED.has(name) && !FRAMING.has(name));
    return { status, statusText, headers: rest.sort(), body };
  }

  async function pay(init: { method?: string; headers?: PaymentHeaders } = {}) {
    const { v2 } = await signPayment(fixture, `${url}/paid`, { init });
    return { ...init, headers: { ...init.headers, ...v2 } };
  }

  test.each(HANDLERS)('%s', async (_what, given) => {
    handler = given;
    expect(await wire('/paid', await pay())).toEqual(await wire('/free'));
  });

  // Node 20 keeps the last of equal names where Express has set a header before; later versions keep all.
  test.each<[string, string[] | [string, string | string[]][]]>([
    ['a flat list', ['Set-Cookie', 'a=1', 'set-cookie', 'b=2']],
    ['a list of pairs', [['Set-Cookie', ['a=1', 'b=2']]]],
  ])('writeHead with %s that names a header twice', async (_what, list) => {
    handler = (_req, res) => Reflect.apply(res.writeHead, res, [200, list]).end('ok');
    const answer = await fetch(`${url}/paid`, await pay());

    expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  });

  test.each([
    ['If-None-Match', etag],
    ['If-None-Match', '*'],
    ['If-Modified-Since', new Date().toUTCString()],
  ])(
    'a request that pays is answered whole whatever it has already (%s: %s), and so is its repetition',
    async (name, value) => {
      const seen: string[] = [];
      handler = (req, res) => {
        seen.push(...req.rawHeaders.filter((it) => /^if-/i.test(it)));
        return res.set({ ETag: etag, 'Last-Modified': 'Wed, 01 Jan 2020 00:00:00 GMT' }).send('ok');
      };
      const init = { headers: { [name]: value, 'x-mine': 'if-none-match' } };
      const paying = await pay(init);
      const [paid, again] = [await wire('/paid', paying), await wire('/paid', { headers: { ...paying.headers } })];
      // The value of another field.
      expect([paid.status, again.status, again.body, seen]).toEqual([200, 200, paid.body, ['if-none-match']]);
      expect((await wire('/free', init)).status).toBe(304);
    },
  );

  test('a request that pays and is no GET keeps its condition, which may be that nothing is there yet', async () => {
    handler = (req, res) => res.send(String(req.get('If-None-Match')));
    const init = { method: 'PUT', headers: { 'if-none-match': '*' } };
    const paid = await wire('/paid', await pay(init));
    expect([paid.status, String(paid.body), paid.body]).toEqual([200, '*', (await wire('/free', init)).body]);
  });

  test('a request that pays and is no GET has a file whole, since when ever it may have changed', async () => {
    handler = (_req, res) => res.sendFile(__filename);
    const init = { method: 'POST', headers: { 'if-modified-since': new Date().toUTCString() } };
    expect((await wire('/paid', await pay(init))).status).toBe(200);
    // File servers heed it although it says nothing there.
    expect((await wire('/free', init)).status).toBe(304);
  });

  test('an umlaut in the name of a file is the same when its payment comes again', async () => {
    handler = (_req, res) => res.download(__filename, 'bücher.ts');
    const nameOf = ({ headers }: Awaited<ReturnType<typeof wire>>) => headers.filter(([it]) => /disposition/.test(it));
    const paying = await pay();
    const [first, again, free] = [await wire('/paid', paying), await wire('/paid', paying), await wire('/free')];

    expect([nameOf(first), nameOf(again)]).toEqual([nameOf(free), nameOf(free)]);
    expect(again.body).toBe(free.body);
  });

  test('a range of a file', async () => {
    handler = (_req, res) => res.sendFile(__filename);
    const init = { headers: { range: 'bytes=10-19' } };
    const paid = await wire('/paid', await pay(init));

    expect(paid).toEqual(await wire('/free', init));
    expect([paid.status, paid.body.length]).toEqual([206, 10]);
  });

  test.each([
    [undefined, 'private'],
    ['public, max-age=60', 'private, max-age=60'],
    ['s-maxage=60, max-age=5', 'private, max-age=5'],
    ['private, no-cache', 'private, no-cache'],
    ['no-store', 'no-store'],
  ])('Cache-Control %s becomes %s', async (given, expected) => {
    handler = (_req, res) => (given === undefined ? res.send('ok') : res.set('Cache-Control', given).send('ok'));
    const answer = await fetch(`${url}/paid`, await pay());

    expect(answer.headers.get('cache-control')).toBe(expected);
  });

  test('a handler that sets which headers scripts may read does not hide the receipt from them', async () => {
    handler = (_req, res) => res.set('Access-Control-Expose-Headers', 'X-Mine').send('ok');
    const answer = await fetch(`${url}/paid`, await pay());
    const exposed = answer.headers.get('access-control-expose-headers')?.split(', ');

    expect(exposed).toEqual(expect.arrayContaining(['X-Mine', 'PAYMENT-RESPONSE', 'X-PAYMENT-RESPONSE']));
  });

  test('the callback of res.end is called when the answer has left', async () => {
    const ended = new Promise<boolean>((resolve) => {
      handler = (_req, res) => res.end('ok', () => resolve(res.writableFinished));
    });
    await fetch(`${url}/paid`, await pay());

    expect(await ended).toBe(true);
  });
});

const ADDED = new Set([
  'payment-response',
  'x-payment-response',
  'access-control-expose-headers',
  'cache-control',
  'date',
  'vary',
]);
/** A held answer has a known length, so it comes in one piece. */
const FRAMING = new Set(['content-length', 'transfer-encoding', 'connection', 'keep-alive']);

async function plain(url: string, { method = 'GET', headers = {} }: { method?: string; headers?: PaymentHeaders }) {
  const sent = request(url, { method, headers, agent: false }).end();
  const [answer] = await once(sent, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  const raw: string[] = answer.rawHeaders;
  const pairs = raw.flatMap((name, index) => (index % 2 === 0 ? [[name.toLowerCase(), raw[index + 1]] as const] : []));
  return {
    status: answer.statusCode,
    statusText: answer.statusMessage,
    headers: pairs,
    body: Buffer.concat(chunks).toString('latin1'),
  };
}
