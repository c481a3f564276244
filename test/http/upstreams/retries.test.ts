import { once } from 'node:events';
import { request } from 'node:http';
import { createServer, type Socket } from 'node:net';
import type { Undelivered } from '../../../src/gateway/proxy/upstream-proxy.js';
import {
  closeUpstreamFixtures,
  openUpstreamFixture,
  type UpstreamFixture,
} from '../../helpers/http/upstream-fixture.js';
import { until } from '../../helpers/until.js';

afterEach(closeUpstreamFixtures);

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ngood';

/** What an upstream does with each connection, one after the other; the last with all that follow. */
function inTurn(...deeds: readonly ((socket: Socket, head: string) => void)[]) {
  const seen: string[] = [];
  const tcp = (socket: Socket): void => {
    socket.once('data', (bytes) => {
      const head = bytes.toString('latin1');
      seen.push(head);
      (deeds[seen.length - 1] ?? deeds.at(-1))?.(socket, head);
    });
  };
  return { tcp, seen };
}

const reset = (socket: Socket) => void socket.resetAndDestroy();
const close = (socket: Socket) => void socket.end();
const good = (socket: Socket) => void socket.end(OK);
const silent = () => undefined;

async function outcomeOf(fixture: UpstreamFixture, init: RequestInit = {}): Promise<unknown> {
  await fetch(fixture.url, init).then(
    (it) => it.arrayBuffer(),
    () => undefined,
  );
  await until(() => fixture.outcomes.length > 0);
  const [outcome] = fixture.outcomes;
  return outcome?.delivered ? outcome.status : (outcome as Undelivered).reason;
}

describe('a call whose connection fails before any byte of a response', () => {
  test.each([
    ['GET', reset],
    ['HEAD', reset],
    ['GET', close],
  ])('is sent again: %s, %p', async (method, fails) => {
    const upstream = inTurn(fails, good);
    const fixture = await openUpstreamFixture(upstream, { forward: { retries: 1 } });
    expect(await outcomeOf(fixture, { method })).toBe(200);
    const ids = upstream.seen.map((head) => /x-tollhouse-id: (\S+)/i.exec(head)?.[1]);
    expect([ids.length, new Set(ids).size]).toEqual([2, 2]);
  });

  test('is sent as often as its project says, and no more', async () => {
    for (const retries of [0, 1, 3]) {
      const upstream = inTurn(reset);
      const fixture = await openUpstreamFixture(upstream, { forward: { retries } });
      expect(await outcomeOf(fixture)).toBe('upstream_reset');
      expect(upstream.seen).toHaveLength(retries + 1);
    }
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('is not sent again: %s', async (method) => {
    const upstream = inTurn(reset, good);
    const fixture = await openUpstreamFixture(upstream, { forward: { retries: 3 } });
    expect(await outcomeOf(fixture, { method, ...(method === 'POST' ? { body: 'x' } : {}) })).toBe('upstream_reset');
    expect(upstream.seen).toHaveLength(1);
  });

  test('is not sent again with a body, whatever its method', async () => {
    const upstream = inTurn(reset, good);
    const fixture = await openUpstreamFixture(upstream, { forward: { retries: 3 } });
    const sent = request(fixture.url, { method: 'GET', headers: { 'content-length': '1' } }).on(
      'error',
      () => undefined,
    );
    sent.end('x');
    await until(() => fixture.outcomes.length > 0);
    expect(upstream.seen).toHaveLength(1);
  });

  test('is not sent again once the first byte of a response was there', async () => {
    const upstream = inTurn((socket) => socket.write('HTTP/1.1 2', () => setImmediate(() => socket.end())), good);
    const fixture = await openUpstreamFixture(upstream, { forward: { retries: 3 } });
    expect(await outcomeOf(fixture)).toBe('upstream_reset');
    expect(upstream.seen).toHaveLength(1);
  });

  test('is not sent again when the upstream is slow, nor when what it says is no HTTP', async () => {
    for (const [deed, reason] of [
      [silent, 'upstream_timeout'],
      [(socket: Socket) => void socket.end('no http\r\n\r\n'), 'upstream_reset'],
    ] as const) {
      const upstream = inTurn(deed, good);
      const fixture = await openUpstreamFixture(upstream, { forward: { retries: 3, timeoutMs: 150 } });
      expect(await outcomeOf(fixture)).toBe(reason);
      expect(upstream.seen).toHaveLength(1);
    }
  });

  test('takes no longer with all its tries than one may take', async () => {
    // The fourth would come after 700 ms, if nothing is late.
    const upstream = inTurn(reset);
    const fixture = await openUpstreamFixture(upstream, { forward: { retries: 3, timeoutMs: 650 } });
    expect(await outcomeOf(fixture)).toBe('upstream_reset');
    expect([2, 3]).toContain(upstream.seen.length);
  });

  test('finds an upstream that was started again meanwhile', async () => {
    const fixture = await openUpstreamFixture('down', { forward: { retries: 3 } });
    const answer = fetch(fixture.url);
    const server = createServer((socket) => void socket.once('data', () => good(socket)));
    await once(server.listen(Number(new URL(fixture.upstreamUrl).port), '127.0.0.1'), 'listening');
    expect(await (await answer).text()).toBe('good');
    server.close();
  });

  test('is not sent again for a caller who has left', async () => {
    const upstream = inTurn(reset);
    const fixture = await openUpstreamFixture(upstream, { forward: { retries: 3 } });
    const sent = request(fixture.url, { agent: false }).on('error', () => undefined);
    sent.end();
    await until(() => upstream.seen.length === 1);
    sent.destroy();
    await until(() => fixture.outcomes.length > 0);
    expect(fixture.outcomes[0]).toMatchObject({ delivered: false, reason: 'client_gone' });
    expect(upstream.seen).toHaveLength(1);
  });
});
