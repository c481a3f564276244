import { z } from 'zod';
import type { NetworkId } from '../../protocol/types.js';
import type { Counters } from '../../storage/counters/counters.js';
import { createWalletSessions } from './wallet-sessions.js';

/** What sessions are kept with. */
export interface SessionSetup {
  /** Sessions of another one are not found. */
  readonly network: NetworkId;
  readonly counters: Counters;
  /** How long a session lives from its sign-in, in milliseconds. */
  readonly sessionMs: number;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
  /** Random bytes, as many as asked for. */
  readonly random: (size: number) => Uint8Array;
}

const usedSchema = z.object({ hash: z.string(), salt: z.string(), at: z.number() });

/** A secret that was used: its hash, what with it makes the one that came after, and when that was. */
export type UsedSecret = z.infer<typeof usedSchema>;

const recordSchema = z.object({
  address: z.string(),
  scopes: z.array(z.string()),
  /** The site and the network of its access tokens; sessions from before there was a name for them are over. */
  audience: z.string().default(''),
  network: z.string().default(''),
  /** Hash of the secret that is good. */
  current: z.string(),
  endsAt: z.number(),
  /** The secret that was used last: it makes the current one. */
  used: usedSchema.optional(),
  /** Some that were used before it, oldest first: each makes the next. */
  earlier: z.array(usedSchema).default([]),
});

/** A session as it is kept: hashes only, so that who reads the store can use nothing of it. */
export type SessionRecord = z.infer<typeof recordSchema>;

/** A session that is kept, and the text that it is kept as. */
export interface KeptSession {
  readonly id: string;
  readonly record: SessionRecord;
  readonly stored: string;
}

/** Sessions, one entry each. One that the store forgets early is over. */
export interface SessionStore {
  add(id: string, record: SessionRecord): Promise<void>;
  /** A session that is not over. */
  find(id: string): Promise<KeptSession | undefined>;
  /** Puts a record in the place of the one that was found; false when another was quicker. */
  replace(session: KeptSession, record: SessionRecord): Promise<boolean>;
  /** Notes that a session was used: of too many sessions of a wallet, the one that was not for longest ends. */
  touch(id: string, record: SessionRecord): Promise<void>;
  end(session: KeptSession): Promise<void>;
  /** Ends all sessions of a wallet; returns their ids. */
  endAll(address: string): Promise<readonly string[]>;
}

/** Keeps sessions in counters. */
export function createSessionStore(setup: SessionSetup): SessionStore {
  const { counters, now } = setup;
  const lists = createWalletSessions(setup);
  const timeLeft = ({ endsAt }: SessionRecord): number => Math.max(1, endsAt - now());

  async function forget(ids: readonly string[]): Promise<void> {
    await Promise.all(ids.map((id) => counters.remove(keyOf(id))));
  }

  async function touch(id: string, { address, endsAt }: SessionRecord): Promise<void> {
    await forget(await lists.add(address, { id, endsAt }));
  }

  return {
    async add(id, record) {
      await counters.put(keyOf(id), JSON.stringify(record), timeLeft(record));
      await touch(id, record);
    },
    async find(id) {
      const stored = await counters.get(keyOf(id));
      if (stored === undefined) return undefined;
      const record = recordSchema.parse(JSON.parse(stored));
      return record.endsAt <= now() ? undefined : { id, record, stored };
    },
    replace: ({ id, stored }, record) => counters.replace(keyOf(id), stored, JSON.stringify(record), timeLeft(record)),
    touch,
    async end({ id, record }) {
      await forget([id]);
      await lists.remove(record.address, id);
    },
    async endAll(address) {
      const ids = await lists.removeAll(address);
      await forget(ids);
      return ids;
    },
  };
}

function keyOf(id: string): string {
  return `session:${id}`;
}
