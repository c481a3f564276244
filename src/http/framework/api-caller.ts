import type { Request, RequestHandler, Response } from 'express';
import { type ErrorCode, TollhouseError } from '../../errors/errors.js';
import { requireScopes, SCOPES, type Scope } from '../../identity/service-keys/scopes.js';
import type { KeyAuthenticator } from '../../identity/service-keys/service-key-types.js';
import type { Identity } from '../../identity/types.js';
import { createRequestNote } from '../../middleware/gate/request-note.js';
import { sendError } from '../../middleware/gate/respond.js';
import { readServiceKey } from '../../middleware/service-key/read-service-key.js';
import { proofAgain, proofOf } from '../../middleware/wallet/wallet-auth.js';

/** Who calls `/api/v1`. */
export interface ApiCaller {
  /** The wallet, base58: the caller's own, or the owner's of its key. */
  readonly wallet: string;
  /** Set when a service key was shown. */
  readonly keyId?: string;
  /** The only project that the key may touch, if it is restricted to one. */
  readonly projectId?: string;
  /** What the caller may; a signed-in wallet may everything. */
  readonly scopes: readonly Scope[];
}

/** What {@link createApiCaller} works with. */
export interface ApiCallerParts {
  readonly identity: Identity;
  /** Checks service keys; without it access tokens are taken only. */
  readonly keys?: KeyAuthenticator | undefined;
  /** Address under which clients reach this server. Default: from the request. */
  readonly baseUrl?: string | undefined;
}

/** Makes middleware that lets in who has a scope; made by {@link createApiCaller}. */
export type CallerFor = (scope: Scope) => RequestHandler;

/** How {@link createApiCaller} refuses; every operation that it guards has these errors. */
export const CALLER_ERRORS: readonly ErrorCode[] = [
  'unauthenticated',
  'invalid_access_token',
  'token_expired',
  'invalid_sign_in',
  'sign_in_replayed',
  'invalid_service_key',
  'service_key_expired',
  'service_key_revoked',
  'insufficient_scope',
  'wrong_key_mode',
  'address_not_allowed',
  'store_unavailable',
];

const callers = createRequestNote<Request, ApiCaller>();

/**
 * Makes the check of who calls `/api/v1`: `callerFor('projects:write')` is middleware that lets in a wallet by
 * its access token, and a service key that has the scope. Others are answered 401 or 403. Where both are shown, the key
 * counts, which may less.
 */
export function createApiCaller(parts: ApiCallerParts): CallerFor {
  return (scope) => (req, res, next) => {
    identify(req, res, parts, scope).then(
      (caller) => {
        callers.put(req, caller);
        next();
      },
      (error: unknown) => (error instanceof TollhouseError ? sendError(res, error) : next(error)),
    );
  };
}

/** The caller that {@link createApiCaller} let in. */
export function callerOf(req: Request): ApiCaller {
  const caller = callers.of(req);
  if (caller === undefined) throw new Error(`${req.path} does not check who is calling`);
  return caller;
}

/** Names the caller that {@link createApiCaller} let in, by what was proven: the key, or the wallet whatever its token. */
export function callerName(req: Request): string {
  const { keyId, wallet } = callerOf(req);
  return keyId === undefined ? `wallet ${wallet}` : `key ${keyId}`;
}

/**
 * Whether a request that was let in would be let in once more: its key was not revoked, its token has not run out. A long
 * response asks from time to time. Rejects with `store_unavailable` when that cannot be looked up.
 */
export async function isStillLetIn(req: Request, { identity, keys, baseUrl }: ApiCallerParts): Promise<boolean> {
  const [key, secret] = [req.get('x-service-key'), req.get('x-service-secret')];
  if (keys !== undefined && key !== undefined && secret !== undefined) {
    const check = await keys.authenticate({ key, secret, address: req.ip ?? '' });
    return check.ok || check.code === 'rate_limited';
  }
  return (await proofAgain(req, { identity, baseUrl })).status === 'proven';
}

async function identify(
  req: Request,
  res: Response,
  { identity, keys, baseUrl }: ApiCallerParts,
  scope: Scope,
): Promise<ApiCaller> {
  const shown = keys === undefined ? undefined : await readServiceKey(req, res, keys);
  if (shown !== undefined) {
    const { id, owner, projectId, scopes } = shown;
    requireScopes(scopes, [scope]);
    return { wallet: owner, keyId: id, scopes, ...(projectId === undefined ? {} : { projectId }) };
  }
  const proof = await proofOf(req, { identity, baseUrl });
  if (proof.status === 'proven') return { wallet: proof.wallet.address, scopes: SCOPES };
  if (proof.status === 'refused') throw new TollhouseError(proof.code, proof.detail);
  throw new TollhouseError('unauthenticated', UNKNOWN);
}

const UNKNOWN =
  'Send an access token (Authorization: Bearer …), or a service key (X-Service-Key and X-Service-Secret) that has the scope.';
