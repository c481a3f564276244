import { once } from 'node:events';
import type { Response } from 'express';
import {
  type BufferEnd,
  type BufferedResponse,
  type BufferLimits,
  bufferResponse,
  sendStored,
} from '../../../../src/middleware/response/response-buffer.js';
import { type AppServer, serveApp } from '../../../helpers/http/app-server.js';
import { answersIn, ask, collect, openSocket, rawRequest } from '../../../helpers/http/raw-http.js';
import { until } from '../../../helpers/until.js';

/** Longer than any test lasts. Milliseconds. */
const LONG_MS = 60_000;
const LIMITS: BufferLimits = { maxBytes: 100, timeoutMs: LONG_MS };

let servers: AppServer[] = [];

afterEach(async () => {
  for (const { close } of servers.splice(0)) await close();
});

type Handler = (res: Response) => unknown;
type Then = (end: BufferEnd, buffered: BufferedResponse, res: Response) => unknown;

/** Lets out what was held as it is. */
const letOut: Then = (end, { send }, res) =>
  send(() => (end.why === 'ended' ? sendStored(res, end.response) : res.status(500).end(end.why)));

/** An app whose handler's response is held until its end, and then what `then` makes of it. */
async function open(handler: Handler, then: Then = letOut, limits: Partial<BufferLimits> = {}) {
  const seen: { end?: BufferEnd; res?: Response; requests: number } = { requests: 0 };
  const app = await serveApp((it) => {
    it.disable('x-powered-by');
    it.use(async (_req, res) => {
      seen.res = res;
      seen.requests += 1;
      const buffered = bufferResponse(res, { ...LIMITS, ...limits });
      void handler(res);
      seen.end = await buffered.ended;
      await then(seen.end, buffered, res);
    });
  });
  servers = [...servers, app];
  return { url: app.url, seen };
}

describe('a response that is held', () => {
  test('is the whole of what its handler wrote, and comes out as that', async () => {
    const { url, seen } = await open((res) => {
      res.statusMessage = 'Quite So';
      res.status(203).set('X-Own', 'a').write('the ');
      res.write(Buffer.from('go'));
      res.write(new Uint8Array([0x6f]));
      res.end('6473', 'hex');
    });
    const answer = await fetch(url);
    expect([answer.status, answer.statusText, answer.headers.get('X-Own'), await answer.text()]).toEqual([
      203,
      'Quite So',
      'a',
      'the goods',
    ]);
    expect(seen.end).toMatchObject({
      why: 'ended',
      response: { statusCode: 203, statusMessage: 'Quite So', headers: { 'x-own': 'a' } },
    });
  });

  test.each<[string, Handler]>([
    ['nothing', (res) => res.end()],
    ['a callback', (res) => res.end(() => undefined)],
    ['no chunk, and a callback behind it', (res) => res.end(null, () => undefined)],
  ])('has no body where it is ended with %s', async (_, handler) => {
    const { url, seen } = await open(handler);
    expect(await (await fetch(url)).text()).toBe('');
    expect(seen.end).toMatchObject({ response: { body: Buffer.alloc(0) } });
  });

  test('is taken for text where it has an encoding that there is not', async () => {
    const { url } = await open((res) => res.end('6473', 'no such' as BufferEncoding));
    expect(await (await fetch(url)).text()).toBe('6473');
  });

  test('takes no chunk that is neither text nor bytes', async () => {
    const errors: unknown[] = [];
    const { url } = await open((res) => {
      try {
        res.write({ an: 'object' });
      } catch (error) {
        errors.push(error);
      }
      res.end('the goods');
    });
    expect(await (await fetch(url)).text()).toBe('the goods');
    expect(errors).toEqual([new TypeError('an answer is written as string, Buffer or Uint8Array')]);
  });

  test('keeps the bytes of a chunk as they were when it was written', async () => {
    const { url } = await open((res) => {
      const chunk = Buffer.from('the goods');
      res.write(chunk);
      chunk.fill('x');
      res.end();
    });
    expect(await (await fetch(url)).text()).toBe('the goods');
  });

  test('has its head complete for its handler once it is begun, and wrappers see it once', async () => {
    const told: boolean[] = [];
    const heads: number[] = [];
    const { url } = await open((res) => {
      const { writeHead } = res;
      Reflect.set(res, 'writeHead', (...args: unknown[]) => {
        heads.push(Number(args[0]));
        return Reflect.apply(writeHead, res, args);
      });
      told.push(res.headersSent);
      res.status(201).flushHeaders();
      told.push(res.headersSent);
      res.write('the ');
      res.end('goods');
    });
    expect((await fetch(url)).status).toBe(201);
    expect([told, heads]).toEqual([[false, true], [201]]);
  });

  test('calls back who writes, and who ends it once it has left', async () => {
    const order: string[] = [];
    const { url } = await open(
      (res) => {
        const go = res.write('the ', () => {
          order.push('written');
          res.end('goods', () => order.push('ended'));
        });
        order.push(`go on: ${go}`);
      },
      (...args) => {
        order.push('let out');
        return letOut(...args);
      },
    );
    expect(await (await fetch(url)).text()).toBe('the goods');
    await until(() => order.length === 4);
    expect(order).toEqual(['go on: true', 'written', 'let out', 'ended']);
  });

  test('is as it was before its handler for whoever sends something else', async () => {
    const { url } = await open(
      (res) => {
        res.statusMessage = 'Quite So';
        res.status(203).set('X-Own', 'a').end('the goods');
      },
      (_end, { send }, res) => send(() => void res.status(402).end('pay first')),
    );
    const [answer] = await Promise.all([fetch(url)]);
    expect([answer.status, answer.statusText, answer.headers.get('X-Own'), await answer.text()]).toEqual([
      402,
      'Payment Required',
      null,
      'pay first',
    ]);
  });

  test('keeps headers from before it, which its handler took away', async () => {
    const app = await serveApp((it) => {
      it.use(async (_req, res) => {
        res.set('X-Before', 'b');
        const buffered = bufferResponse(res, LIMITS);
        res.removeHeader('X-Before');
        res.end('the goods');
        await buffered.ended;
        buffered.send(() => void res.status(503).end('later'));
      });
    });
    servers = [...servers, app];
    const answer = await fetch(app.url);
    expect([answer.status, answer.headers.get('X-Before')]).toEqual([503, 'b']);
  });

  test('is its own and no more once it was sent: its handler adds nothing', async () => {
    const { url, seen } = await open((res) => res.end('the goods'));
    const { status, body, headers } = await ask(url, 'GET /');
    expect([status, body, headers.get('content-length')]).toEqual([200, 'the goods', '9']);
    expect(seen.res!.end('more')).toBe(seen.res);
    expect(seen.res!.write('more')).toBe(true);
  });
});

describe('a response that is too large to be held', () => {
  test.each<[string, Handler, string]>([
    ['at once', (res) => res.end('x'.repeat(101)), 'too_large'],
    ['in parts', (res) => res.write('x'.repeat(60)) && res.end('x'.repeat(41)), 'too_large'],
    ['and not by a byte less', (res) => res.write('x'.repeat(60)) && res.end('x'.repeat(40)), 'ended'],
  ])('%s', async (_, handler, why) => {
    const { url, seen } = await open(handler);
    const answer = await fetch(url);
    expect(seen.end?.why).toBe(why);
    expect(await answer.text()).toBe(why === 'ended' ? 'x'.repeat(100) : why);
  });

  test('is over with the first byte too many, whatever its handler goes on to do', async () => {
    const { url, seen } = await open((res) => {
      res.write('x'.repeat(101));
      res.end('short');
    });
    expect(await (await fetch(url)).text()).toBe('too_large');
    expect(seen.end).toEqual({ why: 'too_large' });
  });
});

describe('the wait for a handler', () => {
  test('is over in time, and what comes later is not sent', async () => {
    const { url, seen } = await open((res) => res.write('the '), letOut, { timeoutMs: 5 });
    expect(await (await fetch(url)).text()).toBe('timeout');
    seen.res?.end('goods');
    expect(seen.end).toEqual({ why: 'timeout' });
  });

  test('is over when the client goes', async () => {
    const { url, seen } = await open(
      () => undefined,
      () => undefined,
    );
    const client = openSocket(url);
    client.write(rawRequest('GET /'));
    await until(() => seen.res !== undefined);
    expect(seen.end).toBeUndefined();
    client.destroy();
    await until(() => seen.end !== undefined);
    expect(seen.end).toEqual({ why: 'client_gone' });
  });

  test('is over once: a response that has ended in time is not late', async () => {
    const { url, seen } = await open(
      (res) => res.end('the goods'),
      async (end, buffered, res) => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        return letOut(end, buffered, res);
      },
      { timeoutMs: 10 },
    );
    expect(await (await fetch(url)).text()).toBe('the goods');
    expect(seen.end?.why).toBe('ended');
  });
});

describe('a response that is held no longer', () => {
  test('is open to everybody as before its handler', async () => {
    const { url } = await open(
      (res) => res.status(201).set('X-Own', 'a').end('the goods'),
      (_end, { giveUp }, res) => {
        giveUp();
        expect(res.headersSent).toBe(false);
        res.status(500).end('something is broken');
      },
    );
    const answer = await fetch(url);
    expect([answer.status, answer.headers.get('X-Own'), await answer.text()]).toEqual([
      500,
      null,
      'something is broken',
    ]);
  });

  test('stays as it is where something was sent', async () => {
    const { url } = await open(
      (res) => res.end('the goods'),
      async (end, buffered, res) => {
        await letOut(end, buffered, res);
        expect(res.headersSent).toBe(true);
        buffered.giveUp();
        res.end('more');
      },
    );
    const socket = openSocket(url);
    const text = collect(socket);
    socket.write(rawRequest('GET /', ['Connection: close']));
    expect(answersIn(await text).map(({ body }) => body)).toEqual(['the goods']);
  });
});

test('a stored response without a message has the usual one of its status', async () => {
  const app = await serveApp((it) =>
    it.use((_req, res) => {
      res.statusMessage = 'Of Another';
      res.set('X-Other', 'o');
      sendStored(res, { statusCode: 202, headers: { 'x-own': 'a', 'x-none': undefined }, body: new Uint8Array() });
    }),
  );
  servers = [...servers, app];
  const answer = await fetch(app.url);
  expect([answer.status, answer.statusText, await answer.text()]).toEqual([202, 'Accepted', '']);
  expect(['x-own', 'x-other', 'x-none'].map((name) => answer.headers.get(name))).toEqual(['a', null, null]);
});

test('a stored response without a body is ended without one', async () => {
  const ends: unknown[][] = [];
  const app = await serveApp((it) =>
    it.use((_req, res) => {
      const { end } = res;
      Reflect.set(res, 'end', (...args: unknown[]) => {
        ends.push(args);
        return Reflect.apply(end, res, args);
      });
      sendStored(res, { statusCode: 204, headers: {}, body: new Uint8Array() });
    }),
  );
  servers = [...servers, app];
  expect((await fetch(app.url)).status).toBe(204);
  expect(ends).toEqual([[]]);
});

test('a response can be held by two, each of whom lets it go on to the other', async () => {
  const app = await serveApp((it) =>
    it.use(async (_req, res) => {
      const outer = bufferResponse(res, LIMITS);
      const inner = bufferResponse(res, LIMITS);
      res.status(201).end('the goods');
      letOut(await inner.ended, inner, res);
      letOut(await outer.ended, outer, res);
    }),
  );
  servers = [...servers, app];
  const answer = await fetch(app.url);
  expect([answer.status, await answer.text()]).toEqual([201, 'the goods']);
});

test('a held response takes nothing from the next one on its connection', async () => {
  const { url, seen } = await open((res) => res.end(`answer ${seen.requests}`));
  const socket = openSocket(url);
  const text = collect(socket);
  socket.write(rawRequest('GET /'));
  await once(socket, 'data');
  socket.write(rawRequest('GET /', ['Connection: close']));
  expect(answersIn(await text).map(({ body }) => body)).toEqual(['answer 1', 'answer 2']);
});
