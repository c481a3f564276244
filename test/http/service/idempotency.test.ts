import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import type { Express, Response } from 'express';
import { TollhouseError } from '../../../src/errors/errors.js';
import { type IdempotencyOptions, idempotency } from '../../../src/middleware/idempotency/idempotency.js';
import type { IdempotencyStore } from '../../../src/storage/idempotency/idempotency-store.js';
import { createMemoryIdempotencyStore } from '../../../src/storage/idempotency/memory-idempotency-store.js';
import { EXPRESSES } from '../../helpers/fixtures/toll-fixture.js';
import { type AppServer, serveApp } from '../../helpers/http/app-server.js';
import { testClock } from '../../helpers/test-clock.js';
import { createGate } from '../../helpers/transactions/payments.js';

const LEASE_MS = 60_000;
const open: AppServer[] = [];
afterAll(async () => {
  for (const server of open) await server.close();
});

/** A request of a client's. */
interface Sent {
  readonly path?: string;
  readonly method?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

describe.each(EXPRESSES)('Idempotency-Key on %s', (_name, express) => {
  /** An app whose handler counts its runs and answers with their number. */
  async function openApp(
    options: Partial<IdempotencyOptions> = {},
    configure: (app: Express, run: () => number) => void = (app, run) => {
      app.post('/jobs', express.json(), (req, res) => {
        const at = run();
        res.status(201).set('X-Run', String(at)).json({ run: at, body: req.body });
      });
    },
  ) {
    const { now, advance } = testClock();
    let runs = 0;
    const run = () => {
      runs += 1;
      return runs;
    };
    const { url, close } = await serveApp((app) => {
      app.use(idempotency({ store: createMemoryIdempotencyStore({ now }), leaseMs: LEASE_MS, ...options }));
      configure(app, run);
    }, express);
    open.push({ url, close });
    const send = async (key: string | undefined, { path = '/jobs', method = 'POST', body, headers }: Sent = {}) => {
      const all = {
        'content-type': 'application/json',
        ...headers,
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      };
      const answer = await fetch(`${url}${path}`, { method, headers: all, body: body ?? '{"a":1}' });
      return {
        answer,
        status: answer.status,
        text: await answer.text(),
        replayed: answer.headers.get('idempotency-replayed'),
      };
    };
    return { url, send, advance, runs: () => runs };
  }

  test('the same request again gets the same answer, and the handler runs once', async () => {
    const { send, runs } = await openApp();
    const key = randomUUID();
    const [first, again] = [await send(key), await send(key)];

    expect([first.status, first.replayed, runs()]).toEqual([201, null, 1]);
    expect([again.status, again.replayed, again.text]).toEqual([201, 'true', first.text]);
    for (const name of ['content-type', 'x-run', 'etag', 'content-length']) {
      expect(again.answer.headers.get(name)).toBe(first.answer.headers.get(name));
    }
    expect(again.answer.headers.get('access-control-expose-headers')).toContain('Idempotency-Replayed');
    expect((await send(randomUUID())).text).not.toBe(first.text);
    expect((await send(undefined)).replayed).toBeNull();
    expect(runs()).toBe(3);
  });

  test.each<[string, Sent]>([
    ['another body', { body: '{"a":2}' }],
    ['another query', { path: '/jobs?fast' }],
  ])('%s under the same key is 422, and does not run', async (_what, other) => {
    const { send, runs } = await openApp();
    const key = randomUUID();
    await send(key);
    const reused = await send(key, other);

    expect(reused.status).toBe(422);
    expect(JSON.parse(reused.text)).toMatchObject({ code: 'idempotency_key_reused', param: 'Idempotency-Key' });
    expect(runs()).toBe(1);
    expect((await send(key)).replayed).toBe('true');
  });

  test('on another path, and for a caller with other credentials, the key is another one', async () => {
    const { send, runs } = await openApp({}, (app, run) => {
      app.post(['/jobs', '/tasks'], (_req, res) => void res.json({ run: run() }));
    });
    const key = randomUUID();
    await send(key);
    for (const other of [
      { path: '/tasks' },
      { headers: { authorization: 'Bearer one' } },
      { headers: { authorization: 'Bearer two' } },
      { headers: { 'x-service-key': 'toll_pk_1' } },
    ]) {
      expect((await send(key, other)).replayed).toBeNull();
      expect((await send(key, other)).replayed).toBe('true');
    }
    expect(runs()).toBe(5);
  });

  test('a short key opens nothing for others behind the same proxy, where that is not trusted', async () => {
    const { send } = await openApp();
    const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
    await send('short', from('192.0.2.1'));
    expect((await send('short', from('192.0.2.2'))).replayed).toBeNull();
    expect((await send('short')).replayed).toBeNull();
    expect((await send('short', from('192.0.2.1'))).replayed).toBe('true');
  });

  test('a key of 16 characters counts for whoever brings it, a shorter one by address', async () => {
    const { send } = await openApp({}, (app, run) => {
      app.set('trust proxy', 1);
      app.post('/jobs', (_req, res) => void res.json({ run: run() }));
    });
    const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
    await send('short', from('192.0.2.1'));
    expect((await send('short', from('192.0.2.2'))).replayed).toBeNull();
    expect((await send('short', from('192.0.2.1'))).replayed).toBe('true');
    const long = 'k'.repeat(16);
    await send(long, from('192.0.2.1'));
    expect((await send(long, from('192.0.2.2'))).replayed).toBe('true');
  });

  test('who is calling can be said by the app', async () => {
    const { send } = await openApp({ scopeOf: async (req) => String(req.get('x-account')) });
    const key = randomUUID();
    const by = (account: string, token: string) => ({ headers: { 'x-account': account, authorization: token } });
    await send(key, by('alice', 'old token'));
    expect((await send(key, by('bob', 'old token'))).replayed).toBeNull();
    expect((await send(key, by('alice', 'new token'))).replayed).toBe('true');
  });

  test.each([
    ['of no characters', ''],
    ['with a space', 'a b'],
    ['of 256 characters', 'k'.repeat(256)],
    ['with other than ASCII', 'schl\u00fcssel'],
  ])('a key %s is 400', async (_what, key) => {
    const { send, runs } = await openApp();
    const { status, text } = await send(key);
    expect([status, JSON.parse(text).code, runs()]).toEqual([400, 'invalid_idempotency_key', 0]);
  });

  test('while the first is running the same is 409; its answer is kept though its client has gone', async () => {
    const gate = createGate();
    const entered = createGate();
    const { url, send, runs } = await openApp({}, (app, run) => {
      app.post('/jobs', async (_req, res) => {
        entered.open();
        await gate.opened;
        res.json({ run: run() });
      });
    });
    const key = randomUUID();
    const impatient = new AbortController();
    const headers = { 'idempotency-key': key, 'content-type': 'application/json' };
    const first = fetch(`${url}/jobs`, { method: 'POST', headers, body: '{"a":1}', signal: impatient.signal });
    await entered.opened;
    const during = await send(key);
    expect([during.status, during.answer.headers.get('retry-after')]).toEqual([409, '1']);
    expect(JSON.parse(during.text)).toMatchObject({ code: 'idempotency_in_progress', retryable: true });
    expect((await send(key, { body: '{"a":2}' })).status).toBe(422);

    impatient.abort();
    await expect(first).rejects.toThrow();
    gate.open();
    let later = await send(key);
    while (later.status === 409) later = await send(key);
    expect([later.status, later.replayed, runs()]).toEqual([200, 'true', 1]);
  });

  test('a run that crashed can be repeated when its lease is over', async () => {
    let crashes = true;
    const { send, advance } = await openApp({}, (app) => {
      app.post('/jobs', (req, res) => {
        if (crashes) req.socket.destroy();
        else res.json({ done: true });
      });
    });
    const key = randomUUID();
    await expect(send(key)).rejects.toThrow();
    crashes = false;
    expect((await send(key)).status).toBe(409);
    await advance(LEASE_MS);
    expect((await send(key, { body: '{"a":2}' })).status).toBe(422);
    expect(await send(key)).toMatchObject({ status: 200, replayed: null });
    expect(await send(key)).toMatchObject({ status: 200, replayed: 'true' });
  });

  test('after 24 hours the key is free', async () => {
    const { send, advance } = await openApp();
    const key = randomUUID();
    await send(key);
    await advance(86_400_001);
    expect(await send(key, { body: '{"a":2}' })).toMatchObject({ status: 201, replayed: null });
  });

  test.each([
    [200, 'kept'],
    [202, 'kept'],
    [303, 'kept'],
    [400, 'kept'],
    [404, 'kept'],
    [422, 'kept'],
    [401, 'open'],
    [402, 'open'],
    [403, 'open'],
    [408, 'open'],
    [409, 'open'],
    [425, 'open'],
    [429, 'open'],
    [500, 'open'],
    [503, 'open'],
  ])('an answer of status %i is left %s', async (status, fate) => {
    const { send, runs } = await openApp({}, (app, run) => {
      app.post('/jobs', (_req, res) => void res.status(status).json({ run: run() }));
    });
    const key = randomUUID();
    await send(key);
    const again = await send(key);
    expect([again.status, again.replayed, runs()]).toEqual(fate === 'kept' ? [status, 'true', 1] : [status, null, 2]);
  });

  test('an error of the app leaves the request open', async () => {
    let fails = true;
    const { send } = await openApp({}, (app) => {
      app.set('env', 'test');
      app.post('/jobs', (_req, res) => {
        if (fails) throw new Error('not today');
        res.json({ done: true });
      });
    });
    const key = randomUUID();
    expect((await send(key)).status).toBe(500);
    fails = false;
    expect(await send(key)).toMatchObject({ status: 200, replayed: null });
  });

  test.each([
    ['in one piece', (res: Response) => void res.end('äbc'), 'äbc'],
    ['without a body', (res: Response) => void res.status(204).end(), ''],
    [
      'in pieces, with a head of its own',
      (res: Response) => {
        res.writeHead(200, 'Fine', { 'X-Own': 'yes', 'Content-Type': 'text/plain' });
        res.write('a');
        res.write(Buffer.from('b'));
        res.end('c', 'utf8');
      },
      'abc',
    ],
  ])('an answer that is written %s comes back whole', async (_what, write, text) => {
    const { send } = await openApp({}, (app) => app.post('/jobs', (_req, res) => write(res)));
    const key = randomUUID();
    const [first, again] = [await send(key), await send(key)];
    expect([first.text, again.text, again.replayed]).toEqual([text, text, 'true']);
    expect(again.status).toBe(first.status);
    expect(again.answer.headers.get('x-own')).toBe(first.answer.headers.get('x-own'));
  });

  test('an answer of more than 1 MiB leaves whole, and is not kept', async () => {
    const { send, runs } = await openApp({}, (app, run) => {
      app.post('/jobs', (_req, res) => void res.send(Buffer.alloc(1_048_577, run())));
    });
    const key = randomUUID();
    for (const count of [1, 2]) {
      const { text, replayed } = await send(key);
      expect([text.length, replayed, runs()]).toEqual([1_048_577, null, count]);
    }
  });

  test('the body reaches every kind of handler, whatever reads it', async () => {
    const { url } = await openApp({}, (app) => {
      app.post('/json', express.json({ limit: '2mb' }), (req, res) => void res.json(req.body ?? null));
      app.post('/pipe', (req, res) => void req.pipe(res));
      app.post('/none', (_req, res) => void res.send('fine'));
      app.post('/twice', idempotency({ store: createMemoryIdempotencyStore() }), express.text(), (req, res) => {
        res.send(req.body);
      });
    });
    const large = JSON.stringify({ text: 'x'.repeat(900_000) });
    expect(await chunked(`${url}/json`, ['{"a":', '1}'])).toBe('{"a":1}');
    expect(await chunked(`${url}/json`, [large.slice(0, 500_000), large.slice(500_000)])).toBe(large);
    expect(await chunked(`${url}/pipe`, ['ab', 'cd', 'ef'])).toBe('abcdef');
    expect(await chunked(`${url}/none`, ['ab'])).toBe('fine');
    expect(await chunked(`${url}/twice`, ['ab', 'cd'], 'text/plain')).toBe('abcd');
    const empty = await fetch(`${url}/pipe`, { method: 'POST', headers: { 'idempotency-key': randomUUID() } });
    expect([empty.status, await empty.text()]).toEqual([200, '']);
  });

  test('behind a body parser what was parsed is compared', async () => {
    const { url, close } = await serveApp((app) => {
      app.use(express.json(), idempotency({ store: createMemoryIdempotencyStore() }));
      app.post('/jobs', (req, res) => void res.json(req.body));
    }, express);
    open.push({ url, close });
    const headers = { 'idempotency-key': randomUUID(), 'content-type': 'application/json' };
    const send = (body: string) => fetch(`${url}/jobs`, { method: 'POST', headers, body });
    expect((await send('{"a":1}')).status).toBe(200);
    expect((await send('{"a":2}')).status).toBe(422);
    expect((await send('{"a":1}')).headers.get('idempotency-replayed')).toBe('true');
  });

  test('a body that is too long to be compared is 413', async () => {
    const { send, runs } = await openApp();
    const { status, text } = await send(randomUUID(), { body: `"${'x'.repeat(1_048_576)}"` });
    expect([status, JSON.parse(text).code, runs()]).toEqual([413, 'body_too_large', 0]);
  });

  test('methods that are idempotent by themselves pass; PATCH does not', async () => {
    const { send, runs } = await openApp({}, (app, run) => {
      app.all('/jobs', (_req, res) => void res.json({ run: run() }));
    });
    const key = randomUUID();
    for (const method of ['PUT', 'DELETE', 'PUT', 'DELETE']) expect((await send(key, { method })).replayed).toBeNull();
    expect(runs()).toBe(4);
    await send(key, { method: 'PATCH' });
    expect((await send(key, { method: 'PATCH' })).replayed).toBe('true');
  });

  test('while nothing can be kept, a request with a key is 503 and does not run', async () => {
    const down: IdempotencyStore = {
      ...createMemoryIdempotencyStore(),
      begin: async () => {
        throw new TollhouseError('store_unavailable', 'The database does not answer.', { retryAfterSeconds: 2 });
      },
    };
    const { send, runs } = await openApp({ store: down });
    const { status, text } = await send(randomUUID());
    expect([status, JSON.parse(text).code, runs()]).toEqual([503, 'store_unavailable', 0]);
    expect((await send(undefined)).status).toBe(201);
  });
});

test('wrong options are told at once', () => {
  const store = createMemoryIdempotencyStore();
  expect(() => idempotency({ store, leaseMS: 5 } as never)).toThrow(/did you mean "leaseMs"/);
  for (const leaseMs of [1, 999, 86_400_001, 1_000.5]) {
    expect(() => idempotency({ store, leaseMs })).toThrow(
      /"leaseMs" must be a whole number .* from 1,000 to 86,400,000/,
    );
  }
  expect(() => idempotency({ store, leaseMs: 1_000 })).not.toThrow();
  expect(() => idempotency({} as never)).toThrow(/"store" is missing: it must be a store of kept responses/);
});

function chunked(url: string, chunks: readonly string[], type = 'application/json'): Promise<string> {
  const headers = { 'content-type': type, 'idempotency-key': randomUUID() };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers }, async (answer) => {
      let text = '';
      for await (const chunk of answer) text += chunk;
      resolve(text);
    });
    sent.once('error', reject);
    for (const chunk of chunks) sent.write(chunk);
    sent.end();
  });
}
