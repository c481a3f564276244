import { createHash } from 'node:crypto';
import { newId } from '../../lib/ids.js';
import { ALLOWANCE, type NewPass, type PassQuery } from '../../storage/passes/pass-store.js';

/** What a wallet has without paying. */
export interface Allowance {
  /** How many requests. */
  readonly uses: bigint;
  /** In which time, in milliseconds. */
  readonly perMs: number;
}

/**
 * The allowance of a wallet for the period that a time is in: opened twice, by whichever instance, it is one pass, which ends with the
 * period.
 */
export function allowanceFor(place: PassQuery, { uses, perMs }: Allowance, now: number = Date.now()): NewPass {
  const { wallet, site, scope } = place;
  const begun = now - (now % perMs);
  const digest = createHash('sha256')
    .update(JSON.stringify([site, scope, wallet, perMs, begun]))
    .digest('hex');
  return {
    ...{ id: newId('pas'), paymentId: `${ALLOWANCE}${digest}`, wallet, site, scope },
    ...{ kind: 'uses', bought: uses, left: uses, lastsMs: begun + perMs - now },
  };
}

/** Whether a pass is an allowance, by what its payment is named. */
export function isAllowance(paymentId: string): boolean {
  return paymentId.startsWith(ALLOWANCE);
}
