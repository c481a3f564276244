import type { Landing } from '../../../../src/solana/confirmation/confirmation.js';
import {
  type Awaited,
  PendingConfirmation,
  type SendRefusal,
} from '../../../../src/solana/confirmation/pending-confirmation.js';
import { RpcError, type SignatureState } from '../../../../src/solana/rpc/rpc.js';

const TIMING = { pollMs: 400, latePollMs: 2_500, heightMs: 2_000, rebroadcastMs: 3_000 };
const LANDED: Landing = { status: 'landed', slot: 7, err: null };
const SEEN: SignatureState = { slot: 7, err: 'E', commitment: 'processed' };

function wait(changes: Partial<Awaited> = {}) {
  const wanted: Awaited = {
    signature: 'signature',
    blockhash: 'hash',
    commitment: 'confirmed',
    timeoutMs: 60_000,
    sentBefore: false,
    ...changes,
  };
  const ends: PendingConfirmation[] = [];
  const waiting: PendingConfirmation = new PendingConfirmation(
    wanted,
    { now: 10_000, firstLookAt: 10_400 },
    () => void ends.push(waiting),
  );
  return { waiting, ends };
}

describe('what is waited for', () => {
  it('starts with nothing known, and is sent by whoever asked for it', () => {
    const { waiting } = wait({ lastValidBlockHeight: 150 });
    expect(waiting).toMatchObject({
      startedAt: 10_000,
      deadline: 70_000,
      nextLookAt: 10_400,
      nextSendAt: Number.POSITIVE_INFINITY,
      lastValidBlockHeight: 150,
      looking: false,
      live: false,
      over: false,
    });
    expect(waiting.seen).toBeUndefined();
  });

  it('may be sent again at once when it was sent before', () => {
    expect(wait({ sentBefore: true }).waiting.nextSendAt).toBe(10_000);
  });

  it('ends once, with the first end', async () => {
    const { waiting, ends } = wait({ sentBefore: true });
    expect(waiting.end(LANDED)).toBe(true);
    expect(waiting.end({ status: 'expired' })).toBe(false);
    waiting.fail(new Error('late'));
    expect([waiting.over, ends.length]).toEqual([true, 1]);
    await expect(waiting.landing).resolves.toEqual(LANDED);
  });

  it('fails once, and then has ended', async () => {
    const { waiting, ends } = wait();
    waiting.fail(new Error('first'));
    waiting.fail(new Error('second'));
    expect(waiting.end({ status: 'unknown' })).toBe(false);
    expect([waiting.over, ends.length]).toEqual([true, 1]);
    await expect(waiting.landing).rejects.toThrow('first');
  });

  it('has landed only after the node has answered to the first send', async () => {
    const { waiting, ends } = wait();
    expect(waiting.end(LANDED)).toBe(false);
    expect([waiting.over, ends.length]).toEqual([false, 0]);
    waiting.sent();
    expect([waiting.over, ends.length]).toEqual([true, 1]);
    await expect(waiting.landing).resolves.toEqual(LANDED);
  });

  it('goes on after the first send when nothing was seen', () => {
    const { waiting } = wait();
    waiting.sent();
    expect(waiting.over).toBe(false);
    expect(waiting.end(LANDED)).toBe(true);
  });

  it('ends in any other way at once', () => {
    expect(wait().waiting.end({ status: 'unknown' })).toBe(true);
  });
});

describe('what a look-up told', () => {
  it('is no end when nothing is known', () => {
    const { waiting } = wait({ sentBefore: true });
    expect(waiting.learn(null)).toBe(false);
    expect([waiting.seen, waiting.over]).toEqual([false, false]);
  });

  it.each([
    ['processed', 'processed', true],
    ['processed', 'confirmed', false],
    ['processed', 'finalized', false],
    ['confirmed', 'processed', true],
    ['confirmed', 'confirmed', true],
    ['confirmed', 'finalized', false],
    ['finalized', 'confirmed', true],
    ['finalized', 'finalized', true],
  ] as const)('%s ends the wait for %s: %s', (reached, commitment, ends) => {
    const { waiting } = wait({ sentBefore: true, commitment });
    expect(waiting.learn({ ...SEEN, commitment: reached })).toBe(ends);
    expect([waiting.seen, waiting.over]).toEqual([true, ends]);
  });

  it('is told with slot and error', async () => {
    const { waiting } = wait({ sentBefore: true, commitment: 'processed' });
    waiting.learn(SEEN);
    await expect(waiting.landing).resolves.toEqual({ status: 'landed', slot: 7, err: 'E' });
  });
});

describe('when to look', () => {
  it('goes into the history only before the first look at what was sent before', () => {
    const before = wait({ sentBefore: true }).waiting;
    expect(before.searchHistory).toBe(true);
    before.learn(null);
    expect(before.searchHistory).toBe(false);
    expect(wait().waiting.searchHistory).toBe(false);
  });

  it('asks whether the blockhash is dead after a while, at once for what was sent before, and not for what is seen', () => {
    const { waiting } = wait();
    expect(waiting.mayBeExpired(11_999, TIMING)).toBe(false);
    expect(waiting.mayBeExpired(12_000, TIMING)).toBe(true);
    waiting.learn(SEEN);
    expect(waiting.mayBeExpired(12_000, TIMING)).toBe(false);
    expect(wait({ sentBefore: true }).waiting.mayBeExpired(10_000, TIMING)).toBe(true);
  });

  it('is seldom where a push is expected, and least where the cluster knows it', () => {
    const { waiting } = wait();
    const pauses = () => [waiting.lookAgainMs(true, TIMING), waiting.lookAgainMs(false, TIMING)];
    expect(pauses()).toEqual([1_250, 400]);
    waiting.learn(null);
    expect(pauses()).toEqual([1_250, 400]);
    waiting.learn(SEEN);
    expect(pauses()).toEqual([2_500, 400]);
  });
});

describe('a first send that a node refuses', () => {
  const rejected = { status: 'rejected', err: 'BlockhashNotFound', logs: ['a'] } as const;
  const error = new RpcError('answer', 'no', { code: -32_002 });
  const REFUSED: SendRefusal = { error, rejected };
  const KNOWN: Landing = { status: 'rejected', err: 'AlreadyProcessed', logs: [] };

  it('is believed when four looks, a slot apart, have not found it', async () => {
    const { waiting, ends } = wait();
    waiting.refused(REFUSED);
    for (let looks = 1; looks <= 3; looks += 1) expect(waiting.learn(null)).toBe(false);
    expect([waiting.isDoubted, ends, waiting.lookAgainMs(true, TIMING)]).toEqual([true, [], TIMING.pollMs]);
    expect(waiting.learn(null)).toBe(false);
    expect([waiting.isDoubted, ends.length]).toEqual([false, 1]);
    await expect(waiting.landing).resolves.toEqual(rejected);
  });

  it('ends with the error of the node where that was no simulation', async () => {
    const { waiting } = wait();
    waiting.refused({ error });
    for (let looks = 1; looks <= 4; looks += 1) waiting.learn(null);
    await expect(waiting.landing).rejects.toBe(error);
  });

  it('ends with that error where two looks have failed: nothing is known', async () => {
    const { waiting } = wait();
    waiting.learnNothing();
    waiting.refused(REFUSED);
    for (let looks = 1; looks <= 3; looks += 1) waiting.learn(null);
    waiting.learnNothing();
    expect(waiting.over).toBe(false);
    waiting.learnNothing();
    await expect(waiting.landing).rejects.toBe(error);
  });

  it.each<[string, (waiting: PendingConfirmation) => void]>([
    [
      'a look finds it, however little it is confirmed',
      (waiting) => {
        waiting.refused(REFUSED);
        waiting.learn(null);
        waiting.learn(SEEN);
      },
    ],
    [
      'a push tells of it',
      (waiting) => {
        waiting.refused(REFUSED);
        waiting.end(LANDED);
      },
    ],
    [
      'a push has told of it',
      (waiting) => {
        waiting.end(LANDED);
        waiting.refused(REFUSED);
      },
    ],
    [
      'a look has found it',
      (waiting) => {
        waiting.learn(SEEN);
        waiting.refused(REFUSED);
      },
    ],
  ])('was passed on all the same where %s', async (_name, tell) => {
    const { waiting } = wait();
    tell(waiting);
    expect([waiting.over, waiting.isDoubted]).toEqual([true, false]);
    await expect(waiting.landing).resolves.toEqual(KNOWN);
  });
});
