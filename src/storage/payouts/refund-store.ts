import type { NetworkId } from '../../protocol/types.js';
import type { SignedPayout } from './payout-store.js';

/**
 * Where a refund stands: `planned → taken → broadcast → paid`, or `failed`. `planned`: it counts, and nothing is done yet. `taken`: the
 * credit that it pays out is out of use. What a failed one has taken is given back in the same step, so that it is only failed when its
 * transaction can never land.
 */
export type RefundState = 'planned' | 'taken' | 'broadcast' | 'paid' | 'failed';

/**
 * Why a refund is not paid: its credit was used before it could be taken; the refund wallet holds too little, or was replaced before the
 * refund was signed; the payer has no token account, has sold it, or the token program refuses the transfer; its transaction failed on the
 * chain, did not land in time, or nobody can say any more whether it landed (`outcome_unknown`: it stays sent, and somebody has to look); or the
 * chain has a refund to the payer that the books do not know, and that does not say of which payment it is (`unknown_refund`).
 */
export const REFUND_FAULTS = [
  'credit_used',
  'refund_wallet_short',
  'refund_wallet_replaced',
  'recipient_token_account_missing',
  'recipient_token_account_not_owned',
  'transfer_refused',
  'failed_on_chain',
  'expired',
  'outcome_unknown',
  'unknown_refund',
] as const;

/** One of {@link REFUND_FAULTS}. */
export type RefundFault = (typeof REFUND_FAULTS)[number];

/** What is to be refunded. */
export interface NewRefund {
  /** `rfd_` and base58 of 20 bytes that are made of the payment's id and the count of its refunds; the memo of its transaction, and the name of its debit. */
  readonly id: string;
  readonly paymentId: string;
  /** The pass that the payment has made. */
  readonly passId: string;
  readonly network: NetworkId;
  /** The wallet that pays it, base58. */
  readonly wallet: string;
  /** The payer, base58. */
  readonly recipient: string;
  /** Who is told of it: the wallet that was paid, or the project's owner, base58. */
  readonly owner: string;
  readonly projectId?: string;
  /** Base58. */
  readonly mint: string;
  /** Atomic units. */
  readonly amount: bigint;
  /** What it takes of the pass: uses, or atomic units. */
  readonly taken: bigint;
}

/** A refund: one transaction to the payer. */
export interface RefundRecord extends NewRefund {
  readonly state: RefundState;
  /** From `broadcast` on. */
  readonly signed?: SignedPayout;
  /** Slot it landed in. */
  readonly slot?: number;
  /** Why it failed, or why nothing is known. */
  readonly reason?: RefundFault;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** One that was paid, as those are told who hear of it. */
export type PaidRefund = NewRefund & Pick<RefundRecord, 'signed' | 'slot'>;

/** A pass of uses or of credit, whatever is left of it. */
export interface RefundablePass {
  readonly passId: string;
  readonly paymentId: string;
  /** Uses, or atomic units. */
  readonly bought: bigint;
}

/** How much may be refunded in a token. */
export interface RefundBound {
  /** Atomic units, in all. */
  readonly amount: bigint;
  /** Counted are refunds since then that have not failed, milliseconds since the epoch. */
  readonly since: number;
}

/**
 * The book of refunds. One is under way for a payment at most. Every method is one atomic step. Methods that take a lease return false,
 * and change nothing, when the lease has passed to somebody else. Rejects with `store_unavailable` when the database cannot be reached.
 */
export interface RefundStore {
  /** Begins a refund for the caller, who holds it; false where one is under way for the payment, or it would pass the bound. */
  plan(refund: NewRefund, bound: RefundBound, lease: string, leaseMs: number): Promise<boolean>;
  /** A refund by its id. */
  find(id: string): Promise<RefundRecord | undefined>;
  /** The refunds of a payment, the newest first, at most {@link MOST_REFUNDS}. */
  ofPayment(paymentId: string): Promise<readonly RefundRecord[]>;
  /**
   * Whether requests have taken of a pass what they were not given back, what refunds have taken aside.
   * @param since - since when, milliseconds since the epoch
   * @param request - one that counts whenever it has taken it. Default: none
   */
  isHeld(passId: string, since: number, request?: string): Promise<boolean>;
  /**
   * Passes of a wallet of which something could be paid back, used up and revoked ones among them, by their ids, some at a time.
   * @param after - id of the last one of those before. `''`: from the first
   */
  refundable(wallet: string, after: string): Promise<readonly RefundablePass[]>;
  /** Whether the refunds of a wallet on a network were looked for that books have lost which were restored at this very time, milliseconds since the epoch: clocks may run back between two restores. */
  isSearched(network: NetworkId, wallet: string, restoredAt: number): Promise<boolean>;
  /** They were: none of them is missing any more. */
  noteSearched(network: NetworkId, wallet: string, restoredAt: number): Promise<void>;
  /** What refunds since a time have paid, or may still pay, in a token, atomic units. */
  sumSince(network: NetworkId, mint: string, since: number): Promise<bigint>;
  /**
   * Books one that the chain has and the books do not, as paid, with the event `payment.refunded`; whoever was at work on it holds it no more.
   * It takes of its pass what is there, up to `taken`, even where that is revoked or over: it was paid, whatever the pass says. Another one of
   * the payment that was begun and not signed fails: what it has taken is this one's. False, and
   * nothing is changed, where it is booked with a transaction already.
   */
  bookLanded(refund: NewRefund, signed: SignedPayout, slot: number): Promise<boolean>;
  /** Takes refunds that are under way and that nobody holds, the oldest first; whose process is gone is held by nobody. */
  take(network: NetworkId, lease: string, leaseMs: number, limit: number): Promise<readonly RefundRecord[]>;
  /** Its credit is taken. */
  recordTaken(id: string, lease: string): Promise<boolean>;
  /** Notes the transaction, before it is sent. Only a refund that has none gets one. */
  recordSigned(id: string, lease: string, signed: SignedPayout): Promise<boolean>;
  /** Its transaction never lands: it has none any more, and its credit stays taken. */
  recordExpired(id: string, lease: string): Promise<boolean>;
  /** It has landed; with the event `payment.refunded`. */
  recordPaid(id: string, lease: string, slot: number): Promise<boolean>;
  /** It never lands: what it has taken is given back to the pass. */
  recordFailed(id: string, lease: string, reason: RefundFault): Promise<boolean>;
  /** Gives it back, to be taken again after a time (milliseconds since the epoch), and notes why where that is known. */
  release(id: string, lease: string, until: number, reason?: RefundFault): Promise<boolean>;
}

/** How many refunds of a payment are listed. */
export const MOST_REFUNDS = 100;
