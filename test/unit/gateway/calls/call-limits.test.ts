import { type CallMeans, createCallLimits } from '../../../../src/gateway/calls/call-limits.js';
import { createMemoryCounters } from '../../../../src/storage/counters/memory-counters.js';

const SECOND_MS = 1_000;

/** Limits on a clock that stands, of a project that takes a hundred calls a second and fifty at once unless it says otherwise. */
function limitsOf({ perSecond = 100, concurrent = 50 } = {}) {
  let time = 1_000_000;
  const now = () => time;
  const counters = createMemoryCounters({ now });
  const project = { id: 'prj_1', limits: { perSecond, concurrent, maxBodyBytes: 1 } };
  const instance = () => createCallLimits({ counters, now });
  const limits = instance();
  /** How many of a wallet are let in, of as many as are asked for; they end at once unless they stay. */
  async function letIn(owner: string, means: CallMeans, times: number, { stay = false, by = limits, from = '' } = {}) {
    let count = 0;
    for (let n = 0; n < times; n += 1) {
      const leave = await by.enter(project, owner, means, from || undefined).catch((error: unknown) => {
        expect(error).toMatchObject({ code: 'rate_limited', context: { retryAfterSeconds: 1 } });
      });
      if (leave === undefined) continue;
      count += 1;
      if (!stay) leave();
    }
    return count;
  }
  const advance = (ms: number) => {
    time += ms;
  };
  return { letIn, advance, instance, requireRoom: (owner: string) => limits.requireRoom(project, owner) };
}

describe('calls that cost nothing', () => {
  test('have half of what a project takes at once, each wallet half of what the others leave of that', async () => {
    const { letIn } = limitsOf({ perSecond: 1_000 });
    const taken: number[] = [];
    for (const wallet of 'abcdefgh') taken.push(await letIn(wallet, 'nothing', 30, { stay: true }));
    expect(taken).toEqual([13, 6, 3, 2, 1, 0, 0, 0]);
    expect(await letIn('payer', 'payment', 30, { stay: true })).toBe(25);
  });

  test('have half of what it takes in a second, each wallet half of what the others leave of that', async () => {
    const { letIn, advance, requireRoom } = limitsOf();
    const taken: number[] = [];
    for (const wallet of 'abcdefgh') taken.push(await letIn(wallet, 'nothing', 30));
    expect(taken).toEqual([25, 13, 6, 3, 2, 1, 0, 0]);
    requireRoom('payer');
    expect(await letIn('payer', 'payment', 60)).toBe(50);
    expect(() => requireRoom('payer')).toThrow(/more calls a second than it takes/);
    advance(SECOND_MS + 1);
    expect(await letIn('a', 'nothing', 30)).toBe(25);
  });

  test('are shared among addresses as among wallets, so that six wallets of one leave room for a seventh from another', async () => {
    const atOnce = limitsOf({ perSecond: 1_000 });
    const inSecond = limitsOf();
    for (const [limits, ofAddress, honest] of [
      [atOnce, 12, 6],
      [inSecond, 23, 11],
    ] as const) {
      const stay = limits === atOnce;
      let taken = 0;
      for (const wallet of 'abcdef') taken += await limits.letIn(wallet, 'nothing', 30, { stay, from: '192.0.2.1' });
      expect(taken).toBe(ofAddress);
      expect(await limits.letIn('g', 'nothing', 30, { stay, from: '198.51.100.1' })).toBe(honest);
      expect(await limits.letIn('h', 'nothing', 1, { stay, from: '2001:db8:1::/64' })).toBe(1);
    }
  });

  test('leave the calls that somebody pays for to all addresses alike', async () => {
    const { letIn } = limitsOf();
    for (const wallet of 'ab') expect(await letIn(wallet, 'payment', 25, { stay: true, from: '192.0.2.1' })).toBe(25);
  });

  test('have no more than half of a second at several instances together', async () => {
    const { letIn, instance } = limitsOf();
    const taken: number[] = [];
    for (const wallet of 'abcd') taken.push(await letIn(wallet, 'nothing', 30, { by: instance() }));
    // Each counts an eighth by itself before it tells the others.
    expect(taken.reduce((sum, it) => sum + it)).toBeLessThanOrEqual(50 + 4 * 6);
    expect(await letIn('payer', 'payment', 10)).toBe(10);
  });

  test('can be had where a project takes one call at a time', async () => {
    const { letIn } = limitsOf({ concurrent: 1, perSecond: 1 });
    expect(await letIn('a', 'nothing', 1)).toBe(1);
  });
});

test('calls that passes and credit pay leave an eighth to those that bring a payment', async () => {
  const { letIn } = limitsOf();
  for (const wallet of 'ab') await letIn(wallet, 'paid_before', 60);
  expect(await letIn('payer', 'payment', 60)).toBe(12);

  const places = limitsOf({ perSecond: 1_000 });
  for (const wallet of 'ab') await places.letIn(wallet, 'paid_before', 60, { stay: true });
  expect(await places.letIn('payer', 'payment', 60, { stay: true })).toBe(6);
});

test('calls that bring a payment have all that a project takes, one wallet half of what it takes at once', async () => {
  const { letIn } = limitsOf();
  expect(await letIn('payer', 'payment', 30, { stay: true })).toBe(25);
  expect(await letIn('another', 'payment', 30, { stay: true })).toBe(25);
  expect(await limitsOf().letIn('payer', 'payment', 120)).toBe(100);
});
