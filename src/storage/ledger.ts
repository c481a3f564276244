import type { Reason } from '../protocol/reasons.js';
import type { Leg } from '../protocol/split.js';
import type { NetworkId, Terms, Token } from '../protocol/types.js';

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
}

/** Who wants to serve which payment, and for how long it may hold it. */
export interface ClaimRequest extends Pick<PaymentRecord, 'id' | 'binding' | 'payer' | 'terms' | 'blockhash'> {
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
  /** Takes a payment for the caller, if nobody holds it and it is not used up. Whoever does not win serves nothing. */
  claim(request: ClaimRequest): Promise<ClaimResult>;
  /** Notes the signature, before the transaction is sent. */
  recordBroadcast(id: string, lease: string, broadcast: Broadcast): Promise<boolean>;
  /** Takes the note back, when the transaction was provably never sent: the payment is `claimed` again. */
  withdrawBroadcast(id: string, lease: string): Promise<boolean>;
  /** Notes how the transaction ended. */
  recordOutcome(id: string, lease: string, outcome: Outcome): Promise<boolean>;
  /** The paid answer has left: the payment is used up. */
  complete(id: string, lease: string): Promise<boolean>;
  /** Gives the payment back. One that was never sent is forgotten; one that was is kept for the next attempt. */
  release(id: string, lease: string): Promise<boolean>;
  /** Keeps a payment request. */
  savePaymentRequest(request: PaymentRequestRecord): Promise<void>;
  /** A payment request by its id. */
  findPaymentRequest(id: string): Promise<PaymentRequestRecord | undefined>;
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
