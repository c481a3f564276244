import { TollhouseError } from '../../errors/errors.js';
import { shown } from '../../lib/parsed.js';
import type { SignInSetup } from '../sign-in-options.js';

/** What a sign-in is for. */
export interface Site {
  /** Host, with a port where it is not the scheme's own. */
  readonly domain: string;
  /** Scheme and host. */
  readonly origin: string;
  /** Path of the request. */
  readonly path: string;
}

/** Where a request says that it goes, and what was configured about that. */
export interface Addressed {
  /** Absolute address of the request. Unless `baseUrl` is given, its host is what the client chose. */
  readonly url: string;
  /** Address under which clients reach the server, where one is configured. */
  readonly baseUrl?: string | undefined;
}

/** The site of a request, or why it has none that a wallet may be asked to sign for. */
export type SiteFound =
  | { readonly ok: true; readonly value: Site }
  | { readonly ok: false; readonly error: TollhouseError };

/** A name that only this machine answers to, so that nobody else can have a page there. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

const warned = new WeakSet<object>();

/** The site that a request is made to. Its name is configured: of what the client says, loopback hosts alone are believed. */
export function siteOf(setup: Pick<SignInSetup, 'domain'>, { url, baseUrl }: Addressed): SiteFound {
  const given = URL.canParse(url) ? new URL(url) : undefined;
  const configured = setup.domain ?? (baseUrl === undefined ? undefined : new URL(baseUrl).host);
  const origin = given === undefined ? '' : `${given.protocol}//${configured ?? given.host}`;
  if (given === undefined || !/^https?:$/.test(given.protocol) || !URL.canParse(origin)) {
    const detail = `No sign-in is possible: the address of the request, ${shown(url)}, is not an http(s) address; look at its Host header.`;
    return { ok: false, error: new TollhouseError('invalid_request', detail) };
  }
  const { host, hostname } = new URL(origin);
  if (configured === undefined && !LOOPBACK.test(hostname)) return { ok: false, error: unnamed(setup, host) };
  return { ok: true, value: { domain: host, origin: `${given.protocol}//${host}`, path: given.pathname } };
}

function unnamed(setup: object, host: string): TollhouseError {
  const mend =
    'the server is told its name by BASE_URL, an app by option "baseUrl" of its router and gates, or "domain" of createIdentity';
  if (!warned.has(setup)) {
    warned.add(setup);
    process.emitWarning(`a sign-in was asked for at ${shown(host)}, and no name of this site is configured: ${mend}`, {
      code: 'TOLLHOUSE_SIGN_IN_DOMAIN',
    });
  }
  const detail = `Nobody signs in at ${shown(host)}: no name of this site is configured, and then only localhost, 127.0.0.0/8 and [::1] are taken; ${mend}.`;
  return new TollhouseError('not_configured', detail);
}
