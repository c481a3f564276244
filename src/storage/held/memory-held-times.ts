import { type HeldTimes, MAX_HELD } from './held-times.js';

interface Held {
  since: number;
  seenAt: number;
  lookedAt: number;
}

/** The times in this process's memory: a restart begins them anew. */
export function createMemoryHeldTimes(maxHeld = MAX_HELD): HeldTimes {
  const rules = new Map<string, Map<string, Held>>();

  function walletsOf(rule: string): Map<string, Held> {
    const wallets = rules.get(rule) ?? new Map<string, Held>();
    rules.set(rule, wallets);
    return wallets;
  }

  function forgetSeenBefore(before: number, limit: number): number {
    let gone = 0;
    for (const wallets of rules.values()) {
      for (const [wallet, { seenAt }] of wallets) {
        if (gone >= limit) return gone;
        if (seenAt < before && wallets.delete(wallet)) gone += 1;
      }
    }
    return gone;
  }

  return {
    async seen({ rule, wallet, at, gapMs }) {
      const wallets = walletsOf(rule);
      const held = wallets.get(wallet);
      if (held === undefined) {
        if (wallets.size < maxHeld) wallets.set(wallet, { since: at, seenAt: at, lookedAt: at });
        return at;
      }
      if (held.seenAt < at - gapMs) held.since = at;
      held.seenAt = Math.max(held.seenAt, at);
      return held.since;
    },
    async lost(rule, wallet) {
      rules.get(rule)?.delete(wallet);
    },
    async takeDue(rule, before, at, limit) {
      const waiting = [...walletsOf(rule)].filter(([, { lookedAt }]) => lookedAt < before);
      const due = waiting.sort(([, one], [, other]) => one.lookedAt - other.lookedAt).slice(0, limit);
      for (const [, held] of due) held.lookedAt = at;
      return due.map(([wallet]) => wallet);
    },
    prune: async (before, limit) => forgetSeenBefore(before, limit),
  };
}
