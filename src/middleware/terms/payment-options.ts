import type { Request, Response } from 'express';
import { z } from 'zod';
import type { SetupFinding } from '../../facilitator/setup/setup-finding.js';
import type { Facilitator } from '../../facilitator/types.js';
import type { Identity } from '../../identity/types.js';
import { baseUrlSchema } from '../../lib/http/base-url.js';
import { type PageOptions, pageOptions } from '../../pages/layout/page-options.js';
import type { AddressInput } from '../../protocol/address-input.js';
import type { PriceInput } from '../../protocol/money/money.js';
import type { Commitment, NetworkId, Receipt, Refusal, Terms } from '../../protocol/types.js';
import { type RequestNames, requestNamesOption } from '../gate/request-properties.js';
import { type DiscoveryOptions, discoveryOptions } from './discovery-options.js';
import { type HolderOffer, holderOffers } from './holder-offers.js';
import { type Offer, type PassOption, passOption } from './pass-option.js';

/** One price, or several of which the payer chooses. */
export type Price = PriceInput | readonly PriceInput[];

/** Several prices, each with what it buys where that is more than one request. */
export type Offers = readonly (PriceInput | Offer)[];

/** A function of the request. Its parameter may be the route's own, such as `Request<{ id: string }>`. */
export type OfRequest<Value> = { answer(req: Request): Value }['answer'];

/** One value for each network. */
export type PerNetwork<Value> = { readonly [Network in NetworkId]?: Value };

/** What a route costs on a network. */
export type RoutePrice = Price | Offers | OfRequest<Price | Promise<Price>>;

/** Who is paid on a network. */
export type RoutePayTo = AddressInput | OfRequest<AddressInput | Promise<AddressInput>>;

/** Options of {@link requirePayment}. */
export interface RequirePaymentOptions {
  /**
   * Who verifies and settles; or several, one for each network that payments are taken on. The 402 lists the terms of all, and a payment
   * goes to the one of its network. A gate takes money of the networks that it names, and of no other: name a test network only where
   * test money may buy what is behind it.
   */
  readonly facilitator: Facilitator | readonly Facilitator[];
  /**
   * `"$0.01"` (USDC), `"0.5 USDT"`, `"0.001 SOL"` (wrapped SOL), `{ amount, asset }` in atomic units, a list of which the
   * payer chooses one (`['$0.01', { price: '$0.50', pass: { uses: 100 } }]`), or a function of the
   * request that answers one or several prices, without a pass. A function must answer the same for the request that is paid as
   * for the one that was asked. With several networks a price in a symbol is one in the token of that name on each; or say it for each:
   * `{ solana: '$0.10', 'solana-devnet': '$0.01' }`.
   */
  readonly price: RoutePrice | PerNetwork<RoutePrice>;
  /**
   * Wallet that receives, base58 or web3.js `PublicKey`; its token account must exist. Or a function of the request, whose payments
   * may go to anybody: they have three fifths of `maxFeeLamportsPerHour` together with all sellers. Or one for each network:
   * `{ solana: …, 'solana-devnet': … }`. Default: the same on all.
   */
  readonly payTo: RoutePayTo | PerNetwork<RoutePayTo>;
  /**
   * What a payment buys instead of one request: `{ uses: 100 }`, `{ for: '24h' }`, both, or with `group: 'magazine'` for every
   * gate of that group. The paid request is the first of the uses. It is shown again by the token that the paid response has in
   * `Access-Pass`, sent back in the same header, by SIGN-IN-WITH-X of the wallet that paid, or with `cookie: true` by the cookie
   * that browsers send by themselves. Price, `payTo` and `memo` beside it are no functions of the request: a pass is good for
   * all of them. Default: one request.
   */
  readonly pass?: PassOption | undefined;
  /**
   * What wallets pay that hold something: `[{ tier: 'gold', price: '$0.001' }, { mint, minBalance: 100, free: true }, { tier: 'silver',
   * allowance: { uses: 1000, per: '30d' } }]`. The first that fits counts, for who signs in; the 402 tells strangers of all of them,
   * and asks them for `price`. A holder's price is taken from the wallet alone that has signed in. Default: all pay the same.
   */
  readonly holders?: readonly HolderOffer[] | undefined;
  /** With `pass` or `holders`: who finds out which wallet signs in, made by `createIdentity`. Default: that of all gates on this facilitator. */
  readonly identity?: Identity | undefined;
  /** What is sold, in a sentence for people; the heading of the paywall page. Default: that it has a price. */
  readonly description?: string | undefined;
  /** Media type of the paid response. */
  readonly mimeType?: string | undefined;
  /** Memo that the payment must carry, at most 256 bytes of UTF-8: an order number, for instance. */
  readonly memo?: string | OfRequest<string | undefined | Promise<string | undefined>> | undefined;
  /**
   * `after` (default): the handler runs first and its response is held until the money has landed; an error costs the payer
   * nothing. `before`: the money is taken first and nothing is held: for streams and server-sent events.
   */
  readonly settle?: 'after' | 'before' | undefined;
  /**
   * With `settle: 'before'`: whether a request that fails once its money has landed leaves its payer with it: the whole amount as
   * credit for the price of this route, or what it took of the pass that was bought. The failed response says so, and the token in
   * its `Access-Pass`, SIGN-IN-WITH-X of the wallet that paid, and the same payment are good for another request. With
   * `settle: 'after'`: whether credit that was left before is taken where it is shown. Default true; false, and with several
   * networks: neither, and the same payment may come again for the same request, three times in all.
   */
  readonly compensate?: boolean | undefined;
  /** How far the payment must have come on the chain. Default `confirmed`; `processed` is faster and can still be undone. */
  readonly commitment?: Commitment | undefined;
  /** How long the payer may wait for the settlement, in seconds; part of the terms. Default 60. */
  readonly maxTimeoutSeconds?: number | undefined;
  /**
   * With `settle: 'after'`: how long the handler may take before the response is 504, in milliseconds. Default 30,000. With
   * `before`: how long it may go on for a client that is gone before anything was sent, and can come again for the response.
   * Of a request that a pass covers, what it took stays taken for at most 20 times as long while its client is gone and the handler
   * goes on.
   */
  readonly handlerTimeoutMs?: number | undefined;
  /**
   * With `settle: 'after'`: how long the client may take to read the response, in milliseconds; then its connection is cut.
   * It can send the same payment again. Default 600,000.
   */
  readonly deliveryTimeoutMs?: number | undefined;
  /**
   * Whether a response is charged for, told from its status and headers. Where it is not, `after` takes no money, and with
   * `before` its payer is left with it (see `compensate`). Default: every status from 200 to 399; a redirect is a response, its `Location` may be the goods.
   */
  readonly charge?: ((res: Response) => boolean) | undefined;
  /** With `settle: 'after'`: how much of a response is held, in bytes. Default 4 MiB. */
  readonly maxHeldBytes?: number | undefined;
  /** Address under which clients reach this server, for the 402's resource URL. Default: from the request. */
  readonly baseUrl?: string | undefined;
  /** Protocol extensions to declare in the 402, as they go over the wire. */
  readonly extensions?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Whether a payer may name its payment (x402's `payment-identifier` extension): no other payment is taken under the name
   * for 24 hours. `required`: payments without a name are answered 400, all of version 1 among them. Default `optional`.
   */
  readonly paymentIdentifier?: 'optional' | 'required' | 'off' | undefined;
  /** How the page looks that a browser gets with the 402, and what it says. Default: ours, in the reader's language. */
  readonly page?: PageOptions | undefined;
  /**
   * Lists the route at `/discovery` of every router on the same facilitator, and describes it in the 402 (x402's `bazaar`
   * extension). A price, recipient or memo that depends on the request is not listed with it. Default: the route is not listed.
   */
  readonly discovery?: DiscoveryOptions | undefined;
  /**
   * `{ payment: 'x402' }` tells the handler on `req.x402`, `{ payment: false }` on no property of the request, for apps that have
   * a `req.payment` of their own; `paymentOf(req)` returns it either way, `passOf(req)` the pass, and with
   * `holders` `walletOf(req)` and `tierOf(req)` who has signed in. Default: `req.payment`, `req.pass`, `req.wallet`, `req.tier`.
   */
  readonly requestNames?: RequestNames<'payment' | 'pass' | 'wallet' | 'tier'> | undefined;
  /** Called when a payment is good, before the handler runs. */
  readonly onVerified?:
    | ((event: { readonly req: Request; readonly payer: string; readonly terms: Terms }) => void)
    | undefined;
  /** Called when the money has landed; again for the same receipt where a response that did not arrive is asked for again. */
  readonly onSettled?: ((event: { readonly req: Request; readonly receipt: Receipt }) => void) | undefined;
  /**
   * Called when a payment was refused or failed. `findings`: what is known to be wrong with the set-up, for the operator's eyes;
   * the client hears of the refusal alone.
   */
  readonly onFailed?: ((event: FailedPayment) => void) | undefined;
}

/** A payment that was refused or failed, as {@link RequirePaymentOptions.onFailed} is told of it. */
export interface FailedPayment {
  readonly req: Request;
  readonly refusal: Refusal;
  readonly findings: readonly SetupFinding[];
}

const PAY_TO = 'the wallet that receives, as base58 text or PublicKey';
const MAX_HELD_BYTES = 4 * 1024 * 1024;
const MAX_MILLISECONDS = 2_147_483_647;

function callable<T>(message: string) {
  return z.custom<T>((it) => typeof it === 'function', message);
}

function textOr<T>(schema: z.ZodString, message: string) {
  return z.union([schema, callable<T>(message)], message);
}

const milliseconds = z
  .int('a whole number of milliseconds')
  .min(1, 'at least 1')
  .max(MAX_MILLISECONDS, `at most ${MAX_MILLISECONDS}`);

const isFacilitator = (it: unknown): boolean => typeof Reflect.get(Object(it), 'openPayment') === 'function';

/** After an informational status, below 200, clients wait for the response still. */
const belowErrors = ({ statusCode }: Response): boolean => statusCode >= 200 && statusCode < 400;

/** Schema of {@link RequirePaymentOptions}; the defaults stand here. Prices and addresses are read by payment-terms.ts. */
export const requirePaymentOptions = z.strictObject({
  facilitator: z.custom<RequirePaymentOptions['facilitator']>(
    (it) => isFacilitator(it) || (Array.isArray(it) && it.length > 0 && it.every(isFacilitator)),
    'a facilitator, made by createFacilitator or remoteFacilitator({ url, network }), or a list of them',
  ),
  price: z.custom<RequirePaymentOptions['price']>((it) => it !== undefined && it !== null, 'a price such as "$0.01"'),
  payTo: z.custom<RequirePaymentOptions['payTo']>((it) => it !== undefined && it !== null, PAY_TO),
  pass: passOption.optional(),
  holders: holderOffers.default([]),
  identity: z
    .custom<Identity>((it) => typeof Reflect.get(Object(it), 'prove') === 'function', 'an identity')
    .optional(),
  description: z.string('a text').max(1000, 'at most 1,000 characters').optional(),
  mimeType: z.string('a media type').max(200, 'at most 200 characters').optional(),
  memo: textOr<Exclude<RequirePaymentOptions['memo'], string | undefined>>(
    z.string(),
    'a text or a function of the request',
  ).optional(),
  settle: z.enum(['after', 'before'], '"after" or "before"').default('after'),
  compensate: z.boolean('true or false').default(true),
  commitment: z
    .enum(['processed', 'confirmed', 'finalized'], '"processed", "confirmed" or "finalized"')
    .default('confirmed'),
  maxTimeoutSeconds: z.int('a whole number of seconds').min(1, 'at least 1').max(3600, 'at most 3,600').default(60),
  handlerTimeoutMs: milliseconds.default(30_000),
  deliveryTimeoutMs: milliseconds.max(86_400_000, 'at most a day').default(600_000),
  charge: callable<NonNullable<RequirePaymentOptions['charge']>>('a function of the response').default(
    () => belowErrors,
  ),
  maxHeldBytes: z.int('a whole number of bytes').min(1, 'at least 1').default(MAX_HELD_BYTES),
  baseUrl: baseUrlSchema.optional(),
  extensions: z.record(z.string(), z.unknown()).optional(),
  paymentIdentifier: z.enum(['optional', 'required', 'off'], '"optional", "required" or "off"').default('optional'),
  page: pageOptions.optional(),
  discovery: discoveryOptions.optional(),
  requestNames: requestNamesOption('payment', 'pass', 'wallet', 'tier'),
  onVerified: callable<NonNullable<RequirePaymentOptions['onVerified']>>('a function').optional(),
  onSettled: callable<NonNullable<RequirePaymentOptions['onSettled']>>('a function').optional(),
  onFailed: callable<NonNullable<RequirePaymentOptions['onFailed']>>('a function').optional(),
});

/** {@link RequirePaymentOptions} with the defaults filled in. */
export type FilledPaymentOptions = Readonly<z.output<typeof requirePaymentOptions>>;

/** The same as gates work with them: one facilitator, which may stand for several, and the price and the recipient of its network. */
export interface ResolvedPaymentOptions extends Omit<FilledPaymentOptions, 'facilitator' | 'price' | 'payTo'> {
  readonly facilitator: Facilitator;
  /** With several networks, those of the first. */
  readonly price: RoutePrice;
  readonly payTo: RoutePayTo;
  /** What differs from network to network, where there are several. */
  readonly perNetwork?: readonly NetworkTerms[] | undefined;
}

/** What a gate asks for on one network. */
export type NetworkTerms = Pick<ResolvedPaymentOptions, 'facilitator' | 'price' | 'payTo'>;
