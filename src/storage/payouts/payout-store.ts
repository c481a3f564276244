import type { Leg } from '../../protocol/money/split.js';
import type { NetworkId } from '../../protocol/types.js';

/**
 * Where a payout stands: `created → broadcast → paid`, or `failed`. What a failed one was to pay is owed again, so that it
 * is only failed when its transaction can never land.
 */
export type PayoutState = 'created' | 'broadcast' | 'paid' | 'failed';

/**
 * Why something is not paid. Of a recipient: it has no token account, its token account has passed to another wallet, or
 * the token program refuses transfers to it; or what it is owed is less than a payment is made for, or too young for a token
 * of which nobody knows the worth; or it was paid by a payout that the books do not know (`unknown_payout`), as it is after a
 * backup was restored. Of a payout: the split wallet holds too little, the money is in another wallet
 * than the one that the service has the key of, its transaction failed on the chain, did not land in time, or nobody can
 * say any more whether it landed (`outcome_unknown`: it stays sent, and somebody has to look).
 */
export const HELD_REASONS = [
  'recipient_token_account_missing',
  'recipient_token_account_not_owned',
  'transfer_refused',
  'below_minimum',
  'too_early',
  'split_wallet_short',
  'split_wallet_replaced',
  'failed_on_chain',
  'expired',
  'outcome_unknown',
  'unknown_payout',
] as const;

/** One of {@link HELD_REASONS}. */
export type HeldReason = (typeof HELD_REASONS)[number];

/** Money in one split wallet that belongs to one project, in one token. */
export interface OwedAccount {
  readonly projectId: string;
  readonly network: NetworkId;
  /** The split wallet that holds it, base58. */
  readonly wallet: string;
  /** Base58. */
  readonly mint: string;
}

/** What one recipient is owed of an account, and is in no payout yet. */
export interface OwedSum extends OwedAccount {
  /** Base58. */
  readonly recipient: string;
  /** Atomic units; may need more than 64 bits. */
  readonly amount: bigint;
  /** Of how many payments. */
  readonly payments: number;
  /** When the oldest of them was made, milliseconds since the epoch. */
  readonly oldestAt: number;
  /** Why the last attempt did not pay it. */
  readonly held?: HeldReason;
  /** Until when it is not tried again by itself, milliseconds since the epoch; 0 where it is not held. */
  readonly heldUntil: number;
}

/** What an account owes that may be tried now. */
export interface OwedTotal extends OwedAccount {
  /** Atomic units. */
  readonly amount: bigint;
  /** Milliseconds since the epoch. */
  readonly oldestAt: number;
}

/** A transaction that pays a payout, fully signed, as it is recorded before it is sent. */
export interface SignedPayout {
  /** Base58. */
  readonly signature: string;
  readonly transaction: Uint8Array;
  /** Base58. */
  readonly blockhash: string;
  readonly lastValidBlockHeight: number;
  /** A slot that the chain had reached before it was signed: what it may have landed in comes later. Missing in old records. */
  readonly signedSlot?: number;
}

/** A payout: one transaction that pays several recipients. */
export interface PayoutRecord extends OwedAccount {
  /** `pyo_` and base58 of 16 random bytes; the memo of its transaction. */
  readonly id: string;
  /** Wallet of the project's owner, base58. */
  readonly owner: string;
  readonly state: PayoutState;
  /** One for each recipient. */
  readonly legs: readonly Leg[];
  /** Their sum, atomic units. */
  readonly total: bigint;
  /** From `broadcast` on. */
  readonly signed?: SignedPayout;
  /** When it was signed, milliseconds since the epoch. */
  readonly signedAt?: number;
  /** Slot it landed in. */
  readonly slot?: number;
  /** Why it failed, or why nothing is known. */
  readonly reason?: HeldReason;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A payout as the chain shows it, signed by the split wallet. */
export interface LandedPayout {
  /** The memo of its transaction. */
  readonly id: string;
  /** Base58. */
  readonly signature: string;
  /** The split wallet, base58. */
  readonly wallet: string;
  /** Base58. */
  readonly mint: string;
  /** One for each recipient. */
  readonly legs: readonly Leg[];
  readonly slot: number;
  /** Base58. */
  readonly blockhash: string;
  /** When its block was made, milliseconds since the epoch; old nodes do not tell. */
  readonly blockTime?: number;
}

/** A landed payout as it was booked. */
export interface BookedLanding {
  readonly payout: PayoutRecord;
  /** What it has paid for payments that the books do not have, atomic units. */
  readonly beyond: bigint;
}

/** Why a payout is not made, and what that means for what is owed. */
export interface PayoutFailure {
  readonly reason: HeldReason;
  /** The recipient whose fault it is, if it is one's: the others can be paid at once. */
  readonly recipient?: string;
  /** Until when nothing of it is tried again by itself, milliseconds since the epoch. */
  readonly heldUntil: number;
  /** Signature that the caller knows the payout by; a payout that has been signed since does not fail. */
  readonly signature?: string;
}

/** Where a page of payouts begins: after this one. */
export interface PayoutPosition {
  readonly createdAt: number;
  readonly id: string;
}

/**
 * The book of what is owed for payments that went to a split wallet, and of the payouts that pay it. What is
 * owed is in one payout at most: it is owed, or it is being paid, or it is paid. Every method is one atomic step, or can be
 * interrupted and goes on with the next call. Methods that take a lease return false, and change nothing, when the lease
 * has passed to somebody else.
 */
export interface PayoutStore {
  /** Books what is owed of payments that have landed, and were not booked yet. Returns how many payments it were. */
  accrue(limit: number): Promise<number>;
  /** What a project owes and is in no payout, by recipient and token. */
  owed(projectId: string): Promise<readonly OwedSum[]>;
  /** What can be tried now, in every account of a wallet: nothing of it is held. */
  ready(network: NetworkId, wallet: string): Promise<readonly OwedTotal[]>;
  /**
   * What a wallet must hold of a token, atomic units: all that is owed from it and is not paid, payouts under way included,
   * whichever projects it belongs to.
   */
  due(network: NetworkId, wallet: string, mint: string): Promise<bigint>;
  /** Notes why a recipient cannot be paid from an account, and until when nobody need try. */
  hold(account: OwedAccount, recipient: string, reason: HeldReason, until: number): Promise<void>;
  /**
   * Makes a payout of all that an account owes to some recipients, at most 8, and its event `payout.created`. Undefined when
   * nothing is owed to them.
   */
  plan(account: OwedAccount, recipients: readonly string[]): Promise<PayoutRecord | undefined>;
  /**
   * Takes payouts that are not over and that nobody holds, oldest first, whichever wallet they are of; whose process is gone is held by
   * nobody.
   * @param lease - random; names the holder in all later calls
   * @param leaseMs - how long they are the caller's, in milliseconds
   */
  take(network: NetworkId, lease: string, leaseMs: number, limit: number): Promise<readonly PayoutRecord[]>;
  /** Takes one payout that is not over, if nobody is at work on it, whenever it was to be looked at again. */
  takeOne(id: string, lease: string, leaseMs: number): Promise<PayoutRecord | undefined>;
  /** A payout by its id. */
  find(id: string): Promise<PayoutRecord | undefined>;
  /** Payouts that are not over, of all projects, the oldest first; at most {@link MAX_UNFINISHED}. */
  unfinished(): Promise<readonly PayoutRecord[]>;
  /** What is owed and held back, of all projects, the oldest first; at most {@link MAX_UNFINISHED}. */
  heldBack(): Promise<readonly OwedSum[]>;
  /** All that is owed and in no payout, of all projects, deleted ones too, the oldest first; at most {@link MAX_UNFINISHED}. */
  owedByAll(): Promise<readonly OwedSum[]>;
  /** Signatures of some payouts, by id; those that have none, or are not known, are missing. */
  signaturesOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Since when the oldest of what a wallet owes and has not paid is owed, milliseconds since the epoch. */
  owedSince(network: NetworkId, wallet: string): Promise<number | undefined>;
  /**
   * Books a payout that has landed and that the books do not know, as paid; with the event `payout.paid`. It has paid to the
   * atomic unit what one project owes to its recipients, the oldest first; or all that one project owed to them before it landed,
   * and something beyond that. Undefined, and nothing is booked, where it fits no project, or more than one.
   */
  bookLanded(network: NetworkId, landed: LandedPayout): Promise<BookedLanding | undefined>;
  /** Notes the transaction, before it is sent. Only a payout that has none gets one. */
  recordSigned(id: string, lease: string, signed: SignedPayout): Promise<boolean>;
  /** It has landed; with the event `payout.paid`. */
  recordPaid(id: string, lease: string, slot: number): Promise<boolean>;
  /** It never lands; what it was to pay is owed again. With the event `payout.failed`. */
  recordFailed(id: string, lease: string, failure: PayoutFailure): Promise<boolean>;
  /** Gives it back, to be taken again after a time (milliseconds since the epoch), and notes why where that is known. */
  release(id: string, lease: string, until: number, reason?: HeldReason): Promise<boolean>;
  /** The wallet whose project it is, as long as anything is known of what the project owes or has paid; base58. */
  ownerOf(projectId: string): Promise<string | undefined>;
  /** Payouts of a project, newest first. */
  list(projectId: string, limit: number, after?: PayoutPosition): Promise<readonly PayoutRecord[]>;
  /**
   * Forgets what was owed and was paid before a time, milliseconds since the epoch; the payouts stay.
   * @param limit - how many rows go at most
   * @returns how many went
   */
  prune(before: number, limit: number): Promise<number>;
}

/** Most recipients of one payout: their transfers must fit into one transaction. */
export const MAX_PAYOUT_LEGS = 8;

/** Most payouts, or sums, that are listed of all projects. */
export const MAX_UNFINISHED = 1_000;
