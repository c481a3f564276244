import { createJsonRpcEndpoint, type JsonRpcEndpoint } from '../../../src/solana/json-rpc.js';
import { rpcErrorOf } from '../../helpers/rejection.js';
import { closeRpcEndpoints, deadUrl, type Reaction, startRpcEndpoint } from '../../helpers/rpc-endpoint.js';
import { openTcpRelay } from '../../helpers/tcp-relay.js';

const LONG = 30_000;
const SHORT = 50;
const clients: JsonRpcEndpoint[] = [];

function connect(url: string, maxAnswerBytes?: number): JsonRpcEndpoint {
  const client = createJsonRpcEndpoint({ url, ...(maxAnswerBytes === undefined ? {} : { maxAnswerBytes }) });
  clients.push(client);
  return client;
}

async function callAgainst(reaction: Reaction, timeoutMs = LONG): Promise<unknown> {
  const { url } = await startRpcEndpoint(() => reaction);
  return connect(url, 10_000).call('getThing', [1, 'two'], timeoutMs);
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

  it('sends user and password of the address as basic authorization', async () => {
    const server = await startRpcEndpoint(() => ({ result: 1 }));
    await connect(server.url.replace('http://', 'http://user:p%40ss@')).call('getThing', [], LONG);
    expect(server.calls[0]?.authorization).toBe(`Basic ${Buffer.from('user:p@ss').toString('base64')}`);
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
      { status: 400, body: '{"error":{"code":-32602,"message":"bad"}}' },
      { failure: 'answer' },
    ],
    [
      'HTTP 429',
      { status: 429, headers: { 'retry-after': '3' } },
      { failure: 'rate_limited', details: { retryAfterMs: 3_000 } },
    ],
    [
      'HTTP 429 for ever',
      { status: 429, headers: { 'retry-after': '1e9' } },
      { failure: 'rate_limited', details: { retryAfterMs: 60_000 } },
    ],
    ['a rate limit told as JSON-RPC', { error: { code: -32429 } }, { failure: 'rate_limited', details: {} }],
    [
      'HTTP 403',
      { status: 403, body: '{"error":{"code":-32052,"message":"key"}}' },
      { failure: 'unreachable', details: {} },
    ],
    ['HTTP 404', { status: 404 }, { failure: 'unreachable', details: {} }],
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
      { failure: 'bad_answer', details: { mayHaveArrived: true } },
    ],
    ['a lost connection', 'disconnect', { failure: 'unreachable', details: { mayHaveArrived: true } }],
  ])('tells %s', async (_name, reaction, expected) => {
    expect(await rpcErrorOf(callAgainst(reaction))).toMatchObject(expected);
  });

  it.each<Reaction>(['hang', 'hang_in_body'])('ends a call that does not come back: %s', async (reaction) => {
    const error = await rpcErrorOf(callAgainst(reaction, SHORT));
    expect(error).toMatchObject({ failure: 'timeout', details: { mayHaveArrived: true } });
  });

  it('knows that a refused connection has carried nothing', async () => {
    const error = await rpcErrorOf(connect(await deadUrl()).call('getThing', [], LONG));
    expect(error.failure).toBe('unreachable');
    expect(error.details.mayHaveArrived).toBeUndefined();
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
    expect((await rpcErrorOf(client.call('getThing', [], LONG))).failure).toBe('closed');
  });

  it.each(['', 'api.devnet.solana.com', 'ws://host', 'file:///x'])('refuses the address "%s" at once', (url) => {
    expect(() => createJsonRpcEndpoint({ url })).toThrow(expect.objectContaining({ code: 'bad_option' }));
  });
});
