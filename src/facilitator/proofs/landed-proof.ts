import type { Leg } from '../../protocol/money/split.js';
import { moneyOf } from '../../protocol/networks/tokens.js';
import { REASONS, type Reason } from '../../protocol/reasons.js';
import type { Refusal, Settlement, Token } from '../../protocol/types.js';
import type { LandedTransaction } from '../../solana/rpc/landed-transaction.js';
import { PROGRAMS } from '../../solana/transaction/programs.js';
import type { PaymentRequestRecord } from '../../storage/ledger/payment-request.js';
import { brought, failureText, PROOF_MAX_AGE_MS } from '../backend/chain-landing.js';
import { isSentSuspended } from '../backend/refuse-suspended.js';
import { isLostByRestore, landedInLostPeriod } from '../payments/lost-period.js';
import { boundBy, resourceOf } from '../payments/payment-binding.js';
import { createClaim } from '../payments/payment-claim.js';
import type { Crowded } from '../payments/payments-in-flight.js';
import { closedPayment, receiptOf } from '../payments/receipt.js';
import type { Claim, OpenedPayment, PaymentUse } from '../types.js';
import { claimLanded, type LandedClaim } from './claim-landed.js';
import { readDirectPayment } from './direct-payment.js';
import { isLate } from './late-payment.js';
import { type PaidAs, readPaid } from './read-paid.js';
import {
  type RequestParts,
  requestLegs,
  requestTerms,
  requestTransfers,
  sellerOf,
  TRANSFER_SCHEME,
} from './request-terms.js';
import type { WalletPayments } from './wallet-payments.js';

/** What a landed payment shall pay for, and who shows it. */
export interface ProofUse extends Pick<PaymentUse, 'resource' | 'leaseMs' | 'fingerprint' | 'retryHash' | 'client'> {
  /** The project that is called, and its owner's wallet. */
  readonly projectId: string;
  readonly owner: string;
  /** The service key that shows it. */
  readonly keyId: string;
  /** Wallet of the key's owner: what it paid by itself, without a payment request, counts as well. */
  readonly wallet: string;
  /** The memo of such a payment; it names the project and the key. Missing where only requests are paid. */
  readonly memo?: string;
  /** What such a payment must have transferred: one of these. Empty where only requests are paid. */
  readonly prices: readonly ProofPrice[];
  /** The name of the route whose price that is, see `PaymentRequestRecord.route`. Default: it is the project's own. */
  readonly route?: string;
}

/** What a payment must have transferred. */
export interface ProofPrice {
  readonly token: Token;
  /** Atomic units, the sum of the legs. */
  readonly amount: bigint;
  readonly legs: readonly Leg[];
}

/** What looking at a proof needs. */
export interface ProofParts extends RequestParts {
  readonly walletPayments: WalletPayments;
}

/** `not_confirmed`: the chain does not know it, or not yet. */
export type OpenedProof = OpenedPayment | { readonly status: 'not_confirmed' };

const KNOWN_PROGRAMS: ReadonlySet<string> = new Set(Object.values(PROGRAMS));

/**
 * {@link readProof}, in a place among the payments in flight while the chain is asked. It is paid already, so it is not turned away
 * behind new payments; only a wallet, or an address, that brings too many at once is.
 * @throws TollhouseError `too_many_payments`
 */
export function openProof(parts: ProofParts, signature: string, use: ProofUse): Promise<OpenedProof> {
  const isDue = async (crowded: Crowded) => crowded === 'all';
  return parts.inFlight.during(
    { payer: use.wallet, client: use.client },
    () => readProof(parts, signature, use),
    isDue,
  );
}

/**
 * Holds a payment that has landed, by its signature. A signature is public, so it counts only for the caller
 * that it belongs to and for what it was made for: it pays a request that was made under its key for its project, in the time
 * of that request; or its wallet paid, saying what for. One call to the chain; in an outage it rejects with
 * `payment_backend_unavailable` and nothing is held.
 */
async function readProof(parts: ProofParts, signature: string, use: ProofUse): Promise<OpenedProof> {
  const landed = await brought(parts.rpc.getTransaction(signature, 'confirmed'));
  if (landed === null) return { status: 'not_confirmed' };
  if (landed.err !== null) {
    const reason = 'invalid_exact_svm_transaction_failed';
    return { status: 'refused', refusal: { reason, message: failureText(landed.err) } };
  }
  const references = possibleReferences(landed, use);
  const request = references.length === 0 ? undefined : await parts.ledger.findPaymentRequestByReference(references);
  const late = request === undefined ? lateness(parts, landed) : await requestLateness(parts, request, landed);
  if (late !== undefined) return refused(late);
  const paid = request === undefined ? paidDirectly(landed, use) : paidRequest(landed, request, use);
  if (!paid.ok) return usedBefore(parts, landed, paid);
  if (request !== undefined && (await buysNothing(parts, request, landed))) return refused('invalid_transfer_late');
  const { payer } = paid;
  if (await isSentSuspended(parts, payer, landed)) return { status: 'refused', refusal: SENT_SUSPENDED };
  const claim = await claimLanded(
    parts,
    { signature, landed, payer, ...boundBy(use), ...whatFor(parts, landed, paid, use) },
    use.leaseMs,
  );
  return opened(parts, claim);
}

const SENT_SUSPENDED: Refusal = {
  reason: 'wallet_suspended',
  message:
    'The wallet that sent it was suspended here: it pays for nothing, and its money is where it was sent. Ask the operator.',
};

function refused(reason: Reason): OpenedProof {
  return { status: 'refused', refusal: { reason, message: REASONS[reason] } };
}

/** A payment that is not for this call has bought something else, where that is in the books. */
async function usedBefore(
  { ledger }: Pick<RequestParts, 'ledger'>,
  { messageHash }: LandedTransaction,
  refusal: Extract<Paid, { readonly ok: false }>,
): Promise<OpenedProof> {
  const isElsewhere = refusal.reason === 'invalid_proof_unaddressed';
  const record = isElsewhere ? await ledger.find(messageHash) : undefined;
  const { reason, message } = refusal;
  return record === undefined ? { status: 'refused', refusal: { reason, message } } : closedPayment(record, false);
}

function lateness({ now, ledger }: RequestParts, { blockTime = 0 }: LandedTransaction): Reason | undefined {
  if (blockTime + PROOF_MAX_AGE_MS < now()) return 'invalid_proof_too_old';
  if (!landedInLostPeriod(ledger, blockTime)) return undefined;
  return ledger.remembersUntil === undefined ? 'invalid_proof_before_start' : 'invalid_proof_in_lost_books';
}

/**
 * What a wallet has paid for a request is as good as when the request was asked after and it was found: the books keep what has paid a
 * request, used or not, for as long as they keep the request. Only where they know of a payment no more could it be used again.
 */
async function requestLateness(
  parts: ProofParts,
  request: PaymentRequestRecord,
  landed: LandedTransaction,
): Promise<Reason | undefined> {
  if (await isSettledHere(parts, request, landed)) return undefined;
  const { ledger } = parts;
  const { attempt } = request;
  if (attempt !== undefined && (await ledger.find(attempt)) === undefined) return lateness(parts, landed);
  return isLostByRestore(ledger, landed.blockTime) ? 'invalid_proof_in_lost_books' : undefined;
}

/** Accounts that may be the reference of a payment request: those that neither pay nor are paid nor are a program. */
function possibleReferences({ accounts, tokenAccounts }: LandedTransaction, { prices }: ProofUse): readonly string[] {
  const explained = new Set(prices.flatMap((it) => [it.token.mint, ...it.legs.map(({ recipient }) => recipient)]));
  return accounts.slice(1).filter((it) => !KNOWN_PROGRAMS.has(it) && !tokenAccounts.has(it) && !explained.has(it));
}

type Paid = (Extract<PaidAs, { readonly ok: true }> & PaidFor) | Extract<PaidAs, { readonly ok: false }>;

/** A request, or the price of a call. */
type PaidFor =
  | { readonly request: PaymentRequestRecord }
  | { readonly request?: undefined; readonly price: ProofPrice };

/** Of a payment that is none of the prices, the reason tells how it stands to the first that it comes near to. */
function paidDirectly(landed: LandedTransaction, { memo, prices, wallet }: ProofUse): Paid {
  if (memo === undefined) return FOREIGN;
  const read = prices.map((price) => ({ price, paid: readDirectPayment(landed, { memo, wallet, price }) }));
  for (const { price, paid } of read) if (paid.ok) return { price, ...paid };
  const refusals = read.flatMap(({ paid }) => (paid.ok ? [] : [paid]));
  return refusals.find(({ reason }) => reason === 'invalid_proof_unaddressed') ?? refusals[0] ?? FOREIGN;
}

/** A request belongs to the key under which it was made; one that was made under none belongs to whoever pays it. */
function paidRequest(landed: LandedTransaction, request: PaymentRequestRecord, use: ProofUse): Paid {
  const { projectId, keyId } = request;
  if (projectId !== use.projectId || (keyId !== undefined && keyId !== use.keyId)) return FOREIGN;
  const paid = readPaid(landed, requestTransfers(request));
  if (!paid.ok) return paid;
  if (keyId === undefined && paid.payer !== use.wallet) return FOREIGN;
  return covers(request, use) ? { ...paid, request } : CHEAPER;
}

/** What was made for the same route was agreed on, whatever is asked there since; anything else must be as much as is asked. */
function covers({ route, token, amount }: PaymentRequestRecord, use: ProofUse): boolean {
  if (route === use.route) return true;
  return use.prices.some((it) => moneyOf(it.token.mint) === moneyOf(token.mint) && amount >= it.amount);
}

const CHEAPER: Paid = { ok: false, reason: 'invalid_proof_too_little', message: REASONS.invalid_proof_too_little };

const FOREIGN: Paid = { ok: false, reason: 'invalid_proof_foreign', message: REASONS.invalid_proof_foreign };

/**
 * Whether a payment came when the time of its request was over. It is booked as late then, unless its settlement was begun in
 * time and the chain was slow.
 */
async function buysNothing(
  parts: ProofParts,
  request: PaymentRequestRecord,
  landed: LandedTransaction,
): Promise<boolean> {
  if (!isLate(request, landed, parts.now()) || (await isSettledHere(parts, request, landed))) return false;
  await parts.walletPayments(request);
  return true;
}

/** Whether the books say of a payment that it has paid a request. */
async function isSettledHere(
  { ledger }: Pick<RequestParts, 'ledger'>,
  request: PaymentRequestRecord,
  { messageHash }: LandedTransaction,
): Promise<boolean> {
  const record = await ledger.find(messageHash);
  return record !== undefined && resourceOf(record) === request.id && receiptOf(record) !== undefined;
}

function whatFor(
  parts: RequestParts,
  landed: LandedTransaction,
  paid: Extract<Paid, { readonly ok: true }>,
  use: ProofUse,
) {
  const { request, asset } = paid;
  if (request !== undefined) {
    const terms = requestTerms(request, landed, parts.policy, asset);
    return { request, resource: request.id, terms, seller: sellerOf(request) };
  }
  const { projectId, owner } = use;
  const { amount, legs } = paid.price;
  const terms = {
    scheme: TRANSFER_SCHEME,
    network: parts.network,
    asset,
    amount,
    payTo: legs[0]?.recipient ?? owner,
    maxTimeoutSeconds: 0,
  };
  return { resource: use.resource, terms, seller: { owner, projectId, ...requestLegs(legs) } };
}

function opened(parts: RequestParts, claimed: LandedClaim): OpenedPayment {
  switch (claimed.status) {
    case 'won':
      return { status: 'open', claim: claimOf(parts, claimed) };
    case 'busy':
      return { status: 'in_progress' };
    case 'closed':
    case 'foreign':
    case 'ended':
      return closedPayment(claimed.record, claimed.status !== 'foreign');
    case 'outrun':
      return { status: 'used' };
  }
}

/** Its money has landed and is written down: there is nothing left to settle. */
function claimOf(
  parts: RequestParts,
  { record, lease, receipt, resumed }: Extract<LandedClaim, { readonly status: 'won' }>,
): Claim {
  const settle = async (): Promise<Settlement> => ({ status: 'settled', receipt });
  const { ledger, leases } = parts;
  return createClaim({ ledger, leases, record, lease, receipt, resumed, settle });
}
