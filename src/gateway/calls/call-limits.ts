import { TollhouseError } from '../../errors/errors.js';
import { boundedCache } from '../../lib/bounded-cache.js';
import { ADDRESS_SHARE, fillShare } from '../../lib/work/address-shares.js';
import { networksOfClient } from '../../lib/work/client-networks.js';
import type { Counters } from '../../storage/counters/counters.js';
import { countFewTrips } from '../../storage/counters/few-trips.js';
import type { ProjectRecord } from '../../storage/projects/projects.js';

/** What {@link createCallLimits} works with. */
export interface CallLimitsParts {
  readonly counters: Pick<Counters, 'increment'>;
  /** Multiplies every limit. Default 1. */
  readonly scale?: number | undefined;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

type LimitedProject = Pick<ProjectRecord, 'id' | 'limits'>;

/**
 * What a call brings for its price: a payment of its own; what was paid before and stays with its caller where it is not charged, a pass or
 * credit; or nothing, as it costs nothing.
 */
export type CallMeans = 'payment' | 'paid_before' | 'nothing';

/**
 * Keeps calls of a project within what its upstream bears. What was refused before it was paid is its caller's. Half of the room is for
 * calls that cost nothing, and of that a wallet has half of what the others leave, and an address and the networks around it have shares as
 * in `AddressShares`, for wallets cost nothing; the last eighth is for calls that bring a payment, for whatever brings none can be sent
 * without end.
 */
export interface CallLimits {
  /**
   * Before money is taken: throws `rate_limited` where the project is known to have no room now for a caller. Uses nothing up.
   * @param owner - wallet of the caller's key, base58
   */
  requireRoom(project: LimitedProject, owner: string): void;
  /**
   * Lets a call in whose body is here; answers the function that ends it. Rejects with `rate_limited` above the project's calls a
   * second, which all instances count together (`few-trips.ts`), or its calls at once, which each counts by itself: at most half of them are of
   * one wallet.
   * @param means - what it brings
   * @param client - what names its address, an IPv6 one by its network. Default: not known, and no address has a share
   */
  enter(project: LimitedProject, owner: string, means: CallMeans, client?: string): Promise<() => void>;
}

/** A part of what a project takes, at once or in a second. */
interface Room {
  /** Before the name of what is counted there. */
  readonly space: string;
  /** How much of a limit it is. */
  readonly shareOf: (limit: number) => number;
  /** How much of that one wallet has at once, where the others have so much. */
  readonly atOnce: (share: number, others: number) => number;
  /** The same within a second. Default: all. */
  readonly inSecond?: (share: number, others: number) => number;
  /** Whether addresses have shares of it. */
  readonly isShared?: boolean;
  /** What it is a room of. */
  readonly calls: string;
}

/** Who makes a call. */
interface Caller {
  readonly owner: string;
  /** What names its address and the networks around that, the narrowest first. */
  readonly networks: readonly string[];
}

/** Where a second stands in this process. */
interface Second {
  /** When it is over, milliseconds since the epoch: as of what all instances count together, once that is known. */
  endsAt: number;
  /** Whether nothing is left of it. */
  isUsedUp: boolean;
  /** What was let in, by the name of what is counted. */
  readonly counts: Map<string, number>;
}

const SECOND_MS = 1_000;

/** Of so many projects it is remembered where their second stands. */
const MAX_REMEMBERED = 10_000;

const halfOfTheRest = (share: number, others: number): number => Math.ceil((share - others) / 2);
const ALL: Room = {
  space: 'calls',
  shareOf: (limit) => limit,
  atOnce: (share) => Math.ceil(share / 2),
  calls: 'calls',
};
const WITHOUT_PAYMENT: Room = {
  space: 'calls-without-payment',
  shareOf: (limit) => limit - Math.floor(limit / 8),
  atOnce: (share) => share,
  calls: 'calls that bring no payment',
};
const FREE: Room = {
  space: 'calls-free',
  shareOf: (limit) => Math.max(1, Math.floor(limit / 2)),
  atOnce: halfOfTheRest,
  inSecond: halfOfTheRest,
  isShared: true,
  calls: 'calls that cost nothing',
};

/** Where a call needs room, the smallest first: what is refused there uses up nothing of the others. */
const ROOMS: Readonly<Record<CallMeans, readonly Room[]>> = {
  payment: [ALL],
  paid_before: [WITHOUT_PAYMENT, ALL],
  nothing: [FREE, WITHOUT_PAYMENT, ALL],
};

/** Makes the limits of a gateway's calls. While the counters cannot be reached, calls pass. */
export function createCallLimits({ counters, scale = 1, now }: CallLimitsParts): CallLimits {
  const underWay = new Map<string, number>();
  const countCall = countFewTrips({ counters, windowMs: SECOND_MS, now });
  const seconds = boundedCache<string, Second>({ max: MAX_REMEMBERED });

  function secondOf(id: string): Second {
    const known = seconds.get(id);
    if (known !== undefined && now() < known.endsAt) return known;
    const begun: Second = { endsAt: now() + SECOND_MS, isUsedUp: false, counts: new Map() };
    seconds.set(id, begun);
    return begun;
  }

  function requireSlot({ id, limits }: LimitedProject, caller: Caller, rooms: readonly Room[]): void {
    for (const room of rooms) {
      const share = room.shareOf(limits.concurrent * scale);
      refuseWhereFull(room, share, countsIn(underWay, room, id, caller));
    }
  }

  /** What the others share is looked at in this process: it is the same second as that of all calls. */
  function isBeyondShare({ id, limits }: LimitedProject, caller: Caller, rooms: readonly Room[]): boolean {
    const { counts } = secondOf(id);
    return rooms.some((room) => {
      const { shareOf, inSecond = (share) => share } = room;
      const share = shareOf(limits.perSecond * scale);
      const { all, own, ofNetworks } = countsIn(counts, room, id, caller);
      const isFull = all >= share || own >= inSecond(share, all - own);
      return isFull || fillShare(ofNetworks, { share: ADDRESS_SHARE, places: share, taken: all });
    });
  }

  async function isTooFast(project: LimitedProject, caller: Caller, rooms: readonly Room[]): Promise<boolean> {
    const { id, limits } = project;
    if (isBeyondShare(project, caller, rooms)) return true;
    const second = secondOf(id);
    change(second.counts, rooms, id, caller, 1);
    try {
      for (const { space, shareOf } of rooms) {
        const share = shareOf(limits.perSecond * scale);
        const { count, resetsAt } = await countCall(`${space}:${id}`, share);
        if (space === ALL.space) Object.assign(second, { endsAt: resetsAt, isUsedUp: count >= share });
        if (count > share) return true;
      }
    } catch {
      // Calls pass.
    }
    return false;
  }

  return {
    requireRoom(project, owner) {
      requireSlot(project, { owner, networks: [] }, ROOMS.payment);
      if (secondOf(project.id).isUsedUp) throw busy(TOO_FAST);
    },
    async enter(project, owner, means, client) {
      const rooms = ROOMS[means];
      const caller = { owner, networks: client === undefined ? [] : networksOfClient(client) };
      requireSlot(project, caller, rooms);
      change(underWay, rooms, project.id, caller, 1);
      const leave = () => change(underWay, rooms, project.id, caller, -1);
      if (await isTooFast(project, caller, rooms)) {
        leave();
        throw busy(means === 'nothing' ? TOO_FAST_FREE : TOO_FAST);
      }
      return leave;
    },
  };
}

const TOO_FAST = 'gets more calls a second than it takes';
const TOO_FAST_FREE = 'gets more calls that cost nothing a second than it takes, of your wallet, your address or all';

type Counts = Map<string, number>;

/** How many calls there are. */
interface Counted {
  readonly all: number;
  /** Of the wallet. */
  readonly own: number;
  readonly ofNetworks: readonly number[];
}

function countsIn(counts: Counts, room: Room, id: string, caller: Caller): Counted {
  const of = (name: string): number => counts.get(name) ?? 0;
  const { all, own, shared } = namesIn(room, id, caller);
  return { all: of(all), own: of(own), ofNetworks: shared.map(of) };
}

function namesIn({ space, isShared = false }: Room, id: string, { owner, networks }: Caller) {
  const all = `${space} ${id}`;
  return { all, own: `${all} ${owner}`, shared: isShared ? networks.map((network) => `${all} from ${network}`) : [] };
}

function refuseWhereFull({ atOnce, calls }: Room, share: number, { all, own, ofNetworks }: Counted): void {
  if (all >= share) throw busy(`has as many ${calls} under way as it takes at once`);
  if (own >= atOnce(share, all - own))
    throw busy(`has as many ${calls} of your wallet under way as it takes of one wallet at once`);
  if (fillShare(ofNetworks, { share: ADDRESS_SHARE, places: share, taken: all }))
    throw busy(`has as many ${calls} from your address or its network under way as it takes of one at once`);
}

/** Counts a call in or out, of all, of its wallet, and of its address and networks. */
function change(counts: Counts, rooms: readonly Room[], id: string, caller: Caller, by: 1 | -1): void {
  for (const room of rooms) {
    const { all, own, shared } = namesIn(room, id, caller);
    for (const name of [all, own, ...shared]) {
      const count = (counts.get(name) ?? 0) + by;
      if (count === 0) counts.delete(name);
      else counts.set(name, count);
    }
  }
}

function busy(what: string): TollhouseError {
  const detail = `This project ${what}; send the same request again in a moment, a payment stays good.`;
  return new TollhouseError('rate_limited', detail, { retryAfterSeconds: 1 });
}
