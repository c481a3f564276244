import type { Identity } from './types.js';

/** Where clients reach what signs in with an identity; undefined where several places were told. */
const sites = new WeakMap<Identity, string | undefined>();

/**
 * Notes the address under which clients reach a router that signs wallets in with an identity. Gates with the same identity, and no
 * address of their own, are reached there too.
 */
export function noteSite(identity: Identity, baseUrl: string | undefined): void {
  if (baseUrl === undefined) return;
  const isOther = sites.has(identity) && sites.get(identity) !== baseUrl;
  sites.set(identity, isOther ? undefined : baseUrl);
}

/** The address that was noted; undefined where there is none, or more than one. */
export function siteNoted(identity: Identity): string | undefined {
  return sites.get(identity);
}
