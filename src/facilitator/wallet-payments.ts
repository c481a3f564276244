import { LRUCache } from 'lru-cache';
import { readLandedPayment } from '../solana/landed-payment.js';
import type { PaymentRequestRecord } from '../storage/payment-request.js';
import { online } from './chain-landing.js';
import { claimLanded, type LandedUse } from './claim-landed.js';
import { demandOf, finishRequest, type RequestParts, sellerOf, termsOf } from './request-terms.js';

/** Looks on the chain for a transaction that pays a request; answers the id of the payment, written down, if there is one. */
export type WalletPayments = (request: PaymentRequestRecord) => Promise<string | undefined>;

/** Of the transactions that name a reference, so many are looked at each time. Anybody can name it. */
const LOOKED_AT = 10;
const DISMISSED_MAX = 50_000;

/**
 * A wallet that answers a Solana Pay request sends the transaction itself; the reference leads to it. The oldest come first:
 * who wants to hide a payment among others that name the reference is later than the payment.
 */
export function createWalletPayments(parts: RequestParts): WalletPayments {
  const dismissed = new LRUCache<string, true>({ max: DISMISSED_MAX });

  async function judge(request: PaymentRequestRecord, signature: string): Promise<string | 'dismissed' | undefined> {
    const landed = await parts.landed(signature);
    if (landed === undefined) return undefined;
    const paid = readLandedPayment(landed, demandOf(request));
    return paid.ok ? recordLanded(parts, request, { signature, landed, payer: paid.payer }) : 'dismissed';
  }

  return async (request) => {
    const history = await online(parts.rpc.getHistory(request.reference));
    const listed = history.filter(({ failed }) => !failed).map(({ signature }) => signature);
    const keyOf = (signature: string): string => `${request.id} ${signature}`;
    const fresh = [...listed].reverse().filter((signature) => !dismissed.has(keyOf(signature)));
    for (const signature of fresh.slice(0, LOOKED_AT)) {
      const verdict = await judge(request, signature);
      if (verdict === 'dismissed') dismissed.set(keyOf(signature), true);
      else if (verdict !== undefined) return verdict;
    }
    return undefined;
  };
}

/** Writes the payment down and uses it up. Undefined while somebody else holds it, or another one is on its way. */
async function recordLanded(
  parts: RequestParts,
  request: PaymentRequestRecord,
  { signature, landed, payer }: Pick<LandedUse, 'signature' | 'landed' | 'payer'>,
): Promise<string | 'dismissed' | undefined> {
  const terms = termsOf(request, landed, parts.policy);
  const resource = request.id;
  const claim = await claimLanded(parts, {
    signature,
    landed,
    payer,
    terms,
    request,
    resource,
    seller: sellerOf(request),
  });
  // Who has only claimed it may still let it go.
  const isOver = claim.status === 'closed' || (claim.status === 'foreign' && claim.record.state !== 'claimed');
  if (isOver) return 'dismissed';
  if (claim.status !== 'won') return undefined;
  parts.leases.drop(claim.lease);
  await finishRequest(parts, request, claim.record.id, claim.lease);
  return claim.record.id;
}
