import { moneyOf } from '../../protocol/networks/tokens.js';
import type { OwedResponses } from '../../storage/books/response-figures.js';

/** What was paid to a project for calls that nobody has come for. */
export interface ResponsesOwed {
  /** Payments that have landed and whose response was not given. */
  readonly open: number;
  /** What was paid for them: atomic units by mint. */
  readonly owed: ReadonlyMap<string, bigint>;
  /** When the oldest of them was paid, milliseconds since the epoch; missing where there is none. */
  readonly oldestAt?: number;
}

/** The sum of responses that are owed. */
export function responsesOwed(responses: readonly OwedResponses[]): ResponsesOwed {
  const owed = new Map<string, bigint>();
  for (const { mint, amount } of responses) owed.set(moneyOf(mint), (owed.get(moneyOf(mint)) ?? 0n) + amount);
  const open = responses.reduce((sum, { count }) => sum + count, 0);
  return open === 0 ? { open, owed } : { open, owed, oldestAt: Math.min(...responses.map((it) => it.oldestAt)) };
}
