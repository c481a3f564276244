import { EventEmitter, once } from 'node:events';
import type { Socket } from 'node:net';
import type { Response } from 'express';
import { isClientGone } from '../../../../src/lib/http/connection-events.js';
import { deliverInTime } from '../../../../src/middleware/response/deliver.js';
import { noteKeeping } from '../../../../src/middleware/response/idempotency-notes.js';
import { closed, comesToEnd, delivered, watchBreak } from '../../../../src/middleware/response/response-end.js';
import { type AppServer, serveApp } from '../../../helpers/http/app-server.js';
import { collect, openSocket, rawRequest } from '../../../helpers/http/raw-http.js';
import { until } from '../../../helpers/until.js';

/** Longer than any test lasts. Milliseconds. */
const LONG_MS = 60_000;
const MEGABYTES = Buffer.alloc(16 * 1024 * 1024, 'x');

let servers: AppServer[] = [];
let sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const { close } of servers.splice(0)) await close();
});

/** Requests of one client on one connection, which answers nothing by itself; their responses in the order of the requests. */
async function open(requests = 1): Promise<{ responses: Response[]; client: Socket; connection: Socket }> {
  const responses: Response[] = [];
  const app = await serveApp((it) => it.use((_req, res) => void responses.push(res)));
  servers = [...servers, app];
  const client = openSocket(app.url);
  sockets = [...sockets, client];
  client.write(rawRequest('GET /').repeat(requests));
  await until(() => responses.length === requests);
  return { responses, client, connection: responses[0]!.req.socket };
}

async function openOne(): Promise<{ res: Response; client: Socket; connection: Socket }> {
  const { responses, ...others } = await open();
  return { res: responses[0]!, ...others };
}

/** What has become known of a promise, asked at a time. */
function heard<T>(promise: Promise<T>): { readonly said: T[] } {
  const said: T[] = [];
  void promise.then((it) => said.push(it));
  return { said };
}

async function hangUp({ client, connection }: { client: Socket; connection: Socket }): Promise<void> {
  client.destroy();
  await until(() => connection.destroyed);
}

/** The server that a connection came to. */
function serverOf(connection: Socket): EventEmitter {
  const server: unknown = Reflect.get(connection, 'server');
  if (!(server instanceof EventEmitter)) throw new Error('the connection is of no server');
  return server;
}

/** How many listen to what ends a connection. */
function listeners(connection: Socket): number[] {
  return ['close', 'timeout', 'error'].map((it) => connection.listenerCount(it));
}

describe('a client is gone', () => {
  test('when its connection is, and not before', async () => {
    const one = await openOne();
    expect(isClientGone(one.res)).toBe(false);
    await hangUp(one);
    expect(isClientGone(one.res)).toBe(true);
  });

  test('from a response whose turn has not come, with the connection', async () => {
    const { responses, client, connection } = await open(2);
    const [, behind] = responses;
    expect(isClientGone(behind!)).toBe(false);
    await hangUp({ client, connection });
    expect(isClientGone(behind!)).toBe(true);
  });

  test('when its response is over or destroyed, though the connection goes on', async () => {
    const { res, connection } = await openOne();
    res.end('the goods');
    await once(res, 'close');
    expect([isClientGone(res), connection.destroyed]).toEqual([true, false]);
  });
});

describe('a response is delivered', () => {
  test('when the whole of it was handed over', async () => {
    const { res } = await openOne();
    const { said } = heard(delivered(res, LONG_MS));
    res.write('the ');
    await new Promise(setImmediate);
    expect(said).toEqual([]);
    res.end('goods');
    await until(() => said.length > 0);
    expect(said).toEqual([true]);
  });

  test('not when its client goes before its end', async () => {
    const one = await openOne();
    const { said } = heard(delivered(one.res, LONG_MS));
    one.res.write('the ');
    await hangUp(one);
    await until(() => said.length > 0);
    expect(said).toEqual([false]);
  });

  test('not when its client goes before its turn has come', async () => {
    const { responses, client, connection } = await open(2);
    const { said } = heard(delivered(responses[1]!, LONG_MS));
    responses[1]!.end('the goods');
    await hangUp({ client, connection });
    await until(() => said.length > 0);
    expect(said).toEqual([false]);
  });

  test('not when its client was gone before it was asked, which is told after the response is written', async () => {
    const one = await openOne();
    await hangUp(one);
    const order: string[] = [];
    const arrived = delivered(one.res, LONG_MS).then((it) => order.push(`delivered: ${it}`));
    order.push('written');
    await arrived;
    expect(order).toEqual(['written', 'delivered: false']);
  });

  test.each([
    ['was kept for its client', true],
    ['could not be kept', false],
  ])('where its client has gone, as far as it %s', async (_, isKept) => {
    const one = await openOne();
    await hangUp(one);
    const arrived = delivered(one.res, LONG_MS);
    noteKeeping(one.res, Promise.resolve(isKept));
    expect(await arrived).toBe(isKept);
  });

  test('when it is still on its way after so long', async () => {
    const { res, client } = await openOne();
    client.pause();
    const arrived = delivered(res, 5);
    res.end(MEGABYTES);
    expect(await arrived).toBe(true);
    expect(res.writableFinished).toBe(false);
  });
});

describe('nobody waits any more', () => {
  test('for a response that is over', async () => {
    const { res } = await openOne();
    const { said } = heard(closed(res));
    await new Promise(setImmediate);
    expect(said).toHaveLength(0);
    res.end('the goods');
    await until(() => said.length > 0);
  });

  test('for one whose client has gone, before or after it is asked', async () => {
    const one = await openOne();
    const waiting = closed(one.res);
    await hangUp(one);
    await waiting;
    await closed(one.res);
  });

  test('for one whose turn will not come', async () => {
    const { responses, client, connection } = await open(2);
    const waiting = closed(responses[1]!);
    await hangUp({ client, connection });
    await waiting;
  });
});

describe('a response whose client has gone', () => {
  test.each<[string, 'ended' | 'broken', (res: Response) => unknown]>([
    ['its handler ends', 'ended', (res) => res.end('the goods')],
    ['its app destroys', 'broken', (res) => res.destroy()],
  ])('%s', async (_, end, go) => {
    const one = await openOne();
    await hangUp(one);
    const { said } = heard(comesToEnd(one.res, LONG_MS));
    await new Promise(setImmediate);
    expect(said).toEqual([]);
    go(one.res);
    await until(() => said.length > 0);
    expect(said).toEqual([end]);
  });

  test('has come to its end before', async () => {
    const one = await openOne();
    await hangUp(one);
    one.res.end('the goods');
    expect(await comesToEnd(one.res, LONG_MS)).toBe('ended');
  });

  test('comes to none in time, and the longest wait is none that is over at once', async () => {
    const one = await openOne();
    await hangUp(one);
    const { said } = heard(comesToEnd(one.res, Number.MAX_SAFE_INTEGER));
    expect(await comesToEnd(one.res, 5)).toBe('open');
    expect(said).toEqual([]);
    one.res.end();
    await until(() => said.length > 0);
    expect(said).toEqual(['ended']);
  });

  test('is ended and destroyed for its client as if nobody watched', async () => {
    const [ended, destroyed] = [await openOne(), await openOne()];
    const text = collect(ended.client);
    const gone = once(destroyed.client.resume(), 'close');
    for (const { res } of [ended, destroyed]) void comesToEnd(res, LONG_MS);
    ended.res.set('Connection', 'close').end('the goods');
    destroyed.res.destroy();
    expect(await text).toMatch(/the goods$/);
    await gone;
  });
});

describe('a response that is broken off', () => {
  test('was by its app, which destroyed it', async () => {
    const { res, client } = await openOne();
    const isBrokenHere = watchBreak(res);
    res.write('the ');
    const gone = once(client.resume(), 'close');
    res.destroy();
    await gone;
    expect(isBrokenHere()).toBe(true);
  });

  test('was by its app, which destroyed the connection', async () => {
    const { res, connection, client } = await openOne();
    const isBrokenHere = watchBreak(res);
    res.write('the ');
    const gone = once(client.resume(), 'close');
    connection.destroy();
    await gone;
    expect(isBrokenHere()).toBe(true);
  });

  test.each<[string, (client: Socket) => unknown]>([
    ['ends the connection', (client) => client.end()],
    ['resets it', (client) => client.resetAndDestroy()],
  ])('was by its client, who %s, whatever the app does then', async (_, go) => {
    const { res, connection, client } = await openOne();
    const isBrokenHere = watchBreak(res);
    res.write('the ');
    client.resume();
    go(client);
    await until(() => connection.destroyed);
    expect(isBrokenHere()).toBe(false);
    res.destroy();
    expect(isBrokenHere()).toBe(false);
  });

  test('was by its client, who sends what is no HTTP, though the app answers that by cutting the connection', async () => {
    const { res, client, connection } = await openOne();
    serverOf(connection).on('clientError', (_error, socket) => void socket.destroy());
    const isBrokenHere = watchBreak(res);
    res.write('the ');
    client.resume();
    client.write('no HTTP\r\n\r\n');
    await until(() => connection.destroyed);
    expect(isBrokenHere()).toBe(false);
  });

  test('leaves it to Node to end connections with what is no HTTP where the app does not', async () => {
    const { res, client, connection } = await openOne();
    const isBrokenHere = watchBreak(res);
    expect(serverOf(connection).listenerCount('clientError')).toBe(0);
    res.write('the ');
    client.resume();
    client.write('no HTTP\r\n\r\n');
    await until(() => connection.destroyed);
    expect(isBrokenHere()).toBe(false);
  });

  test('was by its client, who is silent for too long', async () => {
    const { res, connection } = await openOne();
    const isBrokenHere = watchBreak(res);
    res.write('the ');
    connection.setTimeout(5);
    await until(() => connection.destroyed);
    expect(isBrokenHere()).toBe(false);
  });
});

test('a connection that outlives its responses holds nothing of those that were watched', async () => {
  const { responses, connection, client } = await open(4);
  client.resume();
  const counts: number[][] = [];
  // Node listens as well while a response has the connection, which the last one leaves to nobody.
  for (const res of responses.slice(0, 3)) {
    watchBreak(res);
    await Promise.all([closed(res), deliverInTime(res, LONG_MS, () => res.end('the goods'))]);
    counts.push(listeners(connection));
  }
  expect(counts).toEqual([counts[0], counts[0], counts[0]]);
});

describe('a client that does not read', () => {
  test('is cut off after so long', async () => {
    const { res, client, connection } = await openOne();
    client.pause();
    expect(await deliverInTime(res, 5, () => res.end(MEGABYTES))).toBe(false);
    await until(() => connection.destroyed);
    expect(res.writableFinished && connection.writableFinished).toBe(false);
  });

  test('is not where the response has left', async () => {
    const { responses, connection, client } = await open(2);
    const [first, second] = responses as [Response, Response];
    client.resume();
    expect(await deliverInTime(first, 100, () => first.end('one'))).toBe(true);
    // Timers are called in the order of their ends: one of the same length that was set later comes after that of the limit.
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(connection.destroyed).toBe(false);
    second.end('two');
    await once(second, 'finish');
  });
});
