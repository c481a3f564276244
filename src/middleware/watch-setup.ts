import { parsePrice } from '../protocol/money.js';
import type { ResolvedPaymentOptions } from './payment-options.js';
import { fixedTerms } from './payment-terms.js';

/**
 * What has the set-up of a gate looked at in the background, with the first request that comes to it. Of what depends on the
 * request nothing is looked at: callers choose it.
 */
export function watchSetup(options: ResolvedPaymentOptions): () => void {
  let begun = false;
  return () => {
    if (begun) return;
    begun = true;
    options.facilitator.setup.begin(needsOf(options));
  };
}

function needsOf(options: ResolvedPaymentOptions) {
  const terms = fixedTerms(options);
  if (terms !== undefined) return terms.map(({ payTo, asset }) => ({ payTo, asset }));
  const { price, payTo, facilitator } = options;
  if (typeof price === 'function') return [];
  const prices = Array.isArray(price) ? price : [price];
  const assets = prices.map((it) => parsePrice(it, facilitator.tokens).asset);
  return assets.map((asset) => (typeof payTo === 'string' ? { payTo, asset } : { asset }));
}
