import type { RequestHandler } from 'express';
import { TollhouseError } from '../../errors/errors.js';
import { createStoreWarning } from '../../identity/store-warning.js';
import { sendError } from '../../middleware/gate/respond.js';
import type { Counters } from '../../storage/counters/counters.js';
import { countFewTrips } from '../../storage/counters/few-trips.js';
import { callerOf } from '../framework/api-caller.js';

/** What {@link limitWallets} works with. */
export interface WalletLimitParts {
  readonly counters: Pick<Counters, 'increment'>;
  /** Multiplies the limit. */
  readonly scale: number;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/** As many as a service key may send that has no limit of its own. */
const PER_SECOND = 25;
const SECOND_MS = 1_000;

/**
 * Makes what counts the requests of a caller's wallet, by whatever it signs in and from wherever, on all instances together, and refuses
 * those beyond 25 a second: a wallet costs nothing, and has any number of tokens and 50 keys. While the counters cannot be reached
 * everything passes.
 */
export function limitWallets({ counters, scale, now }: WalletLimitParts): RequestHandler {
  const limit = Math.max(1, Math.round(PER_SECOND * scale));
  const countRequest = countFewTrips({ counters, windowMs: SECOND_MS, now });
  const onStoreError = createStoreWarning(now, 'requests of wallets cannot be counted and pass all the same');

  async function count(wallet: string): Promise<TollhouseError | undefined> {
    const { count: used, resetsAt } = await countRequest(`limit-wallet:${wallet}`, limit);
    if (used <= limit) return undefined;
    const detail = `More than ${limit} requests a second came with the access tokens and service keys of this wallet.`;
    const retryAfterSeconds = Math.max(1, Math.ceil((resetsAt - now()) / SECOND_MS));
    return new TollhouseError('rate_limited', detail, { retryAfterSeconds });
  }

  return (req, res, next) => {
    count(callerOf(req).wallet).then(
      (refusal) => (refusal === undefined ? next() : sendError(res, refusal)),
      (error: unknown) => {
        onStoreError(error);
        next();
      },
    );
  };
}
