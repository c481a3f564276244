import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type CallsOnCredit, newName, openCallsOnCredit, type Sent } from '../../helpers/fixtures/calls-on-credit.js';
import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { collect, linesOf, openSocket, rawRequest } from '../../helpers/http/raw-http.js';
import { standsStill } from '../../helpers/http/stands-still.js';
import { until } from '../../helpers/until.js';

const PRICE = '0.012347';
const MIB = 1024 * 1024;
/** More than all the buffers on its way hold. */
const LARGE = 64 * MIB;

const fixture = useGatewayFixture(undefined, { limitScale: 100 });
let calls: CallsOnCredit;
let later = 0;

beforeEach(async () => {
  later = 0;
  const { now } = performance;
  jest.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + later);
  calls = await openCallsOnCredit(fixture(), (res) => void res.end('whole'));
});
afterEach(() => jest.restoreAllMocks());

/** The header fields that pay one call. */
async function paidBy(way: string): Promise<Sent> {
  const { project, caller } = calls;
  if (way === 'a payment') return (await fixture().pay({ project, caller })).header;
  await calls.leaveCredit();
  return way === 'credit' ? {} : newName();
}

/** Writes a body as fast as it is taken, until it is whole. */
function flood(res: ServerResponse, size = Number.POSITIVE_INFINITY): { written: number } {
  const sent = { written: 0 };
  const piece = Buffer.alloc(65_536, 'x');
  const more = (): void => {
    while (!res.destroyed && sent.written < size) {
      sent.written += piece.length;
      if (!res.write(piece)) return;
    }
    if (!res.destroyed) res.end();
  };
  res.on('drain', more);
  more();
  return sent;
}

/** Calls, and reads nothing for now. */
function begin(sent: Sent): Socket {
  const socket = openSocket(calls.url).pause();
  socket.write(requestWith(sent));
  return socket;
}

function requestWith(sent: Sent): string {
  const { pathname } = new URL(calls.url);
  return rawRequest(`GET ${pathname}`, linesOf({ ...calls.caller.key.headers, ...sent }));
}

/** Reads a connection to its end, and answers what came. */
async function readOn(socket: Socket): Promise<string> {
  const heard = collect(socket);
  socket.resume();
  return heard;
}

interface Listed {
  readonly method: string;
  readonly outcome: string;
  readonly reason: string | null;
}

/** What is written of the call by GET, the only one, once that is over; and what credit its caller has then. */
async function over(): Promise<{ readonly call: Listed; readonly credit: readonly string[] }> {
  const { client, asOwner } = fixture();
  const path = `/api/v1/projects/${calls.project.id}/calls`;
  let call: Listed | undefined;
  await until(async () => {
    const { body } = await client.ask('GET', path, undefined, asOwner);
    call = (body['data'] as readonly Listed[]).find(({ method }) => method === 'GET');
    return call !== undefined;
  });
  return { call: call!, credit: await calls.creditOf() };
}

const CHARGED = { call: { outcome: 'succeeded', reason: null, amount: PRICE }, credit: [] };
const CREDITED = { call: { outcome: 'failed', amount: null }, credit: [PRICE] };

describe.each(['a payment', 'credit', 'credit, under a name,'])('a caller who pays with %s', (way) => {
  interface Upstream {
    sent: { readonly written: number };
    breakOff(): void;
  }

  /** Has the upstream answer with a long response. */
  function answerAtLength(): Upstream {
    const upstream: Upstream = { sent: { written: 0 }, breakOff: () => undefined };
    fixture().upstream.respond((res) => {
      res.writeHead(200, { 'content-length': LARGE });
      Object.assign(upstream, { sent: flood(res, LARGE), breakOff: () => res.destroy() });
    });
    return upstream;
  }

  const standStill = (upstream: Upstream): Promise<void> => standsStill(() => upstream.sent.written);

  test.each([
    ['long enough for the upstream to break off', [6_000]],
    ['again and again for less than that', [2_600, 2_600]],
  ])('lets it wait %s, and reads on then, pays for what he has read', async (_what, waits) => {
    const sent = await paidBy(way);
    const upstream = answerAtLength();
    const socket = begin(sent);
    for (const [n, waitMs] of waits.entries()) {
      await standStill(upstream);
      later += waitMs;
      if (n === waits.length - 1) break;
      const { written } = upstream.sent;
      const read = (): void => undefined;
      socket.on('data', read).resume();
      await until(() => upstream.sent.written > written);
      socket.off('data', read).pause();
    }
    upstream.breakOff();
    expect((await readOn(socket)).length).toBeGreaterThan(MIB);
    expect(await over()).toMatchObject(CHARGED);
    expect((await calls.call()).status).toBe(402);
  });

  test('is as slow, but not for long when the upstream breaks off by itself, pays nothing', async () => {
    const sent = await paidBy(way);
    const upstream = answerAtLength();
    const socket = begin(sent);
    await standStill(upstream);
    later += 500;
    upstream.breakOff();
    await readOn(socket);
    expect(await over()).toMatchObject({ ...CREDITED, call: { reason: 'upstream_reset' } });
    expect((await calls.call()).status).toBe(200);
  });

  test.each([
    ['a stream without end', 'text/event-stream', CHARGED],
    ['a document', 'application/zip', CREDITED],
  ])(
    'reads %s up to the bound of a response, and pays where he has that much for himself',
    async (_what, type, outcome) => {
      const sent = await paidBy(way);
      fixture().upstream.respond((res) => {
        res.writeHead(200, { 'content-type': type });
        flood(res);
      });
      expect((await readOn(begin(sent))).length).toBeGreaterThan(LARGE);
      const { call, credit } = await over();
      expect([call, credit]).toMatchObject([
        { reason: 'upstream_answer_too_large', amount: outcome.call.amount },
        outcome.credit,
      ]);
    },
  );
});
