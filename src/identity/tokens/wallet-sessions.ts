import { z } from 'zod';
import { TollhouseError } from '../../errors/errors.js';
import type { Counters } from '../../storage/counters/counters.js';

/** A session in the list of its wallet. */
export interface ListedSession {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly endsAt: number;
}

/** Which sessions a wallet has. So many it may have, so that it pushes out none but its own. */
export interface WalletSessions {
  /** Lists a session as the one that was used last. Returns the ids of those that are off the list for it. */
  add(address: string, session: ListedSession): Promise<readonly string[]>;
  remove(address: string, id: string): Promise<void>;
  /** Empties the list; returns what was on it. */
  removeAll(address: string): Promise<readonly string[]>;
}

/** What the lists are kept with. */
export interface WalletSessionsSetup {
  readonly counters: Counters;
  /** How long a session lives from its sign-in, in milliseconds. */
  readonly sessionMs: number;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/** How many sessions a wallet may have at once: devices, and programs that sign in anew with each run. */
const MAX_SESSIONS = 50;
const MAX_TRIES = 200;

const listSchema = z.array(z.object({ id: z.string(), endsAt: z.number() }));
type List = readonly ListedSession[];

/** Keeps the lists in counters, one value a wallet, changed by one caller at a time. */
export function createWalletSessions({ counters, sessionMs, now }: WalletSessionsSetup): WalletSessions {
  async function change(address: string, to: (list: List) => List): Promise<List> {
    const key = `wallet-sessions:${address}`;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const stored = await counters.get(key);
      const list = stored === undefined ? [] : listSchema.parse(JSON.parse(stored));
      const changed = to(list.filter(({ endsAt }) => endsAt > now()));
      const text = JSON.stringify(changed);
      if (stored === text || (stored === undefined && changed.length === 0)) return list;
      if (await counters.replace(key, stored, text, sessionMs)) return list;
    }
    const detail = 'Too many sign-ins of this wallet are under way at once; try again shortly.';
    throw new TollhouseError('store_unavailable', detail, { retryAfterSeconds: 2 });
  }

  return {
    async add(address, session) {
      const withIt = (list: List) => [...list.filter(({ id }) => id !== session.id), session];
      const before = await change(address, (list) => withIt(list).slice(-MAX_SESSIONS));
      return withIt(before)
        .slice(0, -MAX_SESSIONS)
        .map(({ id }) => id);
    },
    async remove(address, id) {
      await change(address, (list) => list.filter((it) => it.id !== id));
    },
    async removeAll(address) {
      const before = await change(address, () => []);
      return before.map(({ id }) => id);
    },
  };
}
