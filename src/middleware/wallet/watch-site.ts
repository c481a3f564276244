import { siteNoted } from '../../identity/identity-site.js';
import type { Identity } from '../../identity/types.js';

/** A router that names the site may be made after its gates. */
const PATIENCE_MS = 3_000;
const watched = new WeakSet<Identity>();

/**
 * Warns in production, before anybody comes, of gates that nobody can sign in at: they share an identity that has no name, and neither
 * they nor a router with it say under which address they are reached.
 */
export function watchSite(identity: Identity, baseUrl: string | undefined): void {
  if (process.env['NODE_ENV'] !== 'production' || baseUrl !== undefined || watched.has(identity)) return;
  watched.add(identity);
  const check = () => {
    if (siteNoted(identity) !== undefined) return;
    process.emitWarning(
      `a gate for wallets knows no name of this site, so that nobody signs in there but at localhost: give it option "baseUrl", such as "https://shop.example", or "domain" to createIdentity and that to the gate`,
      { code: 'TOLLHOUSE_SIGN_IN_DOMAIN' },
    );
  };
  setTimeout(check, PATIENCE_MS).unref();
}
