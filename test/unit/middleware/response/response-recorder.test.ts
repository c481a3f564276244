import { once } from 'node:events';
import type { Response } from 'express';
import {
  MAX_KEPT_BYTES,
  type RecordedResponse,
  recordResponse,
  sendReplay,
  withoutExchangeHeaders,
} from '../../../../src/middleware/response/response-recorder.js';
import type { StoredResponse } from '../../../../src/middleware/response/response-seal.js';
import { type AppServer, serveApp } from '../../../helpers/http/app-server.js';
import { openSocket, rawRequest } from '../../../helpers/http/raw-http.js';
import { until } from '../../../helpers/until.js';

let servers: AppServer[] = [];

afterEach(async () => {
  for (const { close } of servers.splice(0)) await close();
});

/** An app whose response is written down. `keep`: whether it is kept, or when that is known. */
async function open(
  handler: (res: Response, recorded: RecordedResponse) => unknown,
  keep: () => Promise<boolean> = async () => true,
) {
  const seen: { recorded?: RecordedResponse; res?: Response; told: (StoredResponse | undefined)[] } = { told: [] };
  const app = await serveApp((it) => {
    it.use((_req, res) => {
      seen.res = res;
      seen.recorded = recordResponse(res, (response) => {
        seen.told.push(response);
        return keep();
      });
      void handler(res, seen.recorded);
    });
  });
  servers = [...servers, app];
  const recorded = async (): Promise<RecordedResponse> => {
    await until(() => seen.recorded !== undefined);
    return seen.recorded!;
  };
  return { url: app.url, seen, recorded };
}

/** What can be waited for and is brought about by hand. */
function latch<T>() {
  let open = (_: T): void => undefined;
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { open: (value: T) => open(value), opened };
}

/** Sends a request whose client can hang up. */
function hangUpAfter(url: string) {
  const socket = openSocket(url);
  socket.write(rawRequest('GET /'));
  return { hangUp: () => socket.destroy() };
}

function bodyOf(stored: StoredResponse | undefined): string | undefined {
  return stored && Buffer.from(stored.body).toString();
}

describe('what is written down', () => {
  test.each<[string, (res: Response) => unknown]>([
    ['at once', (res) => res.status(201).set('X-Own', 'a').send('the goods')],
    ['with a head of its own', (res) => res.writeHead(201, { 'X-Own': 'a' }).end('the goods')],
    [
      'in parts',
      (res) => {
        res.status(201).set('X-Own', 'a').write('the ');
        res.write(Buffer.from('go'));
        res.end('6f6473', 'hex');
      },
    ],
    [
      'with its head first',
      (res) => {
        res.status(201).set('X-Own', 'a').flushHeaders();
        res.end('the goods');
      },
    ],
  ])('is the response as its client gets it, written %s', async (_, handler) => {
    const { url, seen } = await open(handler);
    const response = await fetch(url);
    expect([response.status, response.headers.get('X-Own'), await response.text()]).toEqual([201, 'a', 'the goods']);
    const [stored] = seen.told;
    expect(stored).toMatchObject({ statusCode: 201, headers: { 'x-own': 'a' } });
    expect([seen.told.length, bodyOf(stored)]).toEqual([1, 'the goods']);
  });

  test('is without the headers of its exchange', async () => {
    const { url, seen } = await open((res) => {
      res.set({ 'X-Request-Id': 'r', RateLimit: '1', Date: 'now', Connection: 'close', 'X-Own': 'a' });
      res.end('x');
    });
    await (await fetch(url)).text();
    expect(Object.keys(seen.told[0]?.headers ?? {})).toEqual(['x-powered-by', 'x-own']);
    const stored = { statusCode: 200, headers: { 'x-own': 'a', date: 'now' }, body: new Uint8Array(1) };
    expect(withoutExchangeHeaders(stored)).toEqual({ ...stored, headers: { 'x-own': 'a' } });
  });

  test('is nothing where it is too long, and it leaves all the same', async () => {
    for (const more of [0, 1]) {
      const { url, seen } = await open((res) => {
        res.write(Buffer.alloc(MAX_KEPT_BYTES, 'x'));
        res.end('x'.repeat(more));
      });
      expect((await (await fetch(url)).text()).length).toBe(MAX_KEPT_BYTES + more);
      expect(seen.told.map((it) => it?.body.length)).toEqual([more === 0 ? MAX_KEPT_BYTES : undefined]);
    }
  });

  test('has the head that was written first', async () => {
    const errors: unknown[] = [];
    const { url, seen } = await open((res) => {
      res.writeHead(201, { 'X-Own': 'a' });
      try {
        res.writeHead(500);
      } catch (error) {
        errors.push(error);
      }
      res.end('the goods');
    });
    expect((await fetch(url)).status).toBe(201);
    expect(errors).toMatchObject([{ code: 'ERR_HTTP_HEADERS_SENT' }]);
    expect(seen.told).toMatchObject([{ statusCode: 201, headers: { 'x-own': 'a' } }]);
  });

  test('is what its client gets, whatever becomes of it while its end waits', async () => {
    const kept = latch<boolean>();
    const { url, seen, recorded } = await open(
      (res) => res.status(201).end('the goods'),
      () => kept.opened,
    );
    const answered = fetch(url);
    const it = await recorded();
    Object.assign(seen.res!, { statusCode: 500, statusMessage: 'Broken' });
    seen.res!.write(Buffer.alloc(MAX_KEPT_BYTES + 1));
    kept.open(true);
    const response = await answered;
    expect([response.status, response.statusText, await response.text()]).toEqual([201, 'Created', 'the goods']);
    // The head has left with the end, so that it names the length.
    expect(response.headers.get('content-length')).toBe('9');
    expect(it.cannotBeKept()).toBe(false);
  });

  test('cannot be kept where it is a stream of events or too long, as far as is known', async () => {
    const told: [string, boolean][] = [];
    for (const type of ['text/event-stream', 'Text/Event-Stream; charset=utf-8', 'x-text/event-stream', 'text/plain']) {
      const { url } = await open((res, it) => {
        res.setHeader('Content-Type', type);
        told.push([type, it.cannotBeKept()]);
        res.end();
      });
      await fetch(url);
    }
    const { url } = await open((res, it) => {
      for (const part of ['none', 'x'.repeat(MAX_KEPT_BYTES), 'x', 'x']) {
        if (part !== 'none') res.write(part);
        told.push([part.slice(0, 4), it.cannotBeKept()]);
      }
      res.end();
    });
    await (await fetch(url)).text();
    expect(told).toEqual([
      ['text/event-stream', true],
      ['Text/Event-Stream; charset=utf-8', true],
      ['x-text/event-stream', false],
      ['text/plain', false],
      ['none', false],
      ['xxxx', false],
      ['x', true],
      ['x', true],
    ]);
  });

  test('has no body and all of its cookies where it was ended with nothing', async () => {
    const cookies = ['a=1', `access-pass-${'0'.repeat(8)}=secret`];
    const { url, seen } = await open((res) => void res.setHeader('Set-Cookie', cookies).end());
    await fetch(url);
    expect(seen.told.map(bodyOf)).toEqual(['']);
    expect(seen.told[0]?.headers).toMatchObject({ 'set-cookie': ['a=1'] });
  });

  test('is sent again without a body where it had none, and without headers that were none', async () => {
    const ends: unknown[][] = [];
    const app = await serveApp((it) =>
      it.use((_req, res) => {
        const { end } = res;
        Reflect.set(res, 'end', (...args: unknown[]) => {
          ends.push(args);
          return Reflect.apply(end, res, args);
        });
        sendReplay(res, { statusCode: 204, headers: { 'x-own': 'a', 'x-none': undefined }, body: new Uint8Array() });
      }),
    );
    servers = [...servers, app];
    const response = await fetch(app.url);
    expect([response.status, response.headers.get('x-own'), response.headers.get('x-none'), ends]).toEqual([
      204,
      'a',
      null,
      [[]],
    ]);
  });

  test.each<[string, string, number, string | null]>([
    ['its own length where it has a body', 'GET', 200, '9'],
    ['the length that its body would have, to a HEAD', 'HEAD', 200, '4711'],
    ['the length that its body would have, where nothing has changed', 'GET', 304, '4711'],
  ])('is sent again with %s', async (_what, method, statusCode, length) => {
    const body = Buffer.from(method === 'HEAD' || statusCode === 304 ? '' : 'the goods');
    const app = await serveApp((it) =>
      it.use((_req, res) => sendReplay(res, { statusCode, headers: { 'content-length': '4711' }, body })),
    );
    servers = [...servers, app];
    const response = await fetch(app.url, { method });
    expect([response.headers.get('content-length'), await response.text()]).toEqual([length, String(body)]);
  });

  test('can be sent again, and says so', async () => {
    const first = await open((res) => {
      res.statusMessage = 'Made for you';
      res.status(201).set('X-Own', ['a', 'b']).end('the goods');
    });
    await fetch(first.url);
    const again = await serveApp((it) => it.use((_req, res) => sendReplay(res, first.seen.told[0]!)));
    servers = [...servers, again];
    const response = await fetch(again.url);
    const { status, statusText } = response;
    expect([status, statusText, await response.text()]).toEqual([201, 'Made for you', 'the goods']);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'x-own': 'a, b',
      'idempotency-replayed': 'true',
      'access-control-expose-headers': 'Idempotency-Replayed',
    });
  });
});

describe('a response has begun', () => {
  test.each<[string, (res: Response) => unknown]>([
    ['its head was sent', (res) => res.flushHeaders()],
    ['a part of it was written', (res) => res.write('the ')],
  ])('when %s', async (_, begin) => {
    const goOn = latch<void>();
    const { url, recorded } = await open(async (res, it) => {
      res.status(200);
      expect(it.begun).toBe(false);
      begin(res);
      await goOn.opened;
      res.end('goods');
    });
    const answered = fetch(url).then((it) => it.text());
    const { begun, hasEnded } = await recorded();
    expect([begun, hasEnded]).toEqual([true, false]);
    goOn.open();
    expect(await answered).toMatch(/goods$/);
    expect((await recorded()).hasEnded).toBe(true);
  });

  test('not while its end waits until it is kept, and its client gets nothing before that', async () => {
    const kept = latch<boolean>();
    const { url, recorded } = await open(
      (res) => res.end('the goods'),
      () => kept.opened,
    );
    let isAnswered = false;
    const answered = fetch(url).then((it) => {
      isAnswered = true;
      return it.text();
    });
    const it = await recorded();
    expect([it.begun, it.hasEnded, it.isKept, isAnswered]).toEqual([false, false, false, false]);
    kept.open(true);
    expect(await answered).toBe('the goods');
    expect([it.begun, it.hasEnded, it.isKept]).toEqual([true, true, true]);
  });

  test.each(['flushHeaders', 'write', 'end'] as const)('not by %s when nobody is there any more', async (method) => {
    const { url, seen, recorded } = await open((res) => void once(res, 'close').then(() => res[method]('x' as never)));
    const client = hangUpAfter(url);
    const it = await recorded();
    client.hangUp();
    await until(() => seen.res?.closed === true);
    if (method === 'end') await it.ended;
    expect([it.begun, it.hasEnded]).toEqual([false, method === 'end']);
  });
});

describe('whether a response is kept', () => {
  test.each<[string, () => Promise<boolean>, boolean]>([
    ['it is', async () => true, true],
    ['it is not', async () => false, false],
    ['the store fails', () => Promise.reject(new Error('the store is away')), false],
  ])('is what was said of it: %s', async (_, keep, isKept) => {
    const { url, recorded } = await open((res) => res.end('the goods'), keep);
    expect(await (await fetch(url)).text()).toBe('the goods');
    expect((await recorded()).isKept).toBe(isKept);
  });

  test.each<[string, Record<string, string>, string | undefined]>([
    ['as long as it said is kept', { 'content-length': '9' }, 'the goods'],
    ['shorter than it said is not', { 'content-length': '10' }, undefined],
    ['of no said length is not', {}, undefined],
  ])('where its client has gone, one %s', async (_what, headers, body) => {
    const { url, seen, recorded } = await open((res) => {
      void once(res, 'close').then(() => res.writeHead(200, headers).end('the goods'));
    });
    const client = hangUpAfter(url);
    const it = await recorded();
    client.hangUp();
    await it.ended;
    expect([it.begun, seen.told[0] && bodyOf(seen.told[0])]).toEqual([false, body]);
  });

  test('does not change by a second end, and nothing is written down twice', async () => {
    const { url, seen } = await open((res) => {
      res.end('the goods');
      res.end('other goods');
    });
    expect(await (await fetch(url)).text()).toBe('the goods');
    expect(seen.told.map(bodyOf)).toEqual(['the goods']);
  });
});

describe('what throws in front of the end', () => {
  const LONG = 'x'.repeat(8 * 1024 * 1024);

  /** An app where something in front of the response throws as it is ended, after it was sent or instead. */
  async function openThrowing(isSent: boolean, body: string, keep: boolean) {
    const seen: { recorded?: RecordedResponse } = {};
    const app = await serveApp((it) => {
      it.use((_req, res) => {
        const { end } = res;
        Reflect.set(res, 'end', (...args: unknown[]) => {
          if (isSent) Reflect.apply(end, res, args);
          throw new Error('the adapter fails');
        });
        seen.recorded = recordResponse(res, async () => keep);
        res.end(body);
      });
    });
    servers = [...servers, app];
    return { url: app.url, seen };
  }

  test('takes nothing from a response that it has sent, however long, and is told', async () => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation();
    const { url, seen } = await openThrowing(true, LONG, false);
    expect((await (await fetch(url)).text()).length).toBe(LONG.length);
    expect(seen.recorded?.hasEnded).toBe(true);
    expect(warned).toHaveBeenCalledWith('Error: the adapter fails', { code: 'TOLLHOUSE_INTERNAL' });
    warned.mockRestore();
  });

  test.each([true, false])(
    'cuts a response that it has not sent, which has ended only if it is kept: %s',
    async (keep) => {
      const { url, seen } = await openThrowing(false, 'the goods', keep);
      await expect(fetch(url)).rejects.toThrow();
      await seen.recorded?.ended;
      expect(seen.recorded?.hasEnded).toBe(keep);
    },
  );
});

describe('to wait for the end', () => {
  test('takes no longer than one is willing to', async () => {
    const kept = latch<boolean>();
    const { url, seen, recorded } = await open(
      () => undefined,
      () => kept.opened,
    );
    const client = hangUpAfter(url);
    const it = await recorded();
    await it.endsWithin(5);
    expect(it.hasEnded).toBe(false);
    let isOver = false;
    const ending = it.endsWithin(60_000).then(() => {
      isOver = true;
    });
    seen.res?.end('late');
    await new Promise(setImmediate);
    expect([it.hasEnded, isOver]).toEqual([false, false]);
    kept.open(true);
    await ending;
    expect(it.hasEnded).toBe(true);
    client.hangUp();
  });

  test('is over at once when it has ended', async () => {
    const { url, recorded } = await open((res) => res.end('the goods'));
    await (await fetch(url)).text();
    await (await recorded()).endsWithin(60_000);
  });
});
