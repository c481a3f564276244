/**
 * Tells the processes that share a database apart, and which of them are gone. What holds a payment is a process, and its
 * end is noticed by what runs it, not by a clock: one that is busy for a while is not taken for dead.
 */
export interface Presence {
  /** Names this process. Letters, digits, `-`, `_` and `/`. */
  readonly id: string;
  /**
   * How long a process must not have been heard of before it is asked about, in milliseconds: 0 where the response is
   * certain.
   */
  readonly silentMs: number;
  /** Whether a process is gone for certain. False where that cannot be known. */
  isGone(id: string): Promise<boolean>;
  close(): Promise<void>;
}

/** What stands between the name of a process and what makes a lease unique. */
const BETWEEN = ':';

/** The name of a lease that a process takes. */
export function leaseOf({ id }: Pick<Presence, 'id'>, unique: string): string {
  return `${id}${BETWEEN}${unique}`;
}

/** The process that holds a lease; undefined for a lease without one. */
export function holderOf(lease: string): string | undefined {
  const at = lease.indexOf(BETWEEN);
  return at === -1 ? undefined : lease.slice(0, at);
}
