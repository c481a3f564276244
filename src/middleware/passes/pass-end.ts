import type { PassClaims } from '../../identity/types.js';
import { defined } from '../../lib/defined.js';
import type { Token } from '../../protocol/types.js';
import { CREDIT_HEADER, ENDS_HEADER, REMAINING_HEADER, RENEWABLE_HEADER } from '../gate/pass-headers.js';
import { creditText } from '../terms/credit-costs.js';

/** When a pass ends, as it was sold, and until when it can be renewed and still covers; milliseconds since the epoch. */
export interface PassEnd {
  /** Missing where it ends by use alone. */
  readonly endsAt?: number;
  /** Missing where it cannot be renewed. */
  readonly renewableUntil?: number;
}

/** What is told of a token. */
type Named = Pick<Token, 'symbol' | 'mint' | 'decimals'>;

/** What can be said of the end of a pass. */
export function endOf({ endsAt, graceMs }: { readonly endsAt?: number; readonly graceMs?: number }): PassEnd {
  if (endsAt === undefined || graceMs === undefined) return defined({ endsAt });
  return { endsAt: endsAt - graceMs, renewableUntil: endsAt };
}

/** Headers that tell what is left of a pass: uses, an amount of credit, or the seconds until its end; and the end of one that can be renewed. */
export function remainingHeaders(
  { mint, endsAt = 0, renewableUntil }: PassEnd & { readonly mint?: string },
  left: bigint | undefined,
  symbols: readonly Token[],
): Readonly<Record<string, string>> {
  return {
    [REMAINING_HEADER]: left === undefined ? secondsUntil(endsAt) : leftText(left, mint, symbols),
    ...(renewableUntil === undefined
      ? {}
      : { [ENDS_HEADER]: timeText(endsAt), [RENEWABLE_HEADER]: timeText(renewableUntil) }),
  };
}

/** The header that tells what a request that has failed did not cost; none where it would have cost nothing. */
export function unchargedHeaders(
  { kind, amount, mint }: Pick<PassClaims, 'kind' | 'mint'> & { readonly amount: bigint },
  symbols: readonly Named[],
): Readonly<Record<string, string>> {
  if (amount === 0n || kind === 'until') return {};
  const text =
    kind === 'uses'
      ? '1 use was not charged for this request, and is left of the pass'
      : `${leftText(amount, mint, symbols)} was not charged for this request, and pays the next one`;
  return { [CREDIT_HEADER]: text };
}

function leftText(left: bigint, mint: string | undefined, symbols: readonly Named[]): string {
  return mint === undefined ? String(left) : creditText(left, mint, symbols);
}

function secondsUntil(time: number): string {
  return String(Math.max(0, Math.floor((time - Date.now()) / 1_000)));
}

function timeText(time: number): string {
  return new Date(time).toISOString();
}
