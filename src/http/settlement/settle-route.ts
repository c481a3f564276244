import type { Request, Response } from 'express';
import type { EmbeddedFacilitator } from '../../facilitator/create-facilitator.js';
import type { AskSeller, RequestSettlement } from '../../facilitator/requests/payment-request-types.js';
import { sendProblem } from '../../middleware/gate/respond.js';
import { REASONS } from '../../protocol/reasons.js';
import { decodeBase64 } from '../../protocol/wire/json.js';
import { readBody } from '../framework/read-body.js';
import type { Answer } from '../framework/response.js';
import { settleBody } from '../payments/contract-schemas.js';
import type { settledResponse } from '../payments/payment-responses.js';

/** Whether a body of `POST /settle` has the contract's shape; x402's has `paymentPayload`. */
export function isContractSettle(body: unknown): boolean {
  return typeof body === 'object' && body !== null && ('payment_id' in body || 'signed_transaction' in body);
}

/** What {@link answerContractSettle} works with. */
export interface ContractSettlement {
  readonly facilitator: EmbeddedFacilitator;
  /** Whether the seller still takes money. Default: nobody is asked. */
  readonly askSeller: AskSeller | undefined;
  /** Address of a block explorer, without `/tx/…`. */
  readonly explorerUrl: string;
}

/** `POST /settle` in the contract's shape (service.md §2). */
export async function answerContractSettle(
  { facilitator, askSeller, explorerUrl }: ContractSettlement,
  req: Request,
  res: Response,
): Promise<void> {
  const body = readBody(settleBody, req.body, {
    code: 'invalid_request',
    fields: { '/signed_transaction': 'invalid_transaction' },
  });
  const bytes = decodeBase64(body.signed_transaction);
  if (!bytes.ok) return sendProblem(res, 'invalid_transaction', `signed_transaction is not base64: ${bytes.detail}.`);
  answer(res, await facilitator.settleRequest(body.payment_id, bytes.value, askSeller), explorerUrl);
}

const PENDING_RETRY_SECONDS = 2;
const SEARCHING_RETRY_SECONDS = 1;
const PENDING = {
  pending: 'The transaction was sent and its outcome is not known yet. Send the same request again to learn it.',
  other_pending:
    'Another transaction for this payment was sent and its outcome is not known yet; this one was not sent. Ask again in a moment.',
} as const;

function answer(res: Response, settlement: RequestSettlement, explorerUrl: string): void {
  switch (settlement.status) {
    case 'settled':
      return void res.json(settledView(settlement, explorerUrl));
    case 'not_found':
      return sendProblem(res, 'payment_not_found', 'There is no payment with this payment_id.');
    case 'expired':
      return sendProblem(
        res,
        'payment_expired',
        settlement.signature === undefined
          ? 'The time for this payment is over; create a new one. Nothing was paid.'
          : REASONS.invalid_transfer_late,
        settlement.signature === undefined ? {} : { more: { tx_signature: settlement.signature } },
      );
    case 'already_settled':
      return sendProblem(
        res,
        'payment_already_settled',
        'Another transaction has settled this payment; this one was not sent.',
      );
    case 'searching': {
      const detail =
        "Other transactions name this payment's reference, and are still being looked at for one that has paid it; this one was not sent. Send it again in a moment.";
      return sendProblem(res, 'payment_in_progress', detail, { retryAfterSeconds: SEARCHING_RETRY_SECONDS });
    }
    case 'being_settled': {
      const detail = 'This transaction is being settled right now; send it again in a moment to learn the outcome.';
      return sendProblem(res, 'payment_in_progress', detail, { retryAfterSeconds: 1 });
    }
    case 'in_progress': {
      const detail = 'Another transaction for this payment is being settled right now; this one was not sent.';
      return sendProblem(res, 'payment_in_progress', detail, { retryAfterSeconds: 1 });
    }
    case 'invalid':
      return sendProblem(res, 'invalid_transaction', settlement.message, { more: { reason: settlement.reason } });
    case 'failed': {
      const { reason, message, signature } = settlement;
      return sendProblem(res, 'blockchain_error', message, { more: { reason, tx_signature: signature ?? null } });
    }
    case 'pending':
    case 'other_pending':
      return sendProblem(res, 'settlement_pending', PENDING[settlement.status], {
        retryAfterSeconds: PENDING_RETRY_SECONDS,
        more: { tx_signature: settlement.signature ?? null },
      });
  }
}

function settledView(
  { receipt, facts }: Extract<RequestSettlement, { readonly status: 'settled' }>,
  explorerUrl: string,
): Answer<typeof settledResponse> {
  return {
    success: true,
    tx_signature: receipt.signature,
    block_number: facts.slot,
    gas_used: facts.computeUnits,
    explorer_url: `${explorerUrl}/tx/${receipt.signature}`,
    fee_lamports: Number(facts.feeLamports),
    status: 'confirmed',
  };
}
