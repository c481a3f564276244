import { z } from 'zod';
import type { HeldBalance } from '../../access/balance.js';
import type { HoldingTimes } from '../../access/holding-times.js';
import type { Holdings } from '../../access/holdings.js';
import type { TiersOptions } from '../../access/tiers.js';
import type { Delegations } from '../../identity/delegations.js';
import type { PriceInput } from '../../protocol/money/money.js';
import { duration, groupName, type Offer, type PassOption, passOption, usesCount } from './pass-option.js';

/** What wallets that hold something pay instead, or have without paying. Give `tier`, or `mint` or `collection`. */
export interface HolderOffer extends HeldBalance {
  /** Id of the lowest tier that has it, as for `requireTier`. */
  readonly tier?: string;
  /** With `tier`: the tiers. Default: `bronze`, `silver` and `gold` from 100, 1,000 and 10,000 USDC. */
  readonly tiers?: TiersOptions;
  /** How long the wallet must have been seen holding it without a break, as for `requireTier`: `'24h'`. Default: no time. */
  readonly heldFor?: string;
  /** With `heldFor`: where the times are kept. Default: in the facilitator's storage, or in this process's memory. */
  readonly holdingTimes?: HoldingTimes;
  /** Wallets that stand for others, made by `createDelegations`. Default: every wallet stands for itself. */
  readonly delegations?: Delegations;
  /** What wallets hold. Default: what all gates on this facilitator share, at most 15 s old. */
  readonly holdings?: Holdings;
  /** What it pays instead: a price, or a list, as option `price`; no function. Default: what everybody pays. */
  readonly price?: PriceInput | readonly (PriceInput | Offer)[];
  /** What a payment of that price buys, as option `pass`. Default with `price`: one request. */
  readonly pass?: PassOption;
  /** Whether it pays nothing. Default false. */
  readonly free?: boolean;
  /** Requests that it has without paying, before it pays. Default: none. */
  readonly allowance?: AllowanceOption;
}

/** Requests that wallets have without paying, in every period. */
export interface AllowanceOption {
  /** How many. */
  readonly uses: number;
  /**
   * The period, `'24h'` or `'30d'`. All periods of a length begin at the same moment for all wallets, counted from 1970 on (UTC); what
   * is not used is lost with it. It has the size that it had when the wallet came first in the period, and stays the wallet's until
   * the end of the period, whatever becomes of what it holds.
   */
  readonly per: string;
  /** Name of a group of gates that have one allowance together, as `group` of a pass. Default: this route has its own. */
  readonly group?: string | undefined;
}

const any = z.unknown().optional();

const allowance = z
  .strictObject(
    { uses: usesCount, per: duration, group: groupName.optional() },
    'an object such as { uses: 1000, per: "30d" }',
  )
  .transform(({ uses: count, per, group: name }) => ({ uses: BigInt(count), perMs: per, group: name }));

const holderOffer = z
  .strictObject(
    {
      ...{ tier: any, tiers: any, mint: any, collection: any, minBalance: any },
      ...{ heldFor: any, holdingTimes: any, delegations: any, holdings: any },
      price: z
        .custom<NonNullable<HolderOffer['price']>>(
          (it) => it !== null && typeof it !== 'function',
          'a price such as "$0.01", or a list, and no function',
        )
        .optional(),
      pass: passOption.optional(),
      free: z.literal(true, 'true').optional(),
      allowance: allowance.optional(),
    },
    'an object such as { tier: "gold", price: "$0.001" }',
  )
  .refine(
    ({ tier, mint, collection }) => [tier, mint, collection].filter((it) => it !== undefined).length === 1,
    'an object with one of tier, mint and collection, which says who has it',
  )
  .refine(
    ({ price, free, allowance: own }) => [price, free].filter((it) => it !== undefined).length + (own ? 1 : 0) > 0,
    'an object with price, free or allowance, which says what it has',
  )
  .refine(
    ({ price, free, allowance: own }) => free === undefined || (price ?? own) === undefined,
    'an object with free alone: who pays nothing needs no price and no allowance',
  )
  .refine(({ price, pass }) => pass === undefined || price !== undefined, 'an object with price beside pass');

const MOST_HOLDERS = 20;

/** Schema of option `holders`. */
export const holderOffers = z
  .array(holderOffer, 'a list such as [{ tier: "gold", price: "$0.001" }]')
  .max(MOST_HOLDERS, `at most ${MOST_HOLDERS} entries`);

/** A {@link HolderOffer} as it was read; who has it is read by the gate for wallets. */
export type ReadHolderOffer = z.output<typeof holderOffer>;

/** An allowance as it was read. */
export type ReadAllowance = z.output<typeof allowance>;
