import type { Reason } from '../reasons.js';
import type { Payment } from '../types.js';
import { readHeader } from '../wire/json.js';
import type { WireReading } from '../wire/terms.js';
import type { Reading } from './codec.js';

/** Well-formed payments that are made for somebody else. */
const FOREIGN: ReadonlySet<Reason> = new Set<Reason>(['invalid_network', 'invalid_exact_svm_unsupported_scheme']);

/**
 * Reads a payment header: base64, JSON, then the payment in it.
 *
 * @param name - of the header, for the message
 * @param readPayload - reads the JSON of the header's protocol version
 */
export function readPaymentHeader(
  name: string,
  header: string,
  readPayload: (payload: unknown) => WireReading<Payment>,
): Reading {
  const json = readHeader(name, header);
  if (!json.ok) return { ok: false, code: 'invalid_payment_header', detail: json.detail };
  const payment = readPayload(json.value);
  if (payment.ok) return { ok: true, payment: payment.value };
  const code = FOREIGN.has(payment.reason) ? 'no_matching_requirements' : 'invalid_payment_header';
  return { ok: false, code, detail: `${name}: ${payment.detail}` };
}
