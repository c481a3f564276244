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

/** What has paid for a call. */
const WAYS = ['a payment', 'credit', 'credit, and names it,'];

/** The upstream's side of a response. */
interface Upstream {
  sent: { readonly written: number };
  breakOff(): void;
}

const fixture = useGatewayFixture(undefined, { limitScale: 100 });
let calls: CallsOnCredit;
let later = 0;

beforeEach(async () => {
  later = 0;
  const { now } = performance;
  jest.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + later);
  calls = await openCallsOnCredit(fixture(), (res) => void res.end('whole'), {
    routes: [{ path: '/free', free: true }],
  });
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

function requestWith(sent: Sent, path = 'job'): string {
  return rawRequest(`GET /v1/${calls.project.slug}/${path}`, linesOf({ ...calls.caller.key.headers, ...sent }));
}

/** Reads a connection to its end, and answers what came. */
async function readOn(socket: Socket): Promise<string> {
  const heard = collect(socket);
  socket.resume();
  return heard;
}

interface Listed {
  readonly method: string;
  readonly route: string | null;
}

/** What is written of the only GET of /job, once that is over; and what credit its caller has then. */
async function over(): Promise<{ readonly call: Listed; readonly credit: readonly string[] }> {
  const { client, asOwner } = fixture();
  const path = `/api/v1/projects/${calls.project.id}/calls`;
  let call: Listed | undefined;
  await until(async () => {
    const { body } = await client.ask('GET', path, undefined, asOwner);
    call = (body['data'] as readonly Listed[]).find(({ method, route }) => method === 'GET' && route !== 'GET /free');
    return call !== undefined;
  });
  return { call: call!, credit: await calls.creditOf() };
}

const CHARGED = { call: { outcome: 'succeeded', reason: null, amount: PRICE }, credit: [] };
const CREDITED = { call: { outcome: 'failed', amount: null }, credit: [PRICE] };

describe.each(WAYS)('a caller who pays by %s', (way) => {
  /** Has the upstream answer with a long response. */
  function answerAtLength(): Upstream {
    const upstream: Upstream = { sent: { written: 0 }, breakOff: () => undefined };
    fixture().upstream.respond((res) => {
      res.writeHead(200, { 'content-length': LARGE });
      Object.assign(upstream, { sent: flood(res, LARGE), breakOff: () => res.destroy() });
    });
    return upstream;
  }

  test.each([
    ['long enough for the upstream to break off', [6_000]],
    ['again and again for less than that', [2_600, 2_600]],
  ])('lets it wait %s, and reads on then, pays for what he has read', async (_what, waits) => {
    const sent = await paidBy(way);
    const upstream = answerAtLength();
    const socket = begin(sent);
    for (const [n, waitMs] of waits.entries()) {
      await standsStill(() => upstream.sent.written);
      later += waitMs;
      if (n === waits.length - 1) break;
      const { written } = upstream.sent;
      socket.on('data', () => undefined).resume();
      await until(() => upstream.sent.written > written);
      socket.removeAllListeners('data').pause();
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
    await standsStill(() => upstream.sent.written);
    later += 500;
    upstream.breakOff();
    await readOn(socket);
    expect(await over()).toMatchObject({ ...CREDITED, call: { reason: 'upstream_reset' } });
    expect((await calls.call()).status).toBe(200);
  });

  test.each([
    ['long', 6_000, CHARGED],
    ['no time', 500, { ...CREDITED, call: { reason: 'upstream_reset' } }],
  ])('lets a short one wait for %s behind another response, until it breaks off', async (_what, waitMs, outcome) => {
    const sent = await paidBy(way);
    const held = new Map<string, ServerResponse>();
    fixture().upstream.respond((res, { path }) => {
      held.set(path, res);
      if (path === '/job') res.writeHead(200, { 'content-length': 200_000 }).write(Buffer.alloc(100_000, 'x'));
    });
    const socket = openSocket(calls.url);
    const heard = collect(socket);
    socket.write(requestWith({}, 'free') + requestWith(sent));
    await until(() => held.has('/job') && held.has('/free'));
    // Whatever is answered after it finds that the beginning has come.
    for (let n = 0; n < 3; n += 1) await fixture().client.ask('GET', '/supported');
    later += waitMs;
    held.get('/job')!.destroy();
    held.get('/free')!.end('for nothing');
    expect((await heard).length).toBeGreaterThan(100_000);
    expect(await over()).toMatchObject(outcome);
  });

  test.each([
    ['a stream whose pieces are good for themselves, has had them', 'text/event-stream', [PRICE, []]],
    ['a document, has a broken one, and pays nothing', 'application/zip', [null, [PRICE]]],
  ])('and whose response outgrows what is passed on, %s', async (_what, type, [amount, credit]) => {
    const sent = await paidBy(way);
    fixture().upstream.respond((res) => void flood(res.writeHead(200, { 'content-type': type })));
    expect((await readOn(begin(sent))).length).toBeGreaterThan(90 * MIB);
    const call = { status: 200, outcome: 'failed', reason: 'upstream_answer_too_large', amount };
    expect(await over()).toMatchObject({ call, credit });
  });
});
