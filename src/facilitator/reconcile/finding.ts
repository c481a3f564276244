/** What a finding is about. */
export type FindingKind =
  | 'payment'
  | 'request'
  | 'transaction'
  | 'owed'
  | 'payout'
  | 'refund'
  | 'balance'
  | 'call'
  | 'figure'
  | 'spending'
  | 'credit'
  | 'pass'
  | 'event';

/** Something that books and chain, or two of the books, do not agree on. */
export interface Finding {
  readonly kind: FindingKind;
  /** Ids, addresses and signatures by which it is found again, the most telling one first. */
  readonly ids: readonly string[];
  /** What the books say, and what the chain says or the other book. */
  readonly detail: string;
  /** What to do about it. */
  readonly advice: string;
}

/** Takes what checks find. */
export interface Findings {
  /** Books and chain differ. */
  differs(finding: Finding): void;
  /** Worth a look, and no difference. */
  notes(finding: Finding): void;
}

/**
 * Enough of a signature to know it again: 70 bits. Twelve characters are copied; those of a million payments must have room. They
 * are the last ones: who signs can choose how a signature begins.
 */
const KEY_LENGTH = 12;

/** A signature as it is remembered. */
export function keyOf(signature: string): string {
  return signature.slice(-KEY_LENGTH);
}

/**
 * A node may tell of a transaction by the slot in which it had got so far, and it or we may have been slow: some later than the
 * one that it landed in.
 */
const MAX_SLOTS_LATER = 3_000;

/** Whether a slot in the books may be that of a transaction. */
export function mayBeSlotOf(booked: number, landed: number): boolean {
  return booked >= landed && booked - landed <= MAX_SLOTS_LATER;
}

/** Shares as text. */
export function shownLegs(legs: readonly { readonly recipient: string; readonly amount: bigint }[]): string {
  if (legs.length === 0) return 'nothing';
  return legs.map(({ recipient, amount }) => `${amount} to ${recipient}`).join(', ');
}

/** Whether two lists of shares are the same, in whatever order; a recipient occurs once in each. */
export function sameLegs(
  one: readonly { readonly recipient: string; readonly amount: bigint }[],
  other: readonly { readonly recipient: string; readonly amount: bigint }[],
): boolean {
  const amounts = new Map(other.map(({ recipient, amount }) => [recipient, amount]));
  return one.length === other.length && one.every(({ recipient, amount }) => amounts.get(recipient) === amount);
}
