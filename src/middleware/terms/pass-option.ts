import { z } from 'zod';
import { didYouMean } from '../../lib/did-you-mean.js';
import type { PriceInput } from '../../protocol/money/money.js';

/** What a payment may buy instead of one request: so many, or a time, or so many within a time, or credit that requests take from. */
export interface PassOption {
  /** How many requests, the paid one among them. Default: any number, within the time. */
  readonly uses?: number | undefined;
  /** Whether the amount paid is a balance, in the token that was paid: each request takes `cost` of it, the paid one first. Default false. */
  readonly credit?: boolean | undefined;
  /**
   * With `credit`: what a request takes, at most the price: `'$0.001'`, or one for each token that is offered, `['$0.001', '0.001 USDT']`.
   * It is taken before the handler, which may say that it was less (`chargeCredit`); a request that fails takes nothing.
   */
  readonly cost?: PriceInput | readonly PriceInput[] | undefined;
  /**
   * With `credit`: whether a response may cost more than `cost`, which is then what there must be to begin: the handler charges as
   * it goes on (`chargeCredit`), and the response ends when the credit is out. A gate that sells it has `settle: 'before'`.
   * Default false: `cost` is the most.
   */
  readonly stream?: boolean | undefined;
  /** For how long, from the payment on: `'30s'`, `'15m'`, `'24h'`, `'30d'`. Default: until the uses, or the credit, are used up. */
  readonly for?: string | undefined;
  /**
   * With `for` alone: whether it is a subscription. The wallet that has it and pays again, before its end or within the grace behind
   * it, has it prolonged from its end, and it stays the same pass with the same tokens. In the grace it covers still. Nobody is
   * charged whose pass lies more than one such time ahead: the request is covered by it instead. `true`: a grace of a tenth of the
   * time, at most 3 days. Default false: who pays again has another pass, from then on.
   */
  readonly renew?: boolean | { readonly grace: string } | undefined;
  /**
   * Name of a group of gates: the pass covers all of them that name it, on the same site and for the same `payTo`. Default: its own route alone.
   * Where a gate of it takes `credit`, uses cover only what sells uses too, and credit what has a `cost` in its token; a time covers all.
   */
  readonly group?: string | undefined;
  /**
   * Whether browsers have its token as a cookie too, which comes with the paid response and with a sign-in, and which they send by
   * themselves: a reload, a link and an image are covered. It is `HttpOnly`, `SameSite=Lax`, `Secure` but on http at loopback hosts,
   * for the route's path up to its first parameter (a group: the whole host), and lasts as the pass does, at most a year. Where
   * one of several passes of a route has a cookie, all of that route have. Default false.
   */
  readonly cookie?: boolean | undefined;
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
  /** How long it is good behind its end, where it can be renewed; undefined where it cannot. */
  readonly graceMs: number | undefined;
  readonly group: string | undefined;
  /** What a request takes of credit, as it was written; undefined where none is sold. */
  readonly costs: readonly PriceInput[] | undefined;
  readonly stream: boolean;
  readonly cookie: boolean;
}

const MAX_USES = 1_000_000_000;
const MAX_DAYS = 3_660;
const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const MOST_GRACE_MS = 3 * 86_400_000;
const TIME = 'a time such as "15m", "24h" or "30d", at most ten years';

/** A length of time such as `30d`, in milliseconds. */
export const duration = z
  .string(TIME)
  .transform((text) => millisecondsOf(text) ?? 0)
  .refine((ms) => ms > 0 && ms <= MAX_DAYS * 86_400_000, TIME);

const EXAMPLE = 'an object such as { uses: 100 } or { for: "24h" }';
/** A number of requests. */
export const usesCount = z.int('a whole number of requests').min(1, 'at least 1').max(MAX_USES, 'at most a billion');

/** Name of a group of gates. */
export const groupName = z
  .string('a name')
  .regex(/^[\w.-]{1,64}$/, 'a name of 1 to 64 letters, digits, ".", "_" or "-"');

const fields = {
  uses: usesCount.optional(),
  credit: z.boolean('true or false').default(false),
  cost: z.custom<PriceInput | readonly PriceInput[]>((it) => it !== null, 'a price such as "$0.001"').optional(),
  stream: z.boolean('true or false').optional(),
  for: duration.optional(),
  renew: z
    .union([z.boolean(), z.strictObject({ grace: duration })], 'true, or { grace: "3d" }, a time such as "12h" or "3d"')
    .default(false),
  group: groupName.optional(),
  cookie: z.boolean('true or false').default(false),
};

/** Schema of {@link PassOption}. */
export const passOption = z
  .strictObject(fields, {
    error(issue) {
      const [unknown = ''] = issue.code === 'unrecognized_keys' ? issue.keys : [];
      const meant = didYouMean(unknown, Object.keys(fields));
      return meant === undefined ? EXAMPLE : `${EXAMPLE} (did you mean "${meant}"?)`;
    },
  })
  .refine(
    ({ uses, for: time, credit }) => credit || (uses ?? time) !== undefined,
    'an object with uses, for, or both, or with credit: true',
  )
  .refine(({ uses, credit }) => uses === undefined || !credit, 'an object with uses or credit, not both')
  .refine(
    ({ cost, credit }) => !credit || cost !== undefined,
    'an object with cost beside credit, which says what a request takes of it at most: { credit: true, cost: "$0.001" }',
  )
  .refine(
    ({ cost, stream, credit }) => credit || (cost ?? stream) === undefined,
    'an object with credit: true beside cost and stream',
  )
  .refine(
    ({ renew, for: time, uses, credit }) => renew === false || (time !== undefined && uses === undefined && !credit),
    'an object with for alone beside renew: what is renewed is a time, as in { for: "30d", renew: true }',
  )
  .transform(
    ({ uses, for: forMs, renew, group, cookie, cost, stream = false }): PassRule => ({
      uses: uses === undefined ? undefined : BigInt(uses),
      costs: cost === undefined ? undefined : [cost].flat(),
      graceMs: graceOf(renew, forMs ?? 0),
      ...{ forMs, group, stream, cookie },
    }),
  );

function graceOf(renew: boolean | { readonly grace: number }, forMs: number): number | undefined {
  if (renew === false) return undefined;
  return renew === true ? Math.min(Math.floor(forMs / 10), MOST_GRACE_MS) : renew.grace;
}

function millisecondsOf(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits) * (UNITS_MS[unit] ?? 0);
}
