import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { createAddressGuard } from '../../../src/gateway/network-guard/address-guard.js';
import type { Undelivered } from '../../../src/gateway/proxy/upstream-proxy.js';
import {
  closeUpstreamFixtures,
  openUpstreamFixture,
  type UpstreamFixture,
} from '../../helpers/http/upstream-fixture.js';
import { until } from '../../helpers/until.js';

const agent = new Agent();
afterEach(closeUpstreamFixtures);
afterAll(() => agent.destroy());

/** A raw upstream that answers every request with the same bytes, and then does something. */
function answering(bytes: string, then: (socket: Socket) => void = () => {}) {
  return { tcp: (socket: Socket) => void socket.once('data', () => socket.write(bytes, 'latin1', () => then(socket))) };
}

const end = (socket: Socket) => void socket.end();
const reset = (socket: Socket) => void socket.resetAndDestroy();

/** What a caller gets: a response, or a broken one. */
async function get(fixture: UpstreamFixture, path = '/'): Promise<{ status: number; body: string } | 'broken'> {
  try {
    const answer = await request(`${fixture.url}${path}`, { dispatcher: agent });
    return { status: answer.statusCode, body: await answer.body.text() };
  } catch {
    return 'broken';
  }
}

/** The one outcome of a fixture, once it is there. */
async function outcomeOf(fixture: UpstreamFixture) {
  await until(() => fixture.outcomes.length > 0 || fixture.thrown.length > 0);
  expect(fixture.thrown).toEqual([]);
  return fixture.outcomes[0];
}

/** The response to a call that fails before anything was sent. */
async function problemOf(fixture: UpstreamFixture): Promise<unknown> {
  const answer = await get(fixture);
  if (answer === 'broken') throw new Error('there was no answer');
  const outcome = (await outcomeOf(fixture)) as Undelivered;
  expect(outcome).toMatchObject({ delivered: false, headSent: false });
  expect(outcome.detail).not.toMatch(/127\.0\.0\.1|localhost/);
  const { status, code } = JSON.parse(answer.body);
  expect(answer.status).toBe(status);
  expect(outcome.reason).toBe(code);
  return [status, code];
}

/** The outcome of a call whose response broke off in the middle. */
async function brokenOff(fixture: UpstreamFixture): Promise<unknown> {
  await expect(get(fixture)).resolves.toBe('broken');
  const outcome = (await outcomeOf(fixture)) as Undelivered;
  expect(outcome).toMatchObject({ delivered: false, headSent: true });
  return outcome.reason;
}

const HEAD = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n`;

describe('before anything was sent, the gateway answers', () => {
  test('an upstream that is down', async () => {
    await expect(problemOf(await openUpstreamFixture('down'))).resolves.toEqual([502, 'upstream_unreachable']);
  });

  test('an address that may not be called', async () => {
    const fixture = await openUpstreamFixture('down', { forward: { url: 'http://169.254.169.254/latest/meta-data' } });
    await expect(problemOf(fixture)).resolves.toEqual([502, 'upstream_unreachable']);
    expect(fixture.outcomes[0]).toMatchObject({ cause: { code: 'ERR_ADDRESS_REFUSED' } });
  });

  test('an upstream that does not speak TLS', async () => {
    const plain = await openUpstreamFixture(answering(HEAD));
    const url = plain.url.replace('http:', 'https:');
    const fixture = await openUpstreamFixture('down', { forward: { url } });
    await expect(problemOf(fixture)).resolves.toEqual([502, 'upstream_unreachable']);
  });

  test('an upstream that accepts and says nothing', async () => {
    const fixture = await openUpstreamFixture({ tcp: () => {} }, { forward: { timeoutMs: 50 } });
    await expect(problemOf(fixture)).resolves.toEqual([504, 'upstream_timeout']);
    await until(() => fixture.connections() === 0);
  });

  test('an upstream that sends its head byte by byte', async () => {
    const tcp = (socket: Socket) => {
      const drip = setInterval(() => socket.write('X-A: b\r\n'), 5);
      socket.on('close', () => clearInterval(drip)).write(HEAD);
    };
    const fixture = await openUpstreamFixture({ tcp }, { forward: { timeoutMs: 100 } });
    await expect(problemOf(fixture)).resolves.toEqual([504, 'upstream_timeout']);
  });

  test('an upstream that says "early hints" for ever', async () => {
    const tcp = (socket: Socket) => {
      const drip = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'), 5);
      socket.on('close', () => clearInterval(drip));
    };
    const fixture = await openUpstreamFixture({ tcp }, { forward: { timeoutMs: 100 } });
    await expect(problemOf(fixture)).resolves.toEqual([504, 'upstream_timeout']);
  });

  test.each([
    ['closes at once', { tcp: (socket: Socket) => void socket.once('data', () => socket.end()) }],
    ['resets', { tcp: (socket: Socket) => void socket.once('data', () => socket.resetAndDestroy()) }],
    ['closes within the head', answering('HTTP/1.1 200 OK\r\nContent-', end)],
    ['speaks something else', answering('SSH-2.0-OpenSSH_9.6\r\n')],
    ['sends two lengths', answering(`${HEAD}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`)],
    ['sends length and chunks', answering(`${HEAD}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`)],
    ['sends a length that is none', answering(`${HEAD}Content-Length: -1\r\n\r\n`)],
    ['folds a header', answering(`${HEAD}X-A: b\r\n c\r\nContent-Length: 0\r\n\r\n`)],
    [
      'sends a head without end',
      answering(`${HEAD}${'X-A: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n'.repeat(1000)}`),
    ],
    ['switches protocols unasked', answering('HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n')],
  ])('an upstream that %s', async (_what, upstream) => {
    const fixture = await openUpstreamFixture(upstream);
    await expect(problemOf(fixture)).resolves.toEqual([502, 'upstream_reset']);
    await until(() => fixture.connections() === 0);
  });

  test('an answer that says it is too large', async () => {
    const fixture = await openUpstreamFixture(answering(`${HEAD}Content-Length: 1001\r\n\r\n`), {
      proxy: { maxResponseBytes: 1000 },
    });
    await expect(problemOf(fixture)).resolves.toEqual([502, 'upstream_answer_too_large']);
    await until(() => fixture.connections() === 0);
  });
});

describe('in the middle, the connection of the caller is cut', () => {
  test.each([
    ['resets', answering(`${HEAD}Content-Length: 10\r\n\r\nhalf`, reset)],
    ['sends less than it said', answering(`${HEAD}Content-Length: 10\r\n\r\nhalf`, end)],
    ['leaves the chunks without end', answering(`${CHUNKED}4\r\nhalf\r\n`, end)],
    ['breaks the chunks', answering(`${CHUNKED}4\r\nhalf\r\nnonsense\r\n`)],
  ])('an upstream that %s', async (_what, upstream) => {
    const fixture = await openUpstreamFixture(upstream);
    await expect(brokenOff(fixture)).resolves.toBe('upstream_reset');
    await until(() => fixture.connections() === 0);
  });

  test('an answer that stands still', async () => {
    const fixture = await openUpstreamFixture(answering(`${CHUNKED}4\r\nhalf\r\n`), { proxy: { idleTimeoutMs: 50 } });
    await expect(brokenOff(fixture)).resolves.toBe('upstream_timeout');
    await until(() => fixture.connections() === 0);
  });

  test('an answer without end', async () => {
    const tcp = (socket: Socket) => {
      const piece = `10000\r\n${'a'.repeat(0x10000)}\r\n`;
      const more = () => {
        while (socket.writable && socket.write(piece));
      };
      socket.on('drain', more).once('data', () => socket.write(CHUNKED, more));
    };
    const fixture = await openUpstreamFixture({ tcp }, { proxy: { maxResponseBytes: 1_000_000 } });
    await expect(brokenOff(fixture)).resolves.toBe('upstream_answer_too_large');
    await until(() => fixture.connections() === 0);
  });
});

test.each([500, 502, 503, 504, 599])('an answer of %d is passed on as it is', async (status) => {
  const http = (_req: unknown, res: ServerResponse) => void res.writeHead(status).end('an error of theirs');
  const fixture = await openUpstreamFixture({ http });
  await expect(get(fixture)).resolves.toEqual({ status, body: 'an error of theirs' });
  await expect(outcomeOf(fixture)).resolves.toMatchObject({ delivered: true, status });
});

test('an answer that drips is delivered as long as it moves', async () => {
  const tcp = (socket: Socket) =>
    void socket.once('data', () => {
      socket.write(CHUNKED);
      let left = 20;
      const drip = setInterval(() => {
        left -= 1;
        socket.write(left > 0 ? '1\r\na\r\n' : '0\r\n\r\n');
        if (left === 0) clearInterval(drip);
      }, 10);
    });
  const fixture = await openUpstreamFixture({ tcp }, { proxy: { idleTimeoutMs: 150 } });
  await expect(get(fixture)).resolves.toEqual({ status: 200, body: 'a'.repeat(19) });
  await expect(outcomeOf(fixture)).resolves.toMatchObject({ delivered: true, status: 200 });
});

test('what an upstream sends beyond its length never arrives, and its connection is not used again', async () => {
  const fixture = await openUpstreamFixture(
    answering(`${HEAD}Content-Length: 4\r\n\r\ngoodHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil`),
  );
  await expect(get(fixture)).resolves.toEqual({ status: 200, body: 'good' });
  await until(() => fixture.connections() === 0);
  await expect(get(fixture)).resolves.toEqual({ status: 200, body: 'good' });
});

describe.each([
  ['says that it ends with its connection', `${HEAD}Connection: close\r\n\r\nhalf`],
  ['has neither length nor chunks', `${HEAD}\r\nhalf`],
  ['is of HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\nhalf'],
])('an answer that %s', (_what, bytes) => {
  /** The upstream does something to its connection when the caller has the half. */
  async function afterHalf(finish: (socket: Socket) => void, init: Parameters<typeof request>[1] = {}) {
    const sockets: Socket[] = [];
    const fixture = await openUpstreamFixture(answering(bytes, (socket) => void sockets.push(socket)));
    const { body } = await request(`${fixture.url}/`, { dispatcher: agent, ...init });
    const read: string[] = [];
    const whole = (async () => {
      for await (const chunk of body) {
        if (read.push(`${chunk}`) === 1) for (const socket of sockets) finish(socket);
      }
    })();
    await whole.catch(() => read.push('broken'));
    return { read, outcome: await outcomeOf(fixture) };
  }

  test('is whole when the connection ends', async () => {
    const { read, outcome } = await afterHalf((socket) => void socket.end(' and half'));
    expect(read).toEqual(['half', ' and half']);
    expect(outcome).toMatchObject({ delivered: true, status: 200 });
  });

  test('has broken off when the connection is reset', async () => {
    const { read, outcome } = await afterHalf(reset);
    expect(read).toEqual(['half', 'broken']);
    expect(outcome).toMatchObject({ delivered: false, reason: 'upstream_reset', headSent: true });
  });

  test.each(['GET', 'POST'] as const)('is whole when the connection of a %s with a body is reset', async (method) => {
    const { read, outcome } = await afterHalf(reset, { method, body: 'to be read' });
    expect(read).toEqual(['half']);
    expect(outcome).toMatchObject({ delivered: true, status: 200 });
  });

  test('is whole when the connection is reset while a body is still being sent', async () => {
    let isOver = false;
    const endless = Readable.from(
      (async function* () {
        yield Buffer.alloc(2 * 1024 * 1024);
        while (!isOver) yield await setImmediate('more');
      })(),
    );
    const { read, outcome } = await afterHalf(reset, { method: 'POST', body: endless.on('error', () => {}) });
    isOver = true;
    expect(read[0]).toBe('half');
    expect(outcome).not.toMatchObject({ reason: 'upstream_reset' });
  });
});

test('an answer without length that is reset while its caller holds it up is not free, when his call had a body', async () => {
  const sockets: Socket[] = [];
  const fixture = await openUpstreamFixture({
    tcp: (socket) => void sockets.push(socket.once('data', () => socket.write(`${HEAD}\r\n${'x'.repeat(20_000_000)}`))),
  });
  const { body } = await request(`${fixture.url}/`, { dispatcher: agent, method: 'POST', body: 'to be read' });
  await until(() => body.readableLength > 0);
  for (const socket of sockets) reset(socket);
  body.on('error', () => {}).resume();
  expect(await outcomeOf(fixture)).not.toMatchObject({ reason: 'upstream_reset' });
});

test('an answer with chunks or a length has broken off when it is reset, though the call had a body', async () => {
  for (const head of [CHUNKED, `${HEAD}Content-Length: 9\r\n\r\n`]) {
    const fixture = await openUpstreamFixture(answering(`${head}4\r\nhalf\r\n`.slice(0, head.length + 8), reset));
    const answer = request(`${fixture.url}/`, { dispatcher: agent, method: 'POST', body: 'to be read' });
    await expect(answer.then(({ body }) => body.text())).rejects.toThrow();
    expect(await outcomeOf(fixture)).toMatchObject({ delivered: false, reason: 'upstream_reset' });
  }
});

describe('a caller who goes away', () => {
  test.each([
    ['before the answer', ''],
    ['within the answer', `${CHUNKED}4\r\nhalf\r\n`],
  ])('%s: the upstream is aborted at once', async (_when, bytes) => {
    const fixture = await openUpstreamFixture(answering(bytes));
    const { hostname, port, pathname } = new URL(fixture.url);
    const caller = connect(Number(port), hostname);
    caller.write(`GET ${pathname}/ HTTP/1.1\r\nHost: x\r\n\r\n`);
    if (bytes === '') await until(() => fixture.connections() === 1);
    else await once(caller, 'data');
    caller.destroy();
    await expect(outcomeOf(fixture)).resolves.toMatchObject({ delivered: false, reason: 'client_gone' });
    await until(() => fixture.connections() === 0);
  });

  test('within its body: the upstream sees no whole request', async () => {
    let whole = false;
    const http = (req: IncomingMessage) => {
      req.on('end', () => {
        whole = true;
      });
      req.resume().on('error', () => {});
    };
    const fixture = await openUpstreamFixture({ http });
    const { hostname, port, pathname } = new URL(fixture.url);
    const caller = connect(Number(port), hostname);
    const size = 4 * 1024 * 1024;
    caller.write(`POST ${pathname}/ HTTP/1.1\r\nHost: x\r\nContent-Length: ${size}\r\n\r\n`);
    caller.write(Buffer.alloc(size / 2));
    await until(() => fixture.connections() === 1);
    caller.destroy();
    await expect(outcomeOf(fixture)).resolves.toMatchObject({ delivered: false, reason: 'client_gone' });
    await until(() => fixture.connections() === 0);
    expect(whole).toBe(false);
  });

  test('while the name of the upstream is looked up: nothing is sent any more', async () => {
    let found: (addresses: string[]) => void = () => {};
    let asked = false;
    const lookup = () => {
      asked = true;
      return new Promise<string[]>((resolve) => {
        found = resolve;
      });
    };
    const received: string[] = [];
    let accepted = 0;
    const upstream = await openUpstreamFixture({
      tcp(socket) {
        accepted += 1;
        socket.on('data', (bytes) => received.push(`${bytes}`));
      },
    });
    const url = upstream.upstreamUrl.replace('127.0.0.1', 'slow.example');
    const guard = createAddressGuard({ allow: ['127.0.0.0/8'], lookup });
    const fixture = await openUpstreamFixture('down', { forward: { url }, proxy: { guard } });
    const { hostname, port, pathname } = new URL(fixture.url);
    const caller = connect(Number(port), hostname);
    caller.write(`GET ${pathname}/ HTTP/1.1\r\nHost: x\r\n\r\n`);
    await until(() => asked);
    caller.destroy();
    await expect(outcomeOf(fixture)).resolves.toMatchObject({ delivered: false, reason: 'client_gone' });
    found(['127.0.0.1']);
    // It may be closed again before anybody looks.
    await until(() => accepted === 1 && upstream.connections() === 0);
    expect(received).toEqual([]);
  });

  test('within a small body: the upstream is not called', async () => {
    const fixture = await openUpstreamFixture('down');
    const { hostname, port, pathname } = new URL(fixture.url);
    const caller = connect(Number(port), hostname);
    caller.write(`POST ${pathname}/ HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf`);
    await once(caller, 'connect');
    caller.end();
    await expect(outcomeOf(fixture)).resolves.toMatchObject({ reason: 'client_gone', durationMs: 0 });
  });
});

test('closing ends calls under way', async () => {
  const fixture = await openUpstreamFixture({ tcp: () => {} });
  const answer = get(fixture);
  await until(() => fixture.connections() === 1);
  await fixture.close();
  await expect(outcomeOf(fixture)).resolves.toMatchObject({ reason: 'upstream_reset' });
  await answer;
});
