import { IncomingMessage } from 'node:http';
import { z } from 'zod';
import type { Tier } from '../../access/tiers.js';
import type { ServiceKey } from '../../identity/service-keys/service-key-types.js';
import type { ProvenWallet } from '../../identity/types.js';
import { defined } from '../../lib/defined.js';
import { Later } from '../../lib/http/later.js';
import { createRequestNote, type RequestNote } from '../../lib/http/request-note.js';
import { putProperty } from '../../lib/http/request-property.js';
import { withAmountJson } from '../../protocol/money/amount-json.js';
import type { PriceInput } from '../../protocol/money/money.js';
import type { Receipt, Terms } from '../../protocol/types.js';

/** What a payment gate learned about the request; on `req.payment` in the handler. In JSON its amounts are decimal digits. */
export interface RequestPayment {
  /** Wallet that pays, base58. */
  readonly payer: string;
  /** What is paid. */
  readonly terms: Terms;
  /** Set when the money has landed before the handler runs (`settle: 'before'`, or a payment resumed after an interruption). */
  readonly receipt: Receipt | undefined;
  /** Says what the request has cost, where what is paid is credit; see {@link chargeCredit}, which is good for every request. */
  readonly charge?: ChargeCredit;
}

/**
 * {@link chargeCredit} for one request.
 * @param amount - a price such as `'0.0004 USDC'` in the token of the credit, which may be zero, or atomic units of it as bigint
 */
export type ChargeCredit = (amount: PriceInput | bigint) => Promise<boolean>;

/** The pass that covers a request; on `req.pass` in the handler. */
export interface RequestPass {
  readonly id: string;
  /** Wallet that has paid for it, base58. */
  readonly wallet: string;
  /** What it is good for: a count of requests, a time, or an amount of a token. */
  readonly kind: 'uses' | 'until' | 'credit';
  /** What is left of it behind this request: uses, or atomic units. Missing where it is for a time alone. */
  readonly left?: bigint;
  /** Mint of what is left, base58; for credit only. */
  readonly mint?: string;
  /** When it ends, in milliseconds since the epoch. Missing where it does not by itself. */
  readonly endsAt?: number;
  /** Until when it can be renewed, and still covers, in milliseconds since the epoch. Missing where it cannot be. */
  readonly renewableUntil?: number;
  /** Says what the request has cost, where it is taken from credit; see {@link chargeCredit}, which is good for every request. */
  readonly charge?: ChargeCredit;
}

/** Whose service key a request came with; on `req.serviceKey` in the handler. */
export type RequestServiceKey = Pick<ServiceKey, 'id' | 'owner' | 'projectId' | 'mode' | 'scopes' | 'metadata'>;

/** What gates learn about a request, by the property of the request that it is put on. */
export interface LearnedOfRequest {
  /** Set by `requirePayment`: who pays what. */
  payment: RequestPayment;
  /** Set by `requirePayment` where a pass covers the request, and no payment came. */
  pass: RequestPass;
  /** Set by gates that ask for a wallet: whose wallet calls, proven. */
  wallet: ProvenWallet;
  /** Set by `requireTier` and `readTier`: the tier of that wallet, if it has reached one. */
  tier: Tier;
  /** Set by `serviceKeyAuth`: the key that was shown, and whose it is. */
  serviceKey: RequestServiceKey;
}

/** Something that gates learn about a request. */
export type Learned = keyof LearnedOfRequest;

/**
 * Which property of the request each of these is put on: another name, or false for none, where an app or another middleware
 * has a property of that name. `paymentOf`, `passOf`, `walletOf`, `tierOf` and `serviceKeyOf` read what was learned all the same.
 */
export type RequestNames<Names extends Learned> = { readonly [Name in Names]?: string | false };

type NameOf<Name extends Learned> =
  Tollhouse.RequestNames extends Readonly<Record<Name, infer Other>> ? (Other extends string ? Other : never) : Name;

/** The properties that gates put on a request, under the names of `Tollhouse.RequestNames`. */
export type RequestProperties = { [Name in Learned as NameOf<Name>]?: LearnedOfRequest[Name] };

declare global {
  namespace Tollhouse {
    /**
     * Renames the properties that Express's `Request` has of Tollhouse, or takes them off, for an app with types of its own:
     * `declare global { namespace Tollhouse { interface RequestNames { payment: 'x402'; tier: false } } }`.
     */
    interface RequestNames {}
  }
  namespace Express {
    interface Request extends RequestProperties {}
  }
}

const notes: { readonly [Name in Learned]: RequestNote<IncomingMessage, Later<LearnedOfRequest[Name]>> } = {
  payment: createRequestNote(),
  pass: createRequestNote(),
  wallet: createRequestNote(),
  tier: createRequestNote(),
  serviceKey: createRequestNote(),
};

/** Who pays for a request, and what; undefined where no payment gate has let it in. */
export function paymentOf(req: IncomingMessage): RequestPayment | undefined {
  return notes.payment.of(req)?.get();
}

/** The pass that covers a request; undefined where none does: it is paid for, or free. */
export function passOf(req: IncomingMessage): RequestPass | undefined {
  return notes.pass.of(req)?.get();
}

/**
 * Says what a request has cost, once or as a response goes on: all that is charged for it together is taken from the credit that
 * pays for it, exactly, and the rest of `cost` (`pass: { credit: true, cost }`) given back when the response has ended.
 * Where nothing is charged, a request costs `cost`. With `stream: true` more than `cost` is taken as it is charged: charge before
 * you send what it is for.
 * @param amount - a price such as `'0.0004 USDC'` in the token of the credit, which may be zero, or atomic units of it as bigint
 * @returns whether to go on. False: with `stream: true` the credit is out and the gate has ended the response, or its client is
 *   gone; or its response had ended before, and nothing was charged. True as well where a request is paid in another way, whatever the amount
 * @throws TollhouseError `bad_option` for what is no amount of the token, and, without `stream`, where it is more than `cost`
 *   together with what was charged before; nothing is charged then. `store_unavailable` where more cannot be taken at the moment
 */
export function chargeCredit(req: IncomingMessage, amount: PriceInput | bigint): Promise<boolean> {
  const charge = paymentOf(req)?.charge ?? passOf(req)?.charge;
  return charge === undefined ? Promise.resolve(true) : charge(amount);
}

/** Whose wallet a request comes from, proven; undefined where no gate has asked for it. */
export function walletOf(req: IncomingMessage): ProvenWallet | undefined {
  return notes.wallet.of(req)?.get();
}

/** The tier of that wallet; undefined where it has reached none, or no gate has looked for one. */
export function tierOf(req: IncomingMessage): Tier | undefined {
  return notes.tier.of(req)?.get();
}

/** The service key that a request came with; undefined where no gate has asked for one. */
export function serviceKeyOf(req: IncomingMessage): RequestServiceKey | undefined {
  return notes.serviceKey.of(req)?.get();
}

/**
 * Tells the handlers behind a gate what it has learned: on the named property, and for `paymentOf` and the like.
 * @param make - called when a handler first looks at it
 */
export function tell<Name extends Learned>(
  req: IncomingMessage,
  names: { readonly [Each in Name]: string | false },
  what: Name,
  make: () => LearnedOfRequest[Name],
): void {
  const value = new Later(make);
  notes[what].put(req, value);
  const property = names[what];
  if (property !== false) putProperty(req, property, value);
}

/** The same for a payment; its receipt is there once the money has landed. */
export function tellPayment(
  req: IncomingMessage,
  names: { readonly payment: string | false },
  { payer, terms, charge }: Pick<RequestPayment, 'payer' | 'terms' | 'charge'>,
  receipt: Receipt | undefined,
): void {
  tell(req, names, 'payment', () => withAmountJson({ payer, terms, receipt, ...defined({ charge }) }));
}

const FORM = /^[A-Za-z_$][\w$]{0,63}$/;
const EXPRESS_OWN =
  'app baseUrl body cookies fresh host hostname ip ips method next originalUrl params path protocol query res route secret secure signedCookies stale subdomains url xhr';
const TAKEN: ReadonlySet<string> = new Set(EXPRESS_OWN.split(' '));
const NAME = 'the name of a property that requests do not have, or false for none';

/** Schema of {@link RequestNames}, for a gate that learns these. */
export function requestNamesOption<const Names extends Learned>(...learned: readonly Names[]) {
  const fields = Object.fromEntries(learned.map((name) => [name, nameOption.default(name)]));
  return z
    .strictObject(fields, `an object of ${learned.join(', ')}`)
    .refine((names) => haveOneEach(Object.values(names)), 'an object with another name for each')
    .prefault({})
    .transform((names) => names as { readonly [Name in Names]: string | false });
}

const nameOption = z.union([z.literal(false), z.string().refine(isFree, NAME)], NAME);

function isFree(name: string): boolean {
  return FORM.test(name) && !TAKEN.has(name) && !(name in IncomingMessage.prototype);
}

function haveOneEach(names: readonly unknown[]): boolean {
  const given = names.filter((name) => name !== false);
  return new Set(given).size === given.length;
}
