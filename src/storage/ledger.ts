import type { Reason } from '../protocol/reasons.js';
import type { Leg } from '../protocol/split.js';
import type { NetworkId, Terms, Token } from '../protocol/types.js';
import type { EventRecord } from './events.js';

/**
 * Where a payment stands (design.md §2): `claimed → broadcast → confirmed → served`, or `expired`, or `failed`.
 * `expired` and `failed` are final: the money did not move and never will.
 */
export type PaymentState = 'claimed' | 'broadcast' | 'confirmed' | 'served' | 'expired' | 'failed';

/** One payment: one row, one life. */
export interface PaymentRecord {
  /** SHA-256 of the transaction's message, hexadecimal: other bytes in the signature slots are the same payment. */
  readonly id: string;
  readonly state: PaymentState;
  /** What was bought: the resource and a fingerprint of the terms. The same transaction for anything else is refused. */
  readonly binding: string;
  readonly payer: string;
  readonly terms: Terms;
  /** Recorded before the transaction is sent. Missing where another facilitator signs. */
  readonly signature?: string;
  /** Blockhash of the transaction, base58, and the height after which it is dead, where known. */
  readonly blockhash: string;
  readonly lastValidBlockHeight?: number;
  /** Slot it landed in. */
  readonly slot?: number;
  /** Why it failed. */
  readonly reason?: Reason;
  /** Milliseconds since the epoch. */
  readonly claimedAt: number;
  /** Wallet that is told about it, base58, where that is not the one that is paid: the owner of the project. */
  readonly owner?: string;
  /** The project whose upstream it pays for. */
  readonly projectId?: string;
  /** Who gets how much of it, where it goes to a wallet that only holds it for them (service.md §5, "Revenue split"). */
  readonly owed?: readonly Leg[];
}

/**
 * A payment that was asked for and is not made yet (interface-specification.md, "Payment request"). What becomes of it is
 * the life of the payment that `attempt` names.
 */
export interface PaymentRequestRecord {
  /** `pay_` and base58 of 16 random bytes. */
  readonly id: string;
  readonly network: NetworkId;
  readonly token: Token;
  /** Atomic units, the sum of the legs. */
  readonly amount: bigint;
  /** The recipient that was named, base58. */
  readonly payTo: string;
  readonly legs: readonly Leg[];
  /** Fresh public key that the paying transaction must name, base58 (Solana Pay). */
  readonly reference: string;
  /** The payer, if it was named; anybody may pay all the same. */
  readonly payer?: string;
  readonly memo?: string;
  /** Whatever the seller wants to find again. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Id of the payment that pays it, or tries to. */
  readonly attempt?: string;
  /** The project that it was made for, and its owner's wallet. */
  readonly projectId?: string;
  readonly owner?: string;
  /** The service key under which it was made: only this key's caller may use it as a proof. */
  readonly keyId?: string;
}

/** How many accounts of a transaction may be its reference: those that nothing else explains. */
export const MAX_REFERENCES = 8;

/** Who wants to serve which payment, and for how long it may hold it. */
export interface ClaimRequest
  extends Pick<PaymentRecord, 'id' | 'binding' | 'payer' | 'terms' | 'blockhash' | 'owner' | 'projectId' | 'owed'> {
  /** Random; names this holder in all later calls. */
  readonly lease: string;
  /** After this long the claim of a holder that vanished can be taken over. Milliseconds. */
  readonly leaseMs: number;
}

/**
 * `won`: the payment is the caller's until it is completed or released; `record.state` tells whether it was begun before.
 * `busy`: somebody else holds it right now. `closed`: it is over, or it was made for something else.
 */
export interface ClaimResult {
  readonly status: 'won' | 'busy' | 'closed';
  readonly record: PaymentRecord;
}

/** What is known of a transaction right before it is sent. */
export type Broadcast = Pick<PaymentRecord, 'signature' | 'lastValidBlockHeight'>;

/** Which payments are looked after that nobody brings to an end. */
export interface UnresolvedQuery {
  readonly network: NetworkId;
  /** How long those that are answered are not answered again, whoever asks. Milliseconds. */
  readonly restMs: number;
  /** How many at most. */
  readonly limit: number;
}

/** Money that landed before its payment was heard of, and the events that tell of it. */
export interface LandedMoney {
  readonly slot: number;
  readonly signature: string;
  /** A ledger in memory keeps none. */
  readonly events?: readonly EventRecord[];
}

/** How a transaction ended on the chain. */
export type Outcome =
  | { readonly state: 'confirmed'; readonly slot: number; readonly signature: string }
  | { readonly state: 'expired' | 'failed'; readonly reason: Reason };

/**
 * The durable truth about payments. Every method is one atomic step. Methods that take a lease answer false, and change
 * nothing, when the lease has passed to somebody else: the caller must then stop. The same holds for what would take
 * back a payment whose money has landed.
 */
export interface Ledger {
  /**
   * Since when everything is remembered, in milliseconds since the epoch, where payments from before may have been
   * forgotten: a proof that landed earlier may have been used already and is refused. Missing where the books are kept.
   */
  readonly remembersSince?: number;
  /** Takes a payment for the caller, if nobody holds it and it is not used up. Whoever does not win serves nothing. */
  claim(request: ClaimRequest): Promise<ClaimResult>;
  /**
   * Takes a payment that nobody has heard of, and whose money has landed already: the claim, the outcome and the events that
   * tell of it are one step.
   * @returns undefined, and nothing is changed, when the payment is known: it is to be claimed like any other
   */
  claimLanded(request: ClaimRequest, landed: LandedMoney): Promise<PaymentRecord | undefined>;
  /** Notes the signature, before the transaction is sent. */
  recordBroadcast(id: string, lease: string, broadcast: Broadcast): Promise<boolean>;
  /** Takes the note back, when the transaction was provably never sent: the payment is `claimed` again. */
  withdrawBroadcast(id: string, lease: string): Promise<boolean>;
  /** Notes how the transaction ended, and the events that tell of it, all or nothing. A ledger in memory keeps no events. */
  recordOutcome(id: string, lease: string, outcome: Outcome, events?: readonly EventRecord[]): Promise<boolean>;
  /** The paid answer has left: the payment is used up. */
  complete(id: string, lease: string): Promise<boolean>;
  /** Gives the payment back. One that was never sent is forgotten; one that was is kept for the next attempt. */
  release(id: string, lease: string): Promise<boolean>;
  /** Holds the payment for so much longer, from now on: a heart-beat of its holder. Milliseconds. */
  extend(id: string, lease: string, leaseMs: number): Promise<boolean>;
  /**
   * Payments that were sent under a known signature, whose outcome is not written down and whose last lease is over: nobody
   * is at work on them. Those come first that were looked at longest ago. They are nobody's afterwards, so that their payers
   * can claim them meanwhile, but of several processes that ask, one gets each.
   */
  takeUnresolved(query: UnresolvedQuery): Promise<readonly PaymentRecord[]>;
  /** Keeps a payment request, and the events that tell of it, all or nothing. */
  savePaymentRequest(request: PaymentRequestRecord, events?: readonly EventRecord[]): Promise<void>;
  /** A payment request by its id. */
  findPaymentRequest(id: string): Promise<PaymentRequestRecord | undefined>;
  /**
   * The payment request whose reference is among some accounts of a transaction.
   * @param accounts - base58; the first {@link MAX_REFERENCES} are looked at
   */
  findPaymentRequestByReference(accounts: readonly string[]): Promise<PaymentRequestRecord | undefined>;
  /**
   * Makes a payment the one that pays a request, unless another one does, or may still do so. One that expired, failed or
   * was given back unsent makes place; so does one that was not sent by the end of its lease, which then is lost to its
   * holder. Answers the payment that pays it afterwards, undefined when there is no such request. The payment must have been
   * claimed.
   */
  attachAttempt(requestId: string, paymentId: string): Promise<string | undefined>;
  /** A payment by its id. */
  find(id: string): Promise<PaymentRecord | undefined>;
  close(): Promise<void>;
}
