import type { PoolOptions } from '../../../../src/solana/rpc/endpoint-pool.js';
import { createFailOver } from '../../../../src/solana/rpc/fail-over.js';
import type { JsonRpcEndpoint } from '../../../../src/solana/rpc/json-rpc.js';
import { ResponseShapeError } from '../../../../src/solana/rpc/response-shape-error.js';
import { RpcError } from '../../../../src/solana/rpc/rpc.js';
import { rejectionOf } from '../../../helpers/nodes/fake-node.js';

type Act = () => unknown;
type Call = readonly [method: string, params: readonly unknown[], timeoutMs: number];

const clock = { now: 0 };
const lost = () => new RpcError('unreachable', 'lost', { mayHaveArrived: true });
const limited = () => new RpcError('rate_limited', 'limited', { retryAfterMs: 60_000 });

beforeEach(() => {
  clock.now = 0;
});
afterEach(() => {
  // Whoever still waits comes to an end.
  clock.now = Number.POSITIVE_INFINITY;
});

/** An endpoint that answers what a function answers, and fails with the error that it answers. */
function endpoint(host: string, act: Act) {
  const calls: Call[] = [];
  return {
    host,
    calls,
    async call(method: string, params: readonly unknown[], timeoutMs: number): Promise<unknown> {
      calls.push([method, params, timeoutMs]);
      const answer = await act();
      if (answer instanceof Error) throw answer;
      return answer;
    },
    close: async () => undefined,
  };
}

function over(endpoints: readonly JsonRpcEndpoint[], options: Partial<PoolOptions> = {}) {
  const { call } = createFailOver(endpoints, {
    now: () => clock.now,
    random: () => 1,
    firstRestMs: 100,
    longestRestMs: 10_000,
    timeoutMs: 10_000,
    ...options,
  });
  return (method = 'getThing', read: (result: unknown) => unknown = (result) => result) => call(method, ['p'], read);
}

/** What a call comes to without any time going by; `waits` when it waits for something. */
async function atOnce(call: Promise<unknown>): Promise<unknown> {
  const turns = async () => {
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    return 'waits';
  };
  return Promise.race([call.catch((error: unknown) => error), turns()]);
}

describe('the health check of a sick endpoint', () => {
  it.each([
    [10_000, 2_000],
    [1_500, 1_500],
  ])('is made when its rest is over, not before; of a call of %i ms it gets %i', async (timeoutMs, expected) => {
    const sick = endpoint('a', lost);
    const ask = over([sick, endpoint('b', () => 'well')], { timeoutMs });
    await ask();
    clock.now = 99;
    await ask();
    expect(sick.calls).toHaveLength(1);
    clock.now = 100;
    await ask();
    expect(sick.calls[1]).toEqual(['getHealth', [], expected]);
  });

  it('doubles the rest when it fails', async () => {
    const sick = endpoint('a', lost);
    const ask = over([sick, endpoint('b', () => 'well')]);
    const asked: number[] = [];
    for (clock.now = 0; clock.now <= 1_500; clock.now += 100) {
      const before = sick.calls.length;
      await atOnce(ask());
      if (sick.calls.length > before) asked.push(clock.now);
    }
    expect(asked).toEqual([0, 100, 300, 700, 1_500]);
  });
});

describe('a call', () => {
  it('shares its time evenly among the tries that are left', async () => {
    const endpoints = ['a', 'b'].map((host) => endpoint(host, limited));
    await rejectionOf(over(endpoints, { timeoutMs: 9_000 })());
    expect(endpoints.map(({ calls }) => calls)).toEqual([[['getThing', ['p'], 3_000]], [['getThing', ['p'], 4_500]]]);
  });

  it.each([0, 1])('asks nobody once its time is over, by %i ms', async (late) => {
    const first = endpoint('a', () => {
      clock.now = 10_000 + late;
      return lost();
    });
    const second = endpoint('b', () => 'well');
    await expect(atOnce(over([first, second])())).resolves.toMatchObject({ message: 'lost' });
    expect(second.calls).toEqual([]);
  });

  it('is asked of the next endpoint a moment before its time is over', async () => {
    const first = endpoint('a', () => {
      clock.now = 9_999;
      return lost();
    });
    const second = endpoint('b', () => 'well');
    await expect(over([first, second])()).resolves.toBe('well');
    expect(second.calls).toEqual([['getThing', ['p'], 1]]);
  });

  it('is not tried again on an endpoint that is closed', async () => {
    const closed = endpoint('a', () => new RpcError('closed', 'closed'));
    const other = endpoint('b', () => 'well');
    await expect(atOnce(over([closed, other])())).resolves.toMatchObject({ failure: 'closed' });
    expect([closed.calls.length, other.calls.length]).toEqual([1, 0]);
  });

  it('goes to the endpoint that comes back first, however long others rest', async () => {
    const brief = endpoint('a', () => (brief.calls.length === 1 ? lost() : 'well'));
    const long = endpoint('b', limited);
    const ask = over([brief, long], { now: () => performance.now(), firstRestMs: 2 });
    await expect(ask()).resolves.toBe('well');
    expect([brief, long].map(({ calls }) => calls.map(([method]) => method))).toEqual([
      ['getThing', 'getHealth', 'getThing'],
      ['getThing'],
    ]);
  });

  it('finds an endpoint that fails in another method only', async () => {
    const single = endpoint('a', () => (single.calls.at(-1)?.[0] === 'sendThing' ? lost() : 'well'));
    const ask = over([single], { now: () => performance.now(), firstRestMs: 1, longestRestMs: 5_000 });
    for (let sends = 0; sends < 20; sends += 1) await rejectionOf(ask('sendThing'));
    await expect(ask()).resolves.toBe('well');
  });

  it('waits for an endpoint that comes back in the last moment of its time', async () => {
    const single = endpoint('a', () => {
      if (single.calls.length > 1) return 'well';
      setImmediate(() => {
        clock.now = 20;
      });
      return lost();
    });
    await expect(over([single], { timeoutMs: 21, firstRestMs: 20 })()).resolves.toBe('well');
  });

  it('does not wait when none comes back within its time, or in the next second', async () => {
    const single = endpoint('a', lost);
    await expect(atOnce(over([single], { timeoutMs: 500, firstRestMs: 501 })())).resolves.toMatchObject({
      message: 'lost',
    });
    const other = endpoint('b', lost);
    await expect(atOnce(over([other], { firstRestMs: 1_001 })())).resolves.toMatchObject({ message: 'lost' });
    expect([single.calls.length, other.calls.length]).toEqual([1, 1]);
  });

  it('tells of all the endpoints that it did not ask', async () => {
    const ask = over([endpoint('a:1', limited), endpoint('b:2', limited)]);
    await rejectionOf(ask());
    await expect(atOnce(ask('getOther'))).resolves.toMatchObject({
      failure: 'unreachable',
      message: 'getOther at a:1, b:2: not asked, it failed a moment ago and is left to rest',
      details: {},
    });
  });

  it('waits for what comes of a try that is under way, whatever else rests', async () => {
    let answer: (value: unknown) => void = () => undefined;
    const tried = endpoint('a', () => {
      if (tried.calls.length !== 2) return tried.calls.length === 1 ? lost() : 'well';
      return new Promise((resolve) => {
        answer = resolve;
      });
    });
    const resting = endpoint('b', () => {
      clock.now = 100;
      return limited();
    });
    const ask = over([tried, resting]);
    const first = ask();
    await expect(atOnce(first)).resolves.toBe('waits');
    const second = ask();
    await expect(atOnce(second)).resolves.toBe('waits');
    answer('well');
    await expect(Promise.all([first, second])).resolves.toEqual(['well', 'well']);
  });
});

describe('the error of a call', () => {
  it('names the call when an answer has not its shape', async () => {
    const ask = over([endpoint('a:1', () => 5)], { firstRestMs: 1_001 });
    const read = () => {
      throw new ResponseShapeError('value is not a text');
    };
    await expect(atOnce(ask('getThing', read))).resolves.toMatchObject({
      failure: 'bad_answer',
      message: 'getThing at a:1: value is not a text',
      details: { mayHaveArrived: true },
    });
  });

  it.each<[string, Act, number]>([
    ['at first', () => 'well', 1],
    ['after a try in doubt', lost, 2],
  ])('is that of the reader itself where it breaks, %s', async (_name, act, asked) => {
    const first = endpoint('a', act);
    const second = endpoint('b', () => 'well');
    const mistake = new RangeError('broken');
    const ask = over([first, second]);
    const read = () => {
      throw mistake;
    };
    await expect(atOnce(ask('getThing', read))).resolves.toBe(mistake);
    expect(first.calls.length + second.calls.length).toBe(asked);
  });

  it('is the last one, with the doubt of those before it', async () => {
    const refusal = new RpcError('answer', 'no', { code: -32_602, data: 7 });
    const doubtful = over([endpoint('a', lost), endpoint('b', () => refusal)]);
    await expect(doubtful()).rejects.toMatchObject({
      failure: 'answer',
      message: 'no',
      details: { code: -32_602, data: 7, mayHaveArrived: true },
    });
    const noConnection = () => new RpcError('unreachable', 'no connection');
    const certain = over([endpoint('a', noConnection), endpoint('b', () => refusal)]);
    await expect(certain()).rejects.toBe(refusal);
  });

  it('keeps the doubt that an error of an earlier node leaves: it may have passed the call on', async () => {
    const behind = (code: number) => () => new RpcError('answer', 'behind', { code });
    const noConnection = () => new RpcError('unreachable', 'no connection');
    const refusal = () => new RpcError('answer', 'Blockhash not found', { code: -32_002 });
    for (const [earlier, last] of [
      [-32_014, noConnection],
      [-32_005, noConnection],
      [-32_005, refusal],
    ] as const) {
      const doubtful = over([endpoint('a', behind(earlier)), endpoint('b', last)], { firstRestMs: 1_001 });
      const { failure } = last();
      await expect(doubtful()).rejects.toMatchObject({ failure, details: { mayHaveArrived: true } });
    }
    const alike = over([endpoint('a', behind(-32_005)), endpoint('b', behind(-32_016))], { firstRestMs: 1_001 });
    await expect(alike()).rejects.toMatchObject({ details: { code: -32_016 } });
    expect(((await rejectionOf(alike())) as RpcError).details.mayHaveArrived).toBeUndefined();
  });
});
