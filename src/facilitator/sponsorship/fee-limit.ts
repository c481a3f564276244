import { TollhouseError } from '../../errors/errors.js';
import { isPending } from '../../lib/maybe-promise.js';
import { withAmountJson } from '../../protocol/money/amount-json.js';
import type { NetworkId, Refusal } from '../../protocol/types.js';
import type { Counters } from '../../storage/counters/counters.js';
import type { FacilitatorHealth } from '../setup/health.js';
import type { FeeLoad } from '../types.js';
import { createFeeShares, type FeeParties, type FeeShare, type FeeSharesParts } from './fee-shares.js';
import { createHourlyAllowance } from './hourly-allowance.js';

/** A fee that was counted. Either is called at most once. */
export interface CountedFee {
  /** For a transaction that did not leave, or expired: it cost nothing. */
  giveBack(): void;
  /** For one that landed with an error: it counts once more in the share of its payer. */
  countTwice(): void;
}

/** What came of counting a fee: a payer who has used up his share is refused. */
export type FeeCount =
  | { readonly ok: true; readonly fee: CountedFee }
  | { readonly ok: false; readonly refusal: Omit<Refusal, 'payer'> };

/** What came of a look at the room for a fee. */
export type FeeRoom = { readonly ok: true } | Extract<FeeCount, { readonly ok: false }>;

/**
 * Bounds what may be spent on network fees in an hour, whatever is found to make us pay: beyond it nothing is signed. The hour
 * is a fixed one, begun by its first fee. What this process has spent in it counts whatever becomes of the shared count. No payer, no
 * seller and not the public, who settles for others or by requests that nobody's key stands for, may use more than a fifth of it, so that whoever does is stopped alone;
 * operators can set another share for a seller. All sellers and the public together use three fifths at most: what is left is for the
 * operator's own routes and payouts. A seller with a set share of more than that is not counted in it.
 */
export interface FeeLimit {
  /**
   * Counts a fee before it is signed for; one that would pass a limit is not counted.
   * @param lamports - the most that the transaction can cost
   * @throws TollhouseError `fee_limit_reached`, with the rest of the hour to wait, for the whole, a seller, all public settling, or both of all together
   */
  take(lamports: bigint, parties?: FeeParties): Promise<FeeCount>;
  /** The same without counting, for what is to be signed only after some more work. */
  reach(lamports: bigint, parties?: FeeParties): Promise<FeeRoom>;
  /** What is known of this hour. */
  load(): FeeLoad;
  /** Why nothing is signed for anybody at the moment; undefined while it is. */
  fault(): TollhouseError | undefined;
}

/** What a limit works with. */
export interface FeeLimitParts {
  readonly network: NetworkId;
  /** Most for an hour, in lamports, of all instances that share the counters. */
  readonly maxFeeLamportsPerHour: bigint;
  /** Where all instances count. Without them, and while they cannot be reached, each process keeps the limit for itself. */
  readonly counters: Pick<Counters, 'increment'> | undefined;
  /** Where operators set the shares of sellers. Default: all are equal. */
  readonly owners?: FeeSharesParts['owners'];
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
  /**
   * Called once in each hour in which the limit for everybody is met.
   * @param endsAt - end of the hour, milliseconds since the epoch
   */
  onLimitReached(endsAt: number): void;
}

const MINUTE_MS = 60_000;

const SHARE_OF: Readonly<Record<Exclude<FeeShare['party'], 'payer'>, string>> = {
  seller: 'The payments of this seller',
  isPublic: 'The payments of servers elsewhere, and of requests without a service key or project,',
  others: 'The payments of all sellers, of servers elsewhere and of routes where a request says who is paid',
};

/** Makes a limit. Nothing is counted before the first fee. */
export function createFeeLimit(parts: FeeLimitParts): FeeLimit {
  const { network, maxFeeLamportsPerHour, counters, owners, now, onLimitReached } = parts;
  const limit = Number(maxFeeLamportsPerHour);
  const whole = createHourlyAllowance({ key: `fees:${network}`, limit, counters, now, onLimitReached });
  const shares = createFeeShares({ network, maxFeeLamportsPerHour, counters, owners, now });

  function fault(): TollhouseError | undefined {
    const restMs = whole.restMs();
    return restMs === 0 ? undefined : limitReached(`No more network fees are paid on ${network} in this hour`, restMs);
  }

  async function take(lamports: bigint, parties: FeeParties = {}): Promise<FeeCount> {
    const fee = Number(lamports);
    const stopped = fault();
    if (stopped !== undefined) throw stopped;
    const taken: (() => void)[] = [];
    const giveBack = (): void => {
      for (const back of taken) back();
    };
    const asked = shares.of(parties);
    const concerned = isPending(asked) ? await asked : asked;
    for (const share of concerned) {
      const taking = share.take(fee);
      const back = isPending(taking) ? await taking : taking;
      if (back === undefined) {
        giveBack();
        return sharesRefusal(share, fee);
      }
      taken.push(back);
    }
    const taking = whole.take(fee);
    const back = isPending(taking) ? await taking : taking;
    if (back === undefined) {
      giveBack();
      throw (
        fault() ?? limitReached(`So much is not left of the network fees on ${network} in this hour`, whole.restMs(fee))
      );
    }
    taken.push(back);
    const countTwice = (): void => concerned.find(({ party }) => party === 'payer')?.charge(fee);
    return { ok: true, fee: { giveBack, countTwice } };
  }

  return {
    fault,
    load: () => ({ spent: whole.spent(), limit }),
    take,
    async reach(lamports, parties = {}) {
      const asked = shares.of(parties);
      const concerned = isPending(asked) ? await asked : asked;
      const fee = Number(lamports);
      // What is known to be there need not be taken to know it.
      if (whole.hasRoom(fee) && concerned.every((share) => share.hasRoom(fee))) return { ok: true };
      const count = await take(lamports, parties);
      if (count.ok) count.fee.giveBack();
      return count;
    },
  };
}

/** The payer is told as any other whose payment is not taken; what a seller or the operator must know is an error. */
function sharesRefusal(share: FeeShare, fee: number): FeeCount {
  const restMs = share.restMs(fee);
  if (share.party !== 'payer') {
    throw limitReached(`${SHARE_OF[share.party]} have used their share of the network fees of this hour`, restMs);
  }
  const minutes = Math.ceil(restMs / MINUTE_MS);
  const message = `This wallet has used its share of the network fees that are paid here in an hour; nothing was charged. Pay again in ${minutes} minutes.`;
  return { ok: false, refusal: { reason: 'payer_fee_limit_reached', message } };
}

function limitReached(what: string, restMs: number): TollhouseError {
  return new TollhouseError(
    'fee_limit_reached',
    `${what}; nothing was charged. The same payment can be sent again then.`,
    {
      retryAfterSeconds: Math.max(1, Math.ceil(restMs / 1_000)),
    },
  );
}

/** The health of a facilitator with what its limit says: a share that is used up stops nobody else. */
export function withFeeLimit(health: FacilitatorHealth, feeLimit: FeeLimit): FacilitatorHealth {
  if (feeLimit.fault() === undefined) return health;
  return withAmountJson({ ...health, status: 'down', faults: [...health.faults, 'fee_limit_reached'] });
}
