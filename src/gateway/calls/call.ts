import { TollhouseError } from '../../errors/errors.js';
import { requireKeyProject } from '../../identity/service-keys/key-project.js';
import { requireScopes } from '../../identity/service-keys/scopes.js';
import type { ServiceKey } from '../../identity/service-keys/service-key-types.js';
import { newId } from '../../lib/ids.js';
import type { NamedAnswer } from '../../storage/idempotency/idempotency-store.js';
import type { ProjectRecord } from '../../storage/projects/projects.js';
import type { BudgetHold } from '../figures/spending.js';

/** A call of a project's upstream, on its way. */
export interface Call {
  /** `call_` and base58 of 16 random bytes. */
  readonly id: string;
  /** With what this call costs for its price, where a route says that. */
  readonly project: ProjectRecord;
  /** The name of that route. Default: it is the project's own price. */
  readonly route?: string | undefined;
  /** The name of the route that matched, be it free. Default: none did. */
  readonly rule?: string | undefined;
  readonly key: ServiceKey;
  /** What names its caller's address, an IPv6 one by its network. Default: it has none. */
  readonly client?: string | undefined;
  /** When it came in, milliseconds since the epoch. */
  readonly at: number;
  readonly method: string;
  /** `/v1/<slug>`, as the caller wrote it. */
  readonly publicPath: string;
  /** What follows: empty, or from `/` or `?` on. */
  readonly rest: string;
  /** What of the key's budget is held back for it. */
  held?: BudgetHold | undefined;
  /** Ends its place among the calls under way, where it has one. */
  leave?: (() => void) | undefined;
  /** Whether its money has left the wallet, or may have. */
  mayBePaid: boolean;
  /** Whether it is in the books, with what was held back. */
  isBooked: boolean;
  /** Books it with its response, once it is sure to be charged; tells whether both are written. */
  bookWith?: ((kept: NamedAnswer) => Promise<boolean>) | undefined;
  /** When it came in by a clock that only rises, and how much later it was passed on; milliseconds. */
  readonly begunAt: number;
  passedOnAfterMs?: number | undefined;
}

const NO_KEY =
  'Send a service key: X-Service-Key and X-Service-Secret. Whoever signs in with a wallet makes one, without charge: POST /api/v1/keys/generate, or npx tollhouse keys create.';

/** A call that has just come in. */
export function newCall(
  seen: Omit<Call, 'id' | 'held' | 'leave' | 'mayBePaid' | 'isBooked' | 'bookWith' | 'begunAt'>,
): Call {
  return { id: newId('call'), ...seen, mayBePaid: false, isBooked: false, begunAt: performance.now() };
}

/**
 * The key that was shown, if a project may be called with it.
 * @throws TollhouseError `unauthenticated` without a key, `insufficient_scope` where it may not call, `key_project_not_allowed`
 *   where it is for others
 */
export function requireCallKey(key: ServiceKey | undefined, project: Pick<ProjectRecord, 'id'>): ServiceKey {
  if (key === undefined) throw new TollhouseError('unauthenticated', NO_KEY);
  requireScopes(key.scopes, ['call']);
  requireKeyProject(key, project.id);
  return key;
}

/** The memo of a payment that is made for a call without a payment request: it names the project and the key. */
export function callMemo({ slug }: Pick<ProjectRecord, 'slug'>, keyId: string): string {
  return `tollhouse:${slug}:${keyId}`;
}

/**
 * What a payment for a call is bound to: a failed call can be tried again by the same caller, with the same method. It is kept
 * with the payment, so it stays as it is wherever calls are mounted.
 */
export function callResource({ method, project, key }: Call): string {
  return `${method} /v1/${project.slug} ${key.id}`;
}
