import { createHmac, randomBytes } from 'node:crypto';

/** What a receiver checks the signature by; all of it is signed (Standard Webhooks 1.0). */
export interface SignedMessage {
  /** The event's id, the same on every attempt: by it a receiver knows what it has seen. `webhook-id`. */
  readonly id: string;
  /** When the attempt was made, seconds since 1970. `webhook-timestamp`. */
  readonly timestamp: number;
  /** The body, as it is sent. */
  readonly body: string | Uint8Array;
}

/** Names of the headers, in lower case. */
export const WEBHOOK_HEADERS = {
  id: 'webhook-id',
  timestamp: 'webhook-timestamp',
  signature: 'webhook-signature',
} as const;

/** Before every signature by HMAC-SHA256. */
export const WEBHOOK_SIGNATURE_VERSION = 'v1,';

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;
/** What the standard allows. */
const MIN_SECRET_BYTES = 24;
const MAX_SECRET_BYTES = 64;
const BASE64 = /^[A-Za-z\d+/]+={0,2}$/;

/** A new secret for a webhook: `whsec_` and base64 of 32 random bytes. */
export function newWebhookSecret(): string {
  return `${SECRET_PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;
}

/** The key that a secret stands for; undefined when it is no secret of 24 to 64 bytes. */
export function webhookKey(secret: string): Buffer | undefined {
  const text = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
  if (!BASE64.test(text)) return undefined;
  const key = Buffer.from(text, 'base64');
  return key.length >= MIN_SECRET_BYTES && key.length <= MAX_SECRET_BYTES ? key : undefined;
}

/** HMAC-SHA256 of `id.timestamp.body`. */
export function webhookHmac({ id, timestamp, body }: SignedMessage, key: Uint8Array): Buffer {
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
}

/**
 * The headers of a message, by their names in lower case.
 * @param secrets - every secret that the receiver may know: two for a while after a rotation
 */
export function webhookHeaders(message: SignedMessage, secrets: readonly string[]): Record<string, string> {
  const signatures = secrets
    .flatMap((secret) => webhookKey(secret) ?? [])
    .map((key) => `${WEBHOOK_SIGNATURE_VERSION}${webhookHmac(message, key).toString('base64')}`);
  return {
    [WEBHOOK_HEADERS.id]: message.id,
    [WEBHOOK_HEADERS.timestamp]: String(message.timestamp),
    [WEBHOOK_HEADERS.signature]: signatures.join(' '),
  };
}
