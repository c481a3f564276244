import type { PaymentFlow, Resource } from '../../protocol/challenge.js';
import type { Terms } from '../../protocol/types.js';

/** A gated route that wants to be found. */
export interface Listing {
  readonly method: string;
  /** As clients see it, with Express's `:names`. */
  readonly path: string;
  /** Address under which clients reach the server; undefined: that of whoever asks. */
  readonly baseUrl: string | undefined;
  readonly described: Omit<Resource, 'url'>;
  /** What is asked for it, but for the fee payer, which the facilitator names at the time; none where it depends on the request. */
  readonly terms: readonly Omit<Terms, 'feePayer'>[];
  readonly paymentFlow: PaymentFlow | undefined;
  /** Extensions of the protocol, by name, as they go over the wire. */
  readonly extensions: Readonly<Record<string, unknown>>;
  /** When the gate was made, in milliseconds since 1970. */
  readonly listedAt: number;
}

/** The gated routes of a process. */
export interface Catalogue {
  /** Adds a route; one of the same method and path takes the place of the older. */
  list(listing: Listing): void;
  /** All routes, in the order in which they were first listed. */
  listings(): readonly Listing[];
}

const byOwner = new WeakMap<object, Catalogue>();

/** The catalogue of all gates that share an owner, their facilitator. It lives as long as that. */
export function catalogueOf(owner: object): Catalogue {
  const catalogue = byOwner.get(owner) ?? createCatalogue();
  byOwner.set(owner, catalogue);
  return catalogue;
}

function createCatalogue(): Catalogue {
  const byRoute = new Map<string, Listing>();
  return {
    list: (listing) => void byRoute.set(`${listing.method} ${listing.path}`, listing),
    listings: () => [...byRoute.values()],
  };
}
