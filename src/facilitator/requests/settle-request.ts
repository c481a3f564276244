import { defined } from '../../lib/defined.js';
import { withAmountJson } from '../../protocol/money/amount-json.js';
import { moneyOf, SOL_MINT } from '../../protocol/networks/tokens.js';
import { REASONS, type Reason } from '../../protocol/reasons.js';
import type { Receipt, Settlement } from '../../protocol/types.js';
import { checkDemand, type DemandResult } from '../../solana/rules/native-checks.js';
import { NATIVE_SOL } from '../../solana/transaction/programs.js';
import { type DecodedTransaction, decodeTransaction } from '../../solana/transaction/transaction.js';
import type { PaymentRecord } from '../../storage/ledger/ledger.js';
import type { PaymentRequestRecord } from '../../storage/ledger/payment-request.js';
import type { InspectedPayment } from '../backend/backend.js';
import { failureText } from '../backend/chain-landing.js';
import { throwSuspended } from '../backend/refuse-suspended.js';
import { claimInPlace } from '../payments/claim-in-place.js';
import { resourceOf } from '../payments/payment-binding.js';
import { receiptOf } from '../payments/receipt.js';
import { isBookedLate } from '../proofs/late-payment.js';
import {
  judgeOf,
  type RequestParts,
  requestTerms,
  requestTransfers,
  sellerOf,
  TRANSFER_SCHEME,
} from '../proofs/request-terms.js';
import type { WalletPayments } from '../proofs/wallet-payments.js';
import type { Claim } from '../types.js';
import type { AskSeller, RequestSettlement } from './payment-request-types.js';
import { attemptOf } from './request-state.js';
import { resolveAttempt } from './resolve-attempt.js';

/** What settling a payment request needs. */
export interface SettleRequestParts extends RequestParts {
  readonly walletPayments: WalletPayments;
  /** Default: nobody is asked. */
  readonly askSeller?: AskSeller | undefined;
  /** As for `PaymentUse`. */
  readonly client?: string | undefined;
}

/**
 * Settles a payment request with a signed transaction. The same claim as for every other payment guards the transaction;
 * the request itself lets one transaction at a time try to pay it. So the money moves once, whatever is sent at once.
 */
export async function settleRequest(
  parts: SettleRequestParts,
  request: PaymentRequestRecord,
  bytes: Uint8Array,
): Promise<RequestSettlement> {
  const decoded = decodeTransaction(bytes);
  if (!decoded.ok) return { status: 'invalid', reason: decoded.reason, message: decoded.detail };
  const { transaction } = decoded;
  const checked = checkDemand(transaction, requestTransfers(request), parts.policy);
  if (!checked.ok) return { status: 'invalid', reason: checked.reason, message: refusalText(checked, request) };
  const blocked = await blockedBefore(parts, request, transaction, checked.payer);
  if (blocked !== undefined) return blocked;
  const opened = await claimInPlace(parts, inspectedOf(parts, request, transaction, checked), {
    resource: request.id,
    // What we sign is simulated before; what is signed already is left to the send's own preflight.
    simulate: checked.sponsored,
    seller: sellerOf(request),
    // Anybody may have asked for it, for any recipient.
    isPublic: request.projectId === undefined && request.keyId === undefined,
    ...defined({ client: parts.client }),
  });
  switch (opened.status) {
    case 'in_progress':
      return { status: 'being_settled' };
    case 'refused':
      throwSuspended(opened.refusal);
      return failedOf(parts, opened.refusal, (await parts.ledger.find(transaction.messageHash))?.signature);
    case 'pending':
      return pendingOf(opened.settlement);
    case 'served':
      return settledWith(parts, opened.receipt);
    case 'used':
      return usedBefore(parts, request, transaction, opened.receipt);
    case 'open':
      return settleAttempt(parts, request, opened.claim);
  }
}

/** What is sent from here is as the request asks for it; of SOL it must be said which of its two forms that is. */
function refusalText({ message }: { message: string }, { token }: PaymentRequestRecord): string {
  if (message !== REASONS.invalid_transfer_leg_missing || moneyOf(token.mint) !== SOL_MINT) return message;
  const form = token.mint === NATIVE_SOL ? 'native SOL, by transfers of the System Program' : 'wrapped SOL';
  return `${message} It asks for ${form}; what a wallet sends itself may be the other form of SOL.`;
}

/**
 * The response when another transaction pays the request, or may still do so, or when it is too late for a new one. The chain
 * is asked whether a wallet has paid it by itself: nobody is to pay twice.
 */
async function blockedBefore(
  parts: SettleRequestParts,
  request: PaymentRequestRecord,
  { messageHash }: DecodedTransaction,
  payer: string,
): Promise<RequestSettlement | undefined> {
  // A transaction that was brought before keeps its own response.
  if ((await parts.ledger.find(messageHash)) !== undefined) return undefined;
  return parts.inFlight.during({ payer, client: parts.client }, () => blockedByOther(parts, request, messageHash));
}

async function blockedByOther(
  parts: SettleRequestParts,
  request: PaymentRequestRecord,
  messageHash: string,
): Promise<RequestSettlement | undefined> {
  const blocked = await blockedByAttempt(parts, request);
  if (blocked !== undefined) return blocked;
  const found = await parts.walletPayments(request);
  switch (found.status) {
    case 'paid':
      return found.id === messageHash ? undefined : { status: 'already_settled' };
    case 'late':
      return { status: 'expired', signature: found.signature };
    case 'searching':
      return { status: 'searching' };
    case 'none':
      return parts.now() > request.expiresAt ? { status: 'expired' } : undefined;
  }
}

async function blockedByAttempt(
  parts: RequestParts,
  request: PaymentRequestRecord,
): Promise<RequestSettlement | undefined> {
  const record = await attemptOf(parts, request);
  if (record?.state !== 'broadcast') return record && blockedBy(request, record);
  await resolveAttempt(parts, request, record);
  const resolved = await attemptOf(parts, request);
  return resolved && blockedBy(request, resolved);
}

function blockedBy(request: PaymentRequestRecord, record: PaymentRecord): RequestSettlement | undefined {
  const receipt = receiptOf(record);
  if (receipt !== undefined && isBookedLate(record, request))
    return { status: 'expired', signature: receipt.signature };
  if (receipt !== undefined) return { status: 'already_settled' };
  const { state, signature } = record;
  if (state !== 'broadcast') return undefined;
  return { status: 'other_pending', ...defined({ signature }) };
}

async function settleAttempt(
  parts: SettleRequestParts,
  request: PaymentRequestRecord,
  claim: Claim,
): Promise<RequestSettlement> {
  const giveBack = () => (claim.receipt === undefined ? claim.forget() : claim.keep());
  const attached = await attach(parts, request, claim).catch(async (error: unknown) => {
    await giveBack();
    throw error;
  });
  if (attached !== claim.id) {
    await giveBack();
    return outrun(parts, request, attached);
  }
  // What was asked for by nobody's project has bought nothing more than its settlement.
  const isOver = request.projectId === undefined;
  const settlement = await claim.settle({ served: isOver });
  if (settlement.status === 'pending') return pendingOf(settlement);
  if (settlement.status === 'failed') {
    throwSuspended(settlement);
    return failedOf(parts, settlement, settlement.signature);
  }
  if (!isOver) await claim.keep();
  return settledWith(parts, settlement.receipt);
}

/** What is held without a receipt was never sent, and is not to be sent where its seller takes no money any more. */
async function attach({ ledger, askSeller }: SettleRequestParts, request: PaymentRequestRecord, claim: Claim) {
  if (claim.receipt === undefined) await askSeller?.(request);
  return ledger.attachAttempt(request.id, claim.id);
}

/** Another transaction was faster. */
async function outrun(
  { ledger }: RequestParts,
  request: PaymentRequestRecord,
  attached: string | undefined,
): Promise<RequestSettlement> {
  if (attached === undefined) return { status: 'not_found' };
  const record = await ledger.find(attached);
  return (record && blockedBy(request, record)) ?? { status: 'in_progress' };
}

/** A transaction that was never sent is the caller's to mend; one that failed on the chain has a signature to look at. */
async function failedOf(
  { landed }: RequestParts,
  { reason, message }: { readonly reason: Reason; readonly message: string },
  signature: string | undefined,
): Promise<RequestSettlement> {
  if (reason === 'settlement_in_progress') return { status: 'in_progress' };
  if (signature === undefined) return { status: 'invalid', reason, message };
  if (reason !== 'invalid_exact_svm_transaction_failed') return { status: 'failed', reason, message, signature };
  const transaction = await landed(signature);
  return { status: 'failed', reason, message: transaction ? failureText(transaction.err) : message, signature };
}

/** A payment that settled this request may have been shown for a call since, and is no other request's for that. */
async function usedBefore(
  parts: RequestParts,
  request: PaymentRequestRecord,
  { messageHash }: DecodedTransaction,
  receipt: Receipt | undefined,
): Promise<RequestSettlement> {
  const record = await parts.ledger.find(messageHash);
  const isOwn = record !== undefined && resourceOf(record) === request.id;
  if (isOwn && receipt !== undefined) return settledWith(parts, receipt);
  if (record !== undefined && isBookedLate(record, request)) return blockedBy(request, record) ?? { status: 'expired' };
  return { status: 'invalid', reason: 'duplicate_settlement', message: REASONS.duplicate_settlement };
}

function pendingOf(settlement: Settlement): RequestSettlement {
  const signature = settlement.status === 'pending' ? settlement.signature : undefined;
  return signature === undefined ? { status: 'pending' } : { status: 'pending', signature };
}

/** The money has moved; while the chain cannot tell what it cost, the response is that it is on its way. */
async function settledWith({ landed }: RequestParts, receipt: Receipt): Promise<RequestSettlement> {
  const { signature } = receipt;
  const facts = await landed(signature);
  return facts === undefined
    ? { status: 'pending', signature }
    : { status: 'settled', receipt, facts: withAmountJson(facts) };
}

function inspectedOf(
  { policy }: RequestParts,
  request: PaymentRequestRecord,
  transaction: DecodedTransaction,
  { payer, sponsored, first }: Extract<DemandResult, { readonly ok: true }>,
): InspectedPayment {
  const { network, token, legs } = request;
  const { mint, program } = token;
  return {
    payment: { scheme: TRANSFER_SCHEME, network, transaction: transaction.bytes },
    terms: requestTerms(request, transaction, policy),
    transaction,
    payer,
    sponsored,
    recipients: [...new Set(legs.map(({ recipient }) => recipient))],
    transfer: mint === NATIVE_SOL ? undefined : { kind: 'token-transfer', program, mint, ...first },
    judge: judgeOf(request),
  };
}
