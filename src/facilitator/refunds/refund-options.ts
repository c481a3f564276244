import { z } from 'zod';
import { badOption } from '../../errors/errors.js';
import { type PriceInput, readPrice } from '../../protocol/money/money.js';
import type { Token } from '../../protocol/types.js';
import type { KeypairInput } from '../../solana/keypair.js';

/** How refunds are paid on the chain. */
export interface RefundOptions {
  /**
   * The key of the wallet that pays them: web3.js `Keypair`, 64 bytes, base58, or the JSON text of a key file. It needs a token account
   * for each token that is refunded, and no SOL; it may pay no fees and no splits. It signs nothing but refunds.
   */
  readonly keypair: KeypairInput;
  /** Most that one refund pays, in each token that may be refunded: `'$10'`, `['$10', '10 USDT']`. Default `'$10'`. */
  readonly max?: PriceInput | readonly PriceInput[] | undefined;
  /** Most that is refunded within 24 hours, in the same tokens. Default `'$100'`. */
  readonly maxPerDay?: PriceInput | readonly PriceInput[] | undefined;
}

const MAX_AMOUNT = 9_223_372_036_854_775_807n;
const WANTED = 'a price such as "$10", or a list with one for each token';
const prices = z.custom<PriceInput | readonly PriceInput[]>((it) => it !== undefined && it !== null, WANTED);

/** Schema of {@link RefundOptions}; the amounts are read by {@link readRefundBounds}. */
export const refundOptions = z
  .strictObject({
    keypair: z.custom<KeypairInput>((it) => it !== undefined && it !== null, 'the key that pays refunds'),
    max: prices.default('$10'),
    maxPerDay: prices.default('$100'),
  })
  .optional();

/** Bounds of refunds, by mint, in atomic units. */
export interface RefundBounds {
  readonly max: ReadonlyMap<string, bigint>;
  readonly maxPerDay: ReadonlyMap<string, bigint>;
}

/**
 * Reads how much may be refunded.
 * @throws TollhouseError `bad_option` where an amount is none, or a token has two
 */
export function readRefundBounds(
  where: string,
  { max, maxPerDay }: { readonly [K in 'max' | 'maxPerDay']: NonNullable<RefundOptions[K]> },
  tokens: readonly Token[],
): RefundBounds {
  return {
    max: amounts(where, 'refunds.max', max, tokens),
    maxPerDay: amounts(where, 'refunds.maxPerDay', maxPerDay, tokens),
  };
}

/** Amounts by mint, in atomic units; or what is wrong with them. */
export type ReadBounds =
  | { readonly ok: true; readonly value: ReadonlyMap<string, bigint> }
  | { readonly ok: false; readonly detail: string };

/** Reads one bound of refunds: a price, or several, each in a token of its own. */
export function readBounds(given: PriceInput | readonly PriceInput[], tokens: readonly Token[]): ReadBounds {
  const byMint = new Map<string, bigint>();
  for (const price of [given].flat()) {
    const read = readPrice(price, tokens);
    if (!read.ok) return { ok: false, detail: read.detail };
    const { asset, amount } = read.value;
    if (byMint.has(asset)) return { ok: false, detail: 'it names one token twice' };
    if (amount > MAX_AMOUNT) return { ok: false, detail: 'it is more than is kept of an amount' };
    byMint.set(asset, amount);
  }
  return { ok: true, value: byMint };
}

function amounts(
  where: string,
  option: string,
  given: PriceInput | readonly PriceInput[],
  tokens: readonly Token[],
): ReadonlyMap<string, bigint> {
  const read = readBounds(given, tokens);
  if (!read.ok) throw badOption(where, `option "${option}": ${read.detail}`, option);
  return read.value;
}
