import type { WalletIdentity } from '../../identity/create-identity.js';
import type { MaybePromise } from '../../lib/maybe-promise.js';
import { absoluteUrl } from '../../middleware/gate/request-url.js';
import { defineOperation } from '../framework/operation.js';
import {
  AUTH_PATHS,
  challengeBody,
  challengeResponse,
  grantResponse,
  jwksResponse,
  refreshBody,
  revokeBody,
  tokenBody,
} from './schemas.js';
import { grantView } from './views.js';

/** What {@link AUTH_OPERATIONS} work with. */
export interface AuthParts {
  readonly identity: WalletIdentity;
  /** Address under which clients reach this server; sign-ins name its host. Default: from requests to loopback hosts. */
  readonly baseUrl?: string | undefined;
  /** Throws for a wallet that may not sign in. Default: every wallet may. */
  readonly refuseWallet?: ((wallet: string) => MaybePromise<void>) | undefined;
}

const TAG = 'Sign-in';
const TOKENS = { 200: { description: 'Access and refresh token.', schema: grantResponse } };
/** Keys change rarely; a new one must be known before the first token of it arrives. */
const KEYS_MAX_AGE_SECONDS = 300;

const createChallenge = defineOperation({
  method: 'post',
  path: AUTH_PATHS.challenge,
  id: 'createChallenge',
  tag: TAG,
  scope: 'public',
  summary: 'A message for a wallet to sign',
  noStore: true,
  body: challengeBody,
  responses: { 200: { description: 'The message.', schema: challengeResponse } },
  errors: ['validation_failed', 'invalid_request', 'wallet_suspended', 'not_configured'],
  async handler({ req, body }, { identity, baseUrl, refuseWallet }: AuthParts) {
    await refuseWallet?.(body.wallet);
    const { message, nonce, expiresAt } = await identity.issueChallenge(
      body.wallet,
      absoluteUrl(req, baseUrl),
      baseUrl,
    );
    return { message, nonce, expires_at: new Date(expiresAt).toISOString() };
  },
});

const createToken = defineOperation({
  method: 'post',
  path: AUTH_PATHS.token,
  id: 'createToken',
  tag: TAG,
  scope: 'public',
  summary: 'Tokens for a signed message',
  noStore: true,
  body: tokenBody,
  responses: TOKENS,
  errors: ['validation_failed', 'invalid_sign_in', 'sign_in_replayed', 'wallet_suspended', 'not_configured'],
  async handler({ body }, { identity, refuseWallet }: AuthParts) {
    await refuseWallet?.(body.wallet);
    return grantView(await identity.exchange(body));
  },
});

const refreshToken = defineOperation({
  method: 'post',
  path: AUTH_PATHS.refresh,
  id: 'refreshToken',
  tag: TAG,
  scope: 'public',
  summary: 'New tokens for a refresh token, which is used up',
  noStore: true,
  body: refreshBody,
  responses: TOKENS,
  errors: ['validation_failed', 'invalid_refresh_token', 'wallet_suspended', 'not_configured'],
  handler: async ({ body }, { identity, refuseWallet }: AuthParts) =>
    grantView(await identity.refresh(body.refresh_token, refuseWallet)),
});

const revokeToken = defineOperation({
  method: 'post',
  path: AUTH_PATHS.revoke,
  id: 'revokeToken',
  tag: TAG,
  scope: 'public',
  summary: 'End a session, one access token, or all sessions of a wallet',
  noStore: true,
  body: revokeBody,
  responses: { 204: { description: 'It is over, or never was.' } },
  errors: ['validation_failed', 'not_configured'],
  async handler({ body }, { identity }: AuthParts) {
    await identity.revoke(body.token, { everywhere: body.everywhere });
  },
});

const getKeys = defineOperation({
  method: 'get',
  path: AUTH_PATHS.keys,
  id: 'getKeys',
  tag: TAG,
  summary: 'Public keys of the access tokens',
  responses: { 200: { description: 'RFC 7517; empty where tokens are signed with a secret.', schema: jwksResponse } },
  async handler({ res }, { identity }: AuthParts) {
    res.setHeader('Cache-Control', `public, max-age=${KEYS_MAX_AGE_SECONDS}`);
    return identity.jwks();
  },
});

/** What succeeds for nobody but who hands in something right. */
export const CREDENTIAL_OPERATIONS = [createToken, refreshToken];
/** What anybody may ask for. A revoke answers whoever asks alike, so that it tells nothing about tokens. */
export const CHALLENGE_OPERATIONS = [createChallenge, revokeToken, getKeys];
/** Sign-in of wallets: challenge, token, refresh, revoke, and the public keys of the tokens. */
export const AUTH_OPERATIONS = [...CHALLENGE_OPERATIONS, ...CREDENTIAL_OPERATIONS];
