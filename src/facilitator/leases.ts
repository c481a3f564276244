import type { Ledger } from '../storage/ledger.js';

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
  /** Ends that. */
  drop(lease: string): void;
  /** Ends that by work that uses the payment up. Never rejects: work that fails is tried again at every heart-beat. */
  finish(lease: string, work: () => Promise<unknown>): Promise<void>;
  /** Resolves when work that is just using a payment up, if any, is done or has failed. */
  finishing(id: string): Promise<void>;
  close(): void;
}

/**
 * How long a payment stays held after its holder was last heard of: then others take it over. Clocks of instances that
 * share a ledger may differ by a third of it.
 */
export const DEFAULT_LEASE_MS = 30_000;

/** So many heart-beats in one lease: a few may be lost, or late. */
const BEATS = 5;

interface Held {
  readonly id: string;
  readonly leaseMs: number;
  /** What is still to be done before it is dropped. */
  work?: () => Promise<unknown>;
  /** The first try of it. */
  finishing?: Promise<void>;
  /** Held when the last heart-beat began: most payments are over before their second one, and cost nothing. */
  old: boolean;
}

/**
 * One heart-beat for all payments that are held; its timer runs only while there are any, and keeps no process alive.
 * While the ledger cannot be reached, the next beat tries again.
 */
export function createLeases(ledger: Pick<Ledger, 'extend'>, leaseMs: number = DEFAULT_LEASE_MS): Leases {
  const all = new Map<string, Held>();
  /** The newest lease of each payment. */
  const byPayment = new Map<string, string>();
  let timer: NodeJS.Timeout | undefined;
  let beating = false;

  async function extend(lease: string, held: Held): Promise<void> {
    const { id, work } = held;
    const beaten = work === undefined ? ledger.extend(id, lease, held.leaseMs) : work().then(() => false);
    const isHeld = await beaten.catch(() => true);
    if (!isHeld) drop(lease);
  }

  async function beat(): Promise<void> {
    if (beating) return;
    beating = true;
    const due = [...all].filter(([, { old }]) => old);
    for (const held of all.values()) held.old = true;
    await Promise.all(due.map(([lease, held]) => extend(lease, held)));
    beating = false;
  }

  function drop(lease: string): void {
    const { id } = all.get(lease) ?? {};
    if (id !== undefined && byPayment.get(id) === lease) byPayment.delete(id);
    all.delete(lease);
    if (all.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    leaseMs,
    hold(id, lease, heldMs) {
      all.set(lease, { id, leaseMs: heldMs, old: false });
      byPayment.set(id, lease);
      timer ??= setInterval(() => void beat(), leaseMs / BEATS).unref();
    },
    holds: (id) => byPayment.has(id),
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
    finishing: async (id) => all.get(byPayment.get(id) ?? '')?.finishing,
    close() {
      all.clear();
      byPayment.clear();
      clearInterval(timer);
      timer = undefined;
    },
  };
}
