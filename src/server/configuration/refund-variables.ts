import { z } from 'zod';
import { readBounds } from '../../facilitator/refunds/refund-options.js';
import { defined } from '../../lib/defined.js';
import type { Token } from '../../protocol/types.js';
import { keyText } from './configuration-files.js';

/** What the environment says of refunds. */
export interface RefundConfiguration {
  /** `REFUND_KEYPAIR`: path of a key file, base58 text, or JSON array. The wallet that pays refunds, and nothing else. */
  readonly keypair: string;
  /** `REFUND_MAX`: most that one refund pays, `$10` or `$10, 10 USDT`. Default: the facilitator's, `$10`. */
  readonly max?: readonly string[];
  /** `REFUND_MAX_PER_DAY`: most that is refunded within 24 hours, in the same form. Default: the facilitator's, `$100`. */
  readonly maxPerDay?: readonly string[];
}

const MOST_CHARACTERS = 1_000;
const PRICES = 'a price such as "$10", or several in different tokens, separated by commas';
const prices = z
  .string()
  .max(MOST_CHARACTERS, PRICES)
  .transform((text) => text.split(',').map((it) => it.trim()));

/** The variables, each with its rule; amounts are looked at by {@link refundFaults}, which knows the tokens. */
export const REFUND_VARIABLES = {
  REFUND_KEYPAIR: keyText.optional(),
  REFUND_MAX: prices.optional(),
  REFUND_MAX_PER_DAY: prices.optional(),
};

const variables = z.object(REFUND_VARIABLES);
/** Those variables as they were read. */
export type RefundVariables = z.output<typeof variables>;

const BOUNDS = ['REFUND_MAX', 'REFUND_MAX_PER_DAY'] as const;

/** What is wrong with variables that were read: a bound of nothing, or one that is no price. */
export function refundFaults(env: RefundVariables, tokens: readonly Token[]): readonly string[] {
  return BOUNDS.flatMap((name) => {
    const given = env[name];
    if (given === undefined) return [];
    if (env.REFUND_KEYPAIR === undefined)
      return [`${name} bounds refunds, and there are none: set REFUND_KEYPAIR as well`];
    const read = readBounds(given, tokens);
    return read.ok ? [] : [`${name} must be ${PRICES}: ${read.detail}`];
  });
}

/** What variables that were read mean; undefined where nothing is refunded. */
export function refundsOf({
  REFUND_KEYPAIR: keypair,
  REFUND_MAX: max,
  REFUND_MAX_PER_DAY: maxPerDay,
}: RefundVariables): RefundConfiguration | undefined {
  return keypair === undefined ? undefined : { keypair, ...defined({ max, maxPerDay }) };
}
