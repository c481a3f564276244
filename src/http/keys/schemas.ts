import { z } from 'zod';
import { SCOPES } from '../../identity/service-keys/scopes.js';
import { MAX_AMOUNT_LENGTH } from '../../protocol/limits.js';
import { SPENDING_ACTIONS, SPENDING_WINDOWS } from '../../storage/keys/service-keys.js';
import { address } from '../framework/fields.js';
import { listResponseOf, pageQuery } from '../framework/list-response.js';
import { API } from '../framework/path.js';

/** Where service keys are. */
export const KEYS_PATHS = {
  all: `${API}/keys`,
  generate: `${API}/keys/generate`,
  one: `${API}/keys/:id`,
  rotate: `${API}/keys/:id/rotate`,
} as const;

const MAX_NAME = 80;
const MAX_ADDRESSES = 50;
const MAX_NOTES = 20;
const MAX_PROJECTS = 50;
/** What an owner may allow a key at most; a project takes as many. */
const MAX_PER_SECOND = 100;
const CONTROL = /\p{Cc}/u;

const text = (max: number) =>
  z.string('must be a text').min(1, 'must not be empty').max(max, `must have at most ${max} characters`);
const object = 'must be a JSON object';

const name = text(MAX_NAME)
  .trim()
  .min(1, 'must not be empty')
  .refine((it) => !CONTROL.test(it), 'must not have control characters');

const spending = z.strictObject(
  {
    limit: z
      .union([z.string().max(MAX_AMOUNT_LENGTH), z.number()], 'must be a decimal number')
      .describe('Most that may be spent in a window, in whole tokens.'),
    token: text(64).describe('Symbol or mint.'),
    window: z
      .enum(SPENDING_WINDOWS, `must be one of ${SPENDING_WINDOWS.join(', ')}`)
      .describe('By the calendar in UTC.'),
    action: z
      .enum(SPENDING_ACTIONS, `must be one of ${SPENDING_ACTIONS.join(', ')}`)
      .optional()
      .describe('`block` (default) refuses what would go beyond the limit, `notify` only tells you.'),
  },
  object,
);

/** What an owner can change of a key. */
const changeable = {
  name,
  scopes: z
    .array(z.enum(SCOPES, `must be one of ${SCOPES.join(', ')}`), 'must be a list')
    .min(1, 'must name a scope')
    .max(SCOPES.length, `must name at most ${SCOPES.length} scopes`)
    .optional()
    .describe('Default: `call` and `spending:read`.'),
  expires_at: z.iso
    .datetime({ offset: true, error: 'must be a time such as 2030-01-02T03:04:05Z' })
    .optional()
    .describe('Default: never.'),
  spending: spending.optional().describe('Default: no limit.'),
  allowed_ips: z
    .array(text(64), 'must be a list')
    .max(MAX_ADDRESSES, `must have at most ${MAX_ADDRESSES} entries`)
    .optional()
    .describe('Addresses and networks (CIDR). Default: every address.'),
  limits: z
    .strictObject(
      {
        per_second: z
          .int('must be a whole number')
          .min(1, 'must be at least 1')
          .max(MAX_PER_SECOND, `must be at most ${MAX_PER_SECOND}`)
          .optional(),
      },
      object,
    )
    .optional()
    .describe('Requests a second. Default 25.'),
  metadata: z
    .record(text(40), z.string('must be a text').max(500, 'must have at most 500 characters'), object)
    .refine((it) => Object.keys(it).length <= MAX_NOTES, `must have at most ${MAX_NOTES} entries`)
    .optional()
    .describe('Your notes, at most 2,048 bytes as JSON; upstreams are told them.'),
  allowed_projects: z
    .array(text(64), 'must be a list')
    .max(MAX_PROJECTS, `must have at most ${MAX_PROJECTS} entries`)
    .optional()
    .describe('Ids of the only projects that may be called with it, whosever they are. Default: all.'),
};

/** What `PATCH /api/v1/keys/:id` makes of a key. */
export const changedKey = z.strictObject(changeable, object);

/** Body of `PATCH /api/v1/keys/:id`: a merge patch (RFC 7396) of {@link changedKey}. */
export const keyPatchBody = z.record(z.string(), z.unknown(), object);

/** Body of `POST /api/v1/keys/generate`. */
export const generateBody = z.strictObject(
  {
    ...changeable,
    project_id: text(64).optional().describe('A project of yours, the only one that the key may touch. Default: none.'),
    mode: z
      .enum(['live', 'test'], 'must be live or test')
      .optional()
      .describe('Default: `live` on mainnet, where nothing else is taken; `test` elsewhere, where both are.'),
  },
  object,
);

/** Query of `GET /api/v1/keys`. */
export const keysQuery = z.object(pageQuery);

/** What a cursor of `GET /api/v1/keys` holds: when a key was made, and its id. */
export const keysCursor = z.tuple([
  z.int().min(0),
  z
    .string()
    .max(64)
    .regex(/^key_\w+$/),
]);

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
  allowed_projects: z.array(z.string()).describe('Empty: every project.'),
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

/** Response of `GET /api/v1/keys`. */
export const keysResponse = listResponseOf(keyResponse);
