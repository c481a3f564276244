import type { Request } from 'express';
import { z } from 'zod';
import { badOption } from '../../errors/errors.js';
import { mistakeIn, resolveOptions } from '../../lib/options.js';
import { NETWORK_IDS } from '../../protocol/types.js';
import { isPreflight } from '../gate/cors.js';
import { isExpress } from '../gate/express-only.js';
import { type Admit, admitOf, asMiddleware, createGate, type Gate, type Middleware } from '../gate/gate.js';
import { sendProblem } from '../gate/respond.js';
import { createPaymentGate } from '../payment/create-payment-gate.js';
import { decidePayment } from '../payment/paid-request.js';
import { type RequirePaymentOptions, requirePaymentOptions } from '../terms/payment-options.js';
import { observeGate } from '../tracing/gate-request.js';
import { decidedInSpan } from '../tracing/request-span.js';
import { pathReadings } from './path-readings.js';
import { covers, type RoutePattern, readRoutePattern, takesMethod } from './route-pattern.js';

/** What a route of {@link paywall} costs: a price, or options of `requirePayment`, those of all routes left out. */
export type PaywallRoute = RequirePaymentOptions['price'] | Partial<RequirePaymentOptions>;

/** Routes by method and path: `{ 'GET /report': '$0.01', '/files/*': { price: '$0.05', settle: 'before' } }`. */
export type PaywallRoutes = Readonly<Record<string, PaywallRoute>>;

interface PaywallEntry {
  readonly text: string;
  readonly pattern: RoutePattern;
  readonly gate: Gate;
}

const WHERE = 'paywall';
const EXAMPLE = "{ 'GET /report': '$0.01' }";
const ROUTES = 'an object of routes';
const MOUNTED = "app.get('/report', gate, handler)";
const ACCEPTS =
  'it has "accepts", as @x402/express does; write its price and payTo beside each other: { price: "$0.01", payTo, description }';
const AMBIGUOUS =
  'This path can be read in several ways, which have different prices, or in too many. Send it without dot segments, double slashes and encoded slashes.';

const routesSchema = z.record(z.string(), z.unknown(), ROUTES);
const sharedOptions = requirePaymentOptions.partial();

/**
 * Express middleware that asks for payments on several routes, by a map like that of `paymentMiddleware` of `@x402/express`:
 * `app.use(paywall({ 'GET /report': '$0.01' }, { facilitator, payTo }))`. Mount it before the handlers, and behind whatever
 * changes a request's address or method. Requests for other routes pass.
 *
 * A route is a method and a path; without a method it is about all of them, and GET is about HEAD too. `*` stands for
 * anything, `/*` at the end for all below and for the path itself, `:id` and `[id]` for a segment. Paths are those that
 * the app or router sees on which it is mounted. Letter case and a slash at the end make no difference, and neither does how a path is written:
 * escapes, `//` and dot segments are read in every way in which a handler may read them. The first route that matches counts; a path that is one
 * route's in one reading and another's in another is answered 400, and so is one of more than 8,192 characters with escapes, `//` or dots.
 * @param routes - first the particular ones, then the general ones
 * @param options - options of `requirePayment` for all routes; those of a route win
 * @throws TollhouseError `bad_option` now, not at the first request; it names the route
 */
export function paywall(routes: PaywallRoutes, options: Partial<RequirePaymentOptions> = {}): Middleware {
  const entries = readEntries(routes, options);
  return asMiddleware(function tollhousePaywall(req, res, next) {
    if (!isExpress(WHERE, req, next)) return;
    const found = entriesFor(entries, req);
    const [entry, other] = found ?? [];
    if (found === undefined || other !== undefined) return sendProblem(res, 'invalid_request', AMBIGUOUS);
    return entry === undefined ? next() : entry.gate(req, res, next);
  });
}

function readEntries(routes: unknown, options: unknown): readonly PaywallEntry[] {
  const mistake = mistakeIn(WHERE, routes);
  if (mistake !== undefined) throw badOption(WHERE, mistake);
  const swapped = Object.hasOwn(Object(routes), 'facilitator');
  if (swapped)
    throw badOption(WHERE, `the routes come first, then the options: paywall(${EXAMPLE}, { facilitator, payTo })`);
  const read = routesSchema.safeParse(routes);
  if (!read.success) throw badOption(WHERE, `the first argument must be an object of routes, such as ${EXAMPLE}`);
  resolveOptions(WHERE, sharedOptions, options);
  const entries = Object.entries(read.data).map(([text, value]) => readEntry(text, value, Object(options)));
  if (entries.length === 0) throw badOption(WHERE, `there is no route; give one, such as ${EXAMPLE}`);
  for (const [at, later] of entries.entries()) {
    const earlier = entries.slice(0, at).find(({ pattern }) => covers(pattern, later.pattern));
    if (earlier === undefined) continue;
    throw badOption(whereOf(later.text), `it is never reached, since "${earlier.text}" stands before it; put it first`);
  }
  return entries;
}

function readEntry(text: string, value: unknown, shared: object): PaywallEntry {
  const where = whereOf(text);
  const pattern = readRoutePattern(where, text);
  if (admitOf(value) !== undefined)
    throw badOption(where, `give its price or options; a gate is mounted by itself: ${MOUNTED}`);
  if (Object.hasOwn(Object(value), 'accepts')) throw badOption(where, ACCEPTS);
  const own = isPrice(value) ? { price: value } : value;
  const gate = createPaymentGate(where, { ...shared, ...Object(own) }, text);
  const { observed } = gate.options.facilitator;
  const decide: Admit = (req, res) => {
    observeGate(observed, req, res, text);
    return decidedInSpan('tollhouse.payment', req, res, () => decidePayment(gate, req, res));
  };
  return { text, pattern, gate: createGate(WHERE, decide) };
}

/** Whatever is not options is read as a price, which says what is wrong with it. */
function isPrice(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return true;
  return 'amount' in value || 'asset' in value || NETWORK_IDS.some((id) => id in value);
}

function whereOf(text: string): string {
  return `${WHERE}: route "${text}"`;
}

/** A preflight asks about another method, and what looks like one may be meant for a handler of OPTIONS. */
function methodsOf(req: Request): readonly string[] {
  if (!isPreflight(req)) return [req.method];
  return [String(req.headers['access-control-request-method']).toUpperCase(), req.method];
}

/** The routes that a request may be for, at most one for each way to read its path, and its method; undefined where there are too many ways. */
function entriesFor(entries: readonly PaywallEntry[], req: Request): readonly PaywallEntry[] | undefined {
  const readings = pathReadings(req.path, req.baseUrl);
  const found = readings?.flatMap((reading) =>
    methodsOf(req).map((method) =>
      entries.find(({ pattern }) => takesMethod(pattern, method) && pattern.matchesPath(reading)),
    ),
  );
  return found && [...new Set(found.filter((entry) => entry !== undefined))];
}
