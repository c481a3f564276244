import { EventEmitter } from 'node:events';
import { badOption } from '../../errors/errors.js';
import { errorText } from '../../lib/error-text.js';
import type { Reason } from '../../protocol/reasons.js';
import type { Receipt, Terms } from '../../protocol/types.js';
import type { Received } from '../../solana/landed/received.js';
import type { PaymentRequestRecord } from '../../storage/ledger/payment-request.js';
import type { Pass } from '../../storage/passes/pass-store.js';

/** What was found out about payments that nobody brought to an end. */
export interface Recovered {
  /** The money has landed. The payer may come again for what it bought. */
  readonly settled: number;
  /** The transaction failed on the chain; nothing was paid. */
  readonly failed: number;
  /** The transaction can no longer land; nothing was paid. */
  readonly expired: number;
  /** Nothing final is known yet, or their payers came again meanwhile; they are looked at again. */
  readonly open: number;
}

/** What a facilitator tells about, by event name. */
export interface PaymentEvents {
  /** A payment was asked for. */
  readonly 'payment.created': { readonly request: PaymentRequestRecord };
  /** The money has landed. */
  readonly 'payment.settled': {
    readonly id: string;
    readonly resource: string;
    readonly receipt: Receipt;
    /** How long it took to send it and to see it land, in milliseconds; missing where it had landed before. */
    readonly durationMs?: number;
  };
  /** The transaction was refused or failed; nothing was paid. */
  readonly 'payment.failed': {
    readonly id: string;
    readonly resource: string;
    readonly payer: string;
    readonly terms: Terms;
    readonly reason: Reason;
  };
  /**
   * The transaction did not land before its blockhash expired, and nothing was paid; or it landed when the time of its payment
   * request was over, so that it bought nothing: then with a receipt, because the recipients have the money.
   */
  readonly 'payment.expired': {
    readonly id: string;
    readonly resource: string;
    readonly payer: string;
    readonly terms: Terms;
    readonly receipt?: Receipt;
    /** `invalid_transfer_late`, with the receipt. */
    readonly reason?: Reason;
  };
  /**
   * A wallet that pays by itself has sent more than the price of a payment request; what is over is the seller's to send back. Told
   * once for a payment, when somebody asks for the request or, with a `storage`, after the end of its time.
   */
  readonly 'payment.overpaid': {
    readonly request: PaymentRequestRecord;
    readonly receipt: Receipt;
    /** What came beyond the price, atomic units. */
    readonly surplus: bigint;
  };
  /**
   * Money has come with the reference of a payment request and does not pay it: a part of it, another token, a second payment.
   * Told once for a signature, as `payment.overpaid`.
   */
  readonly 'payment.unmatched': {
    readonly request: PaymentRequestRecord;
    /** Base58. */
    readonly signature: string;
    /** Why it does not pay. */
    readonly reason: Reason;
    /** What it brought to the recipients of the request, of whatever token. */
    readonly received: readonly Received[];
  };
  /** A payment has bought a pass: what covers more than one request. */
  readonly 'pass.created': { readonly pass: Pass };
  /**
   * Nothing is left of a pass, for half a minute at least: a request under way may give back what it took. Told once for a pass, by one
   * of the instances that share its storage, whatever is given back to it later.
   */
  readonly 'pass.used_up': { readonly pass: Pass };
  /** The time of a pass is over, of which something was left. Told once, as `pass.used_up`, and not of one that was used up before. */
  readonly 'pass.expired': { readonly pass: Pass };
  /** What was left of a payment was paid back to its payer on the chain. */
  readonly 'payment.refunded': {
    /** Of the payment. */
    readonly id: string;
    readonly refundId: string;
    /** Who has got it, base58. */
    readonly payer: string;
    /** Mint, base58. */
    readonly asset: string;
    /** Atomic units. */
    readonly amount: bigint;
    /** Of the refund's transaction, base58. */
    readonly signature: string;
    readonly slot: number;
  };
  /** No more network fees are paid until the hour is over; told once in such an hour. */
  readonly 'wallet.fee_limit_reached': {
    /** The fee payer that is offered, base58. */
    readonly wallet: string;
    /** Most that is paid in an hour. */
    readonly lamports: bigint;
    /** End of the hour, milliseconds since the epoch. */
    readonly endsAt: number;
  };
  /** Payments that a dead process left, or a payer who went away, were brought to an end. */
  readonly 'payments.recovered': Recovered;
  /** The transaction was sent and its outcome is not known yet. */
  readonly 'payment.pending': {
    readonly id: string;
    readonly resource: string;
    readonly payer: string;
    readonly terms: Terms;
  };
}

/** Sends events to listeners. A listener that throws is reported as a warning and disturbs nobody. */
export interface PaymentEventBus {
  on<Name extends keyof PaymentEvents>(event: Name, listener: (data: PaymentEvents[Name]) => void): () => void;
  emit<Name extends keyof PaymentEvents>(event: Name, data: PaymentEvents[Name]): void;
}

/** Makes an event bus. */
export function createPaymentEventBus(): PaymentEventBus {
  const emitter = new EventEmitter();
  emitter.setMaxListeners(0);
  return {
    on(event, listener) {
      if (typeof listener !== 'function')
        throw badOption('facilitator.on', `give a function that hears of "${event}"`, 'listener');
      emitter.on(event, listener);
      return () => emitter.off(event, listener);
    },
    emit(event, data) {
      for (const listener of emitter.listeners(event)) {
        try {
          listener(data);
        } catch (error) {
          process.emitWarning(`a listener of "${event}" threw: ${errorText(error)}`, { code: 'TOLLHOUSE_LISTENER' });
        }
      }
    },
  };
}
