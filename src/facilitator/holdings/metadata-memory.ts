import { boundedCache } from '../../lib/bounded-cache.js';
import type { LoadAccount } from '../../solana/accounts/account-batch.js';
import { metadataAddress, tokenMetadataOf } from '../../solana/accounts/token-metadata.js';
import type { AccountState } from '../../solana/rpc/rpc.js';

/** What is verified of a mint: addresses of creators and of the collection it is of, base58. */
export interface Origin {
  readonly creators: readonly string[];
  readonly collection?: string;
}

/** Where the tokens of a mint come from, so far as that is verified. */
export type FindOrigin = (mint: string) => Promise<Origin>;

const ORIGINS_REMEMBERED = 20_000;
const ORIGIN_MEMORY_MS = 3_600_000;
/** What nobody has verified yet, somebody may verify. */
const NO_ORIGIN_MEMORY_MS = 300_000;
/** An address costs half a millisecond to derive; others have their turn after so many. */
const DERIVED_AT_ONCE = 8;

/** Remembers for an hour what the metadata of mints says. What is not verified counts for nothing: anybody can write it. */
export function createMetadataMemory(load: LoadAccount): FindOrigin {
  const origins = boundedCache<string, Origin>({
    max: ORIGINS_REMEMBERED,
    ttl: ORIGIN_MEMORY_MS,
    async fetchMethod(mint, _stale, { options }) {
      await turn();
      const origin = originOf(mint, await load(metadataAddress(mint)));
      if (origin.creators.length === 0 && origin.collection === undefined) options.ttl = NO_ORIGIN_MEMORY_MS;
      return origin;
    },
  });
  let waiting = 0;
  let next = Promise.resolve();

  /** Lets the event loop go round after every few derivations. */
  function turn(): Promise<void> {
    if (waiting % DERIVED_AT_ONCE === 0) next = next.then(() => new Promise((resolve) => setImmediate(resolve)));
    waiting += 1;
    return next;
  }

  return async (mint) => (await origins.fetch(mint)) ?? { creators: [] };
}

function originOf(mint: string, account: AccountState | null): Origin {
  const { creators = [], collection } = tokenMetadataOf(account, mint) ?? {};
  const verified = creators.flatMap((creator) => (creator.verified ? [creator.address] : []));
  return { creators: verified, ...(collection?.verified ? { collection: collection.address } : {}) };
}
