import type { PaymentRequiredV1, PaymentRequirementsV1 } from '@x402/core/types/v1';
import { firstFault } from '../../lib/parsed.js';
import type { BlockhashHint, Challenge, Resource } from '../challenge.js';
import { toV1Name } from '../networks/networks.js';
import type { Payment, Terms } from '../types.js';
import { writeHeader } from '../wire/json.js';
import { PayloadV1 } from '../wire/payment-schemas.js';
import { readKind, readTransaction, unreadable, type WireReading, writeExtra } from '../wire/terms.js';
import type { PaymentCodec } from './codec.js';
import { readPaymentHeader } from './payment-header.js';
import { settleResponseV1 } from './settle-response.js';
import { versionFault } from './version.js';

const PAYMENT = 'X-PAYMENT';
const RESPONSE = 'X-PAYMENT-RESPONSE';

/** Without `outputSchema` where there is none: published clients refuse `null`, which the official type wants to see neither. */
type RequirementsV1 = Omit<PaymentRequirementsV1, 'outputSchema'>;
type RequiredV1 = Omit<PaymentRequiredV1, 'accepts'> & { readonly error: string; readonly accepts: RequirementsV1[] };

/** x402 version 1 over HTTP: terms in the 402's body, payment and receipt in headers (protocol/README.md, "Version 1"). */
export const x402V1: PaymentCodec = {
  name: 'x402-v1',
  requestHeader: PAYMENT.toLowerCase(),
  exposedHeaders: [RESPONSE],
  challenge: (challenge) => ({ body: { ...paymentRequired(challenge) } }),
  read: (header) => readPaymentHeader(PAYMENT, header, readPayloadV1),
  receipt: (settlement, network) => ({ [RESPONSE]: writeHeader(settleResponseV1(settlement, network)) }),
};

/** Reads a version 1 PaymentPayload, from a header or a facilitator's request. It names no terms. */
export function readPayloadV1(payload: unknown): WireReading<Payment> {
  const fault = versionFault(payload, 1);
  if (fault !== undefined) return fault;
  const shape = PayloadV1.safeParse(payload);
  if (!shape.success) return unreadable('invalid_payload', firstFault(shape.error.issues));
  const { scheme } = shape.data;
  const network = readKind(scheme, shape.data.network);
  if (!network.ok) return network;
  const transaction = readTransaction(shape.data.payload);
  if (!transaction.ok) return transaction;
  return { ok: true, value: { scheme, network: network.value, transaction: transaction.value } };
}

function paymentRequired({ resource, terms, hints, error }: Challenge): RequiredV1 {
  return {
    x402Version: 1,
    error: error ?? 'payment_required',
    accepts: terms.map((it) => requirements(it, resource, hints?.[it.network])),
  };
}

function requirements(terms: Terms, { url, description, mimeType }: Resource, hint?: BlockhashHint): RequirementsV1 {
  const { scheme, network, asset, amount, payTo, maxTimeoutSeconds } = terms;
  return {
    scheme,
    network: toV1Name(network),
    maxAmountRequired: String(amount),
    asset,
    payTo,
    resource: url,
    description: description ?? '',
    mimeType: mimeType ?? '',
    maxTimeoutSeconds,
    extra: writeExtra(terms, { hint }),
  };
}
