import { hash } from 'node:crypto';
import type { Counters } from '../../storage/counters/counters.js';
import type { PaymentRequestRecord } from '../../storage/ledger/payment-request.js';
import { REQUESTS_MS, requestsUsedUp, UNPAID_WALLETS } from '../../storage/owners/quotas.js';

/** What {@link createRequestLimit} works with. */
export interface RequestLimitParts {
  readonly counters: Pick<Counters, 'increment' | 'decrement' | 'takeOnce'>;
  /** How many a day may stay unpaid of who has no quota of his own. */
  readonly usual: number;
  /** How many of a wallet may. Default: as many as usual. */
  readonly mostOf?: ((wallet: string) => Promise<number>) | undefined;
  /** Default: nobody is one. */
  readonly isOperator?: ((wallet: string) => boolean) | undefined;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/** Who asks for a payment: the wallet of a service key, or a client by its address. */
export interface Asker {
  readonly wallet?: string | undefined;
  /** Default: not known, and all of whom no address is known are one. */
  readonly client?: string | undefined;
}

/**
 * How many payments are asked for in a day, UTC, that nobody makes. Asking costs nothing, and each request is kept until a day after its
 * end. Once all together have as many as {@link UNPAID_WALLETS} wallets may have, nobody gets more than an even share of that, but for
 * wallets that operators gave more than usual: whoever floods is stopped, and others go on.
 */
export interface RequestLimit {
  /** Whom a request counts for, for {@link PaymentRequestRecord.countedFor}; undefined where it counts for nobody, as an operator's. */
  nameOf(asker: Asker): string | undefined;
  /**
   * Counts a request that is about to be made, on all instances together. While the counters cannot be reached none is refused.
   * @returns takes it back, where none was made
   * @throws TollhouseError `rate_limited` where there are too many, `store_unavailable` where the quota cannot be looked up
   */
  count(asker: Asker): Promise<() => void>;
  /** Takes a request back that was paid. */
  paid(request: Pick<PaymentRequestRecord, 'createdAt' | 'countedFor'>): void;
}

/** Makes the limit of payment requests. */
export function createRequestLimit(parts: RequestLimitParts): RequestLimit {
  const { counters, usual, mostOf = async () => usual, isOperator = () => false, now } = parts;
  const takeBack = (keys: readonly string[]): void => {
    for (const key of keys) void counters.decrement(key).catch(() => {});
  };
  const nameOf = ({ wallet, client }: Asker): string | undefined => {
    if (wallet !== undefined && isOperator(wallet)) return undefined;
    return nameFor(wallet === undefined ? `address ${client ?? ''}` : `wallet ${wallet}`);
  };
  return {
    nameOf,
    async count(asker) {
      const name = nameOf(asker);
      if (name === undefined) return () => {};
      const { wallet } = asker;
      const most = wallet === undefined ? usual : await mostOf(wallet);
      const time = now();
      const keys = keysOf(time, name);
      const counted = [keys.own, keys.all];
      const room = await roomFor(parts, keys, most).catch(() => undefined);
      if (room === undefined || room.own <= room.most) return () => takeBack(counted);
      takeBack(counted);
      const whose = wallet === undefined ? 'address' : 'wallet';
      throw requestsUsedUp({
        most: room.most,
        whose,
        isShare: room.most < most,
        waitMs: REQUESTS_MS - (time % REQUESTS_MS),
      });
    },
    paid({ createdAt, countedFor }) {
      if (countedFor === undefined) return;
      const { own, all } = keysOf(createdAt, countedFor);
      takeBack([own, all]);
    },
  };
}

/** What is counted under, all anew each day. */
function keysOf(time: number, name: string) {
  const day = Math.floor(time / REQUESTS_MS);
  return {
    own: `unpaid-requests:${day}:${name}`,
    all: `all-unpaid-requests:${day}`,
    asker: `request-askers:${day}:${name}`,
    askers: `all-request-askers:${day}`,
  };
}

/** Counts a request; answers how many its asker has with it, and how many it may have. */
async function roomFor(
  { counters, usual }: Pick<RequestLimitParts, 'counters' | 'usual'>,
  keys: ReturnType<typeof keysOf>,
  most: number,
): Promise<{ readonly own: number; readonly most: number }> {
  const [mine, together] = await Promise.all([
    counters.increment(keys.own, REQUESTS_MS),
    counters.increment(keys.all, REQUESTS_MS),
  ]);
  const own = mine.count;
  // Paid ones are taken back, so that it may be the first several times.
  const isNew = own === 1 && (await counters.takeOnce(keys.asker, REQUESTS_MS));
  const { count: askers } = await counters.increment(keys.askers, REQUESTS_MS, isNew ? 1 : 0);
  const room = UNPAID_WALLETS * usual;
  if (together.count <= room || most > usual) return { own, most };
  return { own, most: Math.min(most, Math.max(1, Math.floor(room / askers))) };
}

/** Short, and nobody's address as it is. */
function nameFor(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}
