import { z } from 'zod';
import type { PriceInput } from '../../protocol/money/money.js';

/** What a payment may buy instead of one request: so many, or a time, or so many within a time. */
export interface PassOption {
  /** How many requests, the paid one among them. Default: any number, within the time. */
  readonly uses?: number;
  /** For how long, from the payment on: `'30s'`, `'15m'`, `'24h'`, `'30d'`. Default: until the uses are used up. */
  readonly for?: string;
  /** Name of a group of gates: the pass covers all of them that name it, on the same site. Default: its own route alone. */
  readonly group?: string;
  /**
   * Whether browsers have its token as a cookie too, which comes with the paid response and with a sign-in, and which they send by
   * themselves: a reload, a link and an image are covered. It is `HttpOnly`, `SameSite=Lax`, `Secure` but on http at loopback hosts,
   * for the route's path up to its first parameter (a group: the whole host), and lasts as the pass does, at most a year. Where
   * one of several passes of a route has a cookie, all of that route have. Default false.
   */
  readonly cookie?: boolean;
}

/** A price with what it buys, in a list of prices. */
export interface Offer {
  readonly price: PriceInput;
  /** What a payment of this price buys. */
  readonly pass: PassOption;
}

/** A {@link PassOption} as it was read. */
export interface PassRule {
  readonly uses: bigint | undefined;
  readonly forMs: number | undefined;
  readonly group: string | undefined;
  readonly cookie: boolean;
}

const MAX_USES = 1_000_000_000;
const MAX_DAYS = 3_660;
const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const TIME = 'a time such as "15m", "24h" or "30d", at most ten years';

const duration = z
  .string(TIME)
  .transform((text) => millisecondsOf(text) ?? 0)
  .refine((ms) => ms > 0 && ms <= MAX_DAYS * 86_400_000, TIME);

/** Schema of {@link PassOption}. */
export const passOption = z
  .strictObject(
    {
      uses: z.int('a whole number of requests').min(1, 'at least 1').max(MAX_USES, 'at most a billion').optional(),
      for: duration.optional(),
      group: z
        .string('a name')
        .regex(/^[\w.-]{1,64}$/, 'a name of 1 to 64 letters, digits, ".", "_" or "-"')
        .optional(),
      cookie: z.boolean('true or false').default(false),
    },
    'an object such as { uses: 100 } or { for: "24h" }',
  )
  .refine(({ uses, for: time }) => uses !== undefined || time !== undefined, 'an object with uses, for, or both')
  .transform(
    ({ uses, for: forMs, group, cookie }): PassRule => ({
      uses: uses === undefined ? undefined : BigInt(uses),
      forMs,
      group,
      cookie,
    }),
  );

function millisecondsOf(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits) * (UNITS_MS[unit] ?? 0);
}

const NAMES = [
  ['d', 'day'],
  ['h', 'hour'],
  ['m', 'minute'],
  ['s', 'second'],
] as const;

/** What a pass is good for, in words: `100 requests within 30 days`. */
export function passInWords({ uses, forMs, group }: PassRule): string {
  const where = group === undefined ? '' : ` to anything of "${group}"`;
  const time = forMs === undefined ? undefined : timeInWords(forMs);
  const requests = uses === undefined ? 'any number of requests' : uses === 1n ? '1 request' : `${uses} requests`;
  return `${requests}${where}${time === undefined ? '' : ` within ${time}`}`;
}

function timeInWords(ms: number): string {
  const [unit, name] = NAMES.find(([it]) => ms % (UNITS_MS[it] ?? 1) === 0) ?? (['s', 'second'] as const);
  const count = ms / (UNITS_MS[unit] ?? 1);
  return count === 1 ? `1 ${name}` : `${count} ${name}s`;
}
