import { readDuration } from '../../lib/duration.js';
import { windowEnd } from '../../storage/calls/periods.js';
import { SPENDING_WINDOWS } from '../../storage/keys/service-keys.js';
import { priceArgument } from '../arguments/price-argument.js';
import { UsageError } from '../command.js';

/** What may be spent of a token in a time. */
export interface WalletBudget {
  /** As people read it: `1 USDC/day`. */
  readonly text: string;
  /** Decimal text, in the token's own unit. */
  readonly limit: string;
  /** Symbol of the token, or its mint. */
  readonly token: string;
  /** When it does not count any more what was spent at a time, milliseconds since the epoch; infinity for `total`. */
  endOf(spentAt: number): number;
}

/** The longest time that spends are kept for one by one, so that they can be counted in it. */
export const LONGEST_WINDOW_MS = 31 * 86_400_000;

const FORMS = 'an amount in a time such as "1 USDC/day" (hour, day, month, total), or one beside --budget-window';

/**
 * Reads `--budget` and `--budget-window`; undefined where neither is given. Windows by name are those of UTC; one by its length
 * goes along with the time: what was spent counts for so long.
 * @throws UsageError with what to type instead
 */
export function readBudget(text: string | undefined, window: string | undefined): WalletBudget | undefined {
  if (text === undefined && window === undefined) return undefined;
  if (text === undefined) throw new UsageError('--budget-window says in what time --budget may be spent: give both');
  const [, price = text, named] = /^(.*)\/(\w+)$/.exec(text.trim()) ?? [];
  if ((named === undefined) === (window === undefined)) {
    throw new UsageError(`--budget must be ${FORMS}, not "${text}"${window === undefined ? '' : ' beside a window'}`);
  }
  // What names no token is dollars: a whole SOL is another amount of money.
  const { amount: limit, token } = priceArgument('--budget', /^\d+(\.\d+)?$/.test(price) ? `$${price}` : price);
  const time = named ?? window ?? '';
  return {
    text: `${limit} ${token}/${time}`,
    limit,
    token,
    endOf: endOfWindow(time, named === undefined ? '--budget-window' : '--budget'),
  };
}

function endOfWindow(time: string, flag: string): WalletBudget['endOf'] {
  const known = SPENDING_WINDOWS.find((it) => it === time);
  if (known !== undefined) return (spentAt) => windowEnd(known, spentAt);
  const length = readDuration(time);
  if (length.ok && length.value <= LONGEST_WINDOW_MS) return (spentAt) => spentAt + length.value;
  throw new UsageError(
    `${flag}: "${time}" is no time; it is ${SPENDING_WINDOWS.join(', ')}, or a length of time up to 31d such as "24h"`,
  );
}
