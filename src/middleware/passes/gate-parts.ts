import { identityOf } from '../../identity/default-identity.js';
import { passTokensOf } from '../../identity/default-pass-tokens.js';
import type { ResolvedPaymentOptions } from '../terms/payment-options.js';
import type { PassParts } from './pass-types.js';

/** What the passes of a gate work with, but for their site. */
type GateParts = Omit<PassParts, 'site'>;

/**
 * What the passes of a gate work with at a site. What signs tokens and finds out who signs in is made when it is asked for first: most gates
 * never give credit.
 * @param asks - whether a response has its price, and what has a request asked to pay that was let in
 * @param vary - the headers of a request that decide at the gate, as `Vary` lists them
 */
export function partsAtSite(
  options: ResolvedPaymentOptions,
  asks: Pick<PassParts, 'charges' | 'refuse'>,
  vary: string,
): (site: string) => PassParts {
  let parts: GateParts | undefined;
  return (site) => {
    parts ??= partsOf(options, asks, vary);
    return { ...parts, site };
  };
}

function partsOf(
  { facilitator, baseUrl, identity = identityOf(facilitator), requestNames, handlerTimeoutMs }: ResolvedPaymentOptions,
  { charges, refuse }: Pick<PassParts, 'charges' | 'refuse'>,
  vary: string,
): GateParts {
  const { passes, tokens: symbols } = facilitator;
  const tokens = identity.passTokens ?? passTokensOf(facilitator);
  const isBuying: PassParts['isBuying'] = (wanted) => facilitator.isBuying(wanted);
  const landed: PassParts['landed'] = (paymentId) => facilitator.landed(paymentId);
  const place = { identity, baseUrl, vary, symbols };
  return { passes, isBuying, landed, tokens, ...place, requestNames, charges, refuse, handlerTimeoutMs };
}
