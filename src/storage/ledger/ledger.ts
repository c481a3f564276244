import type { Leg } from '../../protocol/money/split.js';
import type { Reason } from '../../protocol/reasons.js';
import type { Terms } from '../../protocol/types.js';
import type { EventRecord } from '../events/events.js';
import type { PassPurchase } from '../passes/pass-store.js';
import type { PaymentRequestLedger } from './payment-request.js';
import type { InterruptedQuery, UnresolvedQuery } from './unfinished-payments.js';

/**
 * The life of a payment. These tables decide it; the stores obey them, and a test walks every event through every state of
 * each.
 *
 * | state | what is true | ends by |
 * |---|---|---|
 * | `claimed` | one request works on it, nothing was sent | `recordBroadcast`, `recordOutcome`, or `forget`: as if it had never been brought |
 * | `broadcast` | its signature is written down, it may land | `recordOutcome`; `forget`, where it provably was not sent |
 * | `confirmed` | the money is there, a response is owed, or what a failed one has left | `served` |
 * | `served`, `failed`, `expired` | final | pruned when no replay is possible and the books allow it |
 *
 * Whoever works on a payment holds it, by a lease that ends unless it is extended. A use of it is one resource on certain terms (`binding`),
 * one request (`fingerprint`), and one who shows the secret that came with it first (`retryHash`), as landed transactions are public.
 *
 * `claim` wins a payment that is unknown, or not final and held by nobody, for the use that it was brought for first. What it
 * was not bound to yet, a request or a secret, it is bound to by the claim that names it (`isFirstUse`):
 *
 * | `claim` | unknown | `claimed` | `broadcast` | `confirmed` | final |
 * |---|---|---|---|---|---|
 * | brought for the first time | won | | | | |
 * | same use, held by nobody | | won | won | won | closed |
 * | same use, held | | busy | busy | busy | |
 * | other use | | won where nobody holds it, else foreign | foreign | foreign | foreign |
 *
 * The holder's verbs return false, and change nothing, where they do not apply: to a payment that somebody else holds, or
 * in a state that is not listed here.
 *
 * | verb | `claimed` | `broadcast` | `confirmed` |
 * |---|---|---|---|
 * | `recordBroadcast` | `broadcast`, held for longer | adds the signature, held for longer | |
 * | `recordOutcome`, money landed | `confirmed`, or `served` | `confirmed`, or `served` | slot and signature anew; `served` |
 * | `recordOutcome`, `failed` or `expired` | that | that | |
 * | `forget` | gone | gone | |
 * | `keep` | stays, held by nobody | stays, held by nobody | stays, held by nobody |
 * | `served` | | | `served` |
 * | `runAgain` | | | counted, at most {@link MAX_RERUNS} times |
 * | `extend` | held for longer | held for longer | held for longer |
 *
 * Beside the tables `claimLanded` wins an unknown payment as `confirmed`, and once a lease is over `takeUnresolved` gives back what is
 * `broadcast`, and `attachAttempt` forgets what was only `claimed` for a payment request. All others change nothing.
 */
export type PaymentState = 'claimed' | 'broadcast' | 'confirmed' | 'served' | 'expired' | 'failed';

/** How often a handler is run again for a payment that has landed and of whose response nothing has left. */
export const MAX_RERUNS = 2;

/** One payment: one row, one life. */
export interface PaymentRecord {
  /** SHA-256 of the transaction's message, hexadecimal: other bytes in the signature slots are the same payment. */
  readonly id: string;
  readonly state: PaymentState;
  /** What was bought: the resource and its terms. The same transaction for anything else is refused. */
  readonly binding: string;
  /** Digest of the request that it was brought with; missing where it may be brought with any. */
  readonly fingerprint?: string;
  /** Digest of the secret that came with it; missing where nobody needs one. */
  readonly retryHash?: string;
  /** Whom the gates before had let in when it was brought, a holder of a token for one, in their own words. */
  readonly admitted?: string;
  /** How often the handler was run again since the money has landed. */
  readonly reruns?: number;
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
  /** Who is owed how much of it, where it goes to a wallet that only holds it for them: the money, not the response. */
  readonly owedLegs?: readonly Leg[];
  /** The pass that it buys; missing where that is one response. It was written down before anything was sent, and is never changed. */
  readonly buys?: PassPurchase;
  /** Who got how much of it, where one transaction paid several recipients at once. */
  readonly legs?: readonly Leg[];
}

/** Who wants to serve which payment, and for how long it may hold it. */
export interface ClaimRequest
  extends Pick<PaymentRecord, 'id' | 'binding' | 'fingerprint' | 'retryHash' | 'payer' | 'terms' | 'blockhash'>,
    Pick<PaymentRecord, 'admitted' | 'owner' | 'projectId' | 'owedLegs' | 'legs' | 'buys'> {
  /** Made by {@link Ledger.newLease}; names this holder in all later calls. */
  readonly lease: string;
  /** Milliseconds after which the claim of a holder that vanished can be taken over; at once where its process is gone. */
  readonly leaseMs: number;
}

/**
 * `won`: the payment is the caller's until one of the verbs ends that; `record.state` tells how far it was brought before,
 * and `isFirstUse` whether it was bound to its use by this very claim.
 * `busy`: somebody else holds it right now, for the same use. `closed`: it is over, and this was its use. `foreign`: it was
 * brought for another use.
 */
export type ClaimResult =
  | { readonly status: 'won'; readonly record: PaymentRecord; readonly isFirstUse: boolean }
  | { readonly status: 'busy' | 'closed' | 'foreign'; readonly record: PaymentRecord };

/** What is known of a transaction right before it is sent. */
export type Broadcast = Pick<PaymentRecord, 'signature' | 'lastValidBlockHeight'>;

/** Money that landed before its payment was heard of, and the events that tell of it. */
export interface LandedMoney {
  readonly slot: number;
  readonly signature: string;
  /** A ledger in memory keeps none. */
  readonly events?: readonly EventRecord[];
}

/** How a transaction ended on the chain. `served` is money that landed and owes nothing: the response is kept already. */
export type Outcome =
  | { readonly state: 'confirmed' | 'served'; readonly slot: number; readonly signature: string }
  | { readonly state: 'expired' | 'failed'; readonly reason: Reason };

/**
 * The durable truth about payments: the table at {@link PaymentState}, each method one atomic step. What takes a lease is
 * the holder's; once it returns false the payment has passed to somebody else, and the caller must stop.
 */
export interface Ledger extends PaymentRequestLedger {
  /**
   * Since when everything is remembered, in milliseconds since the epoch, where payments from before may have been
   * forgotten: a proof that landed earlier may have been used already and is refused. Missing where the books are kept.
   */
  readonly remembersSince?: number;
  /**
   * Until when everything was remembered before that, in milliseconds since the epoch: a backup was restored. What was sent and not over
   * by then buys nothing any more. Missing where nothing is remembered from before.
   */
  readonly remembersUntil?: number;
  /** A name for a lease that nobody else has. Where several processes share the ledger it tells which of them holds it. */
  newLease(): string;
  /** Takes a payment for the caller, if nobody holds it and it is not used up. Whoever does not win serves nothing. */
  claim(request: ClaimRequest): Promise<ClaimResult>;
  /**
   * Takes a payment that nobody has heard of, and whose money has landed already: the claim, the outcome and the events that
   * tell of it are one step.
   * @returns undefined, and nothing is changed, when the payment is known: it is to be claimed like any other
   */
  claimLanded(request: ClaimRequest, landed: LandedMoney): Promise<PaymentRecord | undefined>;
  /** Notes the signature, before the transaction is sent. The payment is held for `leaseMs` from now at the least; default: as it was. */
  recordBroadcast(id: string, lease: string, broadcast: Broadcast, leaseMs?: number): Promise<boolean>;
  /** Notes how the transaction ended, and the events that tell of it, all or nothing. A ledger in memory keeps no events. */
  recordOutcome(id: string, lease: string, outcome: Outcome, events?: readonly EventRecord[]): Promise<boolean>;
  /** Nothing was sent: the payment is as if it had never been brought. Only who knows that may say it. */
  forget(id: string, lease: string): Promise<boolean>;
  /** Gives the payment back: it waits for the one who may come again. */
  keep(id: string, lease: string): Promise<boolean>;
  /** Its response was given, or is kept for the one who may come again: the payment is used up. */
  served(id: string, lease: string): Promise<boolean>;
  /** Counts that its handler runs once more; false when it has done so {@link MAX_RERUNS} times. */
  runAgain(id: string, lease: string): Promise<boolean>;
  /** Holds the payment for so much longer, from now on: a heart-beat of its holder. Milliseconds. */
  extend(id: string, lease: string, leaseMs: number): Promise<boolean>;
  /**
   * Payments that were sent under a known signature, whose outcome is not written down and whose last lease is over: nobody
   * is at work on them. Those come first that were looked at longest ago. They are nobody's afterwards, so that their payers
   * can claim them meanwhile, but of several processes that ask, one gets each.
   */
  takeUnresolved(query: UnresolvedQuery): Promise<readonly PaymentRecord[]>;
  /** Payments that are `confirmed`, whose last lease is over and was not given back: the holder is gone. The oldest lease first. */
  interrupted(query: InterruptedQuery): Promise<readonly PaymentRecord[]>;
  /** Payments of a wallet that buy passes, were sent, and whose outcome is not written down; at most a hundred. */
  openPurchases(payer: string): Promise<readonly PaymentRecord[]>;
  /** A payment by its id. */
  find(id: string): Promise<PaymentRecord | undefined>;
  close(): Promise<void>;
}
