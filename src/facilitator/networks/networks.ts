import { badOption, TollhouseError } from '../../errors/errors.js';
import { type MoneyMode, modeOf, networkFrom } from '../../protocol/networks/networks.js';
import type { NetworkId } from '../../protocol/types.js';
import type { Facilitator } from '../types.js';
import { checkMembers, joinFacilitators, type Members } from './joined-facilitator.js';

/** The networks that are served together, each by a facilitator of its own, on one storage. */
export interface Networks<Member extends Facilitator = Facilitator> {
  /** In the order in which they were given. */
  readonly all: Members<Member>;
  /** The default. */
  readonly first: Member;
  /** What is shown to those who do not say whether they mean test money: `live` where mainnet is served. */
  readonly mode: MoneyMode;
  /** All of them as one: each payment goes to the one of its network. */
  readonly joined: Facilitator;
  /** The facilitator of a network; undefined where it is not served. */
  on(network: NetworkId): Member | undefined;
  /**
   * The facilitator of the network that a caller names, by id or in CAIP-2; the first where none is named.
   * @param param - of the request, for the error
   * @throws TollhouseError `invalid_request` for one that is not served
   */
  named(network: string | undefined, param?: string): Member;
  /** What the first of them finds that finds something; they are asked in turn. */
  find<Found>(look: (facilitator: Member) => Promise<Found | undefined>): Promise<Found | undefined>;
}

/** One facilitator; or several, one for each network, on one storage: callers say by `network` which they mean, by default the first. */
export type FacilitatorsOption<Member extends Facilitator> =
  | { readonly facilitator: Member; readonly facilitators?: undefined }
  | { readonly facilitators: readonly Member[]; readonly facilitator?: undefined };

/** Whether options name several facilitators, so that they need not name one. */
export function hasSeveral(options: unknown): boolean {
  return Reflect.get(Object(options), 'facilitators') !== undefined;
}

/**
 * The networks of what was given the one or the other.
 * @throws TollhouseError `bad_option` where that was neither or both; and as {@link createNetworks}
 */
export function networksOf<Member extends Facilitator>(
  where: string,
  {
    facilitator,
    facilitators,
  }: { readonly facilitator?: Member | undefined; readonly facilitators?: readonly Member[] | undefined },
): Networks<Member> {
  if (facilitator !== undefined && facilitators !== undefined) {
    throw badOption(where, 'give option "facilitator" for one network or "facilitators" for several, not both');
  }
  const given = facilitators ?? (facilitator === undefined ? undefined : [facilitator]);
  if (given === undefined) throw badOption(where, 'option "facilitator" is missing', 'facilitator');
  return createNetworks(where, given);
}

/**
 * Makes what finds the facilitator of a network.
 * @param where - the function that they were given to, for messages
 * @throws TollhouseError `bad_option` where two are on one network, or they do not share a storage
 */
export function createNetworks<Member extends Facilitator>(where: string, given: readonly Member[]): Networks<Member> {
  const all = checkMembers(where, given);
  const [first] = all;
  const on = (network: NetworkId): Member | undefined => all.find((it) => it.network === network);
  return Object.freeze({
    all,
    first,
    mode: all.some(({ network }) => modeOf(network) === 'live') ? ('live' as const) : ('test' as const),
    joined: joinFacilitators(where, all),
    on,
    named(network, param = 'network') {
      if (network === undefined) return first;
      const id = networkFrom(network);
      const found = id && on(id);
      if (found !== undefined) return found;
      const served = all.map((it) => `"${it.network}"`).join(' and ');
      const detail = `network "${network}" is not served here; this service is on ${served}`;
      throw new TollhouseError('invalid_request', detail, { param });
    },
    async find(look) {
      for (const facilitator of all) {
        const found = await look(facilitator);
        if (found !== undefined) return found;
      }
      return undefined;
    },
  } satisfies Networks<Member>);
}
