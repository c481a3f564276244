import type { NetworkId } from '../../protocol/types.js';
import type { SignatureState } from '../../solana/rpc/rpc.js';
import type { BookedRefund, RefundReader } from '../../storage/books/refund-reader.js';
import { type Findings, keyOf } from './finding.js';
import { type PaidOutParts, paidFault, shownState, statesOf } from './paid-out.js';

/** What checking refunds needs. */
export interface RefundCheckParts extends PaidOutParts {
  readonly refunds: Pick<RefundReader, 'refunds'>;
  readonly network: NetworkId;
  /** Milliseconds since the epoch. */
  readonly from: number;
  /** Since when it is remembered what refunds took from passes, milliseconds since the epoch. */
  readonly debitsFrom: number;
}

const AT_ONCE = 8;

const UNPAID =
  'ask another node; if it does not know it either, its payer was not paid, and has no credit for it any more';
const PAID =
  'its payer was paid, and has the credit as well: revoke the pass of the payment before it is used or paid back again';
const OTHERWISE = 'believe the transaction; look into the backups which entry was changed';
const OF = 'look into the backups which of the two was changed; until then refund nothing of this payment';

/** Compares refunds with their transactions, their payments and what they took of passes. Returns how many there were. */
export async function checkRefunds(parts: RefundCheckParts, findings: Findings): Promise<number> {
  const seen = new Set<string>();
  /** Payments of which one was found on the chain, after a backup was restored. */
  const restored = new Set<string>();
  let count = 0;
  for await (const page of parts.refunds.refunds(parts.network, parts.from)) {
    const states = await statesOf(parts, page);
    for (let at = 0; at < page.length; at += AT_ONCE) {
      const lot = page.slice(at, at + AT_ONCE);
      await Promise.all(lot.map((refund) => checkSent(parts, refund, states.get(refund.id) ?? null, findings)));
    }
    for (const refund of page) {
      const tell = (detail: string | undefined, advice: string): void => {
        if (detail !== undefined) findings.differs({ kind: 'refund', ids: idsOf(refund), detail, advice });
      };
      if (refund.signed?.transaction.length === 0) restored.add(refund.paymentId);
      tell(paymentFault(refund, restored.has(refund.paymentId)), OF);
      tell(creditFault(refund, parts.debitsFrom), OF);
      if (refund.signed === undefined) continue;
      const key = keyOf(refund.signed.signature);
      if (seen.has(key)) tell('its transaction is that of another refund as well', OTHERWISE);
      seen.add(key);
    }
    count += page.length;
  }
  return count;
}

function idsOf({ id, paymentId, signed }: BookedRefund): readonly string[] {
  return [id, paymentId, ...(signed === undefined ? [] : [signed.signature])];
}

async function checkSent(
  parts: RefundCheckParts,
  refund: BookedRefund,
  state: SignatureState | null,
  findings: Findings,
): Promise<void> {
  const { recipient, amount } = refund;
  const about = { kind: 'refund', ids: idsOf(refund) } as const;
  if (refund.state === 'failed') {
    const detail = `booked as failed, and it has landed in slot ${state?.slot}`;
    if (state?.err === null) findings.differs({ ...about, detail, advice: PAID });
    return;
  }
  if (refund.state !== 'paid') {
    const why = refund.reason === undefined ? '' : ` (${refund.reason})`;
    const detail = `booked as ${refund.state}${why}; ${shownState(state)}`;
    return findings.notes({ ...about, detail, advice: 'a running service brings it to its end' });
  }
  const sent = { ...refund, legs: [{ recipient, amount }], total: amount };
  const detail = await paidFault(parts, sent, state, 'refund wallet');
  if (detail !== undefined) findings.differs({ ...about, detail, advice: state?.err === null ? OTHERWISE : UNPAID });
}

/** A refund pays who has paid, in what was paid, what it has taken out of use. A payment may be forgotten before it. */
function paymentFault(
  { payment, passKind, recipient, mint, amount, taken }: BookedRefund,
  isRestored: boolean,
): string | undefined {
  if (payment === undefined) return undefined;
  const { payer, asset, state } = payment;
  if (state !== 'confirmed' && state !== 'served') return `its payment is ${state}, and has left nothing`;
  if (recipient !== payer) return `it pays ${recipient}, and ${payer} has paid`;
  if (mint !== asset) return `it pays in ${mint}, and was paid in ${asset}`;
  // One that was found on the chain has taken what was there; a later one takes without paying it what it has paid beyond that.
  if (isRestored) return undefined;
  const worth = passKind === 'uses' ? payment.amount : taken;
  return passKind === undefined || amount === worth
    ? undefined
    : `it pays ${amount}, and what it took is worth ${worth}`;
}

/** One that may still land, or has, has taken its credit; one that has failed has given it back. */
function creditFault(
  { state, passKind, taken, debited, createdAt }: BookedRefund,
  debitsFrom: number,
): string | undefined {
  if (state === 'failed') {
    return debited === undefined ? undefined : `it is booked as failed, and has still taken ${debited} of its pass`;
  }
  if (debited !== undefined && debited !== taken)
    return `it has taken ${debited} of its pass, and is booked with ${taken}`;
  const isForgotten = passKind === undefined || (state === 'paid' && createdAt < debitsFrom);
  if (state === 'planned' || debited !== undefined || isForgotten || taken === 0n) return undefined;
  return `it is booked as ${state}, and has taken nothing of its pass`;
}
