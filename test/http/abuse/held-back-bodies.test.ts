import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { collect, openSocket } from '../../helpers/http/raw-http.js';
import {
  closeUpstreamFixtures,
  type FixtureOptions,
  openUpstreamFixture,
} from '../../helpers/http/upstream-fixture.js';
import { until } from '../../helpers/until.js';

/** More than is read before it is sent on. */
const BEGUN = Buffer.alloc(1_500_000, 'x');
const LIMITS = { forward: { maxBodyBytes: 2_000_000 } };

afterEach(() => {
  jest.restoreAllMocks();
  return closeUpstreamFixtures();
});

/** A call whose upstream has answered what it has had of the body, and that its caller has read. */
async function openHad(options: FixtureOptions, isWhole = false) {
  const responses: ServerResponse[] = [];
  const http: RequestListener = (req, res) => {
    let bytes = 0;
    responses.push(res);
    req
      .on('error', () => undefined)
      .on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes >= BEGUN.length && !res.headersSent) res.writeHead(200).write('what was asked');
      });
  };
  const fixture = await openUpstreamFixture({ http }, { ...LIMITS, ...options });
  const caller = openSocket(fixture.url);
  const { pathname } = new URL(fixture.url);
  caller.write(`POST ${pathname} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`);
  send(caller, BEGUN);
  if (isWhole) caller.write('0\r\n\r\n');
  const closed = collect(caller);
  let heard = '';
  caller.on('data', (chunk: Buffer) => {
    heard += String(chunk);
  });
  await until(() => heard.includes('what was asked'));
  return { fixture, caller, closed, upstream: responses[0]! };
}

function send(caller: Socket, piece: Buffer): void {
  caller.write(`${piece.length.toString(16)}\r\n`);
  caller.write(piece);
  caller.write('\r\n');
}

/** The clock of the gateway, so many milliseconds later. */
function later(milliseconds: number): void {
  const { now } = performance;
  jest.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + milliseconds);
}

test('a caller who has read the response and sends more than is taken then has hung up', async () => {
  const { fixture, caller, closed } = await openHad({});
  send(caller, Buffer.alloc(600_000));
  await closed;
  await until(() => fixture.outcomes.length === 1);
  expect(fixture.outcomes).toMatchObject([{ delivered: false, headSent: true, reason: 'client_gone' }]);
});

test.each([
  ['a caller who keeps the end of his body back until the response stands still', false, 'client_gone'],
  ['an upstream that has all of the body and says no more', true, 'upstream_timeout'],
])('it is the doing of %s', async (_who, isWhole, reason) => {
  const { fixture, closed } = await openHad({ proxy: { idleTimeoutMs: 200 } }, isWhole);
  await closed;
  expect(fixture.outcomes).toMatchObject([{ delivered: false, headSent: true, reason }]);
});

test.each([
  ['a caller who keeps the end of his body back until it is broken off', 6_000, false, 'client_gone'],
  ['an upstream that breaks off while the body comes', 500, false, 'upstream_reset'],
  ['an upstream that has all of the body and breaks off', 6_000, true, 'upstream_reset'],
])('it is the doing of %s', async (_who, waitMs, isWhole, reason) => {
  const { fixture, closed, upstream } = await openHad({}, isWhole);
  later(waitMs);
  upstream.destroy();
  await closed;
  expect(fixture.outcomes).toMatchObject([{ delivered: false, headSent: true, reason }]);
});

test('a response may stand still for as long as the body moves that it waits for', async () => {
  const { fixture, caller, closed, upstream } = await openHad({ proxy: { idleTimeoutMs: 1_000 } });
  const begun = performance.now();
  while (performance.now() - begun < 2_000) {
    send(caller, Buffer.from('more'));
    await once(upstream.req, 'data');
  }
  caller.write('0\r\n\r\n');
  await once(upstream.req, 'end');
  upstream.end();
  await until(() => fixture.outcomes.length === 1);
  expect(fixture.outcomes).toMatchObject([{ delivered: true }]);
  caller.destroy();
  await closed;
});
