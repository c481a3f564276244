import { createAccountBatch } from '../../../../src/solana/accounts/account-batch.js';
import { fakeNode } from '../../../helpers/nodes/fake-node.js';

const NEVER = 600_000;
const IDLE = 0;
const BUSY = 1;

/**
 * A batch whose process is as busy as told, look by look; then idle. It answers what was asked for and after how many looks,
 * `waits` when it has not left long after the last of them.
 */
function batch(utilizations: readonly number[], longestMs: number) {
  let looks = 0;
  const asked: (readonly string[])[] = [];
  let stop: (outcome: string) => void = () => undefined;
  const tooLong = new Promise<string>((resolve) => {
    stop = resolve;
  });
  jest.spyOn(performance, 'eventLoopUtilization').mockImplementation((before) => {
    const utilization = before === undefined ? 0 : (utilizations[looks] ?? IDLE);
    if (before !== undefined) looks += 1;
    if (looks > utilizations.length + 2) stop('waits');
    return { idle: 0, active: 0, utilization };
  });
  const rpc = fakeNode({
    getAccounts: async (addresses) => {
      asked.push(addresses);
      return addresses.map(() => null);
    },
  });
  const load = createAccountBatch(rpc, { quietMs: 0, longestMs, quietPerSecond: 9, headBytes: 100 });
  return {
    load,
    async outcome(...addresses: string[]): Promise<unknown> {
      const loaded = Promise.all(addresses.map(load)).then(() => ({ asked, looks }));
      return Promise.race([loaded, tooLong]);
    },
  };
}

afterEach(() => {
  jest.restoreAllMocks();
});

describe('a batch of accounts', () => {
  it('leaves when it was quiet for a moment', async () => {
    await expect(batch([], NEVER).outcome('a')).resolves.toEqual({ asked: [['a']], looks: 1 });
  });

  it('waits for another moment when somebody has come', async () => {
    await expect(batch([], NEVER).outcome('a', 'b')).resolves.toEqual({ asked: [['a', 'b']], looks: 2 });
  });

  it('does not wait because the same address is asked for again', async () => {
    await expect(batch([], NEVER).outcome('a', 'a')).resolves.toEqual({ asked: [['a']], looks: 1 });
  });

  it.each([
    ['busy', [BUSY, BUSY], 3],
    ['a little too busy', [0.91], 2],
    ['just not busy', [0.9], 1],
  ] as const)('waits as long as the process is %s', async (_name, utilizations, looks) => {
    await expect(batch(utilizations, NEVER).outcome('a')).resolves.toEqual({ asked: [['a']], looks });
  });

  it('leaves a busy process when its longest time is over', async () => {
    await expect(batch([BUSY, BUSY], 0).outcome('a')).resolves.toEqual({ asked: [['a']], looks: 1 });
  });

  it('counts its longest time from its first address on', async () => {
    const { outcome } = batch([BUSY], performance.now() * 1.5);
    await expect(outcome('a')).resolves.toEqual({ asked: [['a']], looks: 2 });
  });

  it('has no call of its own when many have left for so few, and leaves then when its longest time is over', async () => {
    const asked: (readonly string[])[] = [];
    const rpc = fakeNode({
      getAccounts: async (addresses) => {
        asked.push(addresses);
        return addresses.map(() => null);
      },
    });
    let time = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => time);
    const load = createAccountBatch(rpc, { quietMs: 0, longestMs: 400, quietPerSecond: 2, headBytes: 100 });
    await load('a');
    await load('b');
    const third = load('c');
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setTimeout(resolve, 0));
    const fourth = load('d');
    expect(asked).toEqual([['a'], ['b']]);
    time = 400;
    await Promise.all([third, fourth]);
    expect(asked).toEqual([['a'], ['b'], ['c', 'd']]);
    time = 1_000;
    await load('e');
    expect(asked.at(-1)).toEqual(['e']);
  });
});
