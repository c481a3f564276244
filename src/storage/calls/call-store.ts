import type { EventRecord } from '../events/events.js';
import type { IdempotencyStore, NamedAnswer } from '../idempotency/idempotency-store.js';
import type { KeySpending } from '../keys/service-keys.js';
import type { CallPlace, CallsQuery } from './calls-query.js';
import type { RouteFigures } from './route-figures.js';
import type { SpendingDay, SpendingQuery, SpendingRow } from './spending-sums.js';

/** What a call cost: the payment that was used up by it. */
export interface Charge {
  /** Mint of the token, base58; the System Program's address for native SOL. It is shown so, and counted as `moneyOf` says. */
  readonly mint: string;
  /** Atomic units. */
  readonly amount: bigint;
}

/** What a call did to the credit of its key at its project. */
export interface CreditChange {
  /** `given`: it was paid and bought nothing. `used`: an earlier payment that had bought nothing paid it. */
  readonly kind: 'given' | 'used';
  readonly charge: Charge;
}

/** The service key that a call came with, and whose it is. */
export interface KeyedCaller {
  readonly keyId: string;
  /** Wallet of the key's owner, base58. */
  readonly owner: string;
}

/** A call that reached the upstream of a project: one row of the book. */
export interface CallRecord {
  /** `call_` and base58 of 16 random bytes. */
  readonly id: string;
  readonly projectId: string;
  readonly caller?: KeyedCaller;
  /** Wallet that paid, base58. */
  readonly payer?: string;
  /** When it came in, milliseconds since the epoch: the hour and the day in which it counts. */
  readonly at: number;
  readonly method: string;
  /** Status that the upstream answered with; missing where it did not answer. */
  readonly status?: number;
  /** `succeeded`: the upstream answered, 2xx to 4xx. `failed`: it did not. */
  readonly outcome: 'succeeded' | 'failed';
  /** Why it failed, as an error code. */
  readonly reason?: string;
  /** What its seller earned. Missing where nothing was charged: what was paid is credit then, or stays good for another try. */
  readonly charge?: Charge;
  /** Missing where it was paid and charged, and where nothing was paid. */
  readonly credit?: CreditChange;
  /** The pass that covered it or was bought with it, and how many calls of it this was: none where it was not charged. */
  readonly pass?: { readonly id: string; readonly uses: 0 | 1 };
  readonly paymentId?: string;
  /** Signature of the paying transaction, base58. */
  readonly signature?: string;
  /** What of a project was called: method and path, `*` for what is different in each call. Never a query. */
  readonly route?: string;
  /** Name of the route of the project that matched it. Never read back: it is in the sums only. */
  readonly rule?: string;
  /** From when it was passed on until its response was over. */
  readonly durationMs: number;
  /** From when it was passed on until the head of its response came; missing where none came. */
  readonly upstreamMs?: number;
  /** From when it came in until it was passed on: what we have added. */
  readonly gatewayMs?: number;
  readonly requestId: string;
}

/** A call as it is listed, with its place in the list. */
export interface ListedCall extends Omit<CallRecord, 'caller' | 'rule'>, CallPlace {
  readonly keyId?: string;
  /** Wallet of its key, or that has paid where there was none, base58. */
  readonly buyer?: string;
}

/** A request that did not reach the upstream. */
export interface UnforwardedCall {
  readonly projectId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A call that was turned away before the upstream was asked. */
export interface RefusedCall extends UnforwardedCall {
  /** Error code of the refusal, such as `payment_already_used`. Never a text of the client's. */
  readonly reason: string;
}

/** How long a budget lasts: an hour, a day or a month of UTC, or for ever. */
export type BudgetWindow = KeySpending['window'];

/** What a key may spend of one token in a window. */
export interface BudgetLimit {
  readonly window: BudgetWindow;
  /** Atomic units. */
  readonly limit: bigint;
}

/** What a call is going to cost its key, held back until it is over. */
export interface ReservationRequest {
  /**
   * Names the reservation in `finish` and `giveBack`: the payment, or the payment request, that it is for. Of those that name the
   * same one, the first reserves and the others share it.
   */
  readonly id: string;
  readonly caller: KeyedCaller;
  readonly charge: Charge;
  /** Limits of the key in the token of the charge, at most one for each window. */
  readonly budgets: readonly BudgetLimit[];
  /** When the call came in: the `at` of the call that `finish` writes. */
  readonly at: number;
  /**
   * After this long the reservation of a process that vanished counts no more, unless its payment was sent and not lost: longer than the
   * longest call. Milliseconds.
   */
  readonly leaseMs: number;
}

/** Whether the budgets allow a charge; if not, the first limit that is in the way and what of it is used or held back. */
export type ReservationResult =
  | { readonly ok: true /** Whether it was reserved now, and not before. */; readonly isNew: boolean }
  | { readonly ok: false; readonly limitReached: BudgetLimit; readonly used: bigint };

/** What is written together with a call, all or nothing. */
export interface FinishOptions {
  /** The payment that it uses up, in a ledger on the same database: where its lease was lost nothing is written. */
  readonly payment?: { readonly id: string; readonly lease: string };
  /** The reservation that this call ends. What is spent is what left the wallet for it: its charge, or the credit that it gave. */
  readonly reservationId?: string;
  /** The hold of the credit that this call uses: where it has ended meanwhile nothing is written. */
  readonly creditHoldId?: string;
  /** `call.succeeded`, `call.failed` and others that tell of it. */
  readonly events?: readonly EventRecord[];
  /**
   * The response, for the one who may come again; of a store that {@link CallStore.keepsFor}. Where it ends a run that somebody else has
   * taken over, nothing is written; no payment is used up with one of a run.
   */
  readonly kept?: KeptAnswer;
}

/** A response, and the store that it is had from. */
export interface KeptAnswer extends NamedAnswer {
  readonly store: Pick<IdempotencyStore, 'rows' | 'find'>;
}

/** A stretch of time in whole quarters of an hour: `from` included, `to` not. Milliseconds since the epoch. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

/** What happened in one step of a series. */
export interface Figures {
  /** Start of the step, milliseconds since the epoch. */
  readonly at: number;
  /** Calls that reached the upstream. */
  readonly calls: number;
  /** Those of them that were charged, from a payment or from credit. */
  readonly paid: number;
  /** Calls of passes, those that bought them among them. */
  readonly passUses: number;
  /** Passes that were sold. */
  readonly passesSold: number;
  /** Requests without payment that were told the price; they are not among `calls`, nor among `refused`. */
  readonly challenged: number;
  /** Calls that were turned away; they are not among `calls`. */
  readonly refused: number;
  readonly upstreamErrors: number;
  /** Distinct wallets that paid. */
  readonly payers: number;
  /** What was earned: atomic units by mint, native SOL among wrapped SOL, exact to 2^63 - 1 an hour. */
  readonly revenue: ReadonlyMap<string, bigint>;
  /** What was paid for calls that bought nothing, by mint; it is owed to their callers. */
  readonly creditGiven: ReadonlyMap<string, bigint>;
  /** What of the revenue had been paid as credit before, by mint. */
  readonly creditUsed: ReadonlyMap<string, bigint>;
  /** Calls by bucket of their duration (`latency-buckets.ts`); each hour is in the step that it begins in. */
  readonly latency: ReadonlyMap<number, number>;
  /** The same of how long their upstream took until it began to answer, where it did. */
  readonly upstreamLatency: ReadonlyMap<number, number>;
  /** The same of how long we took until they were passed on. */
  readonly gatewayLatency: ReadonlyMap<number, number>;
  /** Refused calls by error code. */
  readonly refusals: ReadonlyMap<string, number>;
}

/** What of a budget is gone, at a time. */
export interface BudgetUse {
  readonly keyId: string;
  readonly mint: string;
  readonly window: BudgetWindow;
  /** Atomic units that left the wallet in the window that the time lies in. */
  readonly used: bigint;
}

/** What is gone of what a key may spend of a token, by window, in atomic units: spent, and held back beside it. */
export type BudgetStanding = Readonly<Record<BudgetWindow, { readonly spent: bigint; readonly held: bigint }>>;

/** A share of a budget that its owner is told of. */
export interface BudgetNotice extends BudgetLimit {
  readonly caller: KeyedCaller;
  readonly mint: string;
  /** A time in the window, milliseconds since the epoch. */
  readonly at: number;
  /** The share, in percent. A higher one that was told before silences it. */
  readonly percent: number;
  /** Atomic units that must have been spent for it to be true; 0 when a call was refused. */
  readonly atLeast: bigint;
}

/**
 * The calls of all projects: each with what it changes, in one transaction, and the sums that are kept of them.
 * Rejects with `store_unavailable` when the database does not answer.
 */
export interface CallStore {
  /**
   * Holds back what a call is going to cost, if every budget has room for it. However many ask at once, on however many
   * instances, what is spent and held back never exceeds a limit.
   */
  reserve(request: ReservationRequest): Promise<ReservationResult>;
  /** Ends a reservation without spending anything: nothing has left the wallet, and nothing will. */
  giveBack(reservationId: string): Promise<void>;
  /**
   * Writes a call, its sums, what its key has spent, and its events, in one transaction with the payment's completion.
   * @returns false when the payment, the credit or the run of its response was not held any more; then nothing was written, and the
   *   response must not be counted as paid
   */
  finish(call: CallRecord, options?: FinishOptions): Promise<boolean>;
  /** Whether the responses of a store can be written with calls: both are of one database. */
  keepsFor(store: Pick<IdempotencyStore, 'rows'>): boolean;
  /**
   * Counts a call that was turned away. Free of charge for the database: refusals are counted in this process, which writes
   * their sums once a second, and a process that is killed loses the last second of them.
   */
  refuse(call: RefusedCall): void;
  /** Counts a request without payment that was told the price, in the same way: it is no refusal. */
  challenge(call: UnforwardedCall): void;
  /** Writes the refusals and challenges that were counted so far. */
  flush(): Promise<void>;
  /** Calls of a project or a buyer, the newest first. */
  calls(query: CallsQuery): Promise<readonly ListedCall[]>;
  /**
   * Sums of a project by steps of one length, those only in which anything happened, in order.
   * @param stepMs - whole quarters of an hour, of which the range is a multiple
   */
  series(projectId: string, range: TimeRange, stepMs: number): Promise<readonly Figures[]>;
  /** Sums of a project by route, in no order; what no route matched is in none of them. */
  routes(projectId: string, range: TimeRange): Promise<readonly RouteFigures[]>;
  /** Sums of a project over a whole range. */
  totals(projectId: string, range: TimeRange): Promise<Omit<Figures, 'payers'>>;
  /** How many distinct wallets paid in a range. */
  countPayers(projectId: string, range: TimeRange): Promise<number>;
  /** What was spent by key, project and token, in whole days of UTC. */
  spending(query: SpendingQuery): Promise<readonly SpendingRow[]>;
  /** What was spent by day and token, in order. */
  spendingByDay(query: SpendingQuery): Promise<readonly SpendingDay[]>;
  /** What a key has spent in the windows that a time lies in, for each token. */
  budgetUse(keyId: string, at: number): Promise<readonly BudgetUse[]>;
  /** What a key has spent of a token in the windows that a time lies in, and what is held back of it now. */
  budgetStanding(keyId: string, mint: string, at: number): Promise<BudgetStanding>;
  /**
   * Writes an event that tells of a budget, once for each window, limit and share.
   * @returns whether it was written now
   */
  notice(notice: BudgetNotice, event: EventRecord): Promise<boolean>;
  /**
   * Forgets the oldest calls, and sums of hours, that are from before a time, and what no budget looks at any more.
   * @param before - milliseconds since the epoch: calls from before it go
   * @param sumsBefore - milliseconds since the epoch: sums of the days before its day go
   * @param limit - how many of each go at most, and so how long it takes
   * @returns how many went; 0 when there is nothing left to forget
   */
  prune(before: number, sumsBefore: number, limit: number): Promise<number>;
  /** Writes the last refusals; nothing may be refused after it. The database is not closed with it. */
  close(): Promise<void>;
}
