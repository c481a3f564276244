import { createHmac } from 'node:crypto';

/** What an upstream is told about who paid for a call. All of it is covered by the signature. */
export interface GatewayPayment {
  /** Wallet that paid, base58. `X-Tollhouse-Payer`. */
  readonly payer?: string;
  /** What was paid, as decimal text: `0.01`. `X-Tollhouse-Amount`. */
  readonly amount?: string;
  /** Symbol of the token, or its mint. `X-Tollhouse-Token`. */
  readonly token?: string;
  /** Id of the payment. `X-Tollhouse-Payment`. */
  readonly payment?: string;
}

/** What the signature of a call covers, in the order in which it is signed. */
export interface SignedCall extends GatewayPayment {
  /** New for each call that is sent, so that an upstream can refuse copies. `X-Tollhouse-Id`. */
  readonly id: string;
  /** Seconds since 1970, decimal digits. `X-Tollhouse-Timestamp`. */
  readonly timestamp: string;
  readonly method: string;
  /** Path and query, as they are sent. */
  readonly path: string;
  /** SHA-256 of the body, lower-case hex; {@link UNSIGNED_BODY} where it is streamed. `X-Tollhouse-Body-Digest`. */
  readonly bodyDigest: string;
}

/** Names of the headers, in lower case, by the part of a call that they carry. */
export const SIGNED_HEADERS = {
  id: 'x-tollhouse-id',
  timestamp: 'x-tollhouse-timestamp',
  bodyDigest: 'x-tollhouse-body-digest',
  payer: 'x-tollhouse-payer',
  amount: 'x-tollhouse-amount',
  token: 'x-tollhouse-token',
  payment: 'x-tollhouse-payment',
} as const satisfies Partial<Record<keyof SignedCall, string>>;

/** Header of the signature: `v1,` and base64; several are separated by spaces. */
export const SIGNATURE_HEADER = 'x-tollhouse-signature';

/** Stands in place of the digest of a body that is too large to be kept until its digest is known. */
export const UNSIGNED_BODY = 'UNSIGNED-PAYLOAD';

/** Before every signature of this form. */
export const SIGNATURE_VERSION = 'v1,';

const FORM = 'tollhouse-gateway-v1';

/**
 * HMAC-SHA256 of a call under a secret, whose whole text is the key. Signed are ten lines, joined by
 * `\n`: `tollhouse-gateway-v1`, id, timestamp, method, path, body digest, payer, amount, token, payment; what is not
 * known is an empty line.
 */
export function callHmac(call: SignedCall, secret: string): Buffer {
  const { id, timestamp, method, path, bodyDigest, payer, amount, token, payment } = call;
  const lines = [FORM, id, timestamp, method, path, bodyDigest, payer, amount, token, payment];
  return createHmac('sha256', secret)
    .update(lines.map((line) => line ?? '').join('\n'))
    .digest();
}

/**
 * The headers that tell an upstream who calls, and that the gateway says so; by their names in lower case.
 * @param secrets - the call is signed with each, so that an upstream need not learn a new one at once
 */
export function signatureHeaders(call: SignedCall, secrets: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const part of Object.keys(SIGNED_HEADERS) as (keyof typeof SIGNED_HEADERS)[]) {
    const value = call[part];
    if (value !== undefined) headers[SIGNED_HEADERS[part]] = value;
  }
  const signatures = secrets.map((secret) => SIGNATURE_VERSION + callHmac(call, secret).toString('base64'));
  headers[SIGNATURE_HEADER] = signatures.join(' ');
  return headers;
}
