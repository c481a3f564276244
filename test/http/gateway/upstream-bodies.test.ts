import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { Agent, request } from 'undici';
import { UNSIGNED_BODY } from '../../../src/gateway/proxy/gateway-signature.js';
import { standsStill } from '../../helpers/http/stands-still.js';
import {
  closeUpstreamFixtures,
  openUpstreamFixture,
  type UpstreamFixture,
} from '../../helpers/http/upstream-fixture.js';
import { until } from '../../helpers/until.js';

const MIB = 1024 * 1024;
const agent = new Agent();
afterEach(closeUpstreamFixtures);
afterAll(() => agent.destroy());

/** What an upstream saw of a body. */
interface Seen {
  readonly headers: IncomingMessage['headers'];
  readonly bytes: number;
  readonly sha256: string;
}

/** An upstream that reads bodies to their end and says what they were. */
const reading: RequestListener = async (req, res) => {
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const chunk of req) {
      hash.update(chunk);
      bytes += chunk.length;
    }
  } catch {
    return;
  }
  res.end(JSON.stringify({ headers: req.headers, bytes, sha256: hash.digest('hex') }));
};

/** Sends a body, with its length or in chunks. */
async function send(fixture: UpstreamFixture, body: Buffer, chunked: boolean): Promise<Seen> {
  const sent = chunked ? Readable.from(pieces(body)) : body;
  const answer = await request(fixture.url, { method: 'POST', body: sent, dispatcher: agent });
  return (await answer.body.json()) as Seen;
}

function* pieces(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += 50_000) yield body.subarray(at, at + 50_000);
}

describe('the body of a request', () => {
  test.each([
    ['none', 0, false, true],
    ['one byte', 1, false, true],
    ['small, in chunks', 100_001, true, true],
    ['as large as is signed', MIB, false, true],
    ['as large as is signed, in chunks', MIB, true, true],
    ['larger than is signed', MIB + 1, false, false],
    ['large, in chunks', 3 * MIB, true, false],
    ['as large as is taken', 10 * MIB, false, false],
  ])('%s arrives as it is', async (_what, size, chunked, signed) => {
    const fixture = await openUpstreamFixture({ http: reading });
    const body = randomBytes(size);
    const sha256 = createHash('sha256').update(body).digest('hex');
    const seen = await send(fixture, body, chunked);
    expect(seen).toMatchObject({ bytes: size, sha256 });
    expect(seen.headers['x-tollhouse-body-digest']).toBe(signed ? sha256 : UNSIGNED_BODY);
    if (signed || !chunked) expect(seen.headers['content-length']).toBe(String(size));
    else expect(seen.headers['transfer-encoding']).toBe('chunked');
    await until(() => fixture.outcomes.length === 1);
    expect(fixture.outcomes).toMatchObject([{ delivered: true }]);
  });

  test.each(['GET', 'DELETE'] as const)('of a %s too', async (method) => {
    const fixture = await openUpstreamFixture({ http: reading });
    const { body } = await request(fixture.url, { method, body: 'body', dispatcher: agent });
    expect(await body.json()).toMatchObject({ bytes: 4 });
  });

  test.each([
    ['that says so', 10 * MIB + 1, false, 10 * MIB],
    ['in chunks', 10 * MIB + 1, true, 10 * MIB],
    ['in chunks, small', 1001, true, 1000],
  ])('too large, %s: 413, and the connection goes on', async (_what, size, chunked, maxBodyBytes) => {
    let whole = 0;
    const http: RequestListener = (req) => {
      req.resume().on('error', () => {});
      req.on('end', () => {
        whole += 1;
      });
    };
    const fixture = await openUpstreamFixture({ http }, { forward: { maxBodyBytes } });
    const sent = chunked ? Readable.from(pieces(Buffer.alloc(size))) : Buffer.alloc(size);
    const answer = await request(fixture.url, { method: 'POST', body: sent, dispatcher: agent });
    expect(answer.statusCode).toBe(413);
    expect(await answer.body.json()).toMatchObject({ code: 'body_too_large' });
    expect(fixture.outcomes).toMatchObject([{ delivered: false, reason: 'body_too_large', headSent: false }]);
    await until(() => fixture.connections() === 0);
    expect(whole).toBe(0);
  });

  test.each([
    ['more than is taken', 1000, {}],
    ['a path that is refused', 10 * MIB, { rest: '/..' }],
    ['an upstream that does not read it', 10 * MIB, {}],
  ])(
    '%s: the rest runs out, and the next request on the connection is answered',
    async (_what, maxBodyBytes, forward) => {
      const http: RequestListener = (req, res) => {
        if (req.method === 'POST') res.writeHead(503);
        res.end(req.method);
      };
      const fixture = await openUpstreamFixture({ http }, { forward: { maxBodyBytes, ...forward } });
      const { hostname, port, pathname } = new URL(fixture.url);
      const socket = connect(Number(port), hostname);
      const statuses: string[] = [];
      socket.on('data', (bytes) => statuses.push(...(String(bytes).match(/HTTP\/1.1 \d+/g) ?? [])));
      socket.write(`POST ${pathname} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`);
      for (let piece = 0; piece < 90; piece += 1) socket.write(`186a0\r\n${'a'.repeat(100_000)}\r\n`);
      await until(() => statuses.length === 1);
      socket.write(`0\r\n\r\nGET ${pathname} HTTP/1.1\r\nHost: x\r\n\r\n`);
      await until(() => statuses.length === 2);
      expect(fixture.outcomes).toHaveLength(2);
      socket.destroy();
    },
  );

  test('a caller who never ends is cut off', async () => {
    const fixture = await openUpstreamFixture({ http: reading }, { forward: { maxBodyBytes: 100_000 } });
    const { hostname, port, pathname } = new URL(fixture.url);
    const socket = connect(Number(port), hostname);
    socket.write(`POST ${pathname} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`);
    const closed = new Promise((resolve) => void socket.on('error', () => {}).on('close', resolve));
    const piece = `4000\r\n${'a'.repeat(0x4000)}\r\n`;
    const more = (): void => {
      while (!socket.destroyed && socket.write(piece));
    };
    socket.on('drain', more);
    more();
    await closed;
    expect(fixture.outcomes).toMatchObject([{ reason: 'body_too_large' }]);
  });

  test('the upstream answers before it has read it all', async () => {
    const http: RequestListener = (_req, res) => void res.writeHead(403).end('not you');
    const fixture = await openUpstreamFixture({ http });
    const answer = await request(fixture.url, { method: 'POST', body: Buffer.alloc(8 * MIB), dispatcher: agent });
    expect([answer.statusCode, await answer.body.text()]).toEqual([403, 'not you']);
    await until(() => fixture.outcomes.length === 1);
    expect(fixture.outcomes).toMatchObject([{ delivered: true, status: 403 }]);
    await until(() => fixture.connections() === 0);
  });

  test('that moves slowly is not late', async () => {
    const fixture = await openUpstreamFixture({ http: reading }, { forward: { timeoutMs: 500 } });
    async function* slowly(): AsyncGenerator<Buffer> {
      yield Buffer.alloc(2 * MIB);
      for (let piece = 0; piece < 8; piece += 1) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        yield Buffer.alloc(1000);
      }
    }
    const { body } = await request(fixture.url, { method: 'POST', body: Readable.from(slowly()), dispatcher: agent });
    expect(await body.json()).toMatchObject({ bytes: 2 * MIB + 8000 });
  });

  test('that the upstream does not take is late, and the caller is told', async () => {
    const http: RequestListener = () => {};
    const fixture = await openUpstreamFixture({ http }, { forward: { timeoutMs: 100 } });
    const { statusCode } = await request(fixture.url, {
      method: 'POST',
      body: Buffer.alloc(9 * MIB),
      dispatcher: agent,
    });
    expect(statusCode).toBe(504);
    expect(fixture.outcomes).toMatchObject([{ reason: 'upstream_timeout' }]);
  });

  test('was read by somebody before, who kept nothing: forward rejects instead of waiting', async () => {
    const fixture = await openUpstreamFixture({ http: reading }, { readBodyFirst: true });
    expect((await request(fixture.url, { method: 'POST', body: 'body', dispatcher: agent })).statusCode).toBe(500);
    expect(fixture.thrown).toMatchObject([
      { message: 'the body was read before it came to the proxy, and nothing of it was kept' },
    ]);
  });
});

describe('the body of an answer', () => {
  test('large, at full speed', async () => {
    const whole = randomBytes(20 * MIB);
    const fixture = await openUpstreamFixture({ http: (_req, res) => void res.end(whole) });
    const { headers, body } = await request(fixture.url, { dispatcher: agent });
    const got = Buffer.from(await body.arrayBuffer());
    expect(headers['content-length']).toBe(String(whole.length));
    expect(got.equals(whole)).toBe(true);
  });

  test('a stream arrives piece by piece, its head first', async () => {
    let upstream: ServerResponse | undefined;
    const http: RequestListener = (_req, res) => {
      upstream = res.writeHead(200, { 'Content-Type': 'text/event-stream' });
      res.flushHeaders();
    };
    const fixture = await openUpstreamFixture({ http });
    const { body, headers } = await request(fixture.url, { dispatcher: agent });
    expect(headers['content-type']).toBe('text/event-stream');
    const pieces = body[Symbol.asyncIterator]();
    for (const piece of ['data: 1\n\n', 'data: 2\n\n']) {
      upstream?.write(piece);
      expect(String((await pieces.next()).value)).toBe(piece);
    }
    upstream?.end();
    expect((await pieces.next()).done).toBe(true);
  });

  test('a caller who does not read keeps the upstream waiting, and costs little memory', async () => {
    let written = 0;
    const http: RequestListener = (_req, res) => {
      const piece = Buffer.alloc(64 * 1024);
      const more = (): void => {
        let room = true;
        while (room && written < 90 * MIB) {
          written += piece.length;
          room = res.write(piece);
        }
        if (room) res.end();
      };
      res.on('drain', more);
      more();
    };
    const fixture = await openUpstreamFixture({ http });
    const caller = await sendAndPause(fixture);
    await standsStill(() => written);
    // Two pairs of socket buffers of the system, which are some megabytes each, and no response in our memory.
    expect(written).toBeLessThan(40 * MIB);
    expect(fixture.outcomes).toEqual([]);
    let got = 0;
    caller.on('data', (chunk) => {
      got += chunk.length;
    });
    caller.resume();
    await until(() => fixture.outcomes.length === 1);
    expect(fixture.outcomes).toMatchObject([{ delivered: true }]);
    await until(() => got > 90 * MIB);
    caller.destroy();
  });

  test('a caller who stops to read for ever is given up', async () => {
    const http: RequestListener = (_req, res) => void res.end(Buffer.alloc(90 * MIB));
    const fixture = await openUpstreamFixture({ http }, { proxy: { idleTimeoutMs: 200 } });
    const caller = await sendAndPause(fixture);
    await until(() => fixture.outcomes.length === 1);
    expect(fixture.outcomes).toMatchObject([{ delivered: false, reason: 'client_gone', headSent: true }]);
    await until(() => fixture.connections() === 0);
    caller.destroy();
  });
});

describe('an upstream that answers while the body still comes', () => {
  const LENGTH = 3 * MIB;

  /** A caller who has had the beginning of the response, and owes all but the beginning of his request. */
  async function sendBeginning(fixture: UpstreamFixture, length = LENGTH): Promise<Socket> {
    const { hostname, port, pathname } = new URL(fixture.url);
    const caller = connect(Number(port), hostname).on('error', () => undefined);
    let got = '';
    caller.on('data', (chunk) => {
      got += String(chunk);
    });
    caller.write(`POST ${pathname} HTTP/1.1\r\nHost: shop.example\r\nContent-Length: ${length}\r\n\r\n`);
    caller.write(Buffer.alloc(length - MIB));
    await until(() => got.includes('the goods'));
    return caller;
  }

  test('has lost its caller where he stops to send', async () => {
    const http: RequestListener = (req, res) => {
      req.resume();
      res.write('the goods');
    };
    const fixture = await openUpstreamFixture({ http }, { proxy: { idleTimeoutMs: 200 } });
    const caller = await sendBeginning(fixture);
    await until(() => fixture.outcomes.length === 1);
    expect(fixture.outcomes).toMatchObject([{ delivered: false, reason: 'client_gone', headSent: true }]);
    caller.destroy();
  });

  test('is late where it has not taken what has come', async () => {
    const http: RequestListener = (_req, res) => void res.write('the goods');
    const more = { proxy: { idleTimeoutMs: 200 }, forward: { maxBodyBytes: 64 * MIB } };
    const fixture = await openUpstreamFixture({ http }, more);
    // More than systems hold on the way.
    const caller = await sendBeginning(fixture, 64 * MIB);
    await until(() => fixture.outcomes.length === 1);
    expect(fixture.outcomes).toMatchObject([{ delivered: false, reason: 'upstream_timeout', headSent: true }]);
    caller.destroy();
  });

  test('is late where it has all of it', async () => {
    const http: RequestListener = (req, res) => {
      req.resume();
      res.write('the goods');
    };
    const fixture = await openUpstreamFixture({ http }, { proxy: { idleTimeoutMs: 200 } });
    const caller = await sendBeginning(fixture);
    caller.write(Buffer.alloc(MIB));
    await until(() => fixture.outcomes.length === 1);
    expect(fixture.outcomes).toMatchObject([{ delivered: false, reason: 'upstream_timeout', headSent: true }]);
    caller.destroy();
  });
});

test('many calls share few connections, and closing leaves none', async () => {
  const sockets = new Set<Socket>();
  const http: RequestListener = (req, res) => {
    sockets.add(req.socket);
    res.end('answer');
  };
  const fixture = await openUpstreamFixture({ http });
  for (let round = 0; round < 10; round += 1) {
    const answers = Array.from({ length: 10 }, () => request(fixture.url, { dispatcher: agent }));
    for (const { body } of await Promise.all(answers)) expect(await body.text()).toBe('answer');
  }
  await until(() => fixture.outcomes.length === 100);
  expect(fixture.outcomes.every(({ delivered }) => delivered)).toBe(true);
  expect(sockets.size).toBeLessThan(40);
  await fixture.close();
  await until(() => fixture.connections() === 0);
});

/** A caller that asks, and does not read. */
async function sendAndPause(fixture: UpstreamFixture): Promise<Socket> {
  const { hostname, port, pathname } = new URL(fixture.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {}).pause();
  await once(socket, 'connect');
  socket.write(`GET ${pathname} HTTP/1.1\r\nHost: x\r\n\r\n`);
  return socket;
}
