import type { Parsed } from '../../lib/parsed.js';
import { parsed, unparsed } from '../../lib/parsed.js';
import { isSignature, signatureText } from '../address.js';
import { decodeBase64 } from './json.js';

/** Header that shows a payment which has landed: base64 of its signature. */
export const SERVICE_PAYMENT_HEADER = 'X-Service-Payment';

/** Base64 of 88 characters of base58, and some room. */
const MAX_LENGTH = 200;
const SIGNATURE_BYTES = 64;

/**
 * Reads `X-Service-Payment`: base64 of the 64 bytes of a transaction signature, or of its base58 text. Both come out as the
 * base58 text, so that two spellings are not two payments.
 */
export function readServicePayment(header: string): Parsed<string> {
  if (header.length > MAX_LENGTH) return unparsed(`${SERVICE_PAYMENT_HEADER} is longer than ${MAX_LENGTH} characters`);
  const decoded = decodeBase64(header);
  if (!decoded.ok) return unparsed(`${SERVICE_PAYMENT_HEADER} is not base64 of a signature: ${decoded.detail}`);
  const { value } = decoded;
  if (value.length === SIGNATURE_BYTES) return parsed(signatureText(value));
  const text = Buffer.from(value).toString('latin1');
  // Base58 has one text for the same bytes.
  if (isSignature(text)) return parsed(text);
  const detail = `must be base64 of the 64 bytes of a transaction signature, or of its base58 text; it holds ${value.length} bytes`;
  return unparsed(`${SERVICE_PAYMENT_HEADER} ${detail}`);
}
