import type { LandedTransaction } from '../../solana/rpc/landed-transaction.js';
import type { PaymentRequestRecord } from '../../storage/ledger/payment-request.js';
import { isSentSuspended } from '../backend/refuse-suspended.js';
import { claimLanded } from './claim-landed.js';
import { bookLate, type FoundPayment, isLate } from './late-payment.js';
import { readPaid } from './read-paid.js';
import { createReferenceHistory } from './reference-history.js';
import { finishRequest, type RequestParts, requestTerms, requestTransfers, sellerOf } from './request-terms.js';

/**
 * What the chain says of a request: the payment that pays it, written down; one that came too late, booked as such; nothing;
 * or that there is more to look at than was looked at now.
 */
export type WalletSearch =
  | { readonly status: 'paid' | 'late'; readonly id: string; readonly signature: string }
  | { readonly status: 'none' | 'searching' };

/** Looks on the chain for a transaction that pays a request, and writes down what it finds. */
export type WalletPayments = (request: PaymentRequestRecord) => Promise<WalletSearch>;

/** Of the transactions that name a reference, so many are looked at each time. Anybody can name it. */
const LOOKED_AT = 100;
const AT_ONCE = 10;

interface Found {
  readonly signature: string;
  readonly landed: LandedTransaction | undefined;
}

/** `open`: to be looked at again. */
type Verdict = 'dismissed' | 'open' | Extract<WalletSearch, { readonly id: string }>;

/**
 * A wallet that answers a Solana Pay request sends the transaction itself; the reference leads to it. The oldest come first:
 * who wants to hide a payment among others that name the reference is later than the payment.
 */
export function createWalletPayments(parts: RequestParts): WalletPayments {
  const readHistory = createReferenceHistory(parts.rpc);

  /** @param isFirst - whether all older ones are known not to pay */
  async function judge(request: PaymentRequestRecord, found: Found, isFirst: boolean): Promise<Verdict> {
    const { signature, landed } = found;
    if (landed === undefined) return 'open';
    const paid = readPaid(landed, requestTransfers(request));
    if (!paid.ok) return 'dismissed';
    const payment = { signature, landed, payer: paid.payer, asset: paid.asset };
    if (await isSentSuspended(parts, paid.payer, landed)) return 'dismissed';
    if (!isLate(request, landed, parts.now())) return recordLanded(parts, request, payment);
    // One before it may have been in time.
    return isFirst ? bookLate(parts, request, payment) : 'open';
  }

  async function judgeAll(request: PaymentRequestRecord, signatures: readonly string[]) {
    const dismissed = new Set<string>();
    for (let start = 0; start < signatures.length; start += AT_ONCE) {
      const some = signatures.slice(start, start + AT_ONCE);
      const found = await Promise.all(
        some.map(async (signature) => ({ signature, landed: await parts.landed(signature) })),
      );
      for (const [position, it] of found.entries()) {
        const verdict = await judge(request, it, dismissed.size === start + position);
        if (typeof verdict === 'object') return { dismissed, found: verdict };
        if (verdict === 'dismissed') dismissed.add(it.signature);
      }
    }
    return { dismissed };
  }

  return async (request) => {
    const search = await readHistory(request);
    const { dismissed, found } = await judgeAll(request, search.waiting.slice(0, LOOKED_AT));
    search.waiting = search.waiting.filter((it) => !dismissed.has(it));
    if (found !== undefined) return found;
    return { status: search.isWhole && search.waiting.length === 0 ? 'none' : 'searching' };
  };
}

/** Writes the payment down and uses it up. It stays open while somebody else holds it, or another one is on its way. */
async function recordLanded(
  parts: RequestParts,
  request: PaymentRequestRecord,
  { signature, landed, payer, asset }: FoundPayment,
): Promise<Verdict> {
  const terms = requestTerms(request, landed, parts.policy, asset);
  const resource = request.id;
  const seller = sellerOf(request);
  const claim = await claimLanded(parts, { signature, landed, payer, terms, request, resource, seller });
  if (claim.status === 'ended') return { status: 'paid', id: claim.record.id, signature };
  // Who has only claimed it may still let it go.
  const isOver = claim.status === 'closed' || (claim.status === 'foreign' && claim.record.state !== 'claimed');
  if (isOver) return 'dismissed';
  if (claim.status !== 'won') return 'open';
  parts.leases.drop(claim.lease);
  await finishRequest(parts, request, claim.record.id, claim.lease);
  return { status: 'paid', id: claim.record.id, signature };
}
