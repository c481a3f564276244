import type { Request, RequestHandler, Response } from 'express';
import { type ErrorCode, TollhouseError } from '../../errors/errors.js';
import { walletOwner } from '../../facilitator/backend/wallet-owner.js';
import { requireScopes, SCOPES, type Scope } from '../../identity/service-keys/scopes.js';
import type { KeyAuthenticator } from '../../identity/service-keys/service-key-types.js';
import type { Identity } from '../../identity/types.js';
import { defined } from '../../lib/defined.js';
import { clientIp } from '../../lib/http/client-ip.js';
import { createRequestNote } from '../../lib/http/request-note.js';
import type { MaybePromise } from '../../lib/maybe-promise.js';
import { requestIdOf } from '../../middleware/gate/request-id.js';
import { sendError } from '../../middleware/gate/respond.js';
import { noteHeldScopes } from '../../middleware/response/idempotency-notes.js';
import { readServiceKey } from '../../middleware/service-key/read-service-key.js';
import { proofAgain, proofOf } from '../../middleware/wallet/wallet-auth.js';
import { modeOf } from '../../protocol/networks/networks.js';
import type { NetworkId } from '../../protocol/types.js';
import type { Actor } from '../../storage/audit/audit-log.js';
import type { KeyMode } from '../../storage/keys/service-keys.js';

/** Who calls `/api/v1`, and from where. */
export interface ApiCaller extends Actor {
  /** The only project that the key may touch, if it is restricted to one. */
  readonly projectId?: string;
  /** What money the service key works with; missing for a signed-in wallet, and where one kind of money is served. */
  readonly keyMode?: KeyMode;
  /** What the caller may; a signed-in wallet may everything. */
  readonly scopes: readonly Scope[];
}

/** What {@link createApiCaller} works with. */
export interface ApiCallerParts {
  readonly identity: Identity;
  /** Checks service keys; without it access tokens are taken only. */
  readonly keys?: KeyAuthenticator | undefined;
  /** Whether both mainnet and a network for test money are served; elsewhere every key is good. Default: no. */
  readonly isMixed?: boolean;
  /** Address under which clients reach this server. Default: from the request. */
  readonly baseUrl?: string | undefined;
  /** Whether a wallet is an operator of this service. Default: none is. */
  readonly isOperator?: ((wallet: string) => boolean) | undefined;
  /** Throws for a wallet that may not act here. Default: every wallet may. */
  readonly refuseWallet?: ((wallet: string) => MaybePromise<void>) | undefined;
}

/** What a caller must be allowed: a scope, or what operators are by their own access token. */
export type CallerScope = Scope | 'operator';

/** Makes middleware that lets in who has a scope; made by {@link createApiCaller}. */
export type CallerFor = (scope: CallerScope) => RequestHandler;

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
  'service_key_suspended',
  'wallet_suspended',
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
        noteHeldScopes(res, caller.scopes);
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

/** Whether a caller may see what was had on a network, as far as the kind of money goes: see {@link ApiCaller.keyMode}. */
export function seesMoneyOf({ keyMode }: Pick<ApiCaller, 'keyMode'>, network: NetworkId): boolean {
  return keyMode === undefined || keyMode === modeOf(network);
}

/** Names the caller that {@link createApiCaller} let in, by what was proven: the key, or the wallet whatever its token. */
export function callerName(req: Request): string {
  const { keyId, wallet } = callerOf(req);
  return keyId === undefined ? `wallet ${wallet}` : `key ${keyId}`;
}

/** Names the wallet of {@link callerName}, be it by a key or by itself. */
export function callerOwner(req: Request): string {
  return walletOwner(callerOf(req).wallet);
}

/**
 * Whether a request that was let in for a scope would be let in once more: its key was not revoked and has the scope still, its token
 * has not run out. A long response asks from time to time. Rejects with `store_unavailable` when that cannot be looked up.
 */
export async function isStillLetIn(req: Request, parts: ApiCallerParts, scope: Scope): Promise<boolean> {
  const { identity, keys, baseUrl, refuseWallet } = parts;
  const [key, secret] = [req.get('x-service-key'), req.get('x-service-secret')];
  if (keys !== undefined && key !== undefined && secret !== undefined) {
    const check = await keys.authenticate({ key, secret, address: clientIp(req) ?? '', step: 'stream' });
    const mayStill = check.key?.scopes.includes(scope) ?? true;
    return mayStill && (check.ok || check.code === 'rate_limited');
  }
  const proof = await proofAgain(req, { identity, baseUrl, takesCookie: false });
  if (proof.status !== 'proven') return false;
  try {
    await refuseWallet?.(proof.wallet.address);
    return true;
  } catch (error) {
    if (error instanceof TollhouseError && error.code === 'wallet_suspended') return false;
    throw error;
  }
}

async function identify(req: Request, res: Response, parts: ApiCallerParts, scope: CallerScope): Promise<ApiCaller> {
  const { identity, keys, baseUrl, refuseWallet, isMixed = false } = parts;
  const from = { ...defined({ address: clientIp(req) }), requestId: requestIdOf(res) };
  const shown = keys === undefined || scope === 'operator' ? undefined : await readServiceKey(req, res, keys);
  if (shown !== undefined) {
    const { id, owner, projectId, scopes, mode } = shown;
    if (scope !== 'operator') requireScopes(scopes, [scope]);
    return {
      ...from,
      wallet: owner,
      keyId: id,
      scopes,
      ...(isMixed ? { keyMode: mode } : {}),
      ...(projectId === undefined ? {} : { projectId }),
    };
  }
  // What a page has a browser keep is for reading, and not for managing keys and money.
  const proof = await proofOf(req, { identity, baseUrl, takesCookie: false });
  if (proof.status === 'proven') {
    const { address: wallet } = proof.wallet;
    await refuseWallet?.(wallet);
    if (scope === 'operator') requireOperator(wallet, parts);
    return { ...from, wallet, scopes: SCOPES };
  }
  if (proof.status === 'refused') throw new TollhouseError(proof.code, proof.detail);
  throw new TollhouseError('unauthenticated', UNKNOWN);
}

function requireOperator(wallet: string, { isOperator = () => false }: ApiCallerParts): void {
  if (isOperator(wallet)) return;
  const detail =
    'This is for operators, by their own access token: the wallet must be named in OPERATORS (option "operators" of createGateway).';
  throw new TollhouseError('not_an_operator', detail);
}

const UNKNOWN =
  'Send an access token (Authorization: Bearer …), or a service key (X-Service-Key and X-Service-Secret) that has the scope.';
