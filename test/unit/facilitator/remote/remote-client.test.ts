import {
  createRemoteClient,
  type RemoteClient,
  RemoteFault,
} from '../../../../src/facilitator/remote/remote-client.js';
import { parsed, unparsed } from '../../../../src/lib/parsed.js';
import { type HttpPeer, openHttpPeer, type PeerCall, type PeerReply } from '../../../helpers/http/http-peer.js';
import { until } from '../../../helpers/until.js';

const LONG = 7_000;

let peer: HttpPeer;
let clients: RemoteClient[] = [];

beforeAll(async () => {
  peer = await openHttpPeer();
});
beforeEach(() => {
  peer.reply = () => ({ body: {} });
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});
afterAll(() => peer.close());

function clientOf(options: Partial<Parameters<typeof createRemoteClient>[0]> = {}): RemoteClient {
  const client = createRemoteClient({ url: peer.url, headers: {}, ...options });
  clients = [...clients, client];
  return client;
}

function lastCall(): PeerCall {
  const call = peer.calls.at(-1);
  if (call === undefined) throw new Error('nothing was asked');
  return call;
}

const takeAll = (body: unknown) => parsed(body);
const takeNothing = () => unparsed('it is of another shape');

/** What a call ended with, as a caller sees it. */
async function faultOf(call: Promise<unknown>) {
  const error: unknown = await call.then(
    () => undefined,
    (it: unknown) => it,
  );
  if (!(error instanceof RemoteFault)) throw new Error(`no fault but ${String(error)}`);
  const { name, message, mayHaveActed } = error;
  return { name, message, mayHaveActed, hasCause: 'cause' in error, cause: error.cause };
}

describe('a call', () => {
  test.each([
    ['supported', undefined, 'GET', 'keep-alive'],
    ['verify', { a: 1 }, 'POST', 'keep-alive'],
    ['settle', { a: 1 }, 'POST', 'close'],
  ] as const)(
    'of %s goes out as JSON, and only a settlement gives its connection up',
    async (operation, body, ...sent) => {
      peer.reply = () => ({ body: { answered: operation } });
      const client = clientOf({ url: `${peer.url}/x402/`, headers: { 'x-key': 'k' } });
      expect(client.host).toBe(peer.host);
      expect(await client.ask(operation, body, LONG, takeAll)).toEqual({ answered: operation });
      const { method, path, headers, body: arrived } = lastCall();
      expect({ method, path, arrived }).toEqual({
        method: sent[0],
        path: `/x402/${operation}`,
        arrived: body === undefined ? '' : '{"a":1}',
      });
      expect([headers.accept, headers.connection, headers['x-key']]).toEqual(['application/json', sent[1], 'k']);
      expect(headers['content-type']).toBe(body === undefined ? undefined : 'application/json');
    },
  );

  test('that is over leaves no timer behind', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((it) => it === 'Timeout').length;
    const client = clientOf();
    const before = timers();
    for (let index = 0; index < 20; index += 1) await client.ask('verify', {}, LONG, takeAll);
    expect(timers() - before).toBeLessThan(20);
  });

  test('after the end fails, whichever it is, and no connection is left', async () => {
    const client = clientOf();
    await Promise.all([client.ask('verify', {}, LONG, takeAll), client.ask('settle', {}, LONG, takeAll)]);
    await client.close();
    await until(async () => (await peer.connections()) === 0);
    for (const operation of ['verify', 'settle'] as const) {
      const { message } = await faultOf(client.ask(operation, {}, LONG, takeAll));
      expect(message).toBe(`/${operation} at ${peer.host}: no answer (UND_ERR_DESTROYED)`);
    }
  });
});

describe('an answer that is none says what came, and whether something may have been done', () => {
  test.each<[PeerReply, string, boolean]>([
    [{ status: 200, body: {} }, 'the answer is not understood, it is of another shape', true],
    [{ status: 200, body: 'no JSON' }, 'the answer is not understood, it is of another shape', true],
    [{ status: 201, body: {} }, 'answered HTTP 201', true],
    [{ status: 299, body: {} }, 'answered HTTP 299', true],
    [{ status: 300, body: {} }, 'answered HTTP 300', true],
    [{ status: 307, body: {} }, 'answered HTTP 307', true],
    [{ status: 400, body: {} }, 'answered HTTP 400', true],
    [{ status: 408, body: {} }, 'answered HTTP 408', true],
    [{ status: 409, body: {} }, 'answered HTTP 409', true],
    [{ status: 499, body: {} }, 'answered HTTP 499', true],
    [{ status: 500, body: {} }, 'answered HTTP 500', true],
    [{ status: 503, body: 'null' }, 'answered HTTP 503', true],
    [{ status: 503, body: '"text"' }, 'answered HTTP 503', true],
    [{ status: 503, body: '' }, 'answered HTTP 503', true],
    [{ status: 503, body: { code: 'internal_error' } }, 'answered HTTP 503', true],
    [{ status: 503, body: { code: 'payment_backend_unavailable' } }, 'answered HTTP 503', false],
    [{ status: 503, body: { code: 'fee_limit_reached' } }, 'answered HTTP 503', false],
    [{ status: 429, body: '' }, 'answered HTTP 429', true],
    [{ status: 429, body: { code: 'rate_limited' } }, 'answered HTTP 429', false],
  ])('%j', async (reply, what, mayHaveActed) => {
    peer.reply = () => reply;
    expect(await faultOf(clientOf().ask('verify', {}, LONG, takeNothing))).toEqual({
      name: 'RemoteFault',
      message: `/verify at ${peer.host}: ${what}`,
      mayHaveActed,
      hasCause: false,
    });
  });

  test('a broken connection may have acted', async () => {
    peer.reply = () => 'break';
    expect(await faultOf(clientOf().ask('settle', {}, LONG, takeAll))).toMatchObject({
      message: `/settle at ${peer.host}: no answer (UND_ERR_SOCKET)`,
      mayHaveActed: true,
      cause: { code: 'UND_ERR_SOCKET' },
    });
  });

  test('a refused connection has not', async () => {
    const gone = await openHttpPeer();
    await gone.close();
    expect(await faultOf(clientOf({ url: gone.url }).ask('settle', {}, LONG, takeAll))).toMatchObject({
      message: `/settle at ${gone.host}: no answer (ECONNREFUSED)`,
      mayHaveActed: false,
      cause: { code: 'ECONNREFUSED' },
    });
  });

  test('silence may have acted', async () => {
    peer.reply = () => 'silence';
    expect(await faultOf(clientOf().ask('verify', {}, 30, takeAll))).toMatchObject({
      message: `/verify at ${peer.host}: no answer within 30 ms`,
      mayHaveActed: true,
      hasCause: true,
    });
  });
});

describe('headers that are not made in time, or not at all, send nothing', () => {
  test('they fail', async () => {
    const failure = new Error('no key');
    const client = clientOf({ headers: () => Promise.reject(failure) });
    const before = peer.calls.length;
    expect(await faultOf(client.ask('verify', {}, LONG, takeAll))).toMatchObject({
      message: 'the headers for /verify could not be made',
      mayHaveActed: false,
      cause: failure,
    });
    expect(peer.calls).toHaveLength(before);
  });

  test('they never come', async () => {
    const client = clientOf({ headers: () => new Promise(() => {}) });
    expect(await faultOf(client.ask('settle', {}, 20, takeAll))).toMatchObject({
      message: 'the headers for /settle did not come in time',
      mayHaveActed: false,
    });
  });
});
