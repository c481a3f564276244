import type { PaymentRecord } from '../../storage/ledger/ledger.js';

/** What a ledger says of what it has lost: see `Ledger`. */
export interface Memory {
  readonly remembersSince?: number | undefined;
  readonly remembersUntil?: number | undefined;
}

/** What a ledger remembers, and nothing else of it. */
export function memoryOf({ remembersSince, remembersUntil }: Memory): Memory {
  return { remembersSince, remembersUntil };
}

/** The chain tells the second in which a block was made, and clocks differ a little. */
const CLOCK_MS = 2_000;
/** What lands just before the books end may be written down, and used, after that; clocks of instances differ by ten seconds. */
const BEFORE_END_MS = 60_000;

/**
 * Whether money that landed at a time (milliseconds since the epoch) may have been used without the books knowing it: they began later, or
 * a backup was restored that was made before.
 */
export function landedInLostPeriod({ remembersSince = 0, remembersUntil }: Memory, landedAt: number): boolean {
  if (remembersUntil !== undefined && landedAt < remembersUntil - BEFORE_END_MS) return false;
  return landedAt < remembersSince + (remembersUntil === undefined ? -CLOCK_MS : CLOCK_MS);
}

/** The same for books that were restored only, and where the node does not tell when it landed: then nobody knows. */
export function isLostByRestore(memory: Memory, landedAt: number | undefined): boolean {
  if (memory.remembersUntil === undefined) return false;
  return landedAt === undefined || landedInLostPeriod(memory, landedAt);
}

/** From when on money that left may be missing in books that were restored, milliseconds since the epoch. */
export function lostFrom({ remembersUntil = Number.POSITIVE_INFINITY }: Memory): number {
  return remembersUntil - BEFORE_END_MS;
}

/**
 * Whether a payment that was sent was so when a backup was made that was restored since: what it has bought may have been given, and the
 * books would not know it. It buys nothing more.
 */
export function isFromBackup(
  { remembersSince, remembersUntil }: Memory,
  { claimedAt }: Pick<PaymentRecord, 'claimedAt'>,
) {
  return remembersUntil !== undefined && remembersSince !== undefined && claimedAt <= remembersSince;
}
