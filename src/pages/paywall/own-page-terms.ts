import { defined } from '../../lib/defined.js';
import type { PaywallTerms } from '../layout/own-page.js';
import { buysInWords, outageInWords, type PaywallContent, problemInWords, WALLET_NETWORKS } from './paywall-content.js';
import type { PaywallPieces } from './paywall-page.js';

/** What the function is told that writes a page of a seller's own. */
export function ownPageTerms(content: PaywallContent, { nonce, card, style, script }: PaywallPieces): PaywallTerms {
  const { resource, network, offers, texts, isFeePaid, isWaiting = false, note, signIn } = content;
  const detail = problemInWords(content) ?? '';
  const problem = content.problem && { code: content.problem.code, detail };
  return {
    ...{ network, isFeePaid, isWaiting, texts, nonce, card, style, script },
    url: resource.url,
    networkName: WALLET_NETWORKS[network][0],
    offers: offers.map((it) => {
      const { asset, amount, price, token, payTo } = it;
      return { asset, amount, price, token, payTo, buys: buysInWords(it, texts) };
    }),
    canSignIn: signIn !== undefined,
    language: texts.language,
    ...defined({ description: resource.description, note, problem, outage: outageInWords(content) }),
  };
}
