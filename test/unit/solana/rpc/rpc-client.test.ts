import type { SolanaRpc } from '../../../../src/solana/rpc/rpc.js';
import { createSolanaRpc, type SolanaRpcOptions } from '../../../../src/solana/rpc/rpc-client.js';
import {
  closeRpcEndpoints,
  deadUrl,
  type Reaction,
  type RpcEndpoint,
  startRpcEndpoint,
} from '../../../helpers/nodes/rpc-endpoint.js';
import { rpcErrorOf } from '../../../helpers/rejection.js';
import { until } from '../../../helpers/until.js';

const GENESIS: Reaction = { result: 'genesis' };
const UNHEALTHY: Reaction = { error: { code: -32005, message: 'node is behind' } };
const SEND = { skipPreflight: true, preflightCommitment: 'confirmed' } as const;
const clients: SolanaRpc[] = [];

function connect(urls: string | readonly string[], options: Omit<SolanaRpcOptions, 'urls'> = {}): SolanaRpc {
  // What compares several endpoints is not among the calls that are counted here.
  const client = createSolanaRpc({ urls, slotsEveryMs: Number.POSITIVE_INFINITY, ...options });
  clients.push(client);
  return client;
}

function urlsOf(...endpoints: RpcEndpoint[]): string[] {
  return endpoints.map(({ url }) => url);
}

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await closeRpcEndpoints();
});

describe('Solana RPC calls', () => {
  async function ask(result: unknown, use: (rpc: SolanaRpc) => Promise<unknown>) {
    const server = await startRpcEndpoint(() => ({ result }));
    const answer = await use(connect(server.url));
    return { answer, call: server.calls[0] };
  }

  it('asks for the latest blockhash', async () => {
    const result = { context: { slot: 5 }, value: { blockhash: 'hash', lastValidBlockHeight: 160 } };
    const { answer, call } = await ask(result, (rpc) => rpc.getLatestBlockhash('confirmed'));
    expect(answer).toEqual({ blockhash: 'hash', lastValidBlockHeight: 160 });
    expect(call).toMatchObject({ method: 'getLatestBlockhash', params: [{ commitment: 'confirmed' }] });
  });

  it('asks for slot and height together', async () => {
    const { answer, call } = await ask({ absoluteSlot: 7, blockHeight: 6, epoch: 0 }, (rpc) => rpc.getTip('finalized'));
    expect(answer).toEqual({ slot: 7, blockHeight: 6 });
    expect(call).toMatchObject({ method: 'getEpochInfo', params: [{ commitment: 'finalized' }] });
  });

  it('reads accounts with exact lamports, and none where there is none', async () => {
    const account = { lamports: 5, owner: 'owner', data: ['AQID', 'base64'], executable: false };
    const { answer, call } = await ask({ context: { slot: 1 }, value: [account, null] }, (rpc) =>
      rpc.getAccounts(['a', 'b'], 'processed'),
    );
    expect(answer).toEqual([{ lamports: 5n, owner: 'owner', data: Buffer.from([1, 2, 3]) }, null]);
    expect(call).toMatchObject({
      method: 'getMultipleAccounts',
      params: [['a', 'b'], { encoding: 'base64', commitment: 'processed' }],
    });
  });

  it('does not round large balances', async () => {
    const body =
      '{"jsonrpc":"2.0","id":1,"result":{"context":{"slot":1},"value":[{"lamports":9007199254740993,"owner":"o","data":["","base64"]}]}}';
    const server = await startRpcEndpoint(() => ({ status: 200, body }));
    const [account] = await connect(server.url).getAccounts(['a'], 'confirmed');
    expect(account?.lamports).toBe(9_007_199_254_740_993n);
  });

  it('asks nothing for no accounts', async () => {
    const server = await startRpcEndpoint(() => ({ result: null }));
    await expect(connect(server.url).getAccounts([], 'confirmed')).resolves.toEqual([]);
    expect(server.calls).toEqual([]);
  });

  it('simulates without checking signatures and without another blockhash', async () => {
    const result = { context: { slot: 9 }, value: { err: 'BlockhashNotFound', logs: null } };
    const { answer, call } = await ask(result, (rpc) =>
      rpc.simulateTransaction(Uint8Array.of(1, 2), { commitment: 'confirmed' }),
    );
    expect(answer).toEqual({ err: 'BlockhashNotFound', logs: [], slot: 9 });
    const config = { encoding: 'base64', sigVerify: false, replaceRecentBlockhash: false, commitment: 'confirmed' };
    expect(call).toMatchObject({ method: 'simulateTransaction' });
    expect(call?.params).toEqual(['AQI=', config]);
  });

  it('asks a simulation for accounts and inner instructions where they are wanted, and gives them', async () => {
    const result = { context: { slot: 9 }, value: { err: null, logs: [], accounts: [null], innerInstructions: [] } };
    const wanted = { commitment: 'confirmed', accounts: ['a'], innerInstructions: true } as const;
    const { answer, call } = await ask(result, (rpc) => rpc.simulateTransaction(Uint8Array.of(1), wanted));
    expect(answer).toEqual({ err: null, logs: [], slot: 9, accounts: [null], innerInstructions: [] });
    expect(call?.params).toEqual([
      'AQ==',
      {
        encoding: 'base64',
        sigVerify: false,
        replaceRecentBlockhash: false,
        commitment: 'confirmed',
        accounts: { encoding: 'base64', addresses: ['a'] },
        innerInstructions: true,
      },
    ]);
  });

  it('sends the bytes it is given, also those of a view', async () => {
    const view = Uint8Array.of(9, 1, 2, 9).subarray(1, 3);
    const { answer, call } = await ask('signature', (rpc) => rpc.sendTransaction(view, SEND));
    expect(answer).toBe('signature');
    expect(call).toMatchObject({ method: 'sendTransaction', params: ['AQI=', { encoding: 'base64', ...SEND }] });
  });

  it('reads statuses with the slot as of which they hold', async () => {
    const value = [
      null,
      { slot: 3, confirmations: 1, err: null, confirmationStatus: 'confirmed' },
      { slot: 4, confirmations: null, err: { InstructionError: [0, 'Custom'] } },
      { slot: 5, confirmations: 0, err: null },
    ];
    const { answer, call } = await ask({ context: { slot: 8 }, value }, (rpc) =>
      rpc.getSignatureStatuses(['a', 'b', 'c', 'd'], { searchHistory: true }),
    );
    expect(answer).toEqual({
      slot: 8,
      states: [
        null,
        { slot: 3, err: null, commitment: 'confirmed' },
        { slot: 4, err: { InstructionError: [0, 'Custom'] }, commitment: 'finalized' },
        { slot: 5, err: null, commitment: 'processed' },
      ],
    });
    expect(call).toMatchObject({
      method: 'getSignatureStatuses',
      params: [['a', 'b', 'c', 'd'], { searchTransactionHistory: true }],
    });
  });

  it('looks into the history only when it is told to', async () => {
    const { call } = await ask({ context: { slot: 8 }, value: [null] }, (rpc) => rpc.getSignatureStatuses(['a']));
    expect(call?.params).toEqual([['a'], { searchTransactionHistory: false }]);
  });

  it('asks for a transaction of any version', async () => {
    const { answer, call } = await ask(null, (rpc) => rpc.getTransaction('signature', 'finalized'));
    expect(answer).toBeNull();
    const config = { encoding: 'base64', commitment: 'finalized', maxSupportedTransactionVersion: 0 };
    expect(call).toMatchObject({ method: 'getTransaction', params: ['signature', config] });
  });

  it.each([
    [undefined, {}],
    ['signature', { before: 'signature' }],
  ])('asks for the history before %s', async (before, expected) => {
    const { answer, call } = await ask([], (rpc) => rpc.getHistory('address', before));
    expect(answer).toEqual([]);
    const config = { limit: 1_000, commitment: 'confirmed', ...expected };
    expect(call?.method).toBe('getSignaturesForAddress');
    expect(call?.params).toEqual(['address', config]);
  });

  it('asks for the genesis hash', async () => {
    const { answer, call } = await ask('genesis', (rpc) => rpc.getGenesisHash());
    expect(answer).toBe('genesis');
    expect(call).toMatchObject({ method: 'getGenesisHash', params: [] });
  });

  it('refuses calls once it is closed', async () => {
    const server = await startRpcEndpoint(() => GENESIS);
    const rpc = connect(server.url);
    await rpc.close();
    expect((await rpcErrorOf(rpc.getGenesisHash())).failure).toBe('closed');
    expect(server.calls).toEqual([]);
  });

  it('refuses more than Solana takes in one call', async () => {
    const rpc = connect(await deadUrl());
    const many = (count: number) => Array.from({ length: count }, String);
    await expect(rpc.getAccounts(many(101), 'confirmed')).rejects.toThrow(
      new RangeError('101 addresses in one call; at most 100'),
    );
    await expect(rpc.getSignatureStatuses(many(257))).rejects.toThrow(
      new RangeError('257 signatures in one call; at most 256'),
    );
  });

  it.each<[string, unknown, (rpc: SolanaRpc) => Promise<unknown>]>([
    ['blockhash', { value: { blockhash: 5 } }, (rpc) => rpc.getLatestBlockhash('confirmed')],
    [
      'lastValidBlockHeight',
      { value: { blockhash: 'h', lastValidBlockHeight: '9' } },
      (rpc) => rpc.getLatestBlockhash('confirmed'),
    ],
    ['blockHeight', { absoluteSlot: 1, blockHeight: -1 }, (rpc) => rpc.getTip('confirmed')],
    ['value is not a list of 2', { value: [null] }, (rpc) => rpc.getAccounts(['a', 'b'], 'confirmed')],
    ['data', { value: [{ lamports: 1, owner: 'o', data: 'text' }] }, (rpc) => rpc.getAccounts(['a'], 'confirmed')],
    [
      'lamports',
      { value: [{ lamports: 1.5, owner: 'o', data: ['', 'base64'] }] },
      (rpc) => rpc.getAccounts(['a'], 'confirmed'),
    ],
    [
      'value.err',
      { context: { slot: 1 }, value: {} },
      (rpc) => rpc.simulateTransaction(Uint8Array.of(1), { commitment: 'confirmed' }),
    ],
    ['context.slot', { context: {}, value: [null] }, (rpc) => rpc.getSignatureStatuses(['a'])],
    ['status.err', { context: { slot: 1 }, value: [{ slot: 1 }] }, (rpc) => rpc.getSignatureStatuses(['a'])],
    [
      'confirmationStatus',
      { context: { slot: 1 }, value: [{ slot: 1, err: null, confirmationStatus: 'toString' }] },
      (rpc) => rpc.getSignatureStatuses(['a']),
    ],
    ['result', { no: 'text' }, (rpc) => rpc.getGenesisHash()],
  ])('names the wrong field of an answer: %s', async (field, result, use) => {
    const server = await startRpcEndpoint(() => ({ result }));
    const error = await rpcErrorOf(use(connect(server.url)));
    expect(error.failure).toBe('bad_answer');
    expect(error.message).toContain(field);
  });
});

describe('fail-over', () => {
  it.each<[string, Reaction]>([
    ['cuts connections', 'disconnect'],
    ['hangs', 'hang'],
    ['limits', { status: 429 }],
    ['answers a web page', { status: 200, body: '<html>' }],
    ['answers the wrong shape', { result: 5 }],
    ['has no valid key', { status: 401 }],
    ['lags behind', UNHEALTHY],
  ])('hides one of three endpoints that %s', async (_name, reaction) => {
    const sick = await startRpcEndpoint(() => reaction);
    const well = await startRpcEndpoint(() => GENESIS);
    const spare = await startRpcEndpoint(() => GENESIS);
    const rpc = connect(urlsOf(sick, well, spare), { timeoutMs: 4_000, firstRestMs: 60_000, longestRestMs: 60_000 });
    for (let call = 0; call < 5; call += 1) await expect(rpc.getGenesisHash()).resolves.toBe('genesis');
    expect(sick.calls).toHaveLength(1);
    expect(well.calls).toHaveLength(5);
    expect(spare.calls).toHaveLength(0);
  });

  it('hides an endpoint that is not there', async () => {
    const well = await startRpcEndpoint(() => GENESIS);
    await expect(connect([await deadUrl(), well.url]).getGenesisHash()).resolves.toBe('genesis');
  });

  it('takes a refusal as final: no other endpoint is asked', async () => {
    const first = await startRpcEndpoint(() => ({ error: { code: -32602, message: 'invalid params' } }));
    const second = await startRpcEndpoint(() => GENESIS);
    const error = await rpcErrorOf(connect(urlsOf(first, second)).getGenesisHash());
    expect(error).toMatchObject({ failure: 'answer', details: { code: -32602 } });
    expect(second.calls).toHaveLength(0);
  });

  it('goes back to the preferred endpoint once it answers a health check of ours', async () => {
    const clock = { now: 0 };
    const preferred = await startRpcEndpoint(() => 'disconnect');
    const second = await startRpcEndpoint(() => GENESIS);
    const rpc = connect(urlsOf(preferred, second), { now: () => clock.now, random: () => 0.99, firstRestMs: 100 });
    await rpc.getGenesisHash();

    preferred.react = () => GENESIS;
    clock.now = 90;
    await rpc.getGenesisHash();
    clock.now = 200;
    await rpc.getGenesisHash();
    expect(second.calls).toHaveLength(3);
    await until(() => preferred.calls.length === 2);
    expect(preferred.calls[1]?.method).toBe('getHealth');

    while (second.calls.length < 1_000 && preferred.calls.length === 2) await rpc.getGenesisHash();
    expect(preferred.calls[2]?.method).toBe('getGenesisHash');
  });

  it('does not beat a sick endpoint: one health check for each rest', async () => {
    const clock = { now: 0 };
    const sick = await startRpcEndpoint(() => 'disconnect');
    const well = await startRpcEndpoint(() => GENESIS);
    const rpc = connect(urlsOf(sick, well), {
      now: () => clock.now,
      random: () => 0.99,
      firstRestMs: 100,
      longestRestMs: 800,
    });
    for (clock.now = 0; clock.now < 5_000; clock.now += 10) {
      const asked = sick.calls.length;
      await rpc.getGenesisHash();
      if (sick.calls.length > asked) await until(() => sick.calls.length > asked);
    }
    expect(well.calls).toHaveLength(500);
    expect(sick.calls.length).toBeGreaterThan(3);
    expect(sick.calls.length).toBeLessThan(15);
  });

  it('tries a single endpoint once more when it says that it is well', async () => {
    const server = await startRpcEndpoint(() => (server.calls.length === 1 ? 'disconnect' : GENESIS));
    await expect(connect(server.url).getGenesisHash()).resolves.toBe('genesis');
    expect(server.calls.map(({ method }) => method)).toEqual(['getGenesisHash', 'getHealth', 'getGenesisHash']);
  });

  it('asks a single sick endpoint no more than its rests allow, and fails the callers between', async () => {
    const server = await startRpcEndpoint(() => ({ status: 429, headers: { 'retry-after': '60' } }));
    const rpc = connect(server.url);
    expect((await rpcErrorOf(rpc.getGenesisHash())).failure).toBe('rate_limited');
    const later = await Promise.all(Array.from({ length: 50 }, () => rpcErrorOf(rpc.getGenesisHash())));
    expect(server.calls).toHaveLength(1);
    expect(later.every(({ failure, details }) => failure === 'unreachable' && !details.mayHaveArrived)).toBe(true);
  });

  it('lets nobody who waits ask a single sick endpoint, and when it is well, all of them', async () => {
    const server = await startRpcEndpoint(() => UNHEALTHY);
    const rpc = connect(server.url, { timeoutMs: 60_000, firstRestMs: 200, longestRestMs: 400 });
    await rpcErrorOf(rpc.getGenesisHash());
    server.react = () => GENESIS;
    const before = server.calls.length;
    await Promise.all(Array.from({ length: 200 }, () => rpc.getGenesisHash()));
    expect(server.calls[before]?.method).toBe('getHealth');
    expect(server.calls).toHaveLength(before + 1 + 200);
  });

  it('does not try again before it is known what came of the one try', async () => {
    const server = await startRpcEndpoint(() => 'hang');
    const rpc = connect(server.url, { timeoutMs: 1_000, firstRestMs: 1, longestRestMs: 1 });
    await rpcErrorOf(rpc.getGenesisHash());
    expect(server.calls).toHaveLength(2);
    await Promise.all(Array.from({ length: 20 }, () => rpcErrorOf(rpc.getGenesisHash())));
    expect(server.calls.length).toBeLessThanOrEqual(2 + 4);
  });

  it('comes back when the only endpoint does', async () => {
    const server = await startRpcEndpoint(() => 'disconnect');
    const rpc = connect(server.url, { firstRestMs: 1, longestRestMs: 1 });
    expect((await rpcErrorOf(rpc.getGenesisHash())).failure).toBe('unreachable');
    server.react = () => GENESIS;
    await expect(rpc.getGenesisHash()).resolves.toBe('genesis');
  });

  it('fails with an RpcError when all are down', async () => {
    const rpc = connect([await deadUrl(), await deadUrl()], { firstRestMs: 1 });
    const error = await rpcErrorOf(rpc.sendTransaction(Uint8Array.of(1), SEND));
    expect(error.failure).toBe('unreachable');
    expect(error.details.mayHaveArrived).toBeUndefined();
  });

  it('keeps the doubt of an earlier try', async () => {
    const hanging = await startRpcEndpoint(() => 'hang');
    const refusing = await startRpcEndpoint(() => ({
      error: { code: -32002, message: 'simulation failed', data: {} },
    }));
    const rpc = connect(urlsOf(hanging, refusing), { timeoutMs: 2_000 });
    const error = await rpcErrorOf(rpc.sendTransaction(Uint8Array.of(1), SEND));
    expect(error).toMatchObject({ failure: 'answer', details: { code: -32002, mayHaveArrived: true } });
  });

  it('shares the deadline among the tries', async () => {
    const hanging = await Promise.all(Array.from({ length: 3 }, () => startRpcEndpoint(() => 'hang')));
    const rpc = connect(urlsOf(...hanging), { timeoutMs: 5_000, firstRestMs: 60_000 });
    expect((await rpcErrorOf(rpc.getGenesisHash())).failure).toBe('timeout');
    expect(hanging.map(({ calls }) => calls.length)).toEqual([1, 1, 1]);
  });

  it('refuses to be made without an endpoint', () => {
    expect(() => createSolanaRpc({ urls: [] })).toThrow(
      expect.objectContaining({
        code: 'bad_option',
        context: { param: 'rpcUrl' },
        message: 'Solana RPC: no endpoint; give at least one address',
      }),
    );
  });
});

describe('what a stranger makes a node look up', () => {
  const LIST = 'getTokenAccountsByOwner';
  const look = (rpc: SolanaRpc) => rpc.getTokenAccountsByOwner('owner', { mint: 'mint' }, 'confirmed', 10_000);
  const account = { lamports: 1, owner: 'program', data: ['AQID', 'base64'] };
  const listOf = (count: number): Reaction => ({
    result: { value: Array.from({ length: count }, () => ({ pubkey: 'a', account })) },
  });

  it('is not asked again where it is too large, and rests nobody', async () => {
    const first = await startRpcEndpoint(({ method }) => (method === LIST ? listOf(1_000) : GENESIS));
    const second = await startRpcEndpoint(() => GENESIS);
    const rpc = connect(urlsOf(first, second));

    expect((await rpcErrorOf(look(rpc))).failure).toBe('too_large');
    expect(await rpc.getGenesisHash()).toBe('genesis');
    expect([first.calls.map(({ method }) => method), second.calls]).toEqual([[LIST, 'getGenesisHash'], []]);
  });

  it('is read where it is small', async () => {
    const server = await startRpcEndpoint(() => listOf(20));
    expect(await look(connect(server.url))).toHaveLength(20);
  });

  it('rests nobody where it takes too long: a node that is well otherwise goes on being asked', async () => {
    const first = await startRpcEndpoint(({ method }) => (method === LIST ? 'hang' : GENESIS));
    const second = await startRpcEndpoint(() => listOf(1));
    const rpc = connect(urlsOf(first, second), { timeoutMs: 1_500 });

    await rpcErrorOf(look(rpc));
    await until(() => first.calls.some(({ method }) => method === 'getHealth'));
    expect(await rpc.getGenesisHash()).toBe('genesis');
    expect(first.calls.at(-1)?.method).toBe('getGenesisHash');
  });

  it('is asked of another node where the first has stopped answering at all', async () => {
    const first = await startRpcEndpoint(() => 'hang');
    const second = await startRpcEndpoint(() => listOf(1));
    const rpc = connect(urlsOf(first, second), { timeoutMs: 300 });

    await rpcErrorOf(look(rpc)).catch(() => undefined);
    await until(async () => (await look(rpc).catch(() => [])).length === 1);
    // On a busy machine it may be late once itself, and is then asked whether it is well.
    expect(new Set(second.calls.map(({ method }) => method).filter((it) => it !== 'getHealth'))).toEqual(
      new Set([LIST]),
    );
  });

  it('is the beginning of each account, where no more is wanted', async () => {
    const server = await startRpcEndpoint(() => ({ result: { value: [account] } }));
    await connect(server.url).getAccounts(['a'], 'confirmed', 82);
    expect(server.calls[0]?.params[1]).toMatchObject({ dataSlice: { offset: 0, length: 82 } });
  });
});
