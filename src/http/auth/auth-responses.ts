import { z } from 'zod';

/** Answer of `POST /api/v1/auth/challenge`. */
export const challengeResponse = z.object({
  message: z.string().describe('Sign In With Solana text, to be signed as it is.'),
  nonce: z.string(),
  expires_at: z.iso.datetime(),
});

/** Answer of `POST /api/v1/auth/token` and `POST /api/v1/auth/refresh` (RFC 6749 §5.1). */
export const grantResponse = z.object({
  access_token: z.string(),
  refresh_token: z.string(),
  token_type: z.literal('Bearer'),
  expires_in: z.int().describe('Seconds.'),
});

/** Answer of `GET /.well-known/jwks.json` (RFC 7517). */
export const jwksResponse = z.object({ keys: z.array(z.record(z.string(), z.unknown())) });
