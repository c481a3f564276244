import { boundedCache } from '../../lib/bounded-cache.js';
import { defined } from '../../lib/defined.js';
import { withAmountJson } from '../../protocol/money/amount-json.js';
import type { PaymentRecord, PaymentState } from '../../storage/ledger/ledger.js';
import type { PaymentRequestRecord } from '../../storage/ledger/payment-request.js';
import { receiptOf } from '../payments/receipt.js';
import { isBookedLate } from '../proofs/late-payment.js';
import type { RequestParts } from '../proofs/request-terms.js';
import type { ReadBesidePrice } from '../proofs/unmatched-payments.js';
import type { WalletPayments } from '../proofs/wallet-payments.js';
import type { PaymentRequestState, PaymentRequestStatus, PaymentRequests } from './payment-request-types.js';
import { resolveAttempt } from './resolve-attempt.js';

/** How long the chain's response is believed, so that polling costs a look in two seconds and not one each. */
const BELIEVED_MS = 2_000;
const BELIEVED_MAX = 10_000;

const STATUS: Readonly<Record<PaymentState, PaymentRequestStatus>> = {
  claimed: 'pending',
  broadcast: 'pending',
  confirmed: 'settled',
  served: 'settled',
  failed: 'failed',
  expired: 'created',
};

/** Tells where payment requests stand, and notices those that a wallet paid by itself, and what came beside that. */
export function createRequestStates(
  parts: RequestParts,
  walletPayments: WalletPayments,
  readBesidePrice: ReadBesidePrice,
): PaymentRequests['paymentRequest'] {
  const { ledger, network } = parts;
  const looked = boundedCache<string, true>({ max: BELIEVED_MAX, ttl: BELIEVED_MS });

  async function look(request: PaymentRequestRecord): Promise<void> {
    const record = await attemptOf(parts, request);
    if (record?.state === 'broadcast') await resolveAttempt(parts, request, record);
    else await walletPayments(request);
  }

  async function find(id: string): Promise<PaymentRequestState | undefined> {
    const request = await ledger.findPaymentRequest(id);
    if (request?.network !== network) return undefined;
    const known = await stateOf(parts, request);
    if (known.status === 'settled' || looked.has(id)) return known;
    looked.set(id, true);
    try {
      await look(request);
    } catch (error) {
      looked.delete(id);
      throw error;
    }
    return stateOf(parts, (await ledger.findPaymentRequest(id)) ?? request);
  }

  return async (id, { beside: looksBeside = true } = {}) => {
    const state = await find(id);
    if (state === undefined || !looksBeside) return state;
    const { surplus, unmatched } = await readBesidePrice(state.request, state);
    if (surplus === 0n && unmatched.length === 0) return state;
    const beside = { ...(surplus === 0n ? {} : { surplus }), ...(unmatched.length === 0 ? {} : { unmatched }) };
    return withAmountJson({ ...state, ...beside });
  };
}

/** The payment that pays a request or tries to, if there is one. */
export async function attemptOf(
  { ledger }: Pick<RequestParts, 'ledger'>,
  { attempt }: PaymentRequestRecord,
): Promise<PaymentRecord | undefined> {
  return attempt === undefined ? undefined : ledger.find(attempt);
}

async function stateOf(parts: RequestParts, request: PaymentRequestRecord): Promise<PaymentRequestState> {
  const record = await attemptOf(parts, request);
  if (record === undefined || record.state === 'expired') {
    return { request, status: parts.now() > request.expiresAt ? 'expired' : 'created' };
  }
  const { state, signature, reason } = record;
  const receipt = receiptOf(record);
  if (receipt !== undefined && isBookedLate(record, request)) {
    return { request, status: 'expired', receipt, signature: receipt.signature, reason: 'invalid_transfer_late' };
  }
  return {
    request,
    status: STATUS[state],
    ...defined({ receipt }),
    ...(signature === undefined || state === 'claimed' ? {} : { signature }),
    ...defined({ reason }),
  };
}
