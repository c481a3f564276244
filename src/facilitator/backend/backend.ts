import type { Reason } from '../../protocol/reasons.js';
import type { Supported } from '../../protocol/supported.js';
import type { Commitment, Payment, Refusal, Settlement, Terms, Verification } from '../../protocol/types.js';
import type { LandedTransaction } from '../../solana/rpc/landed-transaction.js';
import type { PaymentOutline } from '../../solana/rules/simulation.js';
import type { Broadcast, PaymentRecord } from '../../storage/ledger/ledger.js';
import type { PaymentUse } from '../types.js';
import type { EarlierSend } from './refused-sends.js';

/** A payment whose form and signature are right for its terms. */
export interface InspectedPayment extends PaymentOutline {
  readonly payment: Payment;
  readonly terms: Terms;
  readonly payer: string;
  /** Wallets that its transfers of tokens pay. Default: that of the terms. */
  readonly recipients?: readonly string[];
  /**
   * Judges the transaction by what the chain says that it did, where its form alone does not tell. It names what it pays, so
   * one that landed before it was brought here counts as well.
   */
  readonly judge?: (landed: LandedTransaction) => Reason | undefined;
}

/** The verdict of the pure rules. */
export type Inspection =
  | { readonly ok: true; readonly inspected: InspectedPayment }
  | { readonly ok: false; readonly refusal: Refusal };

/** On whose behalf a payment is taken: whoever has network fees paid uses a share of his own. */
export type PaymentPurpose = Pick<PaymentUse, 'seller' | 'isPublic' | 'paysAnybody'>;

/** How to settle. */
export interface SettleStep {
  readonly commitment: Commitment;
  /** On whose behalf. Default: the operator's own. */
  readonly purpose?: PaymentPurpose;
  /** Why it is not to be sent: nothing is asked then but what became of an earlier send of it. Default: it may be. */
  readonly refused?: Refusal | undefined;
  /** Called before the transaction leaves; rejects or returns false when it must not. */
  recordBroadcast(broadcast: Broadcast): Promise<boolean>;
  /**
   * Takes that note back: the transaction did not leave, or is known to fail and was not seen on the chain.
   * @param mayLand - whether only a node says so, and it could land all the same: who has brought it stays known then. Default false
   */
  notSent(mayLand?: boolean): Promise<boolean>;
  /** Who had it sent before, where it was taken for unsent then. Default: nobody is known to have. */
  sentBefore?(): Promise<EarlierSend | undefined>;
}

/**
 * How a settlement ended for the backend. `unsent` is a failure that left no trace on the chain: the same transaction may
 * be tried again. `final` failures can never turn into a payment.
 */
export type BackendSettlement =
  | Exclude<Settlement, { readonly status: 'failed' }>
  | ({ readonly status: 'unsent' } & Refusal)
  | ({ readonly status: 'failed'; readonly final: 'failed' | 'expired' } & Refusal);

/** Where payments are verified and settled: our own connection to the chain, or another facilitator. */
export interface SettlementBackend {
  supported(): Promise<Supported>;
  /** The same where it is known without a wait. */
  supportedNow?(): Supported;
  /**
   * Applies the rules that need no call to the chain.
   * @param sentBy - fee payer of one that was sent before: it is signed no more, so that neither its key nor its fee has to be allowed today
   */
  inspect(payment: Payment, terms: Terms, sentBy?: string): Promise<Inspection>;
  /**
   * Asks whether it would succeed.
   * @param purpose - what it is held for: its money counts as on its way from then on, until it is settled or dropped.
   * Missing where somebody only asks
   */
  verify(inspected: InspectedPayment, purpose?: PaymentPurpose): Promise<Verification>;
  /** Signs, sends and waits. */
  settle(inspected: InspectedPayment, step: SettleStep): Promise<BackendSettlement>;
  /** Finds out what became of a payment that was sent before. */
  resume(inspected: InspectedPayment, record: PaymentRecord, step: SettleStep): Promise<BackendSettlement>;
  /**
   * Nobody works for the payment any more. One that was not sent is as if it had never been brought.
   * @param id - hash of its message
   */
  drop?(id: string): void;
  /** A recent blockhash for a transaction that a payer is to sign, base58. Missing where the chain is not asked from here. */
  blockhash?(): Promise<string>;
  close(): Promise<void>;
}
