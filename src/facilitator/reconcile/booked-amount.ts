import { moneyOf } from '../../protocol/networks/tokens.js';
import { gainedBy, moneyMoved } from '../../solana/landed/landed-money.js';
import { readLandedPayment } from '../../solana/landed/landed-payment.js';
import type { LandedTransaction } from '../../solana/rpc/landed-transaction.js';
import { readInstruction } from '../../solana/transaction/instructions.js';
import { NATIVE_SOL } from '../../solana/transaction/programs.js';
import type { PaymentRecord } from '../../storage/ledger/ledger.js';
import type { PaymentRequestRecord } from '../../storage/ledger/payment-request.js';
import { demandIn } from '../proofs/read-paid.js';
import { requestTransfers } from '../proofs/request-terms.js';
import { mayBeSlotOf } from './finding.js';

/** What of a payment is compared with its transaction. */
type Booked = Pick<PaymentRecord, 'id' | 'terms' | 'payer' | 'slot'>;

/**
 * What is wrong with a landed transaction that the books hold for the payment of something, as a sentence; undefined when
 * it pays what it is booked for: net, whatever went around on the way.
 * @param request - the payment request that it paid, where it paid one that is still known
 */
export function bookedAmountFault(
  landed: LandedTransaction,
  booked: Booked,
  request: PaymentRequestRecord | undefined,
): string | undefined {
  if (landed.messageHash !== booked.id) return 'the transaction is another one than the payment';
  if (booked.slot !== undefined && !mayBeSlotOf(booked.slot, landed.slot)) {
    return `booked in slot ${booked.slot}, and it landed in slot ${landed.slot}`;
  }
  if (request !== undefined) return requestFault(landed, booked, request);
  const fault = booked.terms.scheme === 'exact' ? exactFault(landed, booked) : transferFault(landed, booked);
  return fault ?? payerFault(landed, booked);
}

/** Whether a landed transaction moves what a payment was to move, for one that is booked as not received. */
export function paysTerms(
  landed: LandedTransaction,
  booked: Booked,
  request: PaymentRequestRecord | undefined,
): boolean {
  if (landed.err !== null || landed.messageHash !== booked.id) return false;
  const { asset, payTo, amount } = booked.terms;
  if (request !== undefined) return readLandedPayment(landed, demandIn(requestTransfers(request), asset)).ok;
  const least = booked.terms.scheme === 'exact' ? amount : 1n;
  return (gainedBy(landed, payTo, asset) ?? amount) >= least && totalOf(landed, asset) >= amount;
}

function requestFault(landed: LandedTransaction, { terms, payer }: Booked, request: PaymentRequestRecord) {
  const { amount, token, payTo } = request;
  if (terms.amount !== amount) return `booked with ${terms.amount} atomic units, and its request asked for ${amount}`;
  if (moneyOf(terms.asset) !== moneyOf(token.mint))
    return `booked in ${terms.asset}, and its request asked for ${token.mint}`;
  if (terms.payTo !== payTo) return `booked to ${terms.payTo}, and its request asked for ${payTo}`;
  const legs = request.legs.reduce((sum, leg) => sum + leg.amount, 0n);
  if (legs !== amount) return `the legs of its request sum to ${legs}, and it asked for ${amount}`;
  const paid = readLandedPayment(landed, demandIn(requestTransfers(request), terms.asset));
  if (!paid.ok) return `the transaction does not pay its request: ${paid.reason}`;
  return paid.payer === payer ? undefined : payerFault(landed, { terms, payer });
}

/** The recipient of x402 has got the amount, no more and no less; what a wallet pays to itself leaves no trace. */
function exactFault(landed: LandedTransaction, { terms, payer }: Booked): string | undefined {
  const { asset, payTo, amount } = terms;
  if (payer === payTo) return undefined;
  const gained = gainedBy(landed, payTo, asset);
  if (gained === undefined || gained === amount) return undefined;
  return `the transaction pays ${gained} of ${amount} atomic units`;
}

/** Where a payment request is forgotten, or there was none, its recipients are as well: then all that was gained counts. */
function transferFault(landed: LandedTransaction, { terms }: Booked): string | undefined {
  const { asset, payTo, amount } = terms;
  const total = totalOf(landed, asset);
  if (total < amount) return `the transaction pays ${total} of ${amount} atomic units`;
  const gained = gainedBy(landed, payTo, asset);
  return gained === undefined || gained > 0n ? undefined : `the transaction pays nothing to ${payTo}`;
}

function totalOf(landed: LandedTransaction, asset: string): bigint {
  const gains = moneyMoved(landed).filter((it) => it.asset === asset && it.gained > 0n);
  return gains.reduce((sum, { gained }) => sum + gained, 0n);
}

/** Who is booked as the payer has lost the money, or has signed for it on somebody's behalf. */
function payerFault(landed: LandedTransaction, { terms, payer }: Pick<Booked, 'terms' | 'payer'>): string | undefined {
  const { asset, payTo } = terms;
  const lost = gainedBy(landed, payer, asset);
  if (lost === undefined || lost < 0n || payer === payTo) return undefined;
  const signed = landed.instructions.map(readInstruction).some((it) => {
    if (it.kind === 'sol-transfer') return asset === NATIVE_SOL && it.source === payer;
    return (it.kind === 'token-transfer' || it.kind === 'unchecked-token-transfer') && it.authority === payer;
  });
  return signed ? undefined : `booked as paid by ${payer}, who has paid nothing`;
}
