import { z } from 'zod';
import { SCOPES } from '../identity/scopes.js';
import type { ServiceKey } from '../identity/service-key-types.js';
import type { RevealedKey } from '../identity/service-keys.js';
import { formatAmount } from '../protocol/money.js';
import { SPENDING_ACTIONS, SPENDING_WINDOWS } from '../storage/service-keys.js';
import { type Answer, address } from './answer.js';
import { listAnswerOf } from './list-answer.js';

const time = z.iso.datetime();

/** A service key as its owner sees it. */
export const keyAnswer = z.object({
  id: z.string(),
  api_key: z.string().describe('For the header `X-Service-Key`.'),
  name: z.string(),
  project_id: z.string().nullable(),
  scopes: z.array(z.enum(SCOPES)),
  mode: z.enum(['live', 'test']),
  status: z.enum(['active', 'expired', 'revoked']),
  expires_at: time.nullable(),
  spending: z
    .object({
      limit: z.string(),
      limit_atomic: z.string(),
      token: z.string(),
      mint: address,
      window: z.enum(SPENDING_WINDOWS),
      action: z.enum(SPENDING_ACTIONS),
    })
    .nullable(),
  allowed_ips: z.array(z.string()).describe('Empty: every address.'),
  limits: z.object({ per_second: z.int().nullable().describe('Null: the default, 25.') }),
  metadata: z.record(z.string(), z.string()),
  created_at: time,
  last_used_at: time.nullable().describe('At most a minute behind.'),
  previous_secret_expires_at: time.nullable().describe('Until when the secret before the last rotation is good.'),
  revoked_at: time.nullable(),
});

/** A service key with its secret. */
export const revealedKeyAnswer = keyAnswer.extend({
  api_secret: z.string().describe('For the header `X-Service-Secret`; shown this once.'),
});

/** Answer of `GET /api/v1/keys`. */
export const keysAnswer = listAnswerOf(keyAnswer);

/**
 * A key as its owner sees it.
 * @param now - milliseconds since the epoch, for the status
 */
export function showKey(key: ServiceKey, now: number): Answer<typeof keyAnswer> {
  const { spending, previousUntil } = key;
  return {
    id: key.id,
    api_key: key.publicKey,
    name: key.name,
    project_id: key.projectId ?? null,
    scopes: key.scopes,
    mode: key.mode,
    status: statusOf(key, now),
    expires_at: timeText(key.expiresAt),
    spending: spending === undefined ? null : showSpending(spending),
    allowed_ips: key.allowedIps,
    limits: { per_second: key.perSecond ?? null },
    metadata: key.metadata,
    created_at: new Date(key.createdAt).toISOString(),
    last_used_at: timeText(key.lastUsedAt),
    previous_secret_expires_at: timeText(
      previousUntil !== undefined && previousUntil > now ? previousUntil : undefined,
    ),
    revoked_at: timeText(key.revokedAt),
  };
}

/** A key with its secret, as its owner sees it once. */
export function showRevealedKey({ key, secret }: RevealedKey, now: number): Answer<typeof revealedKeyAnswer> {
  return { ...showKey(key, now), api_secret: secret };
}

function statusOf({ revokedAt, expiresAt }: ServiceKey, now: number): 'active' | 'expired' | 'revoked' {
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt !== undefined && expiresAt <= now ? 'expired' : 'active';
}

function showSpending({ limit, asset, token, decimals, window, action }: NonNullable<ServiceKey['spending']>) {
  return { limit: formatAmount(limit, decimals), limit_atomic: String(limit), token, mint: asset, window, action };
}

function timeText(time: number | undefined): string | null {
  return time === undefined ? null : new Date(time).toISOString();
}
