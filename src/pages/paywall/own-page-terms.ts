import { defined } from '../../lib/defined.js';
import type { PaywallTerms } from '../layout/own-page.js';
import { type PaywallContent, WALLET_NETWORKS } from './paywall-content.js';
import type { PaywallPieces } from './paywall-page.js';

/** What the function is told that writes a page of a seller's own. */
export function ownPageTerms(content: PaywallContent, { nonce, card, style, script }: PaywallPieces): PaywallTerms {
  const { resource, network, offers, texts, isFeePaid, isWaiting = false, note, problem, signIn } = content;
  return {
    ...{ network, isFeePaid, isWaiting, texts, nonce, card, style, script },
    url: resource.url,
    networkName: WALLET_NETWORKS[network][0],
    offers: offers.map(({ buys = texts.oneRequest, ...offer }) => ({ ...offer, buys })),
    canSignIn: signIn !== undefined,
    language: texts.language,
    ...defined({ description: resource.description, note, problem }),
  };
}
