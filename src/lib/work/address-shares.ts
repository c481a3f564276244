import { networksOfClient } from './client-networks.js';
import { createTally } from './tally.js';

/** What {@link createAddressShares} works with. */
export interface AddressSharesParts {
  /** Of an address that is alone; 1 for no bound. */
  readonly share: number;
  /** How many places there are. */
  readonly places: () => number;
  /** How many of them are taken, by whomever. */
  readonly taken: () => number;
}

/**
 * What client addresses, and the networks around them, have of places that everybody shares. No address has more than its share of what
 * the others leave of nine tenths of the places, and no network around it more than a wider one. The last tenth is for those whose networks
 * have no place, one each. A client that is not known has no share.
 */
export interface AddressShares {
  /** What names a client and the networks that it is in; nothing where nobody is bounded. */
  networksOf(client: string | undefined): readonly string[];
  /** Whether one of them has its share. */
  isFull(networks: readonly string[]): boolean;
  /** A place more, or one less. */
  count(networks: readonly string[], by: 1 | -1): void;
}

/** What an address that is alone has of most places: wallets cost nothing, and addresses do. */
export const ADDRESS_SHARE = 0.5;

/** One place in so many is for those who have none. */
const NEWCOMERS = 10;

/** Makes shares of which nobody has any. */
export function createAddressShares({ share, places, taken }: AddressSharesParts): AddressShares {
  const byNetwork = createTally();
  return {
    networksOf: (client) => (client === undefined || share === 1 ? [] : networksOfClient(client)),
    isFull(networks) {
      const owns = networks.map(byNetwork.of);
      return fillShare(owns, { share, places: places(), taken: taken() });
    },
    count(networks, by) {
      for (const network of networks) byNetwork.add(network, by);
    },
  };
}

/**
 * Whether one of a client's networks has its share: each wider one has half of what the share before it leaves. Where nothing is left but
 * what newcomers have, so has everybody who has a place.
 * @param owns - how many each has, the narrowest first
 */
export function fillShare(
  owns: readonly number[],
  { share, places, taken }: { readonly share: number; readonly places: number; readonly taken: number },
): boolean {
  const forAnybody = Math.ceil((places * (NEWCOMERS - 1)) / NEWCOMERS);
  const free = Math.max(0, forAnybody - taken);
  return owns.some((own, width) => own > 0 && own >= (own + free) * (1 - (1 - share) / 2 ** width));
}
