import { createHash } from 'node:crypto';
import { TollhouseError } from '../../errors/errors.js';
import { shown } from '../../lib/parsed.js';
import type { SignInSetup } from '../sign-in-options.js';
import type { IdentityRequest } from '../types.js';

/** What a sign-in is for. */
export interface Site {
  /** Host, with a port where it is not the scheme's own. */
  readonly domain: string;
  /** Scheme and host. */
  readonly origin: string;
  /**
   * What a proof has to be for: the origin, and with any port where the host is a loopback one that only the request names. Whoever
   * has a proof for another port writes that into its `Host`, so there the port keeps nobody out; and a test that has its app listen anew
   * for each request (supertest) signs for the port before.
   */
  readonly place: string;
  /** Path of the request, without dot segments. */
  readonly path: string;
  /** The same as it was written, which is what routers go by. */
  readonly writtenPath: string;
}

/** Where a request says that it goes, what was configured about that, and what a proof has to be for. */
export type Addressed = Pick<IdentityRequest, 'url' | 'baseUrl' | 'method' | 'scope'>;

/** What a sign-in names to be good for a request. */
export interface Bound {
  readonly uri: string;
  /** Undefined where it names none: it is for the site, or the method of the request is not known. */
  readonly requestId: string | undefined;
}

/** Something of the site of a request, or why it has none that a wallet may be asked to sign for. */
export type Found<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: TollhouseError };

/** A name that only this machine answers to, so that nobody else can have a page there. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Scheme and host, and then the path as it is written. */
const WRITTEN = /^([^/]*\/\/[^/?#]*)([^?#]*)/;
const LONGEST_URI = 2_048;

const warned = new WeakSet<object>();

/** The site of a request, and its path. */
export function siteOf(setup: SiteSetup, { url, baseUrl }: Addressed): Found<Site> {
  const host = hostOf(setup, { url, baseUrl });
  if (!host.ok) return host;
  const [, , writtenPath = ''] = WRITTEN.exec(url) ?? [];
  return { ok: true, value: { ...host.value, path: new URL(url).pathname, writtenPath } };
}

type SiteSetup = Pick<SignInSetup, 'domain'>;
type Host = Pick<Site, 'domain' | 'origin' | 'place'>;

/** What was found last: parsing addresses costs more than all else that a token is checked by, and nearly all are at one host. */
const last = new WeakMap<
  object,
  { readonly written: string; readonly baseUrl: string | undefined; readonly host: Host }
>();

/** The site that a request is made to. Its name is configured: of what the client says, loopback hosts alone are believed. */
export function hostOf(setup: SiteSetup, { url, baseUrl }: Pick<Addressed, 'url' | 'baseUrl'>): Found<Host> {
  const [, written = url] = WRITTEN.exec(url) ?? [];
  const known = last.get(setup);
  if (known?.written === written && known.baseUrl === baseUrl) return { ok: true, value: known.host };
  const found = readHost(setup, written, baseUrl);
  if (found.ok) last.set(setup, { written, baseUrl, host: found.value });
  return found;
}

function readHost(setup: SiteSetup, written: string, baseUrl: string | undefined): Found<Host> {
  const given = URL.canParse(written) ? new URL(written) : undefined;
  const configured = setup.domain ?? (baseUrl === undefined ? undefined : new URL(baseUrl).host);
  const asked = given === undefined ? '' : `${given.protocol}//${configured ?? given.host}`;
  if (given === undefined || !/^https?:$/.test(given.protocol) || !URL.canParse(asked)) {
    const detail = `No sign-in is possible: ${shown(written)} is not the address of an http(s) site; look at the Host header of the request.`;
    return { ok: false, error: new TollhouseError('invalid_request', detail) };
  }
  const { host, hostname, origin } = new URL(asked);
  if (configured === undefined && !LOOPBACK.test(hostname)) return { ok: false, error: unnamed(setup, host) };
  return { ok: true, value: { domain: host, origin, place: configured === undefined ? anyPortOf(origin) : origin } };
}

/** Whether an origin that a proof names is that of a site. */
export function isPlaceOf({ origin, place }: Host, named: string): boolean {
  return named === origin || (place !== origin && URL.canParse(named) && anyPortOf(named) === place);
}

function anyPortOf(origin: string): string {
  const { protocol, hostname } = new URL(origin);
  return `${protocol}//${hostname}:*`;
}

/**
 * What a sign-in for a request names: its path and, as the message has no place for it but this, its method as the request id. A path
 * that is too long for a message is named by its digest there.
 */
export function boundOf({ origin, path }: Site, { method, scope }: Addressed): Bound {
  const root = `${origin}/`;
  if (scope === 'site') return { uri: root, requestId: undefined };
  // Whoever asks for the head of a response asks for that of GET.
  const verb = method === 'HEAD' ? 'GET' : method;
  if (origin.length + path.length <= LONGEST_URI) return { uri: `${origin}${path}`, requestId: verb };
  return { uri: root, requestId: `${verb ?? ''}:${createHash('sha256').update(path).digest('base64url')}` };
}

function unnamed(setup: object, host: string): TollhouseError {
  const mend =
    'the server is told its name by BASE_URL, an app by option "baseUrl" of its router and gates, or "domain" of createIdentity';
  if (!warned.has(setup)) {
    warned.add(setup);
    process.emitWarning(
      `a sign-in was asked for at ${shown(host)}, and no name of this site is configured, so nobody comes in by signing, not even for a pass that he has paid for: ${mend}`,
      {
        code: 'TOLLHOUSE_SIGN_IN_DOMAIN',
      },
    );
  }
  const detail = `Nobody signs in at ${shown(host)}: no name of this site is configured, and then only localhost, 127.0.0.0/8 and [::1] are taken; ${mend}.`;
  return new TollhouseError('not_configured', detail);
}
