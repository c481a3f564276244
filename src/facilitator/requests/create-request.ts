import { randomBytes } from 'node:crypto';
import { type ErrorCode, TollhouseError } from '../../errors/errors.js';
import { defined } from '../../lib/defined.js';
import { newId } from '../../lib/ids.js';
import { addressOf, isAddress } from '../../protocol/address.js';
import { addressText } from '../../protocol/address-input.js';
import { MAX_MEMO_BYTES } from '../../protocol/limits.js';
import { withAmountJson } from '../../protocol/money/amount-json.js';
import { parseDecimal } from '../../protocol/money/money.js';
import { type Leg, type Share, sharesFault, splitAmount } from '../../protocol/money/split.js';
import type { NetworkId, Token } from '../../protocol/types.js';
import type { PaymentRequestRecord } from '../../storage/ledger/payment-request.js';
import type { NewPaymentRequest, PaymentRequestInput } from './payment-request-types.js';

/** What is needed to accept a payment request. */
export interface RequestContext {
  readonly network: NetworkId;
  /** Finds a token by symbol or mint; undefined when there is none that can be paid in. */
  findToken(token: string): Promise<Token | undefined>;
  /** What to say of one that is not found, after its name. */
  tokenFault(token: string): Promise<string>;
  /** Keys that sign as fee payer; they neither pay nor are named as payer. */
  readonly managedKeys: ReadonlySet<string>;
  readonly now: () => number;
}

const DEFAULT_EXPIRY_SECONDS = 120;
const MIN_EXPIRY_SECONDS = 30;
const MAX_EXPIRY_SECONDS = 900;
const MAX_METADATA_BYTES = 2_048;
const REFERENCE_BYTES = 32;

/** The same with its addresses as text; what is no address is found out later. */
export function readAddresses({ token, recipient, payer, split, ...rest }: PaymentRequestInput): NewPaymentRequest {
  return {
    ...rest,
    token: addressText(token) ?? '',
    recipient: addressText(recipient) ?? '',
    ...(payer === undefined ? {} : { payer: addressText(payer) ?? '' }),
    ...(split === undefined
      ? {}
      : { split: split.map((it) => ({ ...it, recipient: addressText(it.recipient) ?? '' })) }),
  };
}

/** Checks what is asked for and makes the record of it. Rejects with the code of the first fault. */
export async function newPaymentRequest(
  asked: NewPaymentRequest,
  context: RequestContext,
): Promise<PaymentRequestRecord> {
  const { recipient, payer, memo, metadata } = asked;
  checkAsked(asked);
  const expiresIn = checkExpiry(asked.expiresInSeconds ?? DEFAULT_EXPIRY_SECONDS);
  const token = await context.findToken(asked.token);
  if (token === undefined)
    throw fault('invalid_token', 'token', `"${asked.token.slice(0, 64)}" ${await context.tokenFault(asked.token)}`);
  const amount = readAmount(asked.amount, token);
  const legs = readLegs(amount, recipient, asked.split);
  if (payer !== undefined) checkPayer(payer, legs, context);
  const createdAt = context.now();
  return withAmountJson({
    id: newId('pay'),
    network: context.network,
    token,
    amount,
    payTo: recipient,
    legs,
    reference: addressOf(randomBytes(REFERENCE_BYTES)),
    createdAt,
    expiresAt: createdAt + expiresIn * 1000,
    ...defined({ payer, memo, metadata }),
    ...asked.seller,
  });
}

/** Refuses what is wrong with a request whatever network it is for. */
export function checkAsked({
  recipient,
  memo,
  metadata,
}: Pick<NewPaymentRequest, 'recipient' | 'memo' | 'metadata'>): void {
  if (!isAddress(recipient)) throw fault('invalid_recipient', 'recipient', 'must be a Solana wallet address (base58)');
  checkNotes(memo, metadata);
}

/** Refuses a wallet that cannot be the payer of some legs. */
export function checkPayer(
  payer: string,
  legs: readonly Leg[],
  { managedKeys }: Pick<RequestContext, 'managedKeys'>,
): void {
  if (!isAddress(payer)) throw fault('invalid_payer', 'payer', 'must be a Solana wallet address (base58)');
  if (managedKeys.has(payer))
    throw fault('invalid_payer', 'payer', 'is a key of this facilitator, which pays for nothing but fees');
  if (legs.some(({ recipient }) => recipient === payer))
    throw fault('invalid_payer', 'payer', 'is a recipient of this payment, and cannot pay itself');
}

function checkNotes(memo: string | undefined, metadata: Readonly<Record<string, string>> | undefined): void {
  if (memo !== undefined && (memo === '' || Buffer.byteLength(memo) > MAX_MEMO_BYTES)) {
    throw fault('invalid_request', 'memo', `must have 1 to ${MAX_MEMO_BYTES} bytes of UTF-8`);
  }
  if (metadata !== undefined && Buffer.byteLength(JSON.stringify(metadata)) > MAX_METADATA_BYTES) {
    throw fault('invalid_request', 'metadata', `must have at most ${MAX_METADATA_BYTES} bytes as JSON`);
  }
}

function checkExpiry(seconds: number): number {
  if (Number.isInteger(seconds) && seconds >= MIN_EXPIRY_SECONDS && seconds <= MAX_EXPIRY_SECONDS) return seconds;
  const range = `${MIN_EXPIRY_SECONDS} to ${MAX_EXPIRY_SECONDS}`;
  throw fault('invalid_request', 'expires_in', `must be a whole number of seconds from ${range}`);
}

/** What is asked for, in atomic units of a token. */
export function readAmount(input: string | number, { decimals }: Pick<Token, 'decimals'>): bigint {
  const amount = parseDecimal(input, decimals);
  if (!amount.ok) throw fault('invalid_amount', 'amount', amount.detail);
  if (amount.value <= 0n) throw fault('invalid_amount', 'amount', 'must be more than zero');
  // The contract answers it as a JSON number, which must be exact.
  if (amount.value > BigInt(Number.MAX_SAFE_INTEGER)) throw fault('invalid_amount', 'amount', 'is too large');
  return amount.value;
}

function readLegs(amount: bigint, recipient: string, split: readonly Share[] | undefined): readonly Leg[] {
  if (split === undefined) return [{ recipient, amount }];
  const wrong = sharesFault(split);
  if (wrong !== undefined) throw splitFault(wrong);
  if (!split.some((it) => it.recipient === recipient)) throw splitFault('must name the recipient among its recipients');
  const legs = splitAmount(amount, split);
  if (legs.some((leg) => leg.amount === 0n)) throw splitFault('leaves a recipient with nothing of so small an amount');
  return legs;
}

function splitFault(what: string): TollhouseError {
  return fault('invalid_split', 'split', what);
}

function fault(code: ErrorCode, param: string, what: string): TollhouseError {
  return new TollhouseError(code, `${param} ${what}`, { param });
}
