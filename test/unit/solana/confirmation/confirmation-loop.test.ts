import { ConfirmationLoop } from '../../../../src/solana/confirmation/confirmation-loop.js';
import type { Awaited } from '../../../../src/solana/confirmation/pending-confirmation.js';
import {
  type SignatureListener,
  SignatureSubscriptions,
} from '../../../../src/solana/confirmation/signature-subscriptions.js';
import type { SignatureState } from '../../../../src/solana/rpc/rpc.js';

const TIMING = { pollMs: 400, latePollMs: 2_500, heightMs: 2_000, rebroadcastMs: 2_000 };
const FINAL: SignatureState = { slot: 7, err: null, commitment: 'finalized' };
const PROCESSED: SignatureState = { ...FINAL, commitment: 'processed' };

/** Pushes that a test makes itself. */
class HandPush extends SignatureSubscriptions {
  readonly listeners = new Map<string, SignatureListener>();
  checks = 0;
  constructor() {
    super({ urls: ['ws://127.0.0.1:1'] });
  }
  override subscribe(signature: string, _commitment: string, listener: SignatureListener): () => void {
    this.listeners.set(signature, listener);
    return () => void this.listeners.delete(signature);
  }
  override check(): void {
    this.checks += 1;
  }
  live(signature: string, isLive = true): void {
    this.listeners.get(signature)?.onLive(isLive);
  }
}

const LOOP = 'src/solana/confirmation/confirmation-loop';

/** A loop whose time goes on when a test says so: from timer to timer. */
function fixture(push?: HandPush) {
  const timers = new Map<unknown, { readonly at: number; readonly run: () => void }>();
  const [real, realClear] = [setTimeout, clearTimeout];
  let now = 0;
  jest.spyOn(globalThis, 'setTimeout').mockImplementation((run, milliseconds = 0) => {
    // Other files of the worker may have left something running.
    if (new Error().stack?.includes(LOOP) !== true) return real(run, milliseconds);
    const handle = real(() => undefined, 0);
    timers.set(handle, { at: now + milliseconds, run: () => run() });
    return handle;
  });
  jest.spyOn(globalThis, 'clearTimeout').mockImplementation((handle) => {
    if (!timers.delete(handle)) realClear(handle);
  });

  const states = new Map<string, SignatureState>();
  const node = { fails: false };
  const looks: string[] = [];
  const rounds: number[] = [];
  const tips: number[] = [];
  const resends: number[] = [];
  const loop = new ConfirmationLoop({
    rpc: {
      async getSignatureStatuses(signatures, options) {
        looks.push(`${now} ${signatures.join()}${options?.searchHistory === true ? ' in history' : ''}`);
        if (node.fails) throw new Error('no answer');
        return { slot: 9, states: signatures.map((signature) => states.get(signature) ?? null) };
      },
      async getTip() {
        tips.push(now);
        return { slot: 9, blockHeight: 100 };
      },
    },
    push,
    timing: TIMING,
    now: () => now,
    resend: () => void resends.push(now),
  });
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    loop,
    states,
    node,
    looks,
    rounds,
    tips,
    resends,
    timers,
    settle,
    add(signature: string, firstLookAt: number, changes: Partial<Awaited> = {}) {
      const wanted = { signature, blockhash: 'hash', lastValidBlockHeight: 150, commitment: 'confirmed' } as const;
      return loop.add({ ...wanted, timeoutMs: 60_000, sentBefore: false, ...changes }, firstLookAt);
    },
    /** Lets the time go on, every timer on its way going off. */
    async goTo(time: number): Promise<void> {
      for (;;) {
        const [next] = [...timers].filter(([, { at }]) => at <= time).sort(([, a], [, b]) => a.at - b.at);
        if (next === undefined || rounds.length > 100) break;
        timers.delete(next[0]);
        now = next[1].at;
        rounds.push(now);
        next[1].run();
        await settle();
      }
      now = time;
    },
  };
}

afterEach(() => {
  jest.restoreAllMocks();
});

describe('the loop, without pushes', () => {
  it('looks with each interval, asks for the height now and then, and sends nothing that is under way', async () => {
    const { add, goTo, looks, rounds, tips, resends } = fixture();
    add('a', 400);
    await goTo(4_100);
    const times = [400, 800, 1_200, 1_600, 2_000, 2_400, 2_800, 3_200, 3_600, 4_000];
    expect(looks).toEqual(times.map((time) => `${time} a`));
    expect({ rounds, tips, resends }).toEqual({ rounds: times, tips: [2_000, 4_000], resends: [] });
  });

  it('tells that nothing is known at the moment when the time is up, and rests then', async () => {
    const { add, goTo, rounds, timers } = fixture();
    const waiting = add('a', 400, { timeoutMs: 1_000 });
    await goTo(999);
    expect(waiting.over).toBe(false);
    await goTo(1_000);
    expect(waiting.over).toBe(true);
    await expect(waiting.landing).resolves.toEqual({ status: 'unknown' });
    expect([rounds, timers.size]).toEqual([[400, 800, 1_000], 0]);
  });

  it('rests once what it waits for has landed', async () => {
    const { add, goTo, states, timers } = fixture();
    const waiting = add('a', 400, { sentBefore: true });
    states.set('a', FINAL);
    await goTo(400);
    expect(waiting.over).toBe(true);
    await expect(waiting.landing).resolves.toEqual({ status: 'landed', slot: 7, err: null });
    expect(timers.size).toBe(0);
  });

  it('rests when it is closed', async () => {
    const { add, loop, timers } = fixture();
    const waiting = [add('a', 400), add('b', 400)];
    loop.close();
    expect(timers.size).toBe(0);
    await expect(Promise.all(waiting.map(({ landing }) => landing))).resolves.toEqual([
      { status: 'unknown' },
      { status: 'unknown' },
    ]);
  });

  it('goes on for the others when one has ended', async () => {
    const { add, goTo, looks } = fixture();
    const first = add('a', 400);
    add('b', 400);
    first.end({ status: 'unknown' });
    await goTo(400);
    expect(looks).toEqual(['400 b']);
  });

  it('takes along what is due within half an interval, and nothing later', async () => {
    const { add, goTo, looks } = fixture();
    add('a', 400);
    add('b', 600);
    add('c', 601);
    add('d', 10_000);
    await goTo(700);
    expect(looks).toEqual(['400 a,b', '601 a,b,c']);
  });

  it('looks into the history once, for what was sent before', async () => {
    const { add, goTo, looks } = fixture();
    add('a', 0, { sentBefore: true });
    add('b', 0);
    await goTo(300);
    expect(looks).toEqual(['5 b', '5 a in history']);
    await goTo(450);
    expect(looks.slice(2)).toEqual(['405 a,b']);
  });

  it('is ready to send again when look-ups fail', async () => {
    const { add, goTo, node, resends } = fixture();
    node.fails = true;
    const waiting = add('a', 400);
    waiting.nextSendAt = 700;
    await goTo(900);
    expect(resends).toEqual([800]);
  });
});

describe('the loop, with pushes', () => {
  it('looks late, and seldom, at what is live', async () => {
    const push = new HandPush();
    const { add, goTo, looks, states } = fixture(push);
    add('a', 400);
    push.live('a');
    await goTo(4_000);
    expect(looks).toEqual(['2500 a', '3750 a']);
    states.set('a', PROCESSED);
    await goTo(9_000);
    expect(looks.slice(2)).toEqual(['5000 a', '7500 a']);
    expect(push.checks).toBe(0);
  });

  it('looks with each interval at what is not live', async () => {
    const push = new HandPush();
    const { add, goTo, looks } = fixture(push);
    add('a', 400);
    await goTo(1_000);
    expect(looks).toEqual(['400 a', '800 a']);
  });

  it('looks soon, not at once, at what is live no more', async () => {
    const push = new HandPush();
    const { add, goTo, looks } = fixture(push);
    add('a', 400);
    push.live('a');
    await goTo(1_000);
    push.live('a', false);
    await goTo(1_500);
    expect(looks).toEqual(['1400 a']);
  });

  it('does not put off the next look when what it has looked at becomes live', async () => {
    const push = new HandPush();
    const { add, goTo, looks } = fixture(push);
    add('a', 400);
    await goTo(500);
    push.live('a');
    await goTo(2_100);
    expect(looks).toEqual(['400 a', '800 a', '2050 a']);
  });

  it('makes sure of the connection once when pushes were missed, and looks at all the others', async () => {
    const push = new HandPush();
    const { add, goTo, looks, states } = fixture(push);
    const found = [add('a', 400, { sentBefore: true }), add('b', 400, { sentBefore: true })];
    for (const waiting of found) waiting.seen = false;
    for (const signature of ['a', 'b']) {
      states.set(signature, FINAL);
      push.live(signature);
    }
    add('c', 400);
    push.live('c');
    await goTo(1_000);
    expect(found.map(({ over }) => over)).toEqual([true, true]);
    expect([push.checks, looks]).toEqual([1, ['400 a,b', '405 c', '805 c']]);
  });

  it('blames nobody for what was not live', async () => {
    const push = new HandPush();
    const { add, goTo, states } = fixture(push);
    const waiting = add('a', 400, { sentBefore: true });
    states.set('a', FINAL);
    await goTo(400);
    expect([waiting.over, push.checks]).toEqual([true, 0]);
  });
});
