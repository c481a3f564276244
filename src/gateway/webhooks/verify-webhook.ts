import { timingSafeEqual } from 'node:crypto';
import { badOption } from '../../errors/errors.js';
import type { EventMessage } from './event-message.js';
import {
  type SignedMessage,
  WEBHOOK_HEADERS,
  WEBHOOK_SIGNATURE_VERSION,
  webhookHmac,
  webhookKey,
} from './webhook-signature.js';

/** What arrived at a receiver. */
export interface ReceivedWebhook {
  /** Those of `node:http` and Express, or of `fetch`. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body as it arrived, for instance from `express.raw({ type: 'application/json' })`; not parsed. */
  readonly body: string | Uint8Array;
}

/** Options of {@link verifyWebhook}. */
export interface VerifyWebhookOptions {
  /** How old or how far ahead an attempt may be, in seconds. Default 300. */
  readonly toleranceSeconds?: number | undefined;
  /** The clock, in milliseconds. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/** Why a message is not believed. */
export type WebhookFault =
  /** One of the three headers is missing or cannot be read. */
  | 'missing_signature'
  /** It was signed with another secret, or is not what was signed. */
  | 'wrong_signature'
  /** The signature is right and too old, or from the future. */
  | 'outside_tolerance';

/** What {@link verifyWebhook} found. */
export type WebhookVerification =
  | { readonly ok: true; readonly event: EventMessage }
  | { readonly ok: false; readonly reason: WebhookFault };

const WHERE = 'verifyWebhook';
const DEFAULT_TOLERANCE_SECONDS = 300;
const SECONDS = /^\d{1,12}$/;

/**
 * For the receiver of a webhook: whether a message comes from who shares the secret, and what it says. Signatures are
 * compared in constant time. Answer 2xx within 15 seconds; the same event may come more than once, with the same `id`.
 *
 * ```ts
 * app.post('/hook', express.raw({ type: 'application/json' }), (req, res) => {
 *   const check = verifyWebhook(req, process.env.WEBHOOK_SECRET);
 *   if (!check.ok) return res.status(400).send(check.reason);
 *   if (check.event.type === 'payment.settled') deliver(check.event.data);
 *   res.status(204).end();
 * });
 * ```
 * @param secret - the webhook's `whsec_…`, or several while a new one is taken into use
 * @throws TollhouseError `bad_option` for a secret that is none, or a body that was parsed
 */
export function verifyWebhook(
  received: ReceivedWebhook,
  secret: string | readonly string[] | undefined,
  { toleranceSeconds = DEFAULT_TOLERANCE_SECONDS, now = Date.now }: VerifyWebhookOptions = {},
): WebhookVerification {
  if (typeof received?.headers !== 'object')
    throw badOption(WHERE, 'give the request first: verifyWebhook(req, secret)');
  const { headers, body } = received;
  const keys = keysOf(secret);
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw badOption(WHERE, 'the body must be given as it arrived, not parsed', 'body');
  }
  const [id, timestamp, signatures] = [
    headerOf(headers, WEBHOOK_HEADERS.id),
    headerOf(headers, WEBHOOK_HEADERS.timestamp),
    headerOf(headers, WEBHOOK_HEADERS.signature),
  ];
  if (id === undefined || timestamp === undefined || signatures === undefined || !SECONDS.test(timestamp)) {
    return { ok: false, reason: 'missing_signature' };
  }
  const message = { id, timestamp: Number(timestamp), body };
  if (!isSigned(message, signatures.split(' '), keys)) return { ok: false, reason: 'wrong_signature' };
  if (Math.abs(now() / 1_000 - message.timestamp) > toleranceSeconds) return { ok: false, reason: 'outside_tolerance' };
  return { ok: true, event: JSON.parse(Buffer.from(body).toString()) as EventMessage };
}

function keysOf(secret: string | readonly string[] | undefined): readonly Buffer[] {
  const keys = [secret ?? []].flat().map((it) => webhookKey(it ?? ''));
  const known = keys.filter((key) => key !== undefined);
  if (keys.length > 0 && known.length === keys.length) return known;
  throw badOption(WHERE, 'the secret must be whsec_ and base64 of 24 to 64 bytes, as the webhook showed it', 'secret');
}

function isSigned(message: SignedMessage, signatures: readonly string[], keys: readonly Buffer[]): boolean {
  const given = signatures
    .filter((it) => it.startsWith(WEBHOOK_SIGNATURE_VERSION))
    .map((it) => Buffer.from(it.slice(WEBHOOK_SIGNATURE_VERSION.length), 'base64'));
  const expected = keys.map((key) => webhookHmac(message, key));
  return given.some((one) => expected.some((other) => one.length === other.length && timingSafeEqual(one, other)));
}

function headerOf(headers: ReceivedWebhook['headers'], name: string): string | undefined {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  return typeof value === 'string' ? value : undefined;
}
