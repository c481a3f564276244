import type { Leg } from '../../protocol/money/split.js';
import type { NetworkId, Token } from '../../protocol/types.js';
import type { EventRecord } from '../events/events.js';

/**
 * A payment that was asked for and is not made yet. What becomes of it is
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
  /** The name of the project's route whose call it pays for. Default: a call at the project's own price. */
  readonly route?: string;
  /** The service key under which it was made: only this key's caller may use it as a proof. */
  readonly keyId?: string;
  /** Names whom it counts for until it is paid. Default: nobody. */
  readonly countedFor?: string;
}

/** Whether what a payment is for is a payment request, by its id: what is sold at a gate has a method and a path. */
export function isRequestId(resource: string): boolean {
  return resource.startsWith('pay_');
}

/** The part of a ledger that keeps payment requests. */
export interface PaymentRequestLedger {
  /** Keeps a payment request, and the events that tell of it, all or nothing. */
  savePaymentRequest(request: PaymentRequestRecord, events?: readonly EventRecord[]): Promise<void>;
  /** A payment request by its id. */
  findPaymentRequest(id: string): Promise<PaymentRequestRecord | undefined>;
  /**
   * The payment request whose reference is among some accounts of a transaction.
   * @param accounts - base58, however many
   */
  findPaymentRequestByReference(accounts: readonly string[]): Promise<PaymentRequestRecord | undefined>;
  /**
   * Makes a payment the one that pays a request, unless another one does, or may still do so. One that expired, failed or
   * was forgotten makes place; so does one that was not sent by the end of its lease, which then is lost to its
   * holder. Returns the payment that pays it afterwards, undefined when there is no such request. The payment must have been
   * claimed.
   */
  attachAttempt(requestId: string, paymentId: string): Promise<string | undefined>;
}
