import type { PaymentRequirements } from '@x402/core/types';
import { defined } from '../../lib/defined.js';
import { shown } from '../../lib/parsed.js';
import { isAddress } from '../address.js';
import type { BlockhashHint, PaymentFlow } from '../challenge.js';
import { MAX_AMOUNT, MAX_DECODED_BYTES, MAX_MEMO_BYTES } from '../limits.js';
import { withAmountJson } from '../money/amount-json.js';
import { networkFrom, toCaip2 } from '../networks/networks.js';
import type { Reason } from '../reasons.js';
import type { NetworkId, Terms } from '../types.js';
import { decodeBase64 } from './json.js';

/** The one scheme that is spoken. */
export const EXACT = 'exact';
const SIGN_IN = 'sign-in-with-x';
const SIGN_IN_SECONDS = 300;

/** Something of the wire that is no payment, or none for us. */
export interface Unreadable {
  readonly ok: false;
  readonly reason: Reason;
  /** What is wrong, and where. */
  readonly detail: string;
}

/** What came out of reading something of the wire. */
export type WireReading<T> = { readonly ok: true; readonly value: T } | Unreadable;

/** Payment terms as both versions write them once their names are the same. */
export interface WireTerms {
  readonly scheme: string;
  readonly network: string;
  readonly asset: string;
  readonly amount: string;
  readonly payTo: string;
  readonly maxTimeoutSeconds: number;
  readonly extra?: Readonly<Record<string, unknown>> | null | undefined;
}

/** What is longer says nothing that we have offered. */
const MAX_BUYS_LENGTH = 1_000;

type Extra = Pick<Terms, 'feePayer' | 'memo' | 'buys'>;

/** So long that nobody can guess it. */
const NONCE = /^[\x21-\x7e]{16,128}$/;
const AMOUNT = /^(?:0|[1-9]\d{0,19})$/;

/** An {@link Unreadable}. */
export function unreadable(reason: Reason, detail: string): Unreadable {
  return { ok: false, reason, detail };
}

/** The network of a payment in the one scheme that is spoken. */
export function readKind(scheme: string, network: string): WireReading<NetworkId> {
  const id = networkFrom(network);
  if (id === undefined) return unreadable('invalid_network', `the network ${shown(network)} is not known here`);
  if (scheme === EXACT) return { ok: true, value: id };
  return unreadable('invalid_exact_svm_unsupported_scheme', `the scheme ${shown(scheme)} is not spoken here`);
}

/**
 * Reads terms from the wire. Values of `extra` that Tollhouse has no use for are left out.
 *
 * @param where - path to them, for the message
 */
export function readTerms(wire: WireTerms, where: string): WireReading<Terms> {
  const network = readKind(wire.scheme, wire.network);
  if (!network.ok) return network;
  const { scheme, asset, payTo, maxTimeoutSeconds } = wire;
  const amount = AMOUNT.test(wire.amount) ? BigInt(wire.amount) : undefined;
  if (amount === undefined || amount > MAX_AMOUNT) {
    return malformed(`${where}: the amount must be a whole number of atomic units below 2^64, as decimal digits`);
  }
  if (!isAddress(asset)) return malformed(`${where}.asset is not a Solana address`);
  if (!isAddress(payTo)) return malformed(`${where}.payTo is not a Solana address`);
  if (!Number.isFinite(maxTimeoutSeconds)) return malformed(`${where}.maxTimeoutSeconds is not a number of seconds`);
  const extra = readExtra(wire.extra ?? {}, where);
  if (!extra.ok) return extra;
  return {
    ok: true,
    value: withAmountJson({ scheme, network: network.value, asset, amount, payTo, maxTimeoutSeconds, ...extra.value }),
  };
}

/** What terms carry on the wire beside themselves. */
export interface WireExtras {
  readonly hint?: BlockhashHint | undefined;
  /** The secret of the 402 that offers them, or of the payment that accepts them. */
  readonly nonce?: string | undefined;
  readonly paymentFlow?: PaymentFlow | undefined;
}

/** Writes terms as version 2 does. */
export function writeTerms(terms: Terms, extras: WireExtras = {}): PaymentRequirements {
  const { scheme, network, asset, amount, payTo, maxTimeoutSeconds } = terms;
  return {
    scheme,
    network: toCaip2(network),
    asset,
    amount: String(amount),
    payTo,
    maxTimeoutSeconds,
    extra: writeExtra(terms, extras),
  };
}

/**
 * What stands in the place of terms where a sign-in is asked for and nothing is sold: version 2 has one entry at least, and the official
 * sign-in client takes from it which chain it signs for. Of a scheme that nobody pays, and without addresses.
 */
export function signInTerms(network: PaymentRequirements['network']): PaymentRequirements {
  const none = { asset: 'none', amount: '0', payTo: 'none' };
  return { scheme: SIGN_IN, network, ...none, maxTimeoutSeconds: SIGN_IN_SECONDS, extra: {} };
}

/** Writes the `extra` of terms. The block height is text, as the official server writes it. */
export function writeExtra(
  { feePayer, memo, buys }: Extra,
  { hint, nonce, paymentFlow }: WireExtras = {},
): Record<string, unknown> {
  return {
    ...defined({ feePayer, memo, buys, paymentFlow, nonce }),
    ...(hint === undefined
      ? {}
      : { recentBlockhash: hint.blockhash, lastValidBlockHeight: String(hint.lastValidBlockHeight) }),
  };
}

/** Reads the scheme's part of a payment: the signed transaction. */
export function readTransaction(payload: Readonly<Record<string, unknown>>): WireReading<Uint8Array> {
  const text = payload['transaction'];
  if (typeof text !== 'string') return malformed('payload.transaction must be the signed transaction in base64');
  const bytes = decodeBase64(text);
  if (!bytes.ok) return undecodable(`payload.transaction is not base64: ${bytes.detail}`);
  if (bytes.value.length <= MAX_DECODED_BYTES) return bytes;
  return undecodable(`payload.transaction is longer than ${MAX_DECODED_BYTES} bytes`);
}

function readExtra(extra: Readonly<Record<string, unknown>>, where: string): WireReading<Extra> {
  const feePayer = extra['feePayer'] ?? undefined;
  const memo = extra['memo'] ?? undefined;
  if (feePayer !== undefined && !(typeof feePayer === 'string' && isAddress(feePayer))) {
    return malformed(`${where}.extra.feePayer is not a Solana address`);
  }
  if (memo !== undefined && !(typeof memo === 'string' && Buffer.byteLength(memo) <= MAX_MEMO_BYTES)) {
    return malformed(`${where}.extra.memo must be a text of at most ${MAX_MEMO_BYTES} bytes`);
  }
  const buys = typeof extra['buys'] === 'string' ? extra['buys'].slice(0, MAX_BUYS_LENGTH) : undefined;
  // The official client takes an empty memo for none.
  const asked = memo === '' ? undefined : memo;
  return {
    ok: true,
    value: defined({ feePayer, memo: asked, buys }),
  };
}

/** The secret that was echoed with the accepted terms; a text that is no secret is none. Terms are compared without it. */
export function readNonce(extra: Readonly<Record<string, unknown>> | null | undefined): { readonly nonce?: string } {
  const nonce = extra?.['nonce'];
  return typeof nonce === 'string' && NONCE.test(nonce) ? { nonce } : {};
}

function malformed(detail: string): Unreadable {
  return unreadable('invalid_payload', detail);
}

function undecodable(detail: string): Unreadable {
  return unreadable('invalid_exact_svm_payload_transaction_could_not_be_decoded', detail);
}
