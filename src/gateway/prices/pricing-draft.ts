import { formatAmount } from '../../protocol/money/money.js';
import type { CallPrice, ProjectMoney, ProjectOffer } from '../../storage/projects/call-price.js';
import type { FreeCallWindow, ProjectRoute } from '../../storage/projects/project-routes.js';
import type { ChargedStatus, ProjectPrice } from '../../storage/projects/projects.js';

/** What some calls are to cost. */
export interface DraftPrice {
  /** What one call costs, in whole tokens, never rounded. Default: single calls are not sold, only `offers`. */
  readonly amount?: string | number | undefined;
  /** Symbol or mint; given with the amount. */
  readonly token?: string | undefined;
  /** What one call costs in other tokens. Default: it is sold in one. */
  readonly prices?: readonly DraftMoney[] | undefined;
  /** What may be paid for more than one call, in this order. Default: nothing. */
  readonly offers?: readonly DraftOffer[] | undefined;
}

/** What calls are to cost where no route says something else. */
export interface DraftPricing extends DraftPrice {
  /** Default: the first that is served; it cannot be changed. */
  readonly network?: string | undefined;
  /** Statuses beside 2xx and 3xx that are charged. Default: none. */
  readonly chargeOn?: readonly ChargedStatus[] | undefined;
}

/** An amount of a token. */
export interface DraftMoney {
  /** In whole tokens, never rounded. */
  readonly amount: string | number;
  /** Symbol or mint. */
  readonly token: string;
}

/** A price, and what a payment of it buys. */
export interface DraftOffer extends DraftMoney {
  /** As option `pass` of `requirePayment`. */
  readonly pass: {
    readonly uses?: number | undefined;
    readonly for?: string | undefined;
    readonly credit?: boolean | undefined;
    /** Of credit: what a call takes, in whole tokens, never rounded. */
    readonly cost?: string | number | undefined;
    readonly group?: string | undefined;
  };
}

/** Calls that are to be treated in their own way: one of `price`, `free` and `deny`. */
export interface DraftRoute {
  /** Default: every method. */
  readonly method?: string | undefined;
  /** Below `/v1/<slug>`; `*` is one segment, and `**` at the end any rest. */
  readonly path: string;
  /** Its `token` is that of the project's price by default. */
  readonly price?: DraftPrice | undefined;
  readonly free?: true | undefined;
  /** `true` is 404. */
  readonly deny?: 403 | 404 | true | undefined;
}

/** Calls that each key is to have without paying. */
export interface DraftFreeCalls {
  readonly count: number;
  /** `24h` is a day. */
  readonly window: FreeCallWindow | '24h';
}

/** The prices of a project, as its owner could have asked for them. */
export function draftOfPricing({ network, chargeOn, ...price }: ProjectPrice): DraftPricing {
  return { ...draftOfPrice(price), network, chargeOn };
}

/** A route, as its owner could have asked for it. */
export function draftOfRoute({ price, ...route }: ProjectRoute): DraftRoute {
  return price === undefined ? route : { ...route, price: draftOfPrice(price) };
}

function draftOfPrice({ pass, prices, offers = [], ...money }: CallPrice): DraftPrice {
  const others = offers.map(draftOfOffer);
  if (pass !== undefined) return { offers: [draftOfOffer({ ...money, pass }), ...others] };
  return {
    ...draftOfMoney(money),
    prices: prices?.map(draftOfMoney),
    offers: others.length === 0 ? undefined : others,
  };
}

function draftOfMoney({ amount, token }: ProjectMoney): DraftMoney {
  return { amount: formatAmount(amount, token.decimals), token: token.mint };
}

function draftOfOffer({ pass: { cost, ...pass }, ...money }: ProjectOffer): DraftOffer {
  const credit = cost === undefined ? {} : { credit: true, cost: formatAmount(cost, money.token.decimals) };
  return { ...draftOfMoney(money), pass: { ...pass, ...credit } };
}
