import { type Parsed, parsed, shown, unparsed } from '../../lib/parsed.js';

/** What a sign-in is for. */
export interface Site {
  /** Host, with a port where it is not the scheme's own. */
  readonly domain: string;
  /** Scheme and host. */
  readonly origin: string;
  /** Path of the request. */
  readonly path: string;
}

/**
 * The site that a request is made to.
 * @param url - absolute address of the request, as the client sees it
 * @param domain - the host to believe instead of the one in the address, which the client can choose
 */
export function siteOf(url: string, domain: string | undefined): Parsed<Site> {
  const given = URL.canParse(url) ? new URL(url) : undefined;
  const origin = given === undefined ? '' : `${given.protocol}//${domain ?? given.host}`;
  if (given === undefined || !/^https?:$/.test(given.protocol) || !URL.canParse(origin)) {
    return unparsed(`the address of the request, ${shown(url)}, is not an http(s) address; look at its Host header`);
  }
  const { host } = new URL(origin);
  return parsed({ domain: host, origin: `${given.protocol}//${host}`, path: given.pathname });
}
