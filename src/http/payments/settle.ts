import type { Request, Response } from 'express';
import type { EmbeddedFacilitator } from '../../facilitator/create-facilitator.js';
import type { Networks } from '../../facilitator/networks/networks.js';
import type { AskSeller, RequestSettlement } from '../../facilitator/requests/payment-request-types.js';
import type { Facilitator } from '../../facilitator/types.js';
import { clientAddress } from '../../middleware/gate/client-address.js';
import { sendProblem } from '../../middleware/gate/respond.js';
import { retryOf } from '../../middleware/idempotency/retry.js';
import { leaveOpen } from '../../middleware/response/idempotency-notes.js';
import { delivered } from '../../middleware/response/response-end.js';
import { encodeSettlement, readFacilitatorRequest } from '../../protocol/codecs/facilitator-codec.js';
import { REASONS } from '../../protocol/reasons.js';
import type { NetworkId } from '../../protocol/types.js';
import { decodeBase64 } from '../../protocol/wire/json.js';
import { readInput } from '../framework/read-input.js';
import { settleBody } from './schemas.js';
import { identifySettlement } from './settle-identifier.js';
import { settledView } from './views.js';

const TAKEN =
  'Another payment was settled under the payment identifier of this one, which was not sent. Send the first payment again to learn its outcome, or pay under another identifier.';
const FAULTS = { code: 'invalid_request', fields: { '/signed_transaction': 'invalid_transaction' } } as const;

/** Whether a body of `POST /settle` has the contract's shape; x402's has `paymentPayload`. */
export function isContractSettle(body: unknown): boolean {
  return typeof body === 'object' && body !== null && ('payment_id' in body || 'signed_transaction' in body);
}

/** What {@link settleContract} works with. */
export interface ContractSettlement {
  readonly networks: Networks<EmbeddedFacilitator>;
  /** Whether the seller still takes money. Default: nobody is asked. */
  readonly askSeller: AskSeller | undefined;
  /** Address of a block explorer for a network, without `/tx/…`. */
  readonly explorerOn: (network: NetworkId) => string;
  /** What names the address that asks. */
  readonly client?: string;
}

/** `POST /settle` in the contract's shape. */
export async function settleContract(
  { networks, askSeller, explorerOn, client }: ContractSettlement,
  body: unknown,
  res: Response,
): Promise<void> {
  const { payment_id: id, signed_transaction: text } = readInput(settleBody, body, FAULTS);
  const bytes = decodeBase64(text);
  if (!bytes.ok) return sendProblem(res, 'invalid_transaction', `signed_transaction is not base64: ${bytes.detail}.`);
  const settlement = await networks.find(async (it) => {
    const ended = await it.settleRequest(id, bytes.value, askSeller, client);
    return ended.status === 'not_found' ? undefined : ended;
  });
  sendOutcome(res, settlement ?? { status: 'not_found' }, explorerOn);
}

/** `POST /settle` in x402's shape, which is answered 200 whether the payment was settled or refused (protocol/README.md, "Facilitator API"). */
export async function settleX402(facilitator: Facilitator, req: Request, res: Response): Promise<void> {
  const call = readFacilitatorRequest(req.body);
  if (!call.ok && call.malformed) return sendProblem(res, 'invalid_request', call.detail);
  const { network } = facilitator;
  if (!call.ok) {
    const refused = { status: 'failed', reason: call.reason, message: call.detail } as const;
    return void res.json(encodeSettlement(refused, network, call.version));
  }
  const identified = await identifySettlement(facilitator, req, call);
  if (identified.isTaken) return sendProblem(res, 'payment_identifier_conflict', TAKEN);
  try {
    await facilitator.settle(call.payment, call.terms, {
      retryHash: retryOf(req, call.payment).hash,
      ...clientAddress(req),
      async deliver(settlement) {
        await identified.end(settlement);
        if (settlement.status !== 'settled') leaveOpen(res);
        const arrived = delivered(res);
        res.json(encodeSettlement(settlement, call.terms.network, call.version));
        return arrived;
      },
    });
  } catch (error) {
    await identified.breakOff();
    throw error;
  }
}

const PENDING_RETRY_SECONDS = 2;
const SEARCHING_RETRY_SECONDS = 1;
const PENDING = {
  pending: 'The transaction was sent and its outcome is not known yet. Send the same request again to learn it.',
  other_pending:
    'Another transaction for this payment was sent and its outcome is not known yet; this one was not sent. Ask again in a moment.',
} as const;

function sendOutcome(res: Response, settlement: RequestSettlement, explorerOn: ContractSettlement['explorerOn']): void {
  switch (settlement.status) {
    case 'settled':
      return void res.json(settledView(settlement, explorerOn(settlement.receipt.network)));
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
