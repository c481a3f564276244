import { type Request, type Response, Router } from 'express';
import { z } from 'zod';
import type { WalletIdentity } from '../../identity/create-identity.js';
import type { TokenGrant } from '../../identity/tokens/wallet-tokens.js';
import { resolveOptions } from '../../lib/options.js';
import { absoluteUrl } from '../../middleware/gate/request-url.js';
import { isAddress } from '../../protocol/address.js';
import { handled } from '../framework/handled.js';
import { jsonBody } from '../framework/json-body.js';
import { noStore } from '../framework/no-store.js';
import { problemHandler } from '../framework/problem-handler.js';
import { readBody } from '../framework/read-body.js';
import { refuseOtherMethods } from '../framework/refuse-other-methods.js';

/** Options of {@link createAuthRouter}. */
export interface AuthRouterOptions {
  readonly identity: WalletIdentity;
  /** Address under which clients reach this server; sign-ins name its host. Default: from the request. */
  readonly baseUrl?: string | undefined;
}

const BODY_LIMIT = '100kb';
const PREFIX = '/api/v1/auth';
const KEYS_PATH = '/.well-known/jwks.json';
/** Keys change rarely; a new one must be known before the first token of it arrives. */
const KEYS_MAX_AGE_SECONDS = 300;

const wallet = z.string('must be a text').refine(isAddress, 'must be a Solana address (base58, case counts)');
const opaque = (max: number) =>
  z.string('must be a text').min(1, 'must not be empty').max(max, `must have at most ${max} characters`);

/** Schema of an identity that signs wallets in. */
export const walletIdentityOption = z.custom<WalletIdentity>(
  (it) => typeof Reflect.get(Object(it), 'issueChallenge') === 'function',
  'an identity, made by createIdentity({ network, jwtSecret })',
);

const authRouterOptions = z.strictObject({
  identity: walletIdentityOption,
  baseUrl: z.url({ protocol: /^https?$/, error: 'an http(s) address' }).optional(),
});

/** Body of `POST /api/v1/auth/challenge`. */
export const challengeBody = z.object({ wallet }, 'must be a JSON object');

/** Body of `POST /api/v1/auth/token`. */
export const tokenBody = z.object({ wallet, nonce: opaque(128), signature: opaque(128) }, 'must be a JSON object');

/** Body of `POST /api/v1/auth/refresh`. */
export const refreshBody = z.object({ refresh_token: opaque(128) }, 'must be a JSON object');

/** Body of `POST /api/v1/auth/revoke`: a refresh token, whose session ends, or one access token. */
export const revokeBody = z.object({ token: opaque(4_096) }, 'must be a JSON object');

/** Sign-in of wallets: challenge, token, refresh, revoke, and the public keys of the tokens. Throws `bad_option` for a wrong option. */
export function createAuthRouter(options: AuthRouterOptions): Router {
  resolveOptions('createAuthRouter', authRouterOptions, options);
  const { identity, baseUrl } = options;
  const router = Router();
  const post = (path: string, handle: (req: Request, res: Response) => Promise<void>) =>
    router
      .route(`${PREFIX}${path}`)
      .post(noStore, ...jsonBody(BODY_LIMIT), handled(handle))
      .all(refuseOtherMethods('POST'));

  post('/challenge', async (req, res) => {
    const body = readBody(challengeBody, req.body);
    const { message, nonce, expiresAt } = await identity.issueChallenge(body.wallet, absoluteUrl(req, baseUrl));
    res.json({ message, nonce, expires_at: new Date(expiresAt).toISOString() });
  });
  post('/token', async (req, res) => {
    res.json(grantJson(await identity.exchange(readBody(tokenBody, req.body))));
  });
  post('/refresh', async (req, res) => {
    res.json(grantJson(await identity.refresh(readBody(refreshBody, req.body).refresh_token)));
  });
  post('/revoke', async (req, res) => {
    await identity.revoke(readBody(revokeBody, req.body).token);
    res.status(204).end();
  });
  router
    .route(KEYS_PATH)
    .get((_req, res) => {
      res.setHeader('Cache-Control', `public, max-age=${KEYS_MAX_AGE_SECONDS}`);
      res.json(identity.jwks());
    })
    .all(refuseOtherMethods('GET', 'HEAD'));
  router.use(problemHandler);
  return router;
}

/** Field names of RFC 6749 §5.1. */
function grantJson({ accessToken, refreshToken, expiresInSeconds }: TokenGrant): object {
  return {
    access_token: accessToken,
    refresh_token: refreshToken,
    token_type: 'Bearer',
    expires_in: expiresInSeconds,
  };
}
