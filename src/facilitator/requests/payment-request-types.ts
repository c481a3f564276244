import type { AddressInput } from '../../protocol/address-input.js';
import type { Leg, Share } from '../../protocol/money/split.js';
import type { Reason } from '../../protocol/reasons.js';
import type { Receipt, Token } from '../../protocol/types.js';
import type { InstructionJson } from '../../solana/building/transfer-transaction.js';
import type { PlainTransfer } from '../../solana/landed/plain-transfers.js';
import type { Received } from '../../solana/landed/received.js';
import type { PaymentRequestRecord } from '../../storage/ledger/payment-request.js';
import type { OpenedProof, ProofUse } from '../proofs/landed-proof.js';
import type { UnmatchedPayment } from '../proofs/unmatched-payments.js';

/** What somebody asks to be paid. */
export interface NewPaymentRequest {
  /** Decimal amount in the token's own unit: a number is read through its shortest decimal text. */
  readonly amount: string | number;
  /** Symbol such as `SOL` or `USDC`, or the address of a mint. */
  readonly token: string;
  /** Wallet that receives, base58. */
  readonly recipient: string;
  /** Wallet that will pay, if it is known: then a finished transaction is made for it. */
  readonly payer?: string;
  /** Text that the transaction must carry, at most 256 bytes. */
  readonly memo?: string;
  /** Whatever the seller wants to find again; never interpreted. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Several recipients, of whom `recipient` is one; the shares sum to 10,000. */
  readonly split?: readonly Share[];
  /** The project whose call it shall pay for, its owner's wallet, the route of the call where that has a price of its own, the service key whose caller may show it, and whom it counts for. */
  readonly seller?: Pick<PaymentRequestRecord, 'projectId' | 'owner' | 'route' | 'keyId' | 'countedFor'>;
  /**
   * Whether who is paid is told of it by a kept `payment.created`: false where it is not that one who asks. Whatever it is, listeners in
   * this process are told. Default true.
   */
  readonly tellsSeller?: boolean | undefined;
  /** How long the request can be paid, 30 to 900 seconds. Default 120. */
  readonly expiresInSeconds?: number;
}

/** A {@link NewPaymentRequest} whose addresses may be web3.js `PublicKey`s. */
export interface PaymentRequestInput extends Omit<NewPaymentRequest, 'token' | 'recipient' | 'payer' | 'split'> {
  readonly token: AddressInput;
  readonly recipient: AddressInput;
  readonly payer?: AddressInput;
  readonly split?: readonly { readonly recipient: AddressInput; readonly bps: number }[];
}

/** A transaction for the payer to sign. */
export interface PreparedTransfer {
  /** The payer's wallet, or the System Program's address where it is not known yet. */
  readonly from: string;
  readonly instructions: readonly InstructionJson[];
  /** Unsigned bytes; none while the payer is not known. */
  readonly transaction?: Uint8Array;
  /** Who pays the network fee, base58. */
  readonly feePayer: string;
}

/** A payment request and the transfer that pays it. */
export interface CreatedPayment {
  readonly request: PaymentRequestRecord;
  readonly transfer: PreparedTransfer;
  /** Money that has come for it already and does not pay it, as in {@link PaymentRequestState}. */
  readonly unmatched?: readonly UnmatchedPayment[];
}

/**
 * Where a payment request stands. `expired`: no new payment of it is begun; what was signed in time may still land, and
 * settles it. With a receipt and the reason `invalid_transfer_late` it was paid too late.
 */
export type PaymentRequestStatus = 'created' | 'pending' | 'settled' | 'failed' | 'expired';

/** A payment request, what became of it, and the receipt once it is paid. */
export interface PaymentRequestState {
  readonly request: PaymentRequestRecord;
  readonly status: PaymentRequestStatus;
  readonly receipt?: Receipt;
  /** Signature of the transaction that pays it, tries to, or failed to. */
  readonly signature?: string;
  /** Why the last transaction failed, or that it came too late. */
  readonly reason?: Reason;
  /** What the payment brought to the recipients beyond the price, atomic units; the seller's to send back. Default: nothing. */
  readonly surplus?: bigint;
  /**
   * Transactions that name the reference, brought money to the recipients, and do not pay the request: parts of it, another
   * token, a second payment. Anybody can send one. Default: there are none, as far as the chain can be asked.
   */
  readonly unmatched?: readonly UnmatchedPayment[];
}

/** What the chain says of the transaction that paid. */
export interface LandedFacts {
  readonly slot: number;
  readonly computeUnits: number;
  readonly feeLamports: bigint;
}

/** How the settlement of a payment request ended. */
export type RequestSettlement =
  | { readonly status: 'settled'; readonly receipt: Receipt; readonly facts: LandedFacts }
  | { readonly status: 'not_found' | 'already_settled' }
  /** Too late for a new payment; with the signature of one that landed too late, if there is one. */
  | { readonly status: 'expired'; readonly signature?: string }
  /** Transactions that name the reference are still being looked at, for one that has paid it. */
  | { readonly status: 'searching' }
  /** This transaction, or another one for the same request, is being settled right now. */
  | { readonly status: 'being_settled' | 'in_progress' }
  /** The transaction does not pay the request. */
  | { readonly status: 'invalid'; readonly reason: Reason; readonly message: string }
  /** It landed and failed, or can land no more. */
  | { readonly status: 'failed'; readonly reason: Reason; readonly message: string; readonly signature?: string }
  /** This transaction, or another one for the same request, was sent; the chain does not say yet what became of it. */
  | { readonly status: 'pending' | 'other_pending'; readonly signature?: string };

/** Asked before a payment of a request is begun; rejects where its seller takes none any more. */
export type AskSeller = (request: PaymentRequestRecord) => Promise<void>;

/** What the chain says of any signature. */
export interface ChainLookup {
  readonly status: 'confirmed' | 'finalized' | 'pending' | 'failed' | 'not_found';
  readonly slot?: number;
  /** Slots since. */
  readonly confirmations?: number;
  /** When its block was made, in milliseconds since 1970; old nodes do not tell. */
  readonly at?: number;
  /** What arrived, for each wallet and asset; nothing of what went on, or back, in the same transaction. */
  readonly received: readonly Received[];
  /** Transfers of SOL and tokens, top-level and inner. */
  readonly transfers: readonly PlainTransfer[];
}

/** Payments of our own making: asked for, prepared, settled, looked up. Only a facilitator with a chain of its own has them. */
export interface PaymentRequests {
  /**
   * Asks for a payment. Rejects with `invalid_amount`, `invalid_token`, `invalid_recipient`, `invalid_payer`,
   * `invalid_split` or `invalid_request` when the request is wrong, with `payment_backend_unavailable` in an outage.
   * @param accept - asked before the request is written down: where it rejects nothing is created, and nobody is told. Default:
   *   nobody is asked
   */
  createPayment(
    request: PaymentRequestInput,
    accept?: (request: PaymentRequestRecord) => Promise<void>,
  ): Promise<CreatedPayment>;
  /**
   * The transaction with which a wallet pays a request; undefined when there is no such request. Rejects with
   * `payment_already_settled`, `payment_in_progress` or `payment_expired` when there is nothing left to pay.
   * @param feePayer - who pays the network fee
   * @param askSeller - asked where it can still be paid. Default: nobody is
   */
  preparePayment(
    id: string,
    payer: string,
    feePayer: 'facilitator' | 'payer',
    askSeller?: AskSeller,
  ): Promise<CreatedPayment | undefined>;
  /**
   * Where a request stands; finds transactions that a wallet sent by itself, by their reference.
   * @param options - `beside`: whether the chain is asked for `surplus` and `unmatched` as well. Default true
   */
  paymentRequest(id: string, options?: { readonly beside?: boolean }): Promise<PaymentRequestState | undefined>;
  /**
   * Settles a request with a signed transaction that has its outcome, however it was built.
   * @param askSeller - asked before a transaction is sent, and not for one that was sent already. Default: nobody is
   * @param client - what names the address that it comes from, as for {@link Facilitator.openPayment}
   */
  settleRequest(
    id: string,
    transaction: Uint8Array,
    askSeller?: AskSeller,
    client?: string,
  ): Promise<RequestSettlement>;
  /**
   * Holds a payment that has landed, for the call of a project's upstream. Rejects with `payment_backend_unavailable` in an
   * outage; nothing is held then.
   * @param signature - of its transaction, base58
   */
  openProof(signature: string, use: ProofUse): Promise<OpenedProof>;
  /**
   * A token by symbol or mint; SOL is native. Undefined when there is none that can be paid in. Rejects with
   * `payment_backend_unavailable` when the chain must be asked and cannot.
   */
  findToken(text: string): Promise<Token | undefined>;
  /** What to say of a token that {@link findToken} does not find, after its name: "is no token…", and why. Rejects as that. */
  tokenFault(text: string): Promise<string>;
  /** Whether somebody can hold the key of an address, so that it can be a wallet's. */
  isWallet(address: string): boolean;
  /** Looks any signature up on the chain. */
  lookUp(signature: string): Promise<ChainLookup>;
}

export type { InstructionJson, Leg, PlainTransfer, UnmatchedPayment };
