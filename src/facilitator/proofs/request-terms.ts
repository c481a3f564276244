import { defined } from '../../lib/defined.js';
import { withAmountJson } from '../../protocol/money/amount-json.js';
import type { Leg } from '../../protocol/money/split.js';
import type { Reason } from '../../protocol/reasons.js';
import type { NetworkId, Terms } from '../../protocol/types.js';
import type { TransactionDelivery } from '../../solana/confirmation/confirmation.js';
import { readLandedPayment } from '../../solana/landed/landed-payment.js';
import type { LandedTransaction } from '../../solana/rpc/landed-transaction.js';
import type { SolanaRpc } from '../../solana/rpc/rpc.js';
import type { RequiredTransfers } from '../../solana/rules/required-transfers.js';
import type { CheckPolicy } from '../../solana/rules/rules.js';
import type { DecodedTransaction } from '../../solana/transaction/transaction.js';
import type { PaymentRecord } from '../../storage/ledger/ledger.js';
import type { PaymentRequestRecord } from '../../storage/ledger/payment-request.js';
import type { LandedReader } from '../backend/landed-reader.js';
import type { PayerSuspensions } from '../backend/refuse-suspended.js';
import type { PaymentServiceParts } from '../payments/payment-life.js';

/** What settling and following payment requests needs beside the payment service. */
export interface RequestParts extends PaymentServiceParts, Pick<PayerSuspensions, 'suspensions'> {
  readonly network: NetworkId;
  readonly rpc: SolanaRpc;
  readonly delivery: TransactionDelivery;
  readonly landed: LandedReader;
  readonly policy: CheckPolicy;
}

/** The scheme of payments that were asked for by a payment request; x402 knows nothing of them. */
export const TRANSFER_SCHEME = 'transfer';
const SETTLE_SECONDS = 60;

/** Who gets how much of a payment, where it has several recipients. */
export function requestLegs(legs: readonly Leg[]): Pick<PaymentRecord, 'legs'> {
  return legs.length > 1 ? { legs } : {};
}

/** On whose behalf a request was made, and who is paid by it. */
export function sellerOf({
  owner,
  projectId,
  legs,
}: PaymentRequestRecord): Pick<PaymentRecord, 'owner' | 'projectId' | 'legs'> {
  const whose = defined({ owner, projectId });
  return { ...whose, ...requestLegs(legs) };
}

/**
 * Ends the settlement of a request. One that was made for a project has bought nothing yet: its payment stays good for the
 * call that it is shown with.
 */
export async function finishRequest(
  { ledger, leases }: Pick<RequestParts, 'ledger' | 'leases'>,
  { projectId }: PaymentRequestRecord,
  id: string,
  lease: string,
): Promise<void> {
  await (projectId === undefined ? ledger.served(id, lease) : ledger.keep(id, lease));
  leases.drop(lease);
}

/** What a transaction must do to pay a request. */
export function requestTransfers({ token, legs, reference, memo }: PaymentRequestRecord): RequiredTransfers {
  return { asset: token.mint, tokenProgram: token.program, legs, reference, memo };
}

/** Why a landed transaction does not pay a request, or undefined when it does. */
export function judgeOf(request: PaymentRequestRecord): (landed: LandedTransaction) => Reason | undefined {
  const demand = requestTransfers(request);
  return (landed) => {
    const paid = readLandedPayment(landed, demand);
    return paid.ok ? undefined : paid.reason;
  };
}

/**
 * A payment request as the terms of the transaction that pays it; the same for every codec that it comes through.
 * @param asset - as it was paid. Default: as it was asked for
 */
export function requestTerms(
  request: PaymentRequestRecord,
  { accounts }: Pick<DecodedTransaction, 'accounts'>,
  policy: CheckPolicy,
  asset: string = request.token.mint,
): Terms {
  const { network, amount, payTo, memo } = request;
  const [feePayer = ''] = accounts;
  return withAmountJson({
    scheme: TRANSFER_SCHEME,
    network,
    asset,
    amount,
    payTo,
    maxTimeoutSeconds: SETTLE_SECONDS,
    ...(policy.managedKeys.has(feePayer) ? { feePayer } : {}),
    ...defined({ memo }),
  });
}
