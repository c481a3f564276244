import {
  createJsonRpcEndpoint,
  type JsonRpcEndpoint,
  type JsonRpcOptions,
} from '../../../../src/solana/rpc/json-rpc.js';
import { openHttpPeer } from '../../../helpers/http/http-peer.js';
import { closeRpcEndpoints, deadUrl, type Reaction, startRpcEndpoint } from '../../../helpers/nodes/rpc-endpoint.js';
import { openTcpRelay } from '../../../helpers/nodes/tcp-relay.js';
import { rpcErrorOf } from '../../../helpers/rejection.js';
import { until } from '../../../helpers/until.js';

const LONG = 30_000;
const SHORT = 50;
const clients: JsonRpcEndpoint[] = [];

function connect(url: string, options: Omit<JsonRpcOptions, 'url'> = {}): JsonRpcEndpoint {
  const client = createJsonRpcEndpoint({ url, ...options });
  clients.push(client);
  return client;
}

async function callAgainst(reaction: Reaction, timeoutMs = LONG): Promise<unknown> {
  const { url } = await startRpcEndpoint(() => reaction);
  return connect(url, { maxResponseBytes: 10_000 }).call('getThing', [1, 'two'], timeoutMs);
}

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await closeRpcEndpoints();
});

describe('JSON-RPC endpoint', () => {
  it('sends method and parameters and answers the result', async () => {
    const server = await startRpcEndpoint(() => ({ result: { found: [1, 2] } }));
    await expect(connect(server.url).call('getThing', [1, 'two'], LONG)).resolves.toEqual({ found: [1, 2] });
    expect(server.calls).toEqual([{ method: 'getThing', params: [1, 'two'], authorization: undefined }]);
  });

  it('keeps its connection', async () => {
    const server = await startRpcEndpoint(() => ({ result: 1 }));
    const client = connect(server.url);
    for (let call = 0; call < 10; call += 1) await client.call('getThing', [], LONG);
    // A second one may open while the first is being given back.
    expect(server.connections()).toBeLessThanOrEqual(2);
  });

  it('leaves all its connections for new ones when one of them falls silent', async () => {
    const server = await startRpcEndpoint(() => ({ result: 1 }));
    const relay = await openTcpRelay(server.url);
    const client = connect(relay.url);
    await Promise.all([1, 2, 3].map(() => client.call('getThing', [], LONG)));
    relay.freeze();
    expect((await rpcErrorOf(client.call('getThing', [], SHORT))).failure).toBe('timeout');
    await expect(Promise.all([1, 2, 3].map(() => client.call('getThing', [], LONG)))).resolves.toEqual([1, 1, 1]);
    await relay.close();
  });

  it('ends the calls on connections that it has left, too, when it is closed', async () => {
    const server = await startRpcEndpoint(() => 'hang');
    const client = connect(server.url);
    let isOver = false;
    const patient = rpcErrorOf(client.call('getThing', [], 2_000)).finally(() => {
      isOver = true;
    });
    await rpcErrorOf(client.call('getThing', [], SHORT));
    await client.close();
    await new Promise((resolve) => setImmediate(resolve));
    expect(isOver).toBe(true);
    expect((await patient).failure).toBe('closed');
  });

  it('opens no more connections than it may', async () => {
    const server = await startRpcEndpoint(() => ({ result: 1 }));
    const client = connect(server.url, { connections: 1 });
    await Promise.all([1, 2, 3, 4].map(() => client.call('getThing', [], LONG)));
    expect(server.connections()).toBe(1);
  });

  it('leaves no timer behind for a call that was answered', async () => {
    const server = await startRpcEndpoint(() => ({ result: 1 }));
    const client = connect(server.url, { connections: 1 });
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    await client.call('getThing', [], LONG);
    const before = timers();
    for (let call = 0; call < 10; call += 1) await client.call('getThing', [], LONG);
    expect(timers() - before).toBeLessThan(5);
  });

  it('says that it sends and takes JSON', async () => {
    const peer = await openHttpPeer();
    peer.reply = () => ({ body: { jsonrpc: '2.0', id: 1, result: 1 } });
    await connect(peer.url).call('getThing', ['x'], LONG);
    await peer.close();
    const [{ headers, body } = { headers: {}, body: '' }] = peer.calls;
    expect(headers).toMatchObject({ 'content-type': 'application/json', accept: 'application/json' });
    expect(JSON.parse(body)).toEqual({ jsonrpc: '2.0', id: 1, method: 'getThing', params: ['x'] });
  });

  it.each([
    ['user:p%40ss@', 'user:p@ss'],
    ['user@', 'user:'],
    [':pass@', ':pass'],
  ])('sends user and password of the address as basic authorization: %s', async (part, credentials) => {
    const server = await startRpcEndpoint(() => ({ result: 1 }));
    await connect(server.url.replace('http://', `http://${part}`)).call('getThing', [], LONG);
    expect(server.calls[0]?.authorization).toBe(`Basic ${Buffer.from(credentials).toString('base64')}`);
  });

  it('reads lamports beyond 2^53 exactly', async () => {
    const body =
      '{"jsonrpc":"2.0","id":1,"result":{"lamports":18446744073709551615,"note":"\\"lamports\\":12345678901234567890"}}';
    await expect(callAgainst({ status: 200, body })).resolves.toEqual({
      lamports: '18446744073709551615',
      note: '"lamports":12345678901234567890',
    });
  });

  it.each<[string, Reaction, object]>([
    [
      'a JSON-RPC error',
      { error: { code: -32602, message: 'bad', data: { x: 1 } } },
      { failure: 'answer', details: { code: -32602, data: { x: 1 } } },
    ],
    [
      'a JSON-RPC error with HTTP 400',
      { status: 400, body: '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"bad"}}' },
      { failure: 'answer' },
    ],
    [
      'HTTP 429',
      { status: 429, headers: { 'retry-after': '3' } },
      { failure: 'rate_limited', details: { mayHaveArrived: true, retryAfterMs: 3_000 } },
    ],
    [
      'HTTP 429 for ever',
      { status: 429, headers: { 'retry-after': '1e9' } },
      { failure: 'rate_limited', details: { retryAfterMs: 60_000 } },
    ],
    [
      'a rate limit told as JSON-RPC',
      { error: { code: -32429 } },
      { failure: 'rate_limited', details: { mayHaveArrived: true } },
    ],
    [
      'HTTP 403',
      { status: 403, body: '{"jsonrpc":"2.0","id":1,"error":{"code":-32052,"message":"key"}}' },
      { failure: 'unreachable', details: { mayHaveArrived: true } },
    ],
    ['HTTP 404', { status: 404 }, { failure: 'unreachable', details: { mayHaveArrived: true } }],
    ['HTTP 502', { status: 502, body: '<html>' }, { failure: 'bad_answer', details: { mayHaveArrived: true } }],
    ['a web page', { status: 200, body: '<html>' }, { failure: 'bad_answer', details: { mayHaveArrived: true } }],
    [
      'JSON that is no answer',
      { status: 200, body: '[1]' },
      { failure: 'bad_answer', details: { mayHaveArrived: true } },
    ],
    [
      'an error without a code',
      { status: 200, body: '{"error":"no"}' },
      { failure: 'bad_answer', details: { mayHaveArrived: true } },
    ],
    [
      'an answer over the limit',
      { result: 'x'.repeat(20_000) },
      { failure: 'too_large', details: { mayHaveArrived: true } },
    ],
    [
      'a web page over the limit',
      { status: 200, body: `<html>${'x'.repeat(20_000)}` },
      { failure: 'bad_answer', details: { mayHaveArrived: true } },
    ],
    [
      'a failure over the limit',
      { status: 502, body: `{"x":"${'x'.repeat(20_000)}"}` },
      { failure: 'bad_answer', details: { mayHaveArrived: true } },
    ],
    ['a lost connection', 'disconnect', { failure: 'unreachable', details: { mayHaveArrived: true } }],
  ])('tells %s', async (_name, reaction, expected) => {
    expect(await rpcErrorOf(callAgainst(reaction))).toMatchObject(expected);
  });

  const DOUBT = { mayHaveArrived: true };
  const reply = (change: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, ...change });
  const error = (code: unknown, message?: unknown) => reply({ error: { code, message } });
  const FOREIGN = 'the answer is not the JSON-RPC 2.0 reply to this call';

  it.each<[string, string, object, Reaction]>([
    ['answer', 'bad (-32602)', { code: -32_602 }, { error: { code: -32_602, message: 'bad' } }],
    ['answer', 'no message (7)', { code: 7 }, { error: { code: 7 } }],
    ['answer', 'no message (7)', { code: 7 }, { status: 200, body: error(7, 5) }],
    ['answer', `${'x'.repeat(500)} (7)`, { code: 7 }, { error: { code: 7, message: 'x'.repeat(501) } }],
    ['answer', 'bad (7)', { code: 7 }, { status: 500, body: error(7, 'bad') }],
    ['rate_limited', 'too many requests', DOUBT, { status: 429 }],
    ['rate_limited', 'too many requests', DOUBT, { status: 429, headers: { 'retry-after': '0' } }],
    ['rate_limited', 'too many requests', DOUBT, { status: 429, headers: { 'retry-after': '-5' } }],
    ['rate_limited', 'too many requests', DOUBT, { status: 429, headers: { 'retry-after': 'soon' } }],
    ['rate_limited', 'too many requests', DOUBT, { status: 429, headers: { 'retry-after': 'Infinity' } }],
    [
      'rate_limited',
      'too many requests',
      { ...DOUBT, retryAfterMs: 500 },
      { status: 200, headers: { 'retry-after': '0.5' }, body: error(429) },
    ],
    ['unreachable', 'answered HTTP 401; check the address and its key', DOUBT, { status: 401, body: error(7) }],
    ['unreachable', 'answered HTTP 403; check the address and its key', DOUBT, { status: 403, body: error(7) }],
    ['unreachable', 'answered HTTP 400; check the address and its key', DOUBT, { status: 400 }],
    ['unreachable', 'answered HTTP 499; check the address and its key', DOUBT, { status: 499 }],
    ['bad_answer', 'answered HTTP 500', DOUBT, { status: 500 }],
    ['bad_answer', 'answered HTTP 502', DOUBT, { status: 502, body: '{"result":1}' }],
    ['bad_answer', 'answered HTTP 201', DOUBT, { status: 201, body: '{"result":1}' }],
    ['bad_answer', 'the answer is not JSON-RPC 2.0', DOUBT, { status: 200, body: '<html>' }],
    ['bad_answer', 'the answer is not JSON-RPC 2.0', DOUBT, { status: 200, body: reply({}) }],
    ['bad_answer', 'the answer is not JSON-RPC 2.0', DOUBT, { status: 200, body: '["result"]' }],
    ['bad_answer', 'the error has no code', DOUBT, { status: 200, body: reply({ error: 'no' }) }],
    ['bad_answer', 'the error has no code', DOUBT, { status: 200, body: reply({ error: null }) }],
    ['bad_answer', 'the error has no code', DOUBT, { status: 200, body: reply({ error: {} }) }],
    ['bad_answer', 'the error has no code', DOUBT, { status: 200, body: error('7', 'bad') }],
    ['bad_answer', FOREIGN, DOUBT, { status: 200, body: '{}' }],
    ['bad_answer', FOREIGN, DOUBT, { status: 200, body: reply({ id: 2, error: { code: -32_602 } }) }],
    ['bad_answer', FOREIGN, DOUBT, { status: 200, body: reply({ id: '1', error: { code: -32_602 } }) }],
    ['bad_answer', FOREIGN, DOUBT, { status: 200, body: reply({ id: null, error: { code: -32_602 } }) }],
    ['bad_answer', FOREIGN, DOUBT, { status: 200, body: reply({ jsonrpc: '1.0', error: { code: -32_602 } }) }],
    ['bad_answer', FOREIGN, DOUBT, { status: 200, body: reply({ id: 2, result: 1 }) }],
    ['bad_answer', 'answered HTTP 500', DOUBT, { status: 500, body: reply({ id: 2, error: { code: -32_602 } }) }],
    ['too_large', 'the answer is too large', DOUBT, { result: 'x'.repeat(20_000) }],
  ])('tells as %s: %s %j', async (failure, message, details, reaction) => {
    const error = await rpcErrorOf(callAgainst(reaction));
    expect({ ...error, details: { ...error.details }, message: error.message.replace(/:\d+:/, ':80:') }).toEqual({
      name: 'RpcError',
      failure,
      details,
      message: `getThing at 127.0.0.1:80: ${message}`,
    });
  });

  it.each<Reaction>(['hang', 'hang_in_body'])('ends a call that does not come back: %s', async (reaction) => {
    const error = await rpcErrorOf(callAgainst(reaction, SHORT));
    expect(error).toMatchObject({ failure: 'timeout', details: { mayHaveArrived: true } });
  });

  it('knows that a refused connection has carried nothing', async () => {
    const error = await rpcErrorOf(connect(await deadUrl()).call('getThing', [], LONG));
    expect(error.failure).toBe('unreachable');
    expect(error.details.mayHaveArrived).toBeUndefined();
    expect(error.message).toMatch(/^getThing at 127\.0\.0\.1:\d+: no connection \(ECONNREFUSED\)$/);
    expect(error.cause).toMatchObject({ code: 'ECONNREFUSED' });
  });

  it.each<Reaction>([
    { error: { code: 1, message: 'no' } },
    { status: 403 },
    { status: 429 },
    { status: 200, body: '<html>' },
    'disconnect',
    'hang',
  ])('names method and host in the message but no path or query: %j', async (reaction) => {
    const { message } = await rpcErrorOf(callAgainst(reaction, SHORT * 4));
    expect(message).toMatch(/^getThing at 127\.0\.0\.1:\d+: /);
    expect(message).not.toContain('secret');
  });

  it('knows that a call which waits for a connection has carried nothing, when its time is up and when it is closed', async () => {
    const server = await startRpcEndpoint(() => 'hang');
    const client = connect(server.url, { connections: 1 });
    const first = rpcErrorOf(client.call('getThing', [], LONG));
    await until(() => server.calls.length === 1);
    const impatient = await rpcErrorOf(client.call('getThing', [], SHORT));
    expect([impatient.failure, impatient.details]).toEqual(['timeout', {}]);
    await client.close();
    expect((await first).details).toEqual({ mayHaveArrived: true });
    expect(server.calls).toHaveLength(1);
  });

  it('ends calls under way when it is closed, and refuses later ones', async () => {
    const server = await startRpcEndpoint(() => 'hang');
    const client = connect(server.url);
    const arrived = new Promise<void>((resolve) => {
      server.react = () => {
        resolve();
        return 'hang';
      };
    });
    const underWay = rpcErrorOf(client.call('getThing', [], LONG));
    await arrived;
    await client.close();
    expect((await underWay).failure).toBe('closed');
    const later = await rpcErrorOf(client.call('getThing', [], LONG));
    expect([later.failure, later.message]).toEqual(['closed', `getThing at ${client.host}: closed`]);
  });

  it.each([
    ['https://api.devnet.solana.com/path?key=x', 'api.devnet.solana.com'],
    ['http://127.0.0.1:8899', '127.0.0.1:8899'],
  ])('takes the address %s, and is named %s', (url, host) => {
    expect(connect(url).host).toBe(host);
  });

  it.each(['', 'api.devnet.solana.com', 'ws://host', 'file:///x'])('refuses the address "%s" at once', (url) => {
    expect(() => createJsonRpcEndpoint({ url })).toThrow(
      expect.objectContaining({
        code: 'bad_option',
        context: { param: 'rpcUrl' },
        message: 'Solana RPC: an endpoint must be an address such as "https://api.devnet.solana.com"',
      }),
    );
  });
});
