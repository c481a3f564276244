import { z } from 'zod';
import { isAddress } from '../../protocol/address.js';
import { API } from '../framework/path.js';

/** Where wallets sign in. */
export const AUTH_PATHS = {
  challenge: `${API}/auth/challenge`,
  token: `${API}/auth/token`,
  refresh: `${API}/auth/refresh`,
  revoke: `${API}/auth/revoke`,
  keys: '/.well-known/jwks.json',
} as const;

const object = 'must be a JSON object';
const wallet = z.string('must be a text').refine(isAddress, 'must be a Solana address (base58, case counts)');
const opaque = (max: number) =>
  z.string('must be a text').min(1, 'must not be empty').max(max, `must have at most ${max} characters`);

/** Body of `POST /api/v1/auth/challenge`. */
export const challengeBody = z.object({ wallet }, object);

/** Body of `POST /api/v1/auth/token`. */
export const tokenBody = z.object({ wallet, nonce: opaque(512), signature: opaque(128) }, object);

/** Body of `POST /api/v1/auth/refresh`. */
export const refreshBody = z.object({ refresh_token: opaque(128) }, object);

/** Body of `POST /api/v1/auth/revoke`: a refresh token, whose session ends, or one access token; or everything of its wallet. */
export const revokeBody = z.object(
  {
    token: opaque(4_096),
    everywhere: z
      .boolean('must be true or false')
      .optional()
      .describe('true ends all sessions of the wallet that the token is of, with their access tokens. Default false.'),
  },
  object,
);

/** Response of `POST /api/v1/auth/challenge`. */
export const challengeResponse = z.object({
  message: z.string().describe('Sign In With Solana text, to be signed as it is.'),
  nonce: z.string(),
  expires_at: z.iso.datetime(),
});

/** Response of `POST /api/v1/auth/token` and `POST /api/v1/auth/refresh` (RFC 6749 §5.1). */
export const grantResponse = z.object({
  access_token: z.string(),
  refresh_token: z.string(),
  token_type: z.literal('Bearer'),
  expires_in: z.int().describe('Seconds.'),
});

/** Response of `GET /.well-known/jwks.json` (RFC 7517). */
export const jwksResponse = z.object({ keys: z.array(z.record(z.string(), z.unknown())) });
