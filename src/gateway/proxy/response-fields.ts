import type { ServerResponse } from 'node:http';
import { plainName } from '../../lib/http/plain-name.js';
import { type Fields, hopByHop, pairsOf } from './header-fields.js';

/**
 * Fields of an upstream's response that do not reach the caller: what only the gateway may say, and what would be believed of
 * every project on the gateway's origin.
 */
const WITHHELD: ReadonlySet<string> = new Set([
  'accept-ch',
  'access-credit',
  'access-free-calls',
  'alt-svc',
  'clear-site-data',
  'critical-ch',
  'expect-ct',
  'idempotency-replayed',
  'nel',
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
  'strict-transport-security',
  'use-as-dictionary',
  'x-payment',
  'x-request-id',
]);
const WITHHELD_FAMILIES = ['access-pass', 'payment-', 'x-payment-', 'x-service-', 'x-tollhouse-'];

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
  for (const [name, value] of pairsOf(fields)) {
    const plain = plainName(name);
    if (name.toLowerCase() === 'content-length') declaredLength = Number(value);
    if (stays(plain) || isWithheld(plain)) continue;
    const shown = PLACES.has(plain) ? toPublic(value) : value;
    if (!isHidden(shown)) passed.push([name, shown]);
  }
  return { passed, declaredLength };
}

/** Puts an upstream's fields on the response. What is there already was put there by the gateway, and stays. */
export function applyResponseFields(res: ServerResponse, { passed }: ResponseFields): void {
  const ours = new Set(res.getHeaderNames());
  for (const [name, value] of passed) {
    const lower = name.toLowerCase();
    if (!ours.has(lower) || LISTS.has(lower)) res.appendHeader(name, value);
  }
}

function isWithheld(name: string): boolean {
  return WITHHELD.has(name) || WITHHELD_FAMILIES.some((family) => name.startsWith(family));
}
