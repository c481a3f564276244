import { filledWith } from '../filled-with.js';
import { heldInWords, type MustHold, type MustHoldTexts, wayInWords } from '../must-hold.js';
import { shortened } from '../shortened.js';
import { timeInWords, waitInWords } from '../times.js';
import { reasonInWords, type ToldReason } from './reason-words.js';
import type { ReasonTexts, RefusalTexts } from './refusal-texts.js';

/** What keeps a wallet from being let in. */
export type Lack = {
  /** The wallet that was looked at, base58. */
  readonly wallet: string;
} & (
  | {
      readonly kind: 'amount';
      /** Decimal, in whole tokens or NFTs. */
      readonly held: string;
      /** The least that would do. */
      readonly needed: MustHold;
    }
  /** It has enough, but not for long enough. */
  | { readonly kind: 'time'; readonly heldMs: number; readonly neededMs: number }
  /** Another wallet has come in for the same holder, and it is nobody else's turn in this time. */
  | { readonly kind: 'turn'; readonly neededMs: number }
  | { readonly kind: 'denied' }
);

/** Why something opened nothing, with what a wallet lacks where that is why. */
export interface ToldRefusal extends ToldReason {
  readonly lack?: Lack | undefined;
}

/** How it is said in one language. */
export interface RefusalWords extends MustHoldTexts {
  readonly language: string;
  readonly tooLittle: string;
  readonly refusals: RefusalTexts;
  readonly reasons: ReasonTexts;
}

/** What a page is headed by that lets a wallet not in. */
export function refusalHeading({ code, lack }: ToldRefusal, { language, tooLittle, refusals }: RefusalWords): string {
  if (lack?.kind === 'time') {
    return filledWith(refusals.comeBackIn, { time: waitInWords(lack.neededMs - lack.heldMs, language) });
  }
  if (lack?.kind === 'turn') return refusals.comeBackLater;
  return lack?.kind === 'amount' || !NOT_LET_IN.has(code) ? tooLittle : refusals.notLetIn;
}

const NOT_LET_IN: ReadonlySet<string> = new Set(['wallet_denied', 'wallet_suspended', 'wallet_too_large']);

/** Why something opened nothing, for people in their language. */
export function refusalInWords(refusal: ToldRefusal, texts: RefusalWords): string {
  const { lack } = refusal;
  if (lack === undefined) return reasonInWords(refusal, texts.reasons);
  const { language, refusals } = texts;
  const wallet = shortened(lack.wallet);
  if (lack.kind === 'denied') return filledWith(refusals.denied, { wallet });
  if (lack.kind === 'amount') {
    const { held, needed } = lack;
    const { tier: _tier, ...what } = needed;
    const words = { held: heldInWords({ ...what, amount: held }, texts), needed: wayInWords(needed, texts) };
    return filledWith(refusals.holdsTooLittle, { wallet, ...words });
  }
  const text = lack.kind === 'time' ? refusals.heldTooShort : refusals.otherCameIn;
  return filledWith(text, { wallet, needed: timeInWords(lack.neededMs, language) });
}

/** The one of two lacks that is made up for sooner; the later one where that cannot be said. */
export function nearerLack(one: Lack | undefined, other: Lack | undefined): Lack | undefined {
  if (one === undefined || other === undefined) return other ?? one;
  if (RANK[one.kind] !== RANK[other.kind]) return RANK[one.kind] < RANK[other.kind] ? one : other;
  if (one.kind !== 'amount' || other.kind !== 'amount' || one.needed.token !== other.needed.token) return other;
  return isLess(one.needed.amount, other.needed.amount) ? one : other;
}

const RANK: Readonly<Record<Lack['kind'], number>> = { time: 0, turn: 1, amount: 2, denied: 3 };

/** Of exact decimal texts. */
function isLess(one: string, other: string): boolean {
  const places = Math.max(...[one, other].map((it) => it.split('.')[1]?.length ?? 0));
  const [first = 0n, second = 0n] = [one, other].map((it) => {
    const [whole = '', fraction = ''] = it.split('.');
    return BigInt(whole + fraction.padEnd(places, '0'));
  });
  return first < second;
}
