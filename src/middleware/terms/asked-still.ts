import type { Terms } from '../../protocol/types.js';
import { onEachNetwork } from './network-terms.js';
import type { ResolvedPaymentOptions } from './payment-options.js';

/** How far a price may have risen since a payment of it was asked for, in tenths: quotes move. */
const RISE = { from: 10n, to: 11n };

/**
 * Whether what was paid on terms that are not offered now is good at this gate. It is where the seller has written other ones since. What a
 * function asks may depend on more than a payment is bound to, such as a header or an account: that is good for whom it paid alone,
 * and for what costs as much now.
 * @param offered - what this very request is asked for now
 */
export function isAskedStill(options: ResolvedPaymentOptions, paid: Terms, offered: readonly Terms[]): boolean {
  const onNetwork = onEachNetwork(options).find(({ facilitator }) => facilitator.network === paid.network);
  const { price, payTo } = onNetwork ?? options;
  if (typeof payTo === 'function' && offered.every((it) => it.payTo !== paid.payTo)) return false;
  if (typeof price !== 'function') return true;
  return offered.some(({ asset, amount }) => asset === paid.asset && amount * RISE.from <= paid.amount * RISE.to);
}
