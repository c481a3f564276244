/** What pages say of a wallet that is not let in, in one language; words in braces are put in. */
export interface RefusalTexts {
  /** Heads a page for a wallet that has enough, but not for long enough yet. */
  readonly comeBackIn: string;
  readonly comeBackLater: string;
  /** Heads a page for a wallet that is not let in, whatever it holds. */
  readonly notLetIn: string;
  readonly holdsTooLittle: string;
  readonly heldTooShort: string;
  /** Another wallet has come in for the same holder. */
  readonly otherCameIn: string;
  readonly denied: string;
}

/** Why a payment or a sign-in opened nothing, in one language, for causes that are told alike. */
export interface ReasonTexts {
  readonly suspended: string;
  readonly tooLarge: string;
  readonly noFunds: string;
  readonly ranOut: string;
  readonly failed: string;
  readonly notAsAsked: string;
  readonly mustWait: string;
  readonly used: string;
  /** It has landed before, and nothing of that is in the books: to pay again would be to pay twice. */
  readonly paidBefore: string;
  readonly priceChanged: string;
  readonly passOver: string;
  readonly passUsedUp: string;
  readonly passElsewhere: string;
  readonly signInOld: string;
  readonly signInWrong: string;
  readonly tooMany: string;
  readonly away: string;
  readonly notSetUp: string;
  /** Everything else; `{code}` and `{detail}`, which is English, are put in. */
  readonly other: string;
}
