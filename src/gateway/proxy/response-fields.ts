import type { ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import { plainName } from '../../lib/http/plain-name.js';
import { withoutDialogs } from './auth-challenges.js';
import { type Fields, hopByHop, pairsOf } from './header-fields.js';

/**
 * Fields of an upstream's response that do not reach the caller: what only the gateway may say, and what would be believed of
 * every project on the gateway's origin, by browsers and by the tags and groups that caches keep responses under.
 */
const WITHHELD: ReadonlySet<string> = new Set([
  'accept-ch',
  'access-control-allow-credentials',
  'access-credit',
  'access-free-calls',
  'activate-storage-access',
  'alt-svc',
  'cache-group-invalidation',
  'cache-groups',
  'cache-tag',
  'cdn-tag',
  'clear-site-data',
  'critical-ch',
  'edge-cache-tag',
  'edge-control',
  'expect-ct',
  'idempotency-replayed',
  'login-status',
  'nel',
  'netlify-cache-tag',
  'observe-browsing-topics',
  'origin-agent-cluster',
  'public-key-pins',
  'public-key-pins-report-only',
  'refresh',
  'report-to',
  'reporting-endpoints',
  'service-worker-allowed',
  'set-login',
  'set-cookie',
  'set-cookie2',
  'shared-storage-write',
  'speculation-rules',
  'strict-transport-security',
  'use-as-dictionary',
  'vercel-cache-tag',
  'x-payment',
  'x-request-id',
  'xkey',
]);
const WITHHELD_FAMILIES = [
  ...['access-pass', 'payment-', 'x-payment-', 'x-service-', 'x-tollhouse-'],
  ...['attribution-reporting-', 'sec-session-', 'secure-session-', 'surrogate-'],
];

/**
 * What a proxy before the gateway would obey as the word of the gateway: to send a file of its own, to ask another address, to slow
 * down, to take the gateway for broken (nginx, Apache, lighttpd, Perlbal and H2O, LiteSpeed, Envoy, App Engine, Fly).
 */
const ORDERS_TO_PROXIES = [
  ...['x-accel-', 'x-sendfile', 'x-lighttpd-', 'x-reproxy-'],
  ...['x-litespeed-', 'x-envoy-', 'x-appengine-', 'fly-replay'],
];
/** That a proxy is not to hold a response back concerns this response alone, and streams need it. */
const UNBUFFERED = 'x-accel-buffering';

const NO_BODY: ReadonlySet<number> = new Set([204, 304]);

/** Fields that say where something is. */
const PLACES: ReadonlySet<string> = new Set(['location', 'content-location']);
/** Lists that the gateway and the upstream both add to. */
const LISTS: ReadonlySet<string> = new Set(['vary', 'access-control-expose-headers']);

/** An upstream's response, without those of its fields that stay behind. */
export interface ResponseFields {
  /** Values by name, as the upstream spells it; one entry for each field line. */
  readonly passed: readonly (readonly [name: string, value: string])[];
  /** Bytes that the upstream says its body has; undefined where it does not say. */
  readonly declaredLength: number | undefined;
  /** Whether its body has neither a length nor chunks, and ends with the connection. */
  readonly lastsAsConnection: boolean;
}

/** Header fields as undici read them: bytes, one Latin-1 character each, as Node writes them again. */
export function rawFields({ rawHeaders }: Dispatcher.DispatchController): string[] {
  return Array.isArray(rawHeaders) ? rawHeaders.map((it) => (typeof it === 'string' ? it : it.toString('latin1'))) : [];
}

/**
 * Reads the fields of an upstream's response.
 * @param toPublic - what a caller reaches a place that the upstream names at
 * @param isHidden - tells values that the caller must not see; default: there are none
 */
export function readResponseFields(
  fields: Fields,
  toPublic: (location: string) => string,
  isHidden: (value: string) => boolean = () => false,
): ResponseFields {
  const stays = hopByHop(fields);
  const passed: (readonly [string, string])[] = [];
  let declaredLength: number | undefined;
  let isChunked = false;
  for (const [name, value] of pairsOf(fields)) {
    const plain = plainName(name);
    if (name.toLowerCase() === 'content-length') declaredLength = Number(value);
    if (name.toLowerCase() === 'transfer-encoding') isChunked = /\bchunked\s*$/i.test(value);
    if (stays(plain) || isWithheld(plain)) continue;
    const shown = shownValue(plain, value, toPublic);
    if (shown !== undefined && !isHidden(shown)) passed.push([name, shown]);
  }
  return { passed, declaredLength, lastsAsConnection: declaredLength === undefined && !isChunked };
}

/** Puts an upstream's fields on the response. What is there already was put there by the gateway, and stays. */
export function applyResponseFields(res: ServerResponse, { passed }: ResponseFields): void {
  const ours = new Set(res.getHeaderNames());
  for (const [name, value] of passed) {
    const lower = name.toLowerCase();
    if (!ours.has(lower) || LISTS.has(lower)) res.appendHeader(name, value);
  }
}

/** Whether a response of this status has a body. */
export function hasBody({ req }: ServerResponse, status: number): boolean {
  return req.method !== 'HEAD' && !NO_BODY.has(status);
}

/** What of a value reaches the caller; undefined where nothing does. */
function shownValue(name: string, value: string, toPublic: (location: string) => string): string | undefined {
  if (name === 'www-authenticate') return withoutDialogs(value);
  return PLACES.has(name) ? toPublic(value) : value;
}

function isWithheld(name: string): boolean {
  const begins = (family: string): boolean => name.startsWith(family);
  if (WITHHELD.has(name) || WITHHELD_FAMILIES.some(begins)) return true;
  return name !== UNBUFFERED && ORDERS_TO_PROXIES.some(begins);
}
