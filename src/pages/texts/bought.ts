import { amountIn, decimalIn, type Money } from './amounts.js';
import { filledWith } from './filled-with.js';
import { timeInWords } from './times.js';

/** What a payment buys for more than one request. */
export interface Bought {
  /** How many requests. Default: any number, or credit. */
  readonly uses?: number | bigint | undefined;
  /** A balance that requests take from. */
  readonly credit?: BoughtCredit | undefined;
  /** Name of the group of gates that it is good for. Default: its own route alone. */
  readonly group?: string | undefined;
  /** For how long. Default: without an end. */
  readonly forMs?: number | undefined;
  /** How long behind its end paying again renews it. Default: it is not renewed. */
  readonly graceMs?: number | undefined;
}

interface BoughtCredit {
  readonly amount: Money;
  /** What a request takes of it. Default: not said. */
  readonly cost?: Money | undefined;
  /** Whether a response may take more as it goes on. */
  readonly isStream: boolean;
}

/** How it is said in one language; words in braces are put in. */
export interface BoughtTexts {
  readonly buysOne: string;
  readonly buysMany: string;
  readonly buysAny: string;
  readonly buysCredit: string;
  readonly buysOfGroup: string;
  readonly buysWithin: string;
  readonly buysRenewed: string;
  readonly buysRenewedToEnd: string;
  readonly buysCost: string;
  readonly buysStream: string;
}

/** What a payment buys, for people: `100 requests within 30 days`. */
export function boughtInWords(bought: Bought, texts: BoughtTexts & { readonly language: string }): string {
  const { group, forMs, graceMs, credit } = bought;
  const { language } = texts;
  let words = whatInWords(bought, texts);
  if (group !== undefined) words = filledWith(texts.buysOfGroup, { what: words, group });
  if (forMs !== undefined) words = filledWith(texts.buysWithin, { what: words, time: timeInWords(forMs, language) });
  if (graceMs !== undefined) {
    const text = graceMs < 1_000 ? texts.buysRenewedToEnd : texts.buysRenewed;
    words = filledWith(text, { what: words, time: timeInWords(graceMs, language) });
  }
  if (credit?.cost === undefined) return words;
  const cost = amountIn(language, credit.cost);
  return filledWith(credit.isStream ? texts.buysStream : texts.buysCost, { what: words, cost });
}

function whatInWords({ uses, credit }: Bought, texts: BoughtTexts & { readonly language: string }): string {
  const { language } = texts;
  if (credit !== undefined) return filledWith(texts.buysCredit, { amount: amountIn(language, credit.amount) });
  if (uses === undefined) return texts.buysAny;
  return BigInt(uses) === 1n ? texts.buysOne : filledWith(texts.buysMany, { count: decimalIn(language, String(uses)) });
}
