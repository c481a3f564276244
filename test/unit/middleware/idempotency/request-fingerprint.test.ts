import { createHash } from 'node:crypto';
import { once } from 'node:events';
import express, { type Express, type Request } from 'express';
import {
  discardBody,
  isBodyLonger,
  MAX_COMPARED_BYTES,
  paymentFingerprint,
  readWholeBody,
  requestFingerprint,
  wholeFingerprint,
} from '../../../../src/middleware/idempotency/request-fingerprint.js';
import { type AppServer, serveApp } from '../../../helpers/http/app-server.js';
import { openSocket, rawRequest } from '../../../helpers/http/raw-http.js';
import { until } from '../../../helpers/until.js';

type Ask = (req: Request) => unknown;

let servers: AppServer[] = [];

afterEach(async () => {
  for (const { close } of servers.splice(0)) await close();
});

/** An app that answers what is found out about each request, and the length of the body that whoever comes next reads. */
async function serve(ask: Ask, before: (app: Express) => unknown = () => undefined): Promise<string> {
  const app = await serveApp((it) => {
    before(it);
    it.use(async (req, res) => {
      const found = await ask(req);
      let length = 0;
      for await (const chunk of req) length += chunk.length;
      res.json({ found: found ?? null, length });
    });
  });
  servers = [...servers, app];
  return app.url;
}

async function foundOf(url: string, body?: string | Buffer, init: RequestInit = {}): Promise<unknown> {
  const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : Uint8Array.from(body) };
  const answer = await (await fetch(url, { method: 'POST', ...sent, ...init })).json();
  return Reflect.get(Object(answer), 'found');
}

/** Sends a body in pieces whose length nobody is told. */
function unannounced(...pieces: string[]): RequestInit {
  const body = new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(Buffer.from(piece));
      controller.close();
    },
  });
  return { body, duplex: 'half' } as RequestInit;
}

/** Reads bodies and keeps nothing of them. */
function eatBodies(app: Express): void {
  app.use((req, _res, next) => void req.resume().once('end', () => next()));
}

const HEX = /^[0-9a-f]{64}$/;
const LONGEST = 'x'.repeat(MAX_COMPARED_BYTES);

describe.each<[string, Ask]>([
  ['a request', (req) => requestFingerprint(req)],
  ['a payment', paymentFingerprint],
])('the fingerprint of %s', (_, ask) => {
  test('is the same for the same request, and another for each that differs', async () => {
    const url = await serve(ask);
    const first = await foundOf(`${url}/a?b=1`, 'body');
    expect(first).toMatch(HEX);
    expect(await foundOf(`${url}/a?b=1`, 'body')).toBe(first);
    const others = [
      await foundOf(`${url}/a?b=1`),
      await foundOf(`${url}/a?b=1`, 'bodY'),
      await foundOf(`${url}/a?b=2`, 'body'),
      await foundOf(`${url}/c?b=1`, 'body'),
      await foundOf(`${url}/a?b=1`, 'body', { method: 'PUT' }),
    ];
    expect(new Set([first, ...others]).size).toBe(6);
  });

  test('is that of the whole body, however it comes and whoever has read it', async () => {
    const [open, kept, parsed] = await Promise.all([
      serve(ask),
      serve(ask, (app) => app.use(express.raw({ type: '*/*' }))),
      serve(ask, (app) => app.use(express.json())),
    ]);
    const json = { headers: { 'content-type': 'application/json' } };
    const first = await foundOf(open, '{"a":1}', json);
    expect(await foundOf(open, undefined, { ...json, ...unannounced('{"a"', ':1}') })).toBe(first);
    expect(await foundOf(kept, '{"a":1}', json)).toBe(first);
    expect(await foundOf(parsed, '{"a":1}', json)).toBe(first);
    expect(await foundOf(parsed, '{"a":2}', json)).not.toBe(first);
  });

  test('takes nothing of the body from whoever reads it next, asked for once or twice', async () => {
    const url = await serve(async (req) => {
      const first = await ask(req);
      return (await ask(req)) === first;
    });
    for (const body of ['', 'body', LONGEST, `${LONGEST}more`]) {
      const response = await fetch(url, { method: 'POST', body });
      expect(await response.json()).toEqual({ found: true, length: body.length });
    }
  });

  test('is none where the client has gone in the middle of its body', async () => {
    const found: unknown[] = [];
    const begun: Request[] = [];
    const url = await serve(async (req) => {
      begun.push(req);
      found.push((await ask(req)) ?? 'none');
    });
    const socket = openSocket(url);
    socket.write(rawRequest('POST /', ['Content-Length: 9'], 'half'));
    await until(() => begun.length > 0);
    expect(found).toEqual([]);
    socket.destroy();
    await until(() => found.length > 0);
    expect(found).toEqual(['none']);
  });

  test('counts only what is left of a body that was parsed to what cannot be written again', async () => {
    const reviver = (_key: string, value: unknown) => (typeof value === 'number' ? BigInt(value) : value);
    const url = await serve(ask, (app) => app.use(express.json({ reviver })));
    const found = await foundOf(url, '{"amount":1}', { headers: { 'content-type': 'application/json' } });
    if (ask === paymentFingerprint) expect(found).toMatch(HEX);
    else expect(found).toBe(null);
  });
});

test.each<[string, Ask, string]>([
  ['a request', (req) => requestFingerprint(req), '["POST","/a?b=1"]\nbody'],
  ['a payment', paymentFingerprint, '["POST","/a?b=1",null]\nbody'],
])('the fingerprint of %s, which is kept, is the same in every release', async (_, ask, digested) => {
  const url = await serve(ask);
  expect(await foundOf(`${url}/a?b=1`, 'body')).toBe(createHash('sha256').update(digested).digest('hex'));
});

test('of a body that is read and lost its length counts', async () => {
  const url = await serve(paymentFingerprint, eatBodies);
  const first = await foundOf(url, '1234');
  expect(first).toMatch(HEX);
  expect(await foundOf(url, '5678')).toBe(first);
  expect(await foundOf(url, '12345')).not.toBe(first);
});

describe('a body that is longer than what is compared', () => {
  test('leaves a request without a fingerprint, and the longest that is compared does not', async () => {
    const url = await serve((req) => requestFingerprint(req));
    expect(await foundOf(url, LONGEST)).toMatch(HEX);
    expect(await foundOf(url, `${LONGEST}x`)).toBe(null);
    expect(await foundOf(url, undefined, unannounced(LONGEST, 'x'))).toBe(null);
  });

  test('leaves a request without one where somebody has read it, too', async () => {
    const url = await serve(
      (req) => requestFingerprint(req),
      (app) => app.use(express.text({ limit: '2mb' })),
    );
    expect(await foundOf(url, LONGEST)).toMatch(HEX);
    expect(await foundOf(url, `${LONGEST}x`)).toBe(null);
  });

  test('counts for a payment by its length and its beginning', async () => {
    const url = await serve(paymentFingerprint);
    const first = await foundOf(url, `${LONGEST}12`);
    expect(await foundOf(url, `${LONGEST}34`)).toBe(first);
    expect(await foundOf(url, `${LONGEST}345`)).not.toBe(first);
    expect(await foundOf(url, `y${LONGEST.slice(1)}12`)).not.toBe(first);
    expect(await foundOf(url, LONGEST)).not.toBe(first);
  });

  test('leaves a request without one where all of the body counts, and else it is that of a payment', async () => {
    const [payment, whole] = [await serve(paymentFingerprint), await serve(wholeFingerprint)];
    expect(await foundOf(whole, LONGEST)).toBe(await foundOf(payment, LONGEST));
    expect(await foundOf(whole, `${LONGEST}x`)).toBe(null);
    expect(await foundOf(whole, undefined, unannounced(LONGEST, 'x'))).toBe(null);
    const lost = await serve(wholeFingerprint, eatBodies);
    expect(await foundOf(lost, '1234')).toBe(null);
  });

  test('counts for a payment where its length is not told', async () => {
    const url = await serve(paymentFingerprint);
    const first = await foundOf(url, undefined, unannounced(LONGEST, '1'));
    expect(first).toMatch(HEX);
    expect(await foundOf(url, undefined, unannounced(LONGEST, '2'))).toBe(first);
    expect(await foundOf(url, undefined, unannounced(`y${LONGEST.slice(1)}`, '1'))).not.toBe(first);
  });
});

test('what else must be the same counts for the fingerprint of a request', async () => {
  const parts = (...all: string[]) => serve((req) => requestFingerprint(req, all));
  const [none, a, b, ab] = await Promise.all([parts(), parts('a'), parts('b'), parts('a', 'b')]);
  const found = await Promise.all([none, a, b, ab].map((url) => foundOf(url, 'body')));
  expect(new Set(found).size).toBe(4);
  expect(await foundOf(await parts('a'), 'body')).toBe(found[1]);
});

test('whether a body is longer than so many bytes is told to the byte', async () => {
  const url = await serve((req) => isBodyLonger(req, 4));
  expect([await foundOf(url), await foundOf(url, '1234'), await foundOf(url, '12345')]).toEqual([false, false, true]);
});

describe('a body that is wanted whole', () => {
  const text = async (req: Request) => {
    const bytes = await readWholeBody(req, 4);
    return bytes && Buffer.from(bytes).toString();
  };

  test('is had where it is no longer than that', async () => {
    const url = await serve(text);
    expect([await foundOf(url), await foundOf(url, '1234'), await foundOf(url, '12345')]).toEqual(['', '1234', null]);
  });

  test('is not had where it is not known to its end, or to the byte', async () => {
    const whole = await serve((req) => readWholeBody(req, 2 * MAX_COMPARED_BYTES).then((it) => it?.length));
    expect([await foundOf(whole, LONGEST), await foundOf(whole, `${LONGEST}x`)]).toEqual([LONGEST.length, null]);
    const eaten = await serve(text, (app) => app.use((req, _res, next) => void req.resume().once('end', () => next())));
    expect(await foundOf(eaten, '1234')).toBe(null);
  });
});

describe('a body that nobody will read', () => {
  test('is let go, and waited for to its end', async () => {
    const seen: string[] = [];
    const begun: Request[] = [];
    const url = await serve(async (req) => {
      begun.push(req);
      await discardBody(req);
      seen.push(`complete: ${req.complete}`);
    });
    const socket = openSocket(url);
    socket.write(rawRequest('POST /', ['Content-Length: 9'], 'half'));
    await until(() => begun[0]?.readableFlowing === true);
    expect(seen).toEqual([]);
    socket.write('other');
    await once(socket, 'data');
    expect(seen).toEqual(['complete: true']);
    socket.destroy();
  });

  test('is not waited for where its client goes', async () => {
    let isOver = false;
    const begun: Request[] = [];
    const url = await serve(async (req) => {
      begun.push(req);
      await discardBody(req);
      isOver = true;
    });
    const socket = openSocket(url);
    socket.write(rawRequest('POST /', ['Content-Length: 9'], 'half'));
    await until(() => begun[0]?.readableFlowing === true);
    socket.destroy();
    await until(() => isOver);
  });

  test('is left as it is where it has come already', async () => {
    const url = await serve(async (req) => {
      await paymentFingerprint(req);
      await discardBody(req);
      return req.readableFlowing;
    });
    const response = await fetch(url, { method: 'POST', body: 'body' });
    expect(await response.json()).toEqual({ found: null, length: 4 });
  });
});
