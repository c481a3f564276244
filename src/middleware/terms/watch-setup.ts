import { addressText } from '../../protocol/address-input.js';
import { parsePrice } from '../../protocol/money/money.js';
import { onEachNetwork } from './network-terms.js';
import { pricesOf } from './offers.js';
import type { ResolvedPaymentOptions } from './payment-options.js';
import { fixedTerms } from './payment-terms.js';

/**
 * What has the set-up of a gate looked at in the background, with the first request that comes to it. Of what depends on the
 * request nothing is looked at: callers choose it.
 */
export function watchSetup(where: string, options: ResolvedPaymentOptions): () => void {
  let begun = false;
  return () => {
    if (begun) return;
    begun = true;
    for (const it of onEachNetwork(options)) it.facilitator.setup.begin(needsOf(where, it));
  };
}

function needsOf(where: string, options: ResolvedPaymentOptions) {
  const terms = fixedTerms(where, options);
  if (terms !== undefined) return terms.map(({ payTo, asset }) => ({ payTo, asset }));
  const { price, payTo, facilitator } = options;
  if (typeof price === 'function') return [];
  const assets = pricesOf(price).map((it) => parsePrice(it, facilitator.tokens).asset);
  const recipient = typeof payTo === 'function' ? undefined : addressText(payTo);
  return assets.map((asset) => (recipient === undefined ? { asset } : { payTo: recipient, asset }));
}
