import type { Request } from 'express';
import { z } from 'zod';
import { firstFault, type Parsed, parsed, unparsed } from '../../lib/parsed.js';
import { isAddress } from '../../protocol/address.js';
import { readHeader } from '../../protocol/wire/json.js';

/** The header that asks a gate for the payment that a wallet would have to sign: base64 of JSON. */
export const PREPARE_HEADER = 'Prepare-Payment';

/** What is asked for with it. */
export interface PaymentWanted {
  /** The wallet, base58. */
  readonly payer: string;
  /** The offer that was chosen. Default: the first. */
  readonly asset?: string | undefined;
  readonly amount?: string | undefined;
}

const MAX_LENGTH = 1_000;
const address = z.string('an address').refine(isAddress, 'an address');
const wanted = z.strictObject({
  payer: address,
  asset: address.optional(),
  amount: z
    .string('an amount')
    .regex(/^\d{1,20}$/, 'an amount')
    .optional(),
});

/** Whether a request asks what it would have to pay with. */
export function isPreparing({ headers }: Request): boolean {
  return headers['prepare-payment'] !== undefined;
}

/** What a request asks to be prepared, or what is wrong with that. */
export function readPrepare({ headers }: Request): Parsed<PaymentWanted> {
  const text = headers['prepare-payment']?.toString() ?? '';
  if (text.length > MAX_LENGTH) return unparsed(`${PREPARE_HEADER} is longer than ${MAX_LENGTH} bytes.`);
  const json = readHeader(PREPARE_HEADER, text);
  if (!json.ok) return unparsed(`${json.detail}.`);
  const read = wanted.safeParse(json.value);
  return read.success ? parsed(read.data) : unparsed(`${PREPARE_HEADER}: ${firstFault(read.error.issues)}.`);
}
