import type { Payment, Terms } from './types.js';

/**
 * The offered terms that a payment may be meant for; none when it is for others. A payment that says what it accepted
 * (version 2) is meant for entries equal to that; one that does not, for every entry of its scheme and network.
 */
export function findTerms(payment: Payment, offered: readonly Terms[]): readonly Terms[] {
  const { accepted, scheme, network } = payment;
  if (accepted !== undefined) return offered.filter((terms) => isAccepted(terms, accepted));
  return offered.filter((terms) => terms.scheme === scheme && terms.network === network);
}

/**
 * One text for terms that are the same to payer and payee, another for all others: binds a claim to its terms. The
 * time-out is not part of it, it says how long somebody waits and not what is paid.
 */
export function termsFingerprint(terms: Terms): string {
  const { scheme, network, asset, amount, payTo, feePayer, memo } = terms;
  return JSON.stringify([scheme, network, asset, String(amount), payTo, feePayer ?? null, memo ?? null]);
}

/**
 * Accepted terms may carry more than was offered, never other values (protocol/README.md, "Version 2"). Who was offered a hundred
 * requests must not get two for it because the seller has changed his offer meanwhile.
 */
function isAccepted(offered: Terms, accepted: Terms): boolean {
  return (
    accepted.scheme === offered.scheme &&
    accepted.network === offered.network &&
    accepted.asset === offered.asset &&
    accepted.amount === offered.amount &&
    accepted.payTo === offered.payTo &&
    accepted.maxTimeoutSeconds === offered.maxTimeoutSeconds &&
    (offered.feePayer === undefined || accepted.feePayer === offered.feePayer) &&
    (offered.memo === undefined || accepted.memo === offered.memo) &&
    (accepted.buys === undefined || accepted.buys === offered.buys)
  );
}
