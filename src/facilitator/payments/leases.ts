import type { Ledger } from '../../storage/ledger/ledger.js';

/** Keeps the payments that this process works on its own, for as long as it lives. */
export interface Leases {
  /** How long a payment is held unless its use says otherwise, in milliseconds. */
  readonly leaseMs: number;
  /** Extends a lease again and again, until it is dropped, lost, or its payment is over. */
  hold(id: string, lease: string, leaseMs: number): void;
  /**
   * Whether this process is at work on a payment. What the clock says of its lease does not count then: where it has jumped
   * ahead, the lease seems to have run out.
   */
  holds(id: string): boolean;
  /**
   * Whether a lease is still this process's. The ledger is asked only where it has not been extended for as long as it lasts,
   * as in a process that was frozen; one that cannot be reached is no reason to think it lost.
   */
  isHeld(id: string, lease: string): Promise<boolean>;
  /** Ends that. */
  drop(lease: string): void;
  /**
   * Ends that by work that uses the payment up. Never rejects: work that fails is tried again at every heart-beat, but not where the
   * lease was dropped or lost before.
   */
  finish(lease: string, work: () => Promise<unknown>): Promise<void>;
  /** Resolves when work that is just using a payment up, if any, is done or has failed; what has failed before is tried again now. */
  finishing(id: string): Promise<void>;
  close(): void;
}

/**
 * How long a payment stays held after its holder was last heard of: then others take it over. Clocks of instances that
 * share a ledger may differ by a third of it.
 */
export const DEFAULT_LEASE_MS = 30_000;

/** So many heart-beats in one lease, every other of which extends it: a few may be lost, or late. */
const BEATS = 10;

interface Held {
  readonly id: string;
  readonly leaseMs: number;
  /** When it was taken, or last extended; milliseconds since the epoch. */
  since: number;
  /** What is still to be done before it is dropped. */
  work?: () => Promise<unknown>;
  /** The first try of it. */
  finishing?: Promise<void>;
  /** Held when the last heart-beat began, and not extended by it: most payments are over before their second one, and cost nothing. */
  isDue: boolean;
}

/** Extends a lease, or goes on with what is to be done before it is dropped. False when it is over. */
async function isExtended(ledger: Pick<Ledger, 'extend'>, lease: string, held: Held | undefined): Promise<boolean> {
  if (held === undefined) return false;
  const { id, leaseMs, work } = held;
  const since = Date.now();
  try {
    const isHeld = work === undefined ? await ledger.extend(id, lease, leaseMs) : await work().then(() => false);
    held.since = since;
    return isHeld;
  } catch {
    return true;
  }
}

/** Beats in time for the shortest of the leases that it is to keep up with, until it is stopped; keeps no process alive. */
function createBeatTimer(beat: () => void): { keepUp(leaseMs: number): void; stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  let shortestMs = Number.POSITIVE_INFINITY;
  return {
    keepUp(leaseMs) {
      if (leaseMs >= shortestMs) return;
      clearInterval(timer);
      shortestMs = leaseMs;
      timer = setInterval(beat, leaseMs / BEATS).unref();
    },
    stop() {
      clearInterval(timer);
      shortestMs = Number.POSITIVE_INFINITY;
    },
  };
}

/**
 * One heart-beat for all payments that are held, in time for the shortest of their leases; its timer runs only while there are any.
 * While the ledger cannot be reached, the next beat tries again.
 */
export function createLeases(ledger: Pick<Ledger, 'extend'>, leaseMs: number = DEFAULT_LEASE_MS): Leases {
  const all = new Map<string, Held>();
  /** The newest lease of each payment. */
  const byPayment = new Map<string, string>();
  const timer = createBeatTimer(() => void beat());
  let beating = false;

  async function extend(lease: string): Promise<void> {
    if (!(await isExtended(ledger, lease, all.get(lease)))) drop(lease);
  }

  async function beat(): Promise<void> {
    if (beating) return;
    beating = true;
    const due = [...all.keys()].filter((lease) => all.get(lease)?.isDue);
    timer.stop();
    for (const held of all.values()) {
      held.isDue = !held.isDue;
      timer.keepUp(Math.min(held.leaseMs, leaseMs));
    }
    await Promise.all(due.map(extend));
    beating = false;
  }

  function drop(lease: string): void {
    const { id } = all.get(lease) ?? {};
    if (id !== undefined && byPayment.get(id) === lease) byPayment.delete(id);
    all.delete(lease);
    if (all.size === 0) timer.stop();
  }

  return {
    leaseMs,
    hold(id, lease, heldMs) {
      all.set(lease, { id, leaseMs: heldMs, since: Date.now(), isDue: false });
      byPayment.set(id, lease);
      timer.keepUp(Math.min(heldMs, leaseMs));
    },
    holds: (id) => byPayment.has(id),
    async isHeld(id, lease) {
      const held = all.get(lease);
      // The claim was made a little before it was noted here, and a busy process notes it late: half of the lease is certain.
      if (held !== undefined && Math.abs(Date.now() - held.since) < held.leaseMs / 2) return true;
      return ledger.extend(id, lease, held?.leaseMs ?? leaseMs).catch(() => true);
    },
    drop,
    finish(lease, work) {
      const held = all.get(lease);
      const finishing = work().then(
        () => drop(lease),
        () => {
          if (held !== undefined) held.work = work;
        },
      );
      if (held !== undefined) held.finishing = finishing;
      return finishing;
    },
    async finishing(id) {
      const lease = byPayment.get(id) ?? '';
      await all.get(lease)?.finishing;
      if (all.get(lease)?.work !== undefined) await extend(lease);
    },
    close() {
      all.clear();
      byPayment.clear();
      timer.stop();
    },
  };
}
