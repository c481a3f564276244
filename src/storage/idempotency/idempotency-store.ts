import type { SqlDatabase } from '../sql/sql-database.js';

/** What is known under an id, for a request with a certain fingerprint. */
export type KnownResponse =
  /** The same request was answered: this is what was kept of it. */
  | { readonly status: 'replay'; readonly response: Uint8Array }
  /** Another request has the id. */
  | { readonly status: 'mismatch' }
  /** The same request is being answered right now. */
  | { readonly status: 'running' };

/** The same request was begun, and that run is over without a response: the same may begin anew, and no other. */
export interface EndedRun {
  readonly status: 'ended';
}

/** Who answers which request, and for how long nobody else does. */
export interface IdempotentRun {
  /** Names the caller's key, in the scope it counts in; at most 128 characters. */
  readonly id: string;
  /** The same for the same request, different for all others; at most 128 characters. */
  readonly fingerprint: string;
  /** Random; names this run in all later calls. */
  readonly lease: string;
  /** After this long a run that did not end is taken for crashed, and the same request may begin anew. Milliseconds. */
  readonly leaseMs: number;
  /**
   * Whose it is: where there is no room left, who has most in it loses the oldest of that, and what nobody has paid for goes first.
   * Default: all whose owner is not told have one share.
   */
  readonly owner?: string | undefined;
}

/** A run has begun. */
export interface BegunRun {
  readonly status: 'started';
  /**
   * Its lease, where it takes over a run of the same request that crashed or was released: the one that it was begun with, and what
   * the former one says behind its first space. So that is not lost, whoever crashes next.
   */
  readonly lease?: string;
}

/** The lease of a run that takes another one over: what the former lease says behind its first space follows it. */
export function takenOverLease(lease: string, former: string): string {
  const [, ...noted] = former.split(' ');
  return [lease, ...noted].join(' ');
}

/**
 * Answers that can be asked for again by an `Idempotency-Key`. Every method is one atomic step, and rejects with
 * `store_unavailable` when the store cannot be reached. The bytes of a response mean nothing to the store. It forgets them
 * after its retention, and where they are too many, earlier the oldest of those owners who have most: first of responses that nobody
 * has paid for, and once none of those is left of all the others, which take the share of who paid; a run that is under way or has
 * crashed keeps its id for as long.
 */
export interface IdempotencyStore {
  /** What is known under an id; undefined when nothing is. Changes nothing. */
  find(id: string, fingerprint: string): Promise<KnownResponse | EndedRun | undefined>;
  /** Begins a run, for exactly one caller, or tells why not. */
  begin(run: IdempotentRun): Promise<KnownResponse | BegunRun>;
  /**
   * A new lease, without spaces. One that tells which process takes it lets the same request begin anew as soon as that process is gone;
   * what follows it behind a space is the caller's own, and is handed on to whoever takes the run over. Default: any random text is a lease.
   */
  newLease?(): string;
  /**
   * Holds a run for longer, from now on, though its lease may have ended if nobody has taken it over. False when it is over, taken over or
   * forgotten. Default: a run is held for its `leaseMs`, and one that takes longer may run, and be charged, twice.
   */
  extend?(id: string, lease: string, leaseMs: number): Promise<boolean>;
  /**
   * Keeps the response of a run. False, and nothing is kept, when the run was taken over or forgotten.
   * @param paidBy - the owner whose share it takes from now on, where somebody has paid for it. Default: nobody has
   */
  finish(id: string, lease: string, answer: Uint8Array, paidBy?: string): Promise<boolean>;
  /**
   * Keeps a response that no run was begun for; what is under its id already is replaced. False, and nothing is kept, when it
   * is larger than everything that is kept may be.
   * @param owner - as of a run
   * @param isPaid - whether somebody has paid for it. Default: nobody has
   */
  put(id: string, answer: Uint8Array, owner?: string, isPaid?: boolean): Promise<boolean>;
  /** What was {@link put} under an id. */
  get(id: string): Promise<Uint8Array | undefined>;
  /** Ends a run without a response: the same request may begin anew at once, and no other. False when it is not the caller's. */
  release(id: string, lease: string): Promise<boolean>;
  /** Ends a run without a response, as if it had not begun. False when the run is over already, or somebody else's. */
  abandon(id: string, lease: string): Promise<boolean>;
  /** Where responses are rows of a database, so that they can be written with other things. Default: they are not. */
  readonly rows?: AnswerRows;
}

/** A response by the id under which it can be had. */
export interface NamedAnswer {
  readonly id: string;
  readonly answer: Uint8Array;
  /** Of the run that it ends. Default: no run was begun for it. */
  readonly fingerprint?: string;
  /** The same: where somebody else has taken that run over, nothing is written. Default: what is under its id already is replaced. */
  readonly lease?: string;
  /** As of a run. */
  readonly owner?: string | undefined;
  /** Whether somebody has paid for it. Default: nobody has. */
  readonly isPaid?: boolean | undefined;
}

/** The database of a store, for those who keep a response in a transaction of their own. */
export interface AnswerRows {
  readonly database: SqlDatabase;
  /** Asked for each response that is kept so: until when it is, in milliseconds since the epoch. */
  keptUntil(): number;
}

/** Bounds of what a store of responses keeps. */
export interface IdempotencyBounds {
  /** How long a response is kept, in milliseconds. Default 24 hours. */
  readonly retentionMs?: number;
  /** How many bytes are kept in all; beyond that the oldest responses of those owners go who have most, those first that nobody has paid for. */
  readonly maxBytes?: number;
  /** Clock, milliseconds since the epoch. */
  readonly now?: () => number;
  /** One that nobody sets, in milliseconds: what a clock that has jumped ahead takes for old is not forgotten in passing. Default `performance.now` */
  readonly steady?: () => number;
}

/** How long responses are kept, in milliseconds, unless somebody says otherwise. */
export const RESPONSE_RETENTION_MS = 86_400_000;

/** The fingerprint of responses that no run was begun for. */
export const NO_RUN = '';

/** The owner of what no owner is told of. */
export const ANYBODY = '';

/** Rough size of an entry beside its response, in bytes. */
export const ENTRY_BYTES = 512;
