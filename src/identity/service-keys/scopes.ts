import { TollhouseError } from '../../errors/errors.js';

/**
 * What a service key may be good for: calls, and each part of `/api/v1` to read or to change. Who is paid (`payouts:write`) and
 * what secrets there are (`secrets:read`) is in none of the others: without them no money goes elsewhere and nothing can be forged.
 */
export const SCOPES = [
  'call',
  'projects:read',
  'projects:write',
  'analytics:read',
  'spending:read',
  'webhooks:read',
  'webhooks:write',
  'events:read',
  'payouts:read',
  'payouts:write',
  'secrets:read',
  'keys:read',
  'keys:write',
] as const;

/** One of {@link SCOPES}. */
export type Scope = (typeof SCOPES)[number];

/** What a key is good for when nothing else was asked for: to call, and to see what that cost. */
export const DEFAULT_SCOPES: readonly Scope[] = ['call', 'spending:read'];

/** Whether a text names a scope. */
export function isScope(text: string): text is Scope {
  const all: readonly string[] = SCOPES;
  return all.includes(text);
}

/**
 * Checks that a service key has all of some scopes.
 * @throws TollhouseError `insufficient_scope`, naming those that it lacks
 */
export function requireScopes(held: readonly Scope[], wanted: readonly Scope[]): void {
  const lacking = wanted.filter((scope) => !held.includes(scope));
  if (lacking.length === 0) return;
  const names = lacking.map((scope) => `"${scope}"`).join(', ');
  throw new TollhouseError('insufficient_scope', `The service key does not have the scope ${names}.`);
}
