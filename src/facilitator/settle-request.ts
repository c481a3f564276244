import { REASONS } from '../protocol/reasons.js';
import type { Receipt, Settlement, Terms } from '../protocol/types.js';
import type { TokenTransfer } from '../solana/instructions.js';
import { checkDemand, type DemandResult } from '../solana/native-checks.js';
import { NATIVE_SOL } from '../solana/programs.js';
import type { SolanaRpc } from '../solana/rpc.js';
import type { CheckPolicy } from '../solana/rules.js';
import { type DecodedTransaction, decodeTransaction } from '../solana/transaction.js';
import type { PaymentRecord, PaymentRequestRecord } from '../storage/ledger.js';
import type { InspectedPayment } from './backend.js';
import { readLandedFacts } from './landed-facts.js';
import { openInspected, type PaymentDeskParts } from './payment-desk.js';
import type { RequestSettlement } from './payment-request-types.js';
import { receiptOf } from './settle.js';
import type { Claim } from './types.js';

/** What settling a payment request needs beside the desk. */
export interface SettleRequestParts extends PaymentDeskParts {
  readonly rpc: SolanaRpc;
  readonly policy: CheckPolicy;
  readonly now: () => number;
}

/** The scheme of payments that were asked for by a payment request; x402 knows nothing of them. */
const TRANSFER_SCHEME = 'transfer';
const SETTLE_SECONDS = 60;

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
  const { mint, program } = request.token;
  const demand = {
    asset: mint,
    tokenProgram: program,
    legs: request.legs,
    reference: request.reference,
    memo: request.memo,
  };
  const checked = checkDemand(transaction, demand, parts.policy);
  if (!checked.ok) return { status: 'invalid', reason: checked.reason, message: checked.message };
  const earlier = await earlierAttempt(parts, request, transaction);
  if (earlier !== undefined) return earlier;
  const opened = await openInspected(parts, inspectedOf(request, transaction, checked), {
    resource: request.id,
    simulate: false,
  });
  switch (opened.status) {
    case 'in_progress':
      return { status: 'in_progress' };
    case 'refused':
      return { status: 'failed', reason: opened.refusal.reason, message: opened.refusal.message };
    case 'pending':
      return pendingOf(opened.settlement);
    case 'used':
      if (opened.receipt === undefined)
        return { status: 'invalid', reason: 'duplicate_settlement', message: REASONS.duplicate_settlement };
      return settledWith(parts, opened.receipt);
    case 'open':
      return settleAttempt(parts, request, opened.claim);
  }
}

/** The answer when another transaction pays the request, or may still do so, or when it is too late for a new one. */
async function earlierAttempt(
  parts: SettleRequestParts,
  request: PaymentRequestRecord,
  { messageHash }: DecodedTransaction,
): Promise<RequestSettlement | undefined> {
  if (request.attempt === messageHash) return undefined;
  const record = request.attempt === undefined ? undefined : await parts.ledger.find(request.attempt);
  const blocked = record === undefined ? undefined : blockedBy(record);
  if (blocked !== undefined) return blocked;
  return parts.now() > request.expiresAt ? { status: 'expired' } : undefined;
}

function blockedBy(record: PaymentRecord): RequestSettlement | undefined {
  if (receiptOf(record) !== undefined) return { status: 'already_settled' };
  if (record.state === 'claimed') return { status: 'in_progress' };
  const { signature } = record;
  return record.state === 'broadcast'
    ? { status: 'pending', ...(signature === undefined ? {} : { signature }) }
    : undefined;
}

async function settleAttempt(
  parts: SettleRequestParts,
  request: PaymentRequestRecord,
  claim: Claim,
): Promise<RequestSettlement> {
  try {
    const attached = await parts.ledger.attachAttempt(request.id, claim.id);
    if (attached !== claim.id) {
      await claim.release();
      return { status: 'in_progress' };
    }
    const settlement = await claim.settle();
    await (settlement.status === 'settled' ? claim.complete() : claim.release());
    if (settlement.status === 'settled') return await settledWith(parts, settlement.receipt);
    return settlement.status === 'pending' ? pendingOf(settlement) : failedOf(settlement);
  } catch (error) {
    await claim.release();
    throw error;
  }
}

/** A transaction that was never sent is the caller's to mend; one that failed on the chain has a signature to look at. */
function failedOf(settlement: Extract<Settlement, { readonly status: 'failed' }>): RequestSettlement {
  const { reason, message, signature } = settlement;
  return signature === undefined
    ? { status: 'invalid', reason, message }
    : { status: 'failed', reason, message, signature };
}

function pendingOf(settlement: Settlement): RequestSettlement {
  const signature = settlement.status === 'pending' ? settlement.signature : undefined;
  return signature === undefined ? { status: 'pending' } : { status: 'pending', signature };
}

async function settledWith({ rpc }: SettleRequestParts, receipt: Receipt): Promise<RequestSettlement> {
  const facts = await readLandedFacts(receipt.signature, rpc);
  return facts === undefined
    ? { status: 'pending', signature: receipt.signature }
    : { status: 'settled', receipt, facts };
}

function inspectedOf(
  request: PaymentRequestRecord,
  transaction: DecodedTransaction,
  { payer, sponsored, first }: Extract<DemandResult, { readonly ok: true }>,
): InspectedPayment {
  const terms = termsOf(request, sponsored ? transaction.accounts[0] : undefined);
  const payment = { scheme: TRANSFER_SCHEME, network: request.network, transaction: transaction.bytes };
  const transfer = request.token.mint === NATIVE_SOL ? undefined : tokenTransfer(request, first);
  return { payment, terms, transaction, payer, sponsored, transfer };
}

function tokenTransfer(
  { token }: PaymentRequestRecord,
  movement: Omit<TokenTransfer, 'kind' | 'program' | 'mint'>,
): TokenTransfer {
  return { kind: 'token-transfer', program: token.program, mint: token.mint, ...movement };
}

/** A payment request as terms, for the record. */
export function termsOf(request: PaymentRequestRecord, feePayer: string | undefined): Terms {
  const { network, token, amount, payTo, memo } = request;
  return {
    scheme: TRANSFER_SCHEME,
    network,
    asset: token.mint,
    amount,
    payTo,
    maxTimeoutSeconds: SETTLE_SECONDS,
    ...(feePayer === undefined ? {} : { feePayer }),
    ...(memo === undefined ? {} : { memo }),
  };
}
