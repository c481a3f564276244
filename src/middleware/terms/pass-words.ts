import { createRequestNote } from '../../lib/http/request-note.js';
import { type Bought, boughtInWords } from '../../pages/texts/bought.js';
import { EN } from '../../pages/texts/en.js';
import type { Terms, Token } from '../../protocol/types.js';
import { namedMoney, type SoldPass } from './credit-costs.js';

type Paid = Pick<Terms, 'asset' | 'amount'>;

/** What a payment of some money buys by a rule. */
export function boughtBy(rule: SoldPass, { asset, amount }: Paid, tokens: readonly Token[]): Bought {
  const { uses, group, forMs, graceMs, byMint } = rule;
  if (byMint === undefined) return { uses, group, forMs, graceMs };
  const cost = byMint.get(asset);
  const credit = {
    amount: namedMoney(amount, asset, tokens),
    cost: cost && namedMoney(cost.amount, cost.mint, tokens),
    isStream: cost?.stream ?? false,
  };
  return { credit, group, forMs, graceMs };
}

/** The same in words, as programs are told it, whatever their language: `1 USDC of credit within 30 days, at most 0.001 USDC a request`. */
export function passInWords(rule: SoldPass, paid: Paid, tokens: readonly Token[]): string {
  return boughtInWords(boughtBy(rule, paid, tokens), EN);
}

/** What terms buy, beside the words for programs in them: pages say it in their readers' language. */
export const boughtNotes = createRequestNote<Terms, Bought>();
