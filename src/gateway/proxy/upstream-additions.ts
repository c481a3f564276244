import type { UpstreamTarget } from './upstream-target.js';

/** What the owner of an upstream adds to each call: its own key, mostly. Secrets: they are in nothing that the caller is answered. */
export interface UpstreamAdditions {
  /** Values by name in lower case; they replace those that the caller sent under the same names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The same for parameters of the query, by their names as they are. */
  readonly query: Readonly<Record<string, string>>;
}

/** Nothing is added. */
export const NO_ADDITIONS: UpstreamAdditions = { headers: {}, query: {} };

/** Shorter ones are in many values by chance. */
const MIN_HIDDEN = 8;
/** Addresses in addresses. */
const MOST_NESTED = 4;
/** What they say is no secret, and is in responses as well. */
const NO_SECRETS: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'content-type',
  'origin',
  'referer',
  'user-agent',
]);

/** Where a call goes with what is added to its query. */
export function withAddedQuery(target: UpstreamTarget, { query }: UpstreamAdditions): UpstreamTarget {
  const added = Object.entries(query).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
  );
  if (added.length === 0) return target;
  const [path = '', ...rest] = target.path.split('?');
  const kept = withoutNames(rest.join('?'), query);
  return { ...target, path: `${path}?${[...kept, ...added].join('&')}` };
}

/**
 * A place that the upstream names, without what was added to the query: upstreams repeat it when they redirect.
 * @param shown - an address, or a path with its query
 */
export function withoutAddedQuery(shown: string, { query }: UpstreamAdditions): string {
  const [, before = '', search, fragment = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(shown) ?? [];
  if (search === undefined || Object.keys(query).length === 0) return shown;
  const kept = withoutNames(search.slice(1), query).join('&');
  return before + (kept === '' ? '' : `?${kept}`) + fragment;
}

/** Tells texts in which a secret stands, as it is or percent-encoded, whichever characters are and as often as addresses are nested. */
export function tellsSecret({ headers, query }: UpstreamAdditions): (text: string) => boolean {
  const secret = Object.entries(headers).flatMap(([name, value]) => (NO_SECRETS.has(name) ? [] : [value]));
  const secrets = [...secret, ...Object.values(query)]
    // Of "Bearer …" what follows as well, and of "Token token=…".
    .flatMap((it) => [it, ...it.split(/\s+/).slice(1), ...it.split(/[\s=,"]+/).slice(1)])
    .filter((it) => it.length >= MIN_HIDDEN);
  const forms = secrets.flatMap((it) => [it, it.replaceAll(' ', '+')]).map(bytesOf);
  return (text) => readingsOf(text).some((reading) => forms.some((it) => reading.includes(it)));
}

/** A text, and what it says decoded once and more often. */
function readingsOf(text: string): readonly string[] {
  const readings = [bytesOf(text)];
  for (let count = 0; count < MOST_NESTED; count += 1) {
    const last = readings[count] ?? '';
    const next = last.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
    if (next === last) break;
    readings.push(next);
  }
  return readings;
}

/** A character for each byte of its UTF-8. */
function bytesOf(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function withoutNames(search: string, query: UpstreamAdditions['query']): readonly string[] {
  return search.split('&').filter((it) => it !== '' && !Object.hasOwn(query, nameOf(it)));
}

/** The name of a parameter as its upstream reads it. */
function nameOf(parameter: string): string {
  const [written = ''] = parameter.split('=', 1);
  const spaced = written.replaceAll('+', ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}
