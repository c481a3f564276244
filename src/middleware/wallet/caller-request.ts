import type { Request } from 'express';
import type { Facilitator } from '../../facilitator/types.js';
import { siteNoted } from '../../identity/identity-site.js';
import type { Identity, IdentityRequest, ProofScope } from '../../identity/types.js';
import type { ResolvedPageOptions } from '../../pages/layout/page-options.js';
import { varyBy } from '../gate/cache-control.js';
import { absoluteUrl } from '../gate/request-url.js';

/** What operators have suspended. */
export type KnownSuspensions = NonNullable<Facilitator['storage']>['gateway']['suspensions'];

/** Who gates ask about their caller. */
export interface CallerParts {
  readonly identity: Identity;
  /** Address under which clients reach the server. Default: that of the router with the same identity, or from the request. */
  readonly baseUrl: string | undefined;
  /** What a sign-in has to be for. Default: the request. */
  readonly scope?: ProofScope | undefined;
  /** Whether the cookie that keeps a page signed in proves its wallet. Default true. */
  readonly takesCookie?: boolean | undefined;
  /** What operators have suspended: such a wallet proves nothing. Default: nothing is. */
  readonly suspensions?: Pick<KnownSuspensions, 'find'> | undefined;
  /** How pages look that ask to sign in. */
  readonly page?: ResolvedPageOptions | undefined;
}

/** What an identity of ours reads: as `Vary` lists it, and name by name. */
export const PROOF_HEADERS = 'Authorization, SIGN-IN-WITH-X';
const PROOF_NAMES: ReadonlySet<string> = new Set(PROOF_HEADERS.toLowerCase().split(', '));

/** Absolute address of a request, at the site that is configured for the gate or for the router with its identity. */
export function callerUrl(req: Request, parts: CallerParts): string {
  return absoluteUrl(req, siteOf(parts));
}

function siteOf({ baseUrl, identity }: CallerParts): string | undefined {
  return baseUrl ?? siteNoted(identity);
}

/** Scheme and host that a request is made to, as far as they are known: its address as it was sent where that is none. */
export function callerOrigin(req: Request, parts: CallerParts): string {
  const { url } = new CallerRequest(req, parts);
  return URL.canParse(url) ? new URL(url).origin : url;
}

/** What of a request may prove who is calling. A class, since one is made for every request. */
export class CallerRequest implements IdentityRequest {
  readonly #req: Request;
  readonly #parts: CallerParts;

  constructor(req: Request, parts: CallerParts) {
    this.#req = req;
    this.#parts = parts;
  }

  get url(): string {
    return callerUrl(this.#req, this.#parts);
  }

  get method(): string {
    return this.#req.method;
  }

  get scope(): ProofScope | undefined {
    return this.#parts.scope;
  }

  get baseUrl(): string | undefined {
    return siteOf(this.#parts);
  }

  header(name: string): string | undefined {
    const value = this.#req.headers[name.toLowerCase()];
    // An identity of somebody else may read more, such as a cookie.
    if (this.#req.res !== undefined && !PROOF_NAMES.has(name)) varyBy(this.#req.res, name);
    return typeof value === 'string' ? value : value?.join(', ');
  }
}
