import { UsageError } from '../command.js';

/** An amount of a token, in whole tokens. */
export interface PriceArgument {
  readonly amount: string;
  readonly token: string;
}

/** A price as people write it, `0.01 USDC` or `$0.01`. */
export function priceArgument(flag: string, text: string): PriceArgument {
  const [, dollars] = /^\$(\d+(?:\.\d+)?)$/.exec(text.trim()) ?? [];
  if (dollars !== undefined) return { amount: dollars, token: 'USDC' };
  const [, amount, token] = /^(\d+(?:\.\d+)?) +(\w+)$/.exec(text.trim()) ?? [];
  if (amount !== undefined && token !== undefined) return { amount, token };
  throw new UsageError(`${flag} must be an amount and a token such as "0.01 USDC", not "${text}"`);
}
