import { createHash } from 'node:crypto';
import type { Request } from 'express';
import { siteOfGate } from '../../protocol/networks/pass-site.js';
import type { PassRule } from '../terms/pass-option.js';
import { recipientOf } from '../terms/pay-to.js';
import type { ResolvedPaymentOptions } from '../terms/payment-options.js';

/** What is longer, as only the path of a client can be, is known by its digest. */
const MAX_SCOPE_LENGTH = 512;

/**
 * The site of a gate that sells passes.
 * @param seller - who sells: its wallet, base58. Default: the one that is paid
 * @throws TollhouseError `bad_option` where that depends on the request
 */
export function siteOfSeller(
  where: string,
  { baseUrl, payTo, facilitator }: Pick<ResolvedPaymentOptions, 'baseUrl' | 'payTo' | 'facilitator'>,
  seller?: string,
): string {
  return siteOfGate(baseUrl, seller ?? recipientOf(where, payTo, facilitator.tokens), facilitator.network);
}

/** A route as a table of routes has it. */
export interface WrittenRoute {
  /** In capitals, or `*`. */
  readonly method: string;
  readonly path: string;
}

/** Reads what a table of routes says of one: `GET /files/*`, `/files/*`; undefined where nothing is written. */
export function readRoute(route: string | undefined): WrittenRoute | undefined {
  const [, verb = '*', path] = /^(?:(\S+)\s+)?(\S+)$/.exec(route?.trim() ?? '') ?? [];
  return path === undefined ? undefined : { method: verb.toUpperCase(), path };
}

/**
 * What a pass of a rule covers that is bought with a request: its group, else method and path of the route, as it is written in
 * the app; of a gate that no route is made of (`app.use`), the path that is asked for. Who asks for the head of a response gets
 * what GET gets. Ask before anything behind the gate runs: routers change what the request says of its route.
 */
export function passScope(req: Request, { group }: Pick<PassRule, 'group'>, written: WrittenRoute | undefined): string {
  if (group !== undefined) return `group ${group}`;
  const { baseUrl } = req;
  const pattern = routePattern(req, written);
  const method = written?.method ?? (req.method === 'HEAD' ? 'GET' : req.method);
  // A client may ask for a path that reads like the pattern of another route.
  const place = pattern === undefined ? `path ${baseUrl}${req.path}` : `${baseUrl}${patternText(pattern)}`;
  const scope = `${method} ${place}`;
  return scope.length > MAX_SCOPE_LENGTH ? `path ${createHash('sha256').update(scope).digest('hex')}` : scope;
}

/** The path of the route that a request is at, as it is written: a text, or whatever else Express takes; undefined where none is. */
export function routePattern({ route }: { readonly route?: unknown }, written: WrittenRoute | undefined): unknown {
  return written?.path ?? Reflect.get(Object(route), 'path');
}

function patternText(pattern: unknown): string {
  return Array.isArray(pattern) ? `[${pattern.map(patternText).join(' ')}]` : String(pattern);
}
