import { badOption } from '../../errors/errors.js';
import type { Money } from '../../pages/texts/amounts.js';
import { formatAmount, readPrice } from '../../protocol/money/money.js';
import type { Terms, Token } from '../../protocol/types.js';
import type { PassRule } from './pass-option.js';

/** What a request takes of credit. */
export interface CreditCost {
  /** Mint of the credit, base58. */
  readonly mint: string;
  /** Atomic units: taken before the handler. */
  readonly amount: bigint;
  /** Whether more may be taken as its response goes on. */
  readonly stream: boolean;
}

/** What a request takes of credit in each token, by mint. */
export type CreditCosts = ReadonlyMap<string, CreditCost>;

/** A rule with the costs of its credit. */
export interface SoldPass extends PassRule {
  /** Undefined where it sells no credit. */
  readonly byMint: CreditCosts | undefined;
}

/** Balances are signed 64-bit integers. */
const MAX_CREDIT = 9_223_372_036_854_775_807n;

/**
 * Reads the costs of a rule; undefined where it sells no credit.
 * @param name - what it is called in messages, such as `option "pass"`
 * @throws TollhouseError `bad_option` where one is no price, or a token has two
 */
export function readCosts(
  where: string,
  { costs, stream }: PassRule,
  tokens: readonly Token[],
  name: string,
): CreditCosts | undefined {
  if (costs === undefined) return undefined;
  const byMint = new Map<string, CreditCost>();
  for (const cost of costs) {
    const read = readPrice(cost, tokens);
    if (!read.ok) throw badOption(where, `"cost" of ${name}: ${read.detail}`, 'pass');
    const { asset: mint, amount } = read.value;
    if (byMint.has(mint)) {
      throw badOption(where, `"cost" of ${name} says twice what a request takes of one token`, 'pass');
    }
    byMint.set(mint, { mint, amount, stream });
  }
  return byMint;
}

/**
 * Makes sure that a price can be sold as credit.
 * @throws TollhouseError `bad_option` where nobody says what a request takes in its token, or that is more than the price
 */
export function checkCredit(
  where: string,
  costs: CreditCosts,
  { asset, amount }: Pick<Terms, 'asset' | 'amount'>,
  tokens: readonly Token[],
): void {
  const cost = costs.get(asset);
  const price = amountText(amount, asset, tokens);
  if (cost === undefined) {
    const detail = `a price of ${price} is sold as credit, and "cost" of its pass names none in that token: give one for each token that is offered`;
    throw badOption(where, detail, 'pass');
  }
  if (cost.amount > amount) {
    const costText = amountText(cost.amount, asset, tokens);
    throw badOption(
      where,
      `"cost" of a pass (${costText}) is more than its price (${price}), which buys no request`,
      'pass',
    );
  }
  if (amount > MAX_CREDIT) throw badOption(where, `a price of ${price} is more than credit can hold`, 'price');
}

/**
 * Makes sure that what a request takes is certain, whatever payment its credit is of.
 * @throws TollhouseError `bad_option` where two rules that cover the same differ
 */
export function checkAlike(where: string, rules: readonly Pick<SoldPass, 'group' | 'byMint'>[]): void {
  const known = new Map<string, CreditCost>();
  for (const { group = '', byMint } of rules) {
    for (const cost of byMint?.values() ?? []) {
      const key = `${group} ${cost.mint}`;
      const { amount, stream } = known.get(key) ?? cost;
      if (amount !== cost.amount || stream !== cost.stream) {
        const detail =
          'two offers of credit in one token that cover the same routes must have the same "cost" and "stream"; give them different groups, or one cost';
        throw badOption(where, detail, 'price');
      }
      known.set(key, cost);
    }
  }
}

/** An amount in words: `0.5 USDC`, `5 units of …`. */
export function amountText(amount: bigint, mint: string, tokens: readonly Token[]): string {
  const money = namedMoney(amount, mint, tokens);
  return `${money.amount} ${money.token}`;
}

/** The same, to be said in a language. */
export function namedMoney(amount: bigint, mint: string, tokens: readonly Token[]): Money {
  const token = tokens.find((it) => it.mint === mint);
  if (token === undefined) return { amount: String(amount), token: `units of ${mint}` };
  return { amount: formatAmount(amount, token.decimals), token: token.symbol };
}

/** An amount for programs: digits, a space, and the symbol, `0.9996 USDC`; where the token has none here, atomic units and the mint. */
export function creditText(
  amount: bigint,
  mint: string,
  tokens: readonly Pick<Token, 'symbol' | 'mint' | 'decimals'>[],
): string {
  const token = tokens.find((it) => it.mint === mint);
  return token === undefined ? `${amount} ${mint}` : `${formatAmount(amount, token.decimals)} ${token.symbol}`;
}
