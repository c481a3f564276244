import { heldByThisProcess } from '../../../../src/facilitator/payments/held-by-this-process.js';
import { createLeases, type Leases } from '../../../../src/facilitator/payments/leases.js';
import type { ClaimRequest } from '../../../../src/storage/ledger/ledger.js';
import { createMemoryLedger } from '../../../../src/storage/ledger/memory-ledger.js';
import { LEASE_MS, newClaim, rivalOf } from '../../../contracts/ledger-samples.js';
import { testClock } from '../../../helpers/test-clock.js';
import { until } from '../../../helpers/until.js';

/** So long a facilitator's leases are in these tests: extended every five milliseconds. */
const BEATING_MS = 25;

describe('the heart-beat', () => {
  const { now, advance } = testClock();
  const ledger = createMemoryLedger({ now });
  let leases: Leases;
  let beats = 0;
  let fails = false;

  beforeEach(() => {
    beats = 0;
    fails = false;
    leases = createLeases(
      {
        async extend(id, lease, leaseMs) {
          beats += 1;
          if (fails) throw new Error('the ledger is away');
          return ledger.extend(id, lease, leaseMs);
        },
      },
      BEATING_MS,
    );
  });
  afterEach(() => leases.close());

  async function held(): Promise<ClaimRequest> {
    const claim = newClaim();
    await ledger.claim(claim);
    leases.hold(claim.id, claim.lease, LEASE_MS);
    return claim;
  }

  const land = ({ id, lease }: ClaimRequest) =>
    ledger.recordOutcome(id, lease, { state: 'confirmed', slot: 7, signature: 'signature' });

  async function nextBeats(count: number): Promise<void> {
    const enough = beats + count;
    await until(() => beats >= enough);
  }

  test('keeps a payment for as long as its holder lives, and no longer', async () => {
    const claim = await held();
    for (let times = 0; times < 5; times += 1) {
      await advance(LEASE_MS - 1);
      expect((await ledger.claim(rivalOf(claim))).status).toBe('busy');
      await nextBeats(2);
    }
    leases.close();
    await advance(LEASE_MS);
    expect((await ledger.claim(rivalOf(claim))).status).toBe('won');
  });

  test('ends for one that is dropped, and goes on for the others', async () => {
    const [dropped, other] = [await held(), await held()];
    await nextBeats(2);
    leases.drop(dropped.lease);
    await advance(LEASE_MS - 1);
    await nextBeats(3);
    await advance(1);

    expect((await ledger.claim(rivalOf(dropped))).status).toBe('won');
    expect((await ledger.claim(rivalOf(other))).status).toBe('busy');
  });

  test('ends for one that is over or lost, and never takes it back', async () => {
    const [over, lost, alive] = [await held(), await held(), await held()];
    await land(over);
    await ledger.served(over.id, over.lease);
    await ledger.keep(lost.id, lost.lease);
    const heir = rivalOf(lost);
    await ledger.claim(heir);
    await nextBeats(3);
    leases.drop(alive.lease);
    const told = beats;
    leases.hold(alive.id, alive.lease, LEASE_MS);
    await nextBeats(3);

    expect(beats - told).toBeLessThanOrEqual(4);
    expect(await ledger.keep(heir.id, heir.lease)).toBe(true);
  });

  test('uses a payment up as soon as it can, then ends; until then the payment stays held', async () => {
    const claim = await held();
    await land(claim);
    let [tries, isBack] = [0, false];
    await leases.finish(claim.lease, async () => {
      tries += 1;
      if (!isBack) throw new Error('the ledger is away');
      return ledger.served(claim.id, claim.lease);
    });
    expect([tries, leases.holds(claim.id)]).toEqual([1, true]);
    await until(() => tries >= 2);
    expect((await ledger.claim(rivalOf(claim))).status).toBe('busy');
    isBack = true;
    await until(async () => (await ledger.find(claim.id))?.state === 'served');
    const needed = tries;
    await held();
    await nextBeats(2);
    expect(tries).toBe(needed);
  });

  test('who asks for a payment that is just being used up waits for that', async () => {
    const claim = await held();
    await land(claim);
    let write = (): void => undefined;
    const written = new Promise<void>((resolve) => {
      write = resolve;
    });
    void leases.finish(claim.lease, async () => {
      await written;
      return ledger.served(claim.id, claim.lease);
    });
    const known = heldByThisProcess({ leases, ledger }, claim);
    write();
    expect(await known).toBeUndefined();
    expect((await ledger.find(claim.id))?.state).toBe('served');
  });

  test('goes on when the ledger was away for a while', async () => {
    const claim = await held();
    fails = true;
    await nextBeats(3);
    fails = false;
    await advance(LEASE_MS - 1);
    await nextBeats(3);
    await advance(1);

    expect((await ledger.claim(rivalOf(claim))).status).toBe('busy');
  });

  test('spares what was not yet held when the last one began', async () => {
    const extended: string[] = [];
    const young = createLeases(
      {
        async extend(id) {
          if (extended.length === 0) young.hold('second', 'second', LEASE_MS);
          extended.push(id);
          return true;
        },
      },
      BEATING_MS,
    );
    young.hold('first', 'first', LEASE_MS);
    await until(() => extended.length >= 4);
    young.close();
    expect(extended.slice(0, 4)).toEqual(['first', 'first', 'second', 'first']);
  });

  test('keeps time with the shortest lease that is held, and with its own when that is over', async () => {
    jest.useFakeTimers();
    const extended: string[] = [];
    const mixed = createLeases(
      {
        async extend(id) {
          extended.push(id);
          return true;
        },
      },
      10_000,
    );
    try {
      mixed.hold('long', 'long', 20_000);
      mixed.hold('short', 'short', 1_000);
      await jest.advanceTimersByTimeAsync(1_000);
      expect(extended.filter((id) => id === 'short')).toHaveLength(5);
      mixed.drop('short');
      await jest.advanceTimersByTimeAsync(200);
      extended.length = 0;
      await jest.advanceTimersByTimeAsync(10_000);
      expect(extended).toEqual(Array(5).fill('long'));
    } finally {
      mixed.close();
      jest.useRealTimers();
    }
  });

  test('extends a lease first when a fifth of it has gone, and then as often: so long nobody takes its holder for silent', async () => {
    jest.useFakeTimers();
    const began = Date.now();
    const extendedAt: number[] = [];
    const steady = createLeases(
      {
        async extend() {
          extendedAt.push(Date.now() - began);
          return true;
        },
      },
      10_000,
    );
    try {
      steady.hold('steady', 'steady', 10_000);
      await jest.advanceTimersByTimeAsync(6_000);
      expect(extendedAt).toEqual([2_000, 4_000, 6_000]);
    } finally {
      steady.close();
      jest.useRealTimers();
    }
  });

  test('waits for the one before, however long the ledger takes', async () => {
    let [asked, answer] = [0, (_: boolean): void => undefined];
    const slow = createLeases(
      {
        extend: () => {
          asked += 1;
          return new Promise((resolve) => {
            answer = resolve;
          });
        },
      },
      BEATING_MS,
    );
    slow.hold('slow', 'slow', LEASE_MS);
    await until(() => asked > 0);
    await held();
    await nextBeats(4);
    expect(asked).toBe(1);
    answer(true);
    await until(() => asked > 1);
    slow.close();
    answer(true);
  });

  test('asks whether a payment is still held only where it was silent for half of the lease', async () => {
    let asked = 0;
    const quiet = createLeases({
      extend(id, lease, leaseMs) {
        asked += 1;
        return ledger.extend(id, lease, leaseMs);
      },
    });
    const claim = newClaim();
    await ledger.claim(claim);
    const since = Date.now();
    const clock = jest.spyOn(Date, 'now').mockReturnValue(since);
    quiet.hold(claim.id, claim.lease, LEASE_MS);
    try {
      clock.mockReturnValue(since + LEASE_MS / 2 - 1);
      expect([await quiet.isHeld(claim.id, claim.lease), asked]).toEqual([true, 0]);
      clock.mockReturnValue(since + LEASE_MS / 2 + 1);
      expect([await quiet.isHeld(claim.id, claim.lease), asked]).toEqual([true, 1]);
      await ledger.forget(claim.id, claim.lease);
      expect(await quiet.isHeld(claim.id, claim.lease)).toBe(false);
      fails = true;
      expect(await leases.isHeld(claim.id, claim.lease)).toBe(true);
    } finally {
      clock.mockRestore();
      quiet.close();
    }
  });

  test('knows what this process is at work on, until the newest lease is dropped', async () => {
    const claim = await held();
    leases.hold(claim.id, 'newer', LEASE_MS);
    leases.drop(claim.lease);
    expect(leases.holds(claim.id)).toBe(true);
    leases.drop('newer');
    expect(leases.holds(claim.id)).toBe(false);
  });
});
