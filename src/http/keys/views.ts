import type { ServiceKey } from '../../identity/service-keys/service-key-types.js';
import type { RevealedKey } from '../../identity/service-keys/service-keys.js';
import { formatAmount } from '../../protocol/money/money.js';
import { type ResponseBody, timeOrNull } from '../framework/fields.js';
import type { keyResponse, revealedKeyResponse } from './schemas.js';

/**
 * A key as its owner sees it.
 * @param now - milliseconds since the epoch, for the status
 */
export function keyView(key: ServiceKey, now: number): ResponseBody<typeof keyResponse> {
  const { spending, previousUntil } = key;
  return {
    id: key.id,
    api_key: key.publicKey,
    name: key.name,
    project_id: key.projectId ?? null,
    scopes: key.scopes,
    mode: key.mode,
    status: statusOf(key, now),
    expires_at: timeOrNull(key.expiresAt),
    spending: spending === undefined ? null : spendingView(spending),
    allowed_ips: key.allowedIps,
    limits: { per_second: key.perSecond ?? null },
    allowed_projects: key.allowedProjects ?? [],
    metadata: key.metadata,
    created_at: new Date(key.createdAt).toISOString(),
    last_used_at: timeOrNull(key.lastUsedAt),
    previous_secret_expires_at: timeOrNull(
      previousUntil !== undefined && previousUntil > now ? previousUntil : undefined,
    ),
    revoked_at: timeOrNull(key.revokedAt),
  };
}

/** A key as its owner would have asked for it: what a merge patch is applied to. */
export function keyBody({ name, scopes, expiresAt, spending, allowedIps, perSecond, ...key }: ServiceKey): object {
  return {
    name,
    scopes,
    ...(expiresAt === undefined ? {} : { expires_at: new Date(expiresAt).toISOString() }),
    ...(spending === undefined ? {} : { spending: spendingBody(spending) }),
    allowed_ips: allowedIps,
    ...(perSecond === undefined ? {} : { limits: { per_second: perSecond } }),
    metadata: key.metadata,
    allowed_projects: key.allowedProjects ?? [],
  };
}

function spendingBody({ limit, asset: token, decimals, window, action }: NonNullable<ServiceKey['spending']>) {
  return { limit: formatAmount(limit, decimals), token, window, action };
}

/** A key with its secret, as its owner sees it once. */
export function revealedKeyView({ key, secret }: RevealedKey, now: number): ResponseBody<typeof revealedKeyResponse> {
  return { ...keyView(key, now), api_secret: secret };
}

function statusOf({ revokedAt, expiresAt }: ServiceKey, now: number): 'active' | 'expired' | 'revoked' {
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt !== undefined && expiresAt <= now ? 'expired' : 'active';
}

function spendingView({ limit, asset, token, decimals, window, action }: NonNullable<ServiceKey['spending']>) {
  return { limit: formatAmount(limit, decimals), limit_atomic: String(limit), token, mint: asset, window, action };
}
