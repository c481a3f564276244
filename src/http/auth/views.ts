import type { TokenGrant } from '../../identity/tokens/wallet-tokens.js';
import type { ResponseBody } from '../framework/fields.js';
import type { grantResponse } from './schemas.js';

/** Tokens, by the field names of RFC 6749 §5.1. */
export function grantView({
  accessToken,
  refreshToken,
  expiresInSeconds,
}: TokenGrant): ResponseBody<typeof grantResponse> {
  return {
    access_token: accessToken,
    refresh_token: refreshToken,
    token_type: 'Bearer',
    expires_in: expiresInSeconds,
  };
}
