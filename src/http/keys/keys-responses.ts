import { z } from 'zod';
import { SCOPES } from '../../identity/service-keys/scopes.js';
import { SPENDING_ACTIONS, SPENDING_WINDOWS } from '../../storage/keys/service-keys.js';
import { listResponseOf } from '../framework/list-response.js';
import { address } from '../framework/response.js';

const time = z.iso.datetime();

/** A service key as its owner sees it. */
export const keyResponse = z.object({
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
export const revealedKeyResponse = keyResponse.extend({
  api_secret: z.string().describe('For the header `X-Service-Secret`; shown this once.'),
});

/** Answer of `GET /api/v1/keys`. */
export const keysResponse = listResponseOf(keyResponse);
