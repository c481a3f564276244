import { withAmountJson } from '../../protocol/money/amount-json.js';
import type { NetworkId, Terms } from '../../protocol/types.js';
import { moneyMoved } from '../../solana/landed/landed-money.js';
import type { LandedTransaction } from '../../solana/rpc/landed-transaction.js';
import type { SolanaRpc } from '../../solana/rpc/rpc.js';
import { NATIVE_SOL } from '../../solana/transaction/programs.js';
import type { ClaimRequest, Ledger } from '../../storage/ledger/ledger.js';
import type { PaymentRequestRecord } from '../../storage/ledger/payment-request.js';
import { outcomeEvent } from '../events/event-records.js';
import { isLostByRestore } from '../payments/lost-period.js';
import { bindingOf } from '../payments/payment-binding.js';
import { readPaid } from '../proofs/read-paid.js';
import { requestTerms, requestTransfers, sellerOf } from '../proofs/request-terms.js';
import type { Finding } from './finding.js';
import { withRetry } from './with-retry.js';

/** What booking needs of the ledger. */
export type LostLedger = Pick<
  Ledger,
  | 'remembersSince'
  | 'remembersUntil'
  | 'newLease'
  | 'claim'
  | 'recordOutcome'
  | 'attachAttempt'
  | 'forget'
  | 'findPaymentRequestByReference'
>;

/** What booking lost payments needs. */
export interface LostPaymentParts {
  readonly rpc: Pick<SolanaRpc, 'getTransaction'>;
  readonly network: NetworkId;
  readonly feePayers: readonly string[];
  /** Wallets that pay what is owed and refunds: what they send is no payment. */
  readonly splitWallets?: readonly string[];
  readonly refundWallets?: readonly string[];
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/** What such a payment is booked for: what it has bought is not on the chain. */
const RESOURCE = 'restored';
const LEASE_MS = 60_000;
const ADVICE =
  'what it has bought is not known: it counts as used; if its payer was given nothing for it, pay it back from the wallet that has got it';

/**
 * Books a payment that a fee payer of ours has settled in the time that the books have lost, as used. Its seller is told of it, once
 * more where he was told before.
 * @returns what was booked; undefined where it is none, or landed at another time
 */
export async function bookLost(
  parts: LostPaymentParts,
  ledger: LostLedger,
  signature: string,
): Promise<Finding | undefined> {
  const landed = await withRetry(() => parts.rpc.getTransaction(signature, 'confirmed'));
  if (landed === null || landed.err !== null || !isLostByRestore(ledger, landed.blockTime)) return undefined;
  const request = await ledger.findPaymentRequestByReference(landed.accounts.slice(1));
  const paid = request === undefined ? readTransfer(parts, landed) : readRequest(parts, landed, request);
  if (paid === undefined) return undefined;
  const { payer, terms, resource } = paid;
  const { messageHash: id, blockhash, slot } = landed;
  const seller = request === undefined ? {} : sellerOf(request);
  const held = { lease: ledger.newLease(), leaseMs: LEASE_MS };
  const claim: ClaimRequest = { id, binding: bindingOf(resource, terms), payer, terms, blockhash, ...held, ...seller };
  if ((await ledger.claim(claim)).status !== 'won') return undefined;
  if (request !== undefined && (await ledger.attachAttempt(request.id, id)) !== id) {
    await ledger.forget(id, held.lease);
    return undefined;
  }
  const { network, asset, amount, payTo } = terms;
  const receipt = withAmountJson({ signature, network, payer, payTo, asset, amount, slot });
  const event = outcomeEvent('payment.settled', { id, resource, receipt }, claim, parts.now());
  await ledger.recordOutcome(id, held.lease, { state: 'served', slot, signature }, [event]);
  const detail = `landed while the books were lost, and is booked now: ${amount} of ${asset} from ${payer} to ${payTo}`;
  return { kind: 'payment', ids: [id, signature], detail, advice: ADVICE };
}

interface LostPayment {
  readonly payer: string;
  readonly terms: Terms;
  readonly resource: string;
}

/** A payment of x402: one wallet has paid another one in a token, and that is all. */
function readTransfer(
  { network, feePayers, splitWallets = [], refundWallets = [] }: LostPaymentParts,
  landed: LandedTransaction,
): LostPayment | undefined {
  const moved = moneyMoved(landed).filter(({ asset, gained }) => asset !== NATIVE_SOL && gained !== 0n);
  const [from, ...otherPayers] = moved.filter(({ gained }) => gained < 0n);
  const [to, ...otherRecipients] = moved.filter(({ gained }) => gained > 0n);
  if (from === undefined || to === undefined || otherPayers.length + otherRecipients.length > 0) return undefined;
  if (from.asset !== to.asset || from.gained !== -to.gained) return undefined;
  if ([...feePayers, ...splitWallets, ...refundWallets].includes(from.wallet)) return undefined;
  const [feePayer = ''] = landed.accounts;
  const money = { asset: to.asset, amount: to.gained, payTo: to.wallet, maxTimeoutSeconds: 0, feePayer };
  return { payer: from.wallet, terms: withAmountJson({ scheme: 'exact', network, ...money }), resource: RESOURCE };
}

function readRequest(
  { feePayers }: LostPaymentParts,
  landed: LandedTransaction,
  request: PaymentRequestRecord,
): LostPayment | undefined {
  const paid = readPaid(landed, requestTransfers(request));
  if (!paid.ok) return undefined;
  const terms = requestTerms(request, landed, { managedKeys: new Set(feePayers), maxFeeLamports: 0n }, paid.asset);
  return { payer: paid.payer, terms, resource: request.id };
}
