import type { Request } from 'express';
import { retryHashOf } from '../../facilitator/payments/retry-hash.js';
import { readIdentifier } from '../../protocol/payment-identifier.js';
import type { Payment } from '../../protocol/types.js';
import { addressProof } from '../gate/client-address.js';
import type { SealingSecrets } from '../response/response-seal.js';

/** Who may come again for a payment. */
export interface Retry {
  /** Names that one; see `PaymentUse.retryHash`. */
  readonly hash: string;
  /** The secret with which the response is kept. */
  readonly secret: string;
  /** What it is kept with beside the secret. Default: nothing. */
  readonly sealedWith?: SealingSecrets;
  /** Known by his address alone, which others may have as well. */
  readonly byIpAddress?: true;
}

/** Shorter ones can be guessed. */
const SECRET_LENGTH = 16;

/**
 * Who may come again for a payment: whoever shows a secret that came with it and is not on the chain. That is the nonce of
 * the 402, echoed by version 2 clients, or x402's `payment-identifier`, or an `Idempotency-Key`. Who brings none of them is
 * known by his address, for ten minutes, and by what an untrusted proxy says of him beside it.
 */
export function retryOf(req: Request, payment: Payment): Retry {
  const secret = paymentSecretOf(payment);
  if (secret !== undefined) return withSecret(secret);
  const key = req.get('Idempotency-Key');
  if (key !== undefined && key.length >= SECRET_LENGTH) return withSecret(`key ${key}`);
  const address = addressProof(req);
  return { hash: retryHashOf({ address }), secret: `address ${address}`, byIpAddress: true };
}

/** The secret that came with a payment itself; undefined where none did. */
export function paymentSecretOf({ nonce, extensions }: Payment): string | undefined {
  if (nonce !== undefined) return `nonce ${nonce}`;
  const identifier = readIdentifier(extensions);
  return identifier.ok && identifier.id !== undefined ? `identifier ${identifier.id}` : undefined;
}

function withSecret(secret: string): Retry {
  return { hash: retryHashOf({ secret }), secret };
}
