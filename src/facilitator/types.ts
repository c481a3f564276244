import type { FacilitatorClient } from '@x402/core/server';
import type { Supported } from '../protocol/supported.js';
import type {
  Commitment,
  NetworkId,
  Payment,
  Receipt,
  Refusal,
  Settlement,
  Terms,
  Token,
  Verification,
} from '../protocol/types.js';
import type { HeldTimes } from '../storage/held/held-times.js';
import type { IdempotencyStore } from '../storage/idempotency/idempotency-store.js';
import type { ClaimRequest } from '../storage/ledger/ledger.js';
import type { PassPurchase, PassStore } from '../storage/passes/pass-store.js';
import type { RefundRecord } from '../storage/payouts/refund-store.js';
import type { Storage } from '../storage/storage.js';
import type { Observed } from '../telemetry/observed.js';
import type { PaymentEvents } from './events/events.js';
import type { HoldingsReader } from './holdings/holding.js';
import type { FacilitatorHealth } from './setup/health.js';
import type { SetupCheck } from './setup/setup-finding.js';
import type { SetupTarget } from './setup/setup-target.js';
import type { SetupWatch } from './setup/setup-watch.js';

/** What a payment is for. */
export interface PaymentUse {
  /** Names the thing that is bought, for instance `GET /report`: the payment is good for this and nothing else. */
  readonly resource: string;
  /** How far the transaction must have come. Default `confirmed`. */
  readonly commitment?: Commitment;
  /**
   * How long the payment stays the caller's after its process was last heard of, in milliseconds. Default: the
   * facilitator's, 30,000.
   */
  readonly leaseMs?: number;
  /**
   * Whether the chain is asked before the payment is held, with one simulation. Default true. A caller that settles at
   * once leaves it to the send's own preflight.
   */
  readonly simulate?: boolean;
  /** On whose behalf it is taken, where that is not the wallet that is paid. */
  readonly seller?: Pick<ClaimRequest, 'owner' | 'projectId' | 'owedLegs' | 'legs'>;
  /** Whether a server elsewhere has it settled, which anybody may. Default false. */
  readonly isPublic?: boolean;
  /** Whether the request decides who is paid, who may be the payer himself then. Default false. */
  readonly paysAnybody?: boolean;
  /** Digest of the request: the payment is good for this one only. Default: for any request for the resource. */
  readonly fingerprint?: string;
  /** Host that was asked, where the same request at another one is for something else. Default: it is the same at all of them. */
  readonly host?: string;
  /**
   * Digest of a secret that came with the payment and is not on the chain ({@link retryHashOf}): whoever cannot show it is
   * told that the payment is used. Default: nobody needs one.
   */
  readonly retryHash?: string;
  /**
   * The pass that it buys, written down with the claim: it is opened by whoever learns first that the money has landed, this
   * process or another. A payment that was brought before buys what it bought then. Default: none.
   */
  readonly buys?: PassPurchase;
  /** Whom gates have let in with this payment, as they write it; kept with the payment for those who come again. Default: nobody. */
  readonly admitted?: string;
  /**
   * What names the client's address: one address has its share of the payments under way (`maxAddressShare`). Default: it is not known,
   * and not bounded.
   */
  readonly client?: string;
}

/** What a wallet may be buying, for {@link Facilitator.isBuying}. */
export interface PassWanted {
  readonly wallet: string;
  /** The site that sells, and what its passes cover, as passes name them. */
  readonly site: string;
  readonly scopes: readonly string[];
}

/** What was asked for a payment whose money has landed, and what came, for {@link Facilitator.landed}. */
export interface LandedTerms {
  readonly terms: Terms;
  readonly receipt: Receipt;
}

/** A payment that was sent and has not failed, for {@link Facilitator.knownPayment}: what it is bound to, where it is bound, and its claim. */
export interface KnownPayment extends Pick<PaymentUse, 'fingerprint' | 'retryHash'> {
  /** Whether it is used up. */
  readonly isServed: boolean;
  /** Holds it again for what it is bound to, where its money has landed; until then it is pending. */
  resume(commitment: Commitment): Promise<OpenedPayment>;
}

/** Who comes with a payment, for {@link Facilitator.admittedWith}. */
export interface ComingAgain extends Required<Pick<PaymentUse, 'retryHash'>> {
  /** Digest of the request, asked for where it is needed; undefined when the client is gone. */
  readonly fingerprint: () => Promise<string | undefined>;
}

/** The response to "may I serve this payment?". */
export type OpenedPayment =
  /** It is good and nobody else's: serve, then say what came of it with one of the claim's verbs. */
  | { readonly status: 'open'; readonly claim: Claim }
  /** It is no payment for these terms. */
  | { readonly status: 'refused'; readonly refusal: Refusal }
  /** Another request is being served for it right now. */
  | { readonly status: 'in_progress' }
  /** It was used up by this very request, and the caller may have its response again, if one was kept. */
  | { readonly status: 'served'; readonly id: string; readonly receipt: Receipt }
  /** It was brought for something else, or by somebody else, or tried too often. */
  | { readonly status: 'used'; readonly receipt?: Receipt }
  /** It was sent before and the chain still does not say what became of it. */
  | { readonly status: 'pending'; readonly settlement: Settlement };

/** A payment that is held for one request. */
export interface Claim {
  /** Names the payment, whatever way it came in. */
  readonly id: string;
  /** Names this holder of it, for whoever completes it together with books of their own. */
  readonly lease: string;
  readonly payer: string;
  readonly terms: Terms;
  /** What it is for: a resource, or the id of the payment request that it pays. */
  readonly resource: string;
  /** The pass that it buys, as it was offered when it was brought first; missing where that is one response. */
  readonly buys?: PassPurchase;
  /** Whether an earlier request has brought it as far as the chain: its handler has run then, and its response may be kept. */
  readonly resumed: boolean;
  /** Set when the money has landed. */
  readonly receipt: Receipt | undefined;
  /**
   * Takes the money. Asked twice it answers the same. An outcome that is not known yet is `pending`, never a failure.
   * Unless the money has landed the claim is over with it, also when it rejects: forgotten where nothing was sent, else
   * kept until somebody learns the outcome.
   * @param options.served - whether nothing is owed once the money has landed, because the response is kept: the payment is
   *   used up in the same step. Default false
   * @param options.isWanted - asked when it is noted that it is sent, and before it is: where the answer is no it is not, and fails with
   *   `settlement_in_progress`. Default: it is sent
   * @param options.refused - why it is not to be sent: it fails so, unless it was sent before, taken for unsent and has landed. Default: it is
   *   sent
   */
  settle(options?: {
    readonly served?: boolean;
    readonly isWanted?: (() => Promise<boolean>) | undefined;
    readonly refused?: Refusal | undefined;
  }): Promise<Settlement>;
  /** Whether its transaction may have been sent, and may land however `settle` ended: nothing else is to be paid in its place until that is known. */
  readonly mayBeSent: boolean;
  /**
   * Whether nobody has taken it over. A process that was frozen for longer than a lease lasts has lost it without noticing, and
   * must not write down its response over that of the other.
   */
  isHeld(): Promise<boolean>;
  /** Before the money: nothing was sent, and it is as if the payment had never been brought. */
  forget(): Promise<void>;
  /** After the money: a response is owed. The payment waits for the one who may come again. */
  keep(): Promise<void>;
  /** After the money, for a claim that was resumed: whether the handler may run once more; false after two times. */
  runAgain(): Promise<boolean>;
  /**
   * After the money: the response was given, or is kept. Does not reject: while the ledger cannot be reached the payment
   * stays held, and is used up as soon as it can be; given back, it would be served twice.
   * @param write - writes it down, together with books of one's own; default: in the ledger alone
   */
  served(write?: () => Promise<unknown>): Promise<void>;
}

/** Options of {@link Facilitator.settle}. */
export interface SettleOptions extends Pick<PaymentUse, 'retryHash' | 'client'> {
  /**
   * Hands the outcome to the one who asked; answers whether it arrived. Success is answered once: only when it arrived is
   * the payment used up, otherwise whoever shows the same secret may ask again. Default: it always arrives.
   */
  readonly deliver?: (settlement: Settlement) => Promise<boolean>;
}

/** A refund, as its caller sees it. In JSON its amount is decimal digits. */
export type Refund = Pick<
  RefundRecord,
  'id' | 'paymentId' | 'recipient' | 'mint' | 'amount' | 'state' | 'reason' | 'slot' | 'createdAt'
> & {
  /** Of its transaction, base58; missing where none was signed. */
  readonly signature?: string;
};

/** Network fees in an hour, in lamports. */
export interface FeeLoad {
  /** What was taken in this hour, by all instances as far as this one knows: as of when it last asked for more, a hundredth of the limit ago at most. */
  readonly spent: number;
  /** Most that is. */
  readonly limit: number;
}

/** How much is under way at a facilitator of this process. */
export interface PaymentLoad {
  /** Payments that are being looked at, or are claimed and have no outcome yet. */
  readonly paymentsInFlight: number;
  /** How many there may be at most; `Infinity` without a bound. */
  readonly maxPaymentsInFlight: number;
  /** How many there may be now: fewer where checks were late because many were under way. */
  readonly roomForPayments: number;
  /** How many were turned away so far because there were so many, of all wallets or of theirs. */
  readonly turnedAway: number;
  /** What is known of the network fees of the hour; missing where they are paid elsewhere. */
  readonly fees?: FeeLoad;
}

/**
 * The payment core, as gates and routers see it. The embedded one ({@link createFacilitator}) and another
 * one's HTTP API ({@link remoteFacilitator}) are the same to them.
 */
export interface Facilitator extends HoldingsReader {
  /** Of several networks, the first. */
  readonly network: NetworkId;
  /** Those that it is made of, one for each network, where several are used as one. Default: it is on one network. */
  readonly members?: readonly Facilitator[];
  /** Tokens that can be asked for by symbol. */
  readonly tokens: readonly Token[];
  /** Paid responses, and others, that can be asked for again. */
  readonly idempotency: IdempotencyStore;
  /** Since when wallets have been seen holding what gates ask for: in its storage, or in this process's memory. */
  readonly heldTimes: HeldTimes;
  /** What payments have bought for more than one request: in its storage, or in this process's memory. */
  readonly passes: PassStore;
  /** The storage that it was given; identity, gateway and routers keep there what they must share. */
  readonly storage?: Storage | undefined;
  /** The same as `@x402/core`'s resource server wants it, in the wire's objects: `new x402ResourceServer(facilitator.x402Client)`. */
  readonly x402Client: FacilitatorClient;
  /** What it can settle right now: nothing once it is being closed. Rejects with `payment_backend_unavailable` when that cannot be known. */
  readonly supported: (() => Promise<Supported>) & {
    /** The same where it is known without a wait, for who asks with every request; undefined where it has to be asked. */
    readonly now?: () => Supported | undefined;
  };
  /** Whether it can settle right now; asks the chain at most once in five seconds and never rejects. */
  health(): Promise<FacilitatorHealth>;
  /**
   * Looks at everything that has to be right before payments can be taken: RPC, fee payer, stores, and with a target whether
   * that wallet can receive that token. Never rejects for what it finds. Costs a few calls to the chain each time.
   */
  check(target?: SetupTarget): Promise<SetupCheck>;
  /** The same by itself, in the background, from the first use of a gate on; see the option `check`. */
  readonly setup: Pick<SetupWatch, 'begin' | 'known'>;
  /**
   * Whether a payment is good, without holding it.
   * @param client - as for {@link PaymentUse}
   */
  verify(payment: Payment, terms: Terms, client?: string): Promise<Verification>;
  /** The terms of a payment that was sent before, whatever is asked for today; undefined for one that was not. */
  knownTerms(payment: Payment): Promise<Terms | undefined>;
  /**
   * Whom gates let in with a payment that was claimed before, for the very request and with the very secret that it is bound to;
   * undefined for others, and for who is known by an address alone.
   */
  admittedWith(payment: Payment, again: ComingAgain): Promise<string | undefined>;
  /** Whether a payment of a wallet is on its way that buys a pass for one of these; what has landed has opened its pass. */
  isBuying(wanted: PassWanted): Promise<boolean>;
  /** What was asked and paid with a payment whose money has landed, by its id; undefined for others, and for one that is forgotten. */
  landed(paymentId: string): Promise<LandedTerms | undefined>;
  /** A payment whose money has left its wallet, or may have, by its id; undefined for others, and for one that is forgotten. */
  knownPayment(paymentId: string): Promise<KnownPayment | undefined>;
  /**
   * The transaction that pays some terms, for a wallet to sign: complete but for its signatures, the fee payer's slot empty. Nothing is
   * held, and nothing asked about the wallet. Rejects with `not_configured` where the chain is not read from here, with
   * `payment_backend_unavailable` where it cannot be, and with `invalid_payer` for a wallet that cannot pay these terms.
   * @param payer - base58
   */
  unsignedPayment(terms: Terms, payer: string): Promise<Uint8Array>;
  /**
   * Holds a payment for one use. Rejects with `payment_backend_unavailable` when nothing could be decided, and with `too_many_payments`
   * when too many are under way; nothing is held then.
   */
  openPayment(payment: Payment, terms: Terms, use: PaymentUse): Promise<OpenedPayment>;
  /** Holds, settles and completes in one step, for callers that serve elsewhere. */
  settle(payment: Payment, terms: Terms, options?: SettleOptions): Promise<Settlement>;
  /**
   * Pays what is left of a payment back to its payer, on the chain: its credit, or the whole price of a pack of uses of which none was used.
   * That is out of use from then on, and back where the refund provably never lands. Asked twice it is paid once: while a
   * refund of the payment is under way, that one is answered, when it is over or after half a minute; one that is not over is brought to
   * its end by itself. Rejects with `not_configured` without option `refunds` of createFacilitator, `payment_not_found`, `nothing_to_refund` (also for what was
   * refunded before: the message says when), `payment_in_progress` while a request holds it that may give it back, `refund_limit_reached`, and where it
   * cannot be gone on with now with `chain_unavailable`, `fee_limit_reached` or `store_unavailable`.
   * @param paymentId - as events and receipts of the service name it
   * @returns how it stands: `paid` with its signature, `failed` with a reason (nothing was paid), else it is under way
   */
  refund(paymentId: string): Promise<Refund>;
  /** How many payments are under way in this process, and how many were turned away. */
  load(): PaymentLoad;
  /** What is counted of its gates and nodes, for `GET /metrics`. Default: nothing is. */
  readonly observed?: Observed;
  /** Calls the listener at each event; answers the function that ends that. */
  on<Name extends keyof PaymentEvents>(event: Name, listener: (data: PaymentEvents[Name]) => void): () => void;
  /** Ends with it: for what works with it in the background. Missing where nobody says. */
  readonly closing?: AbortSignal;
  /** Has {@link close} wait for work that ends by itself soon after {@link closing}, and does not reject. Missing where nothing can. */
  awaitAtClose?(work: Promise<void>): void;
  /** Lets go of sockets, timers and the ledger. */
  close(): Promise<void>;
}
