import { membersOf } from '../../facilitator/networks/joined-facilitator.js';
import { defined } from '../../lib/defined.js';
import { BAZAAR, bazaarExtension } from '../../protocol/bazaar.js';
import type { PaymentFlow, Resource } from '../../protocol/challenge.js';
import { catalogueOf } from './catalogue.js';
import type { ResolvedPaymentOptions } from './payment-options.js';
import { fixedTerms } from './payment-terms.js';

/**
 * Lists a route that wants to be found, and adds the `bazaar` extension to what its 402 says; an extension of that name
 * that was given by hand stays. Other routes are left as they are.
 */
export function listRoute(where: string, options: ResolvedPaymentOptions): ResolvedPaymentOptions {
  const { discovery, facilitator, baseUrl } = options;
  if (discovery === undefined) return options;
  const extensions = { [BAZAAR]: bazaarExtension(discovery), ...options.extensions };
  // Whatever is offered together with it, a router on the first of its networks lists it.
  catalogueOf(membersOf(facilitator)[0]).list({
    method: discovery.method,
    path: discovery.path,
    baseUrl,
    described: describeRoute(options),
    terms: fixedTerms(where, options) ?? [],
    paymentFlow: paymentFlowOf(options),
    extensions,
    listedAt: Date.now(),
  });
  return Object.freeze({ ...options, extensions });
}

/** What a 402 and the catalogue say about a route beside its address. */
export function describeRoute({ description, mimeType, discovery }: ResolvedPaymentOptions): Omit<Resource, 'url'> {
  const { serviceName, tags, iconUrl } = discovery ?? {};
  return defined({ description, mimeType, serviceName, tags, iconUrl });
}

/** What a 402 and the catalogue say about when the money is taken. */
export function paymentFlowOf({ settle }: Pick<ResolvedPaymentOptions, 'settle'>): PaymentFlow | undefined {
  return settle === 'before' ? 'upfront' : undefined;
}
