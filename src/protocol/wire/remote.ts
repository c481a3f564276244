import type { VerifyRequest } from '@x402/core/types';
import { z } from 'zod';
import { defined } from '../../lib/defined.js';
import { firstFault, type Parsed, parsed, unparsed } from '../../lib/parsed.js';
import { isAddress, isSignature } from '../address.js';
import type { BlockhashHint } from '../challenge.js';
import { withAmountJson } from '../money/amount-json.js';
import { networkFrom } from '../networks/networks.js';
import { isReason, REASONS, type Reason } from '../reasons.js';
import type { Supported, SupportedKind } from '../supported.js';
import type { Payment, Refusal, Settlement, Terms, Verification } from '../types.js';
import { jsonFault } from './json.js';
import { writeTerms } from './terms.js';

/** What is known here about a payment that another facilitator was asked about. */
export interface RemotePayment {
  readonly terms: Terms;
  /** The wallet that signed the transaction. */
  readonly payer: string;
}

const MAX_FOREIGN_TEXT = 500;

/** A text that may be missing, in other languages' way too: null. */
const text = z
  .string()
  .nullish()
  .transform((it) => it?.slice(0, MAX_FOREIGN_TEXT) || undefined);

const VerifyAnswer = z.object({ isValid: z.boolean(), invalidReason: text, invalidMessage: text });

const SettleAnswer = z.object({
  success: z.boolean(),
  errorReason: text,
  errorMessage: text,
  transaction: text,
  network: text,
});

const Kind = z.object({
  x402Version: z.number(),
  scheme: z.string(),
  network: z.string(),
  extra: z.record(z.string(), z.unknown()).nullish(),
});

const SupportedAnswer = z.object({
  kinds: z.array(Kind),
  extensions: z.array(z.string()).nullish(),
  signers: z.record(z.string(), z.array(z.string())).nullish(),
});

/** The body of `POST /verify` and `POST /settle` to another facilitator, in version 2 (protocol/README.md, "Facilitator API"). */
export function encodeFacilitatorRequest(payment: Payment, terms: Terms): VerifyRequest {
  const paymentRequirements = writeTerms(terms);
  return {
    x402Version: 2,
    paymentPayload: {
      x402Version: 2,
      accepted:
        payment.accepted === undefined ? paymentRequirements : writeTerms(payment.accepted, { nonce: payment.nonce }),
      payload: { transaction: Buffer.from(payment.transaction).toString('base64') },
      ...(payment.extensions === undefined ? {} : { extensions: { ...payment.extensions } }),
    },
    paymentRequirements,
  };
}

/** Reads the response of another facilitator's `POST /verify`. A reason that is not known here survives in the message. */
export function decodeVerification(body: unknown, { payer }: RemotePayment): Parsed<Verification> {
  const answer = readResponse(VerifyAnswer, body);
  if (!answer.ok) return answer;
  const { isValid, invalidReason, invalidMessage } = answer.value;
  if (isValid) return parsed({ ok: true, payer });
  const fallback: Reason = 'invalid_exact_svm_verification_failed';
  return parsed({ ok: false, payer, ...refusal(invalidReason, invalidMessage, fallback) });
}

/** What another facilitator says of a settlement; of one that is open also whether another call than this one has begun it. */
export type RemoteSettlement = Settlement & { readonly isBegunBefore?: true };

/**
 * Reads the response of another facilitator's `POST /settle`. `failed` is only what says that this call moved no money:
 * a refusal for a reason that is known here, of a transaction that was not sent, or a transaction that landed with an
 * error, expired, or was settled by an earlier call. Anything else that is no success is `pending`: the money may have moved, or may yet.
 */
export function decodeSettlement(body: unknown, asked: RemotePayment): Parsed<RemoteSettlement> {
  const answer = readResponse(SettleAnswer, body);
  if (!answer.ok) return answer;
  const { success, network, transaction: signature } = answer.value;
  const { terms } = asked;
  if (network !== undefined && networkFrom(network) !== terms.network) return unparsed('it is about another network');
  if (signature !== undefined && !isSignature(signature)) return unparsed('its transaction is not a signature');
  if (!success) return parsed(unsettled(answer.value, asked));
  if (signature === undefined) return unparsed('it tells of a success without a transaction');
  const { network: landedOn, payTo, asset, amount } = terms;
  const paid = { signature, network: landedOn, payer: asked.payer, payTo, asset, amount };
  const receipt = withAmountJson({ ...paid, slot: 0 });
  return parsed({ status: 'settled', receipt });
}

/** Reads the response of another facilitator's `GET /supported`: what can be settled there with version 2 on Solana. */
export function decodeSupported(body: unknown): Parsed<Supported> {
  const answer = readResponse(SupportedAnswer, body);
  if (!answer.ok) return answer;
  const { kinds, extensions, signers } = answer.value;
  const keys = Object.entries(signers ?? {}).flatMap(([family, list]) => (family.startsWith('solana:') ? list : []));
  return parsed({
    kinds: kinds.flatMap(readSupportedKind),
    extensions: extensions ?? [],
    signers: [...new Set(keys.filter(isAddress))],
  });
}

/** Reasons that are final even though there is a signature. */
const LANDED_REASONS: ReadonlySet<Reason> = new Set([
  'duplicate_settlement',
  'invalid_exact_svm_transaction_failed',
  'invalid_exact_svm_transaction_expired',
]);

function unsettled(answer: z.output<typeof SettleAnswer>, { payer }: RemotePayment): RemoteSettlement {
  const { errorReason, errorMessage, transaction: signature } = answer;
  const reason = errorReason === undefined ? undefined : reasonFrom(errorReason);
  const known = defined({ signature });
  if (reason === 'settlement_in_progress') return { status: 'pending', payer, ...known, isBegunBefore: true };
  if (reason === undefined || !endsPayment(reason, answer)) return { status: 'pending', payer, ...known };
  return { status: 'failed', payer, ...known, reason, message: errorMessage ?? REASONS[reason] };
}

function endsPayment(reason: Reason, { errorMessage, transaction }: z.output<typeof SettleAnswer>): boolean {
  if (reason === 'settlement_pending') return false;
  if (!LANDED_REASONS.has(reason)) return transaction === undefined;
  // The reference says "failed" without a transaction when sending broke off, and with one and these words when it only
  // could not note that it is pending.
  if (reason !== 'invalid_exact_svm_transaction_failed') return true;
  return transaction !== undefined && !errorMessage?.startsWith('settlement_pending');
}

function refusal(reason: string | undefined, message: string | undefined, fallback: Reason): Refusal {
  const known = reason === undefined ? undefined : reasonFrom(reason);
  if (known !== undefined) return { reason: known, message: message ?? REASONS[known] };
  const words = [reason, message].filter((it) => it !== undefined);
  return { reason: fallback, message: words.length === 0 ? REASONS[fallback] : words.join(': ') };
}

function readSupportedKind(kind: z.output<typeof Kind>): SupportedKind[] {
  const network = networkFrom(kind.network);
  const feePayer = kind.extra?.['feePayer'];
  if (kind.x402Version !== 2 || network === undefined || typeof feePayer !== 'string' || !isAddress(feePayer))
    return [];
  const hint = readHint(kind.extra ?? {});
  return [{ scheme: kind.scheme, network, feePayer, ...defined({ hint }) }];
}

function readHint(extra: Readonly<Record<string, unknown>>): BlockhashHint | undefined {
  const blockhash = extra['recentBlockhash'];
  const height = extra['lastValidBlockHeight'];
  if (typeof blockhash !== 'string' || !isAddress(blockhash)) return undefined;
  const lastValidBlockHeight = typeof height === 'string' && /^\d{1,16}$/.test(height) ? Number(height) : height;
  if (typeof lastValidBlockHeight !== 'number' || !Number.isSafeInteger(lastValidBlockHeight)) return undefined;
  return lastValidBlockHeight < 0 ? undefined : { blockhash, lastValidBlockHeight };
}

function readResponse<S extends z.ZodType>(schema: S, body: unknown): Parsed<z.output<S>> {
  const fault = jsonFault(body);
  if (fault !== undefined) return unparsed(fault);
  const shape = schema.safeParse(body);
  return shape.success ? parsed(shape.data) : unparsed(firstFault(shape.error.issues));
}

/** Reasons that other facilitators give, under their own names; those of version 1 have no prefix. */
const ALIASES: ReadonlyMap<string, Reason> = new Map<string, Reason>([
  ['invalid_scheme', 'invalid_exact_svm_unsupported_scheme'],
  ['unsupported_scheme', 'invalid_exact_svm_unsupported_scheme'],
  ['network_mismatch', 'invalid_exact_svm_network_mismatch'],
  ['fee_payer_not_managed_by_facilitator', 'invalid_exact_svm_fee_payer_not_managed_by_facilitator'],
  ['invalid_payment_requirements', 'invalid_payload'],
  ['invalid_exact_svm_payload_transaction', 'invalid_exact_svm_payload_transaction_could_not_be_decoded'],
  ['invalid_exact_svm_payload_unknown_fourth_instruction', 'invalid_exact_svm_payload_unknown_optional_instruction'],
  ['invalid_exact_svm_payload_unknown_fifth_instruction', 'invalid_exact_svm_payload_unknown_optional_instruction'],
  ['invalid_exact_svm_payload_unknown_sixth_instruction', 'invalid_exact_svm_payload_unknown_optional_instruction'],
  ['invalid_exact_svm_payload_unknown_seventh_instruction', 'invalid_exact_svm_payload_unknown_optional_instruction'],
]);

/** The reason that a text of another facilitator means; undefined when it is none that is known here. */
function reasonFrom(text: string): Reason | undefined {
  return isReason(text) ? text : ALIASES.get(text);
}
