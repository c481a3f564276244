import type { Router } from 'express';
import { z } from 'zod';
import type { WalletIdentity } from '../../identity/create-identity.js';
import { noteSite } from '../../identity/identity-site.js';
import { baseUrlSchema } from '../../lib/http/base-url.js';
import { resolveOptions } from '../../lib/options.js';
import { createRoutes } from '../framework/routes.js';
import { AUTH_OPERATIONS, type AuthParts } from './operations.js';

/** Options of {@link createAuthRouter}. */
export type AuthRouterOptions = AuthParts;

/** Schema of an identity that signs wallets in. */
export const walletIdentityOption = z.custom<WalletIdentity>(
  (it) => typeof Reflect.get(Object(it), 'issueChallenge') === 'function',
  'an identity, made by createIdentity({ network, jwtSecret })',
);

const authRouterOptions = z.strictObject({
  identity: walletIdentityOption,
  baseUrl: baseUrlSchema.optional(),
});

/** Sign-in of wallets: challenge, token, refresh, revoke, and the public keys of the tokens. Throws `bad_option` for a wrong option. */
export function createAuthRouter(options: AuthRouterOptions): Router {
  resolveOptions('createAuthRouter', authRouterOptions, options);
  noteSite(options.identity, options.baseUrl);
  return createRoutes(AUTH_OPERATIONS, options).router;
}
