import type { EventRecord, EventType } from './events.js';

/** Where an event stands among all others. Later ones are greater, by `tx` and then by `seq`. */
export interface EventPosition {
  readonly tx: number;
  readonly seq: number;
}

/** An event with its place. */
export interface LoggedEvent extends EventRecord {
  readonly position: EventPosition;
}

/** Which of an owner's events are wanted. */
export interface EventQuery {
  /** Default: all. */
  readonly types?: readonly EventType[];
  /** Default: those of every project, and of none. */
  readonly projectId?: string;
  /** Only what stands before it. Default: from the newest on. */
  readonly before?: EventPosition;
  /** How many at most. */
  readonly limit: number;
}

/** Whose events came after a position, and where reading has arrived. */
export interface EventNews {
  /** Wallets, base58. */
  readonly owners: ReadonlySet<string>;
  readonly position: EventPosition;
  /** Whether there may be more already. */
  readonly more: boolean;
}

/** Before all events; those from before a restore have places below zero. */
export const EVENTS_BEGIN: EventPosition = { tx: Number.MIN_SAFE_INTEGER, seq: 0 };

/**
 * What happened, to be read in one order that never changes: nothing is ever shown before something that was not shown yet.
 * Events are mostly written with what they tell (`eventSteps`). Everything rejects with `store_unavailable` when the
 * database does not answer.
 */
export interface EventLog {
  /** Writes events by themselves, all or none. */
  append(events: readonly EventRecord[]): Promise<void>;
  /** Writes an event unless one with its id is there; answers whether it has written it. */
  appendOnce(event: EventRecord): Promise<boolean>;
  /** An owner's events, the newest first. */
  list(owner: string, query: EventQuery): Promise<readonly LoggedEvent[]>;
  /** An owner's events after a position, the oldest first. */
  readAfter(owner: string, after: EventPosition, limit: number): Promise<readonly LoggedEvent[]>;
  /** An event of an owner. */
  find(owner: string, id: string): Promise<LoggedEvent | undefined>;
  /** Where the newest event of all stands. */
  end(): Promise<EventPosition>;
  /** Who has events after a position; looks at `limit` events at most. */
  newsAfter(after: EventPosition, limit: number): Promise<EventNews>;
  /**
   * Forgets events of before a time that no delivery needs any more, the oldest first. Call it until it answers 0.
   * @param before - milliseconds since the epoch
   * @param askedBefore - the same for `payment.created`. Default `before`
   * @returns how many went
   */
  prune(before: number, limit: number, askedBefore?: number): Promise<number>;
}
