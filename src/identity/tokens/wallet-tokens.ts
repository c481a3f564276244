import { TollhouseError } from '../../errors/errors.js';
import type { MaybePromise } from '../../lib/maybe-promise.js';
import type { SignInSessions } from '../types.js';
import { ACCESS_TOKEN_MS, type AccessTokens } from './access-token.js';
import type { RefreshTokens, Session } from './refresh-token.js';

/** What a wallet gets for a sign-in. */
export interface TokenGrant {
  /** A JWT, for `Authorization: Bearer`. */
  readonly accessToken: string;
  /** Opaque; good for one refresh. */
  readonly refreshToken: string;
  /** How long the access token is good. */
  readonly expiresInSeconds: number;
}

/** The tokens of signed-in wallets: short ones for access, and the ones that renew them. */
export interface WalletTokens {
  /**
   * Tokens for a wallet that has just proven itself, in a new session.
   * @param audience - the site that they are for
   */
  grant(address: string, audience: string): Promise<TokenGrant>;
  /**
   * New tokens for a refresh token, which is used up by this.
   * @param admit - asked first with the wallet: rejects where it gets none, and the token is not used up then. Default: every wallet does
   * @throws TollhouseError `invalid_refresh_token`; when the token was used before, its whole session is over
   */
  refresh(refreshToken: string, admit?: (wallet: string) => MaybePromise<void>): Promise<TokenGrant>;
  /**
   * Ends the session of a refresh token, or refuses one access token from now on; with `everywhere` all sessions of the wallet that
   * the token is of end, with their access tokens and the sign-ins that browsers keep. Anything that is no good token is left alone.
   */
  revoke(token: string, extent?: RevokeExtent): Promise<void>;
}

/** How much is revoked. */
export interface RevokeExtent {
  /** All sessions of the wallet. Default: that of the token, or the one access token. */
  readonly everywhere?: boolean | undefined;
}

/**
 * Puts access and refresh tokens together.
 * @param scopes - what every wallet may
 * @param sessions - sign-ins that browsers keep, which end with all others of a wallet
 */
export function createWalletTokens(
  access: AccessTokens,
  refresh: RefreshTokens,
  scopes: readonly string[],
  sessions: Pick<SignInSessions, 'endAll'>,
): WalletTokens {
  async function grantOf(refreshToken: string, { id, ...owner }: Session): Promise<TokenGrant> {
    const accessToken = await access.issue({ ...owner, session: id });
    return { accessToken, refreshToken, expiresInSeconds: ACCESS_TOKEN_MS / 1_000 };
  }

  async function revokeAll(token: string): Promise<void> {
    const session = (await refresh.find(token)) ?? (await sessionOf(token));
    if (session === undefined) return;
    await sessions.endAll(session.address);
    const ended = await refresh.endAll(session.address);
    // A list that the store has forgotten does not hold it.
    await refresh.end(token);
    for (const id of new Set([...ended, session.id])) await access.denySession(id);
  }

  async function sessionOf(accessToken: string): Promise<Pick<Session, 'id' | 'address'> | undefined> {
    const check = await access.check(accessToken);
    return check.ok ? { id: check.claims.session, address: check.claims.address } : undefined;
  }

  return {
    async grant(address, audience) {
      const { token, session } = await refresh.open({ address, scopes, audience });
      return grantOf(token, session);
    },
    async refresh(refreshToken, admit) {
      const session = admit && (await refresh.find(refreshToken));
      if (session !== undefined) await admit?.(session.address);
      const rotation = await refresh.rotate(refreshToken);
      if (rotation.status === 'rotated') return grantOf(rotation.token, rotation.session);
      if (rotation.status === 'unknown') {
        throw invalid('The refresh token is not known here, has expired or was revoked; sign in again.');
      }
      await access.denySession(rotation.session);
      throw invalid(
        'The refresh token was used before, so somebody may have a copy: its session is over. Sign in again.',
      );
    },
    async revoke(token, { everywhere = false } = {}) {
      if (everywhere) return revokeAll(token);
      const session = await refresh.end(token);
      if (session === undefined) await access.deny(token);
      else await access.denySession(session.id);
    },
  };
}

function invalid(detail: string): TollhouseError {
  return new TollhouseError('invalid_refresh_token', detail);
}
