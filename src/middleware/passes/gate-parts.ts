import type { Request } from 'express';
import { identityOf } from '../../identity/default-identity.js';
import { passTokensOf } from '../../identity/default-pass-tokens.js';
import { serviceKeyOf } from '../gate/request-properties.js';
import type { ResolvedPaymentOptions } from '../terms/payment-options.js';
import { giveBackToPass } from './give-back.js';
import type { PassParts } from './pass-types.js';

/** What a gate says of its own. */
export type GateAsks = Pick<PassParts, 'charges' | 'refuse'> & Partial<Pick<PassParts, 'keyOwner' | 'namedOf'>>;

/** What the passes of a gate work with, but for their site. */
type GateParts = Omit<PassParts, 'site'>;

/**
 * What the passes of a gate work with at a site. What signs tokens and finds out who signs in is made when it is asked for first: most gates
 * never give credit.
 * @param asks - whether a response has its price, what has a request asked to pay that was let in, its name, and whose service key it
 *   shows; by default what `serviceKeyAuth` before the gate has found
 * @param vary - the headers of a request that decide at the gate, as `Vary` lists them
 */
export function partsAtSite(
  options: ResolvedPaymentOptions,
  asks: GateAsks,
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
  { keyOwner = ownerOfKey, ...asks }: GateAsks,
  vary: string,
): GateParts {
  const { passes, tokens: symbols, storage } = facilitator;
  const tokens = identity.passTokens ?? passTokensOf(facilitator);
  const isBuying: PassParts['isBuying'] = (wanted) => facilitator.isBuying(wanted);
  const landed: PassParts['landed'] = (paymentId) => facilitator.landed(paymentId);
  const giveBack: PassParts['giveBack'] = (...asked) => giveBackToPass(facilitator, ...asked);
  const place = { identity, suspensions: storage?.gateway.suspensions, baseUrl, vary, symbols };
  return { passes, giveBack, isBuying, landed, tokens, ...place, keyOwner, ...asks, requestNames, handlerTimeoutMs };
}

/** A key that does not call spends nothing; `serviceKeyAuth` has let in none that is for another project. */
function ownerOfKey(req: Request): string | undefined {
  const key = serviceKeyOf(req);
  return key?.scopes.includes('call') ? key.owner : undefined;
}
