import { z } from 'zod';
import { quotaBytes, quotaCount } from '../../gateway/owners/quotas-option.js';
import { SUSPENDED_KINDS } from '../../storage/owners/owners.js';
import { address, countSchema, nameText } from '../framework/fields.js';
import { listResponseOf, pageQuery } from '../framework/list-response.js';
import { API } from '../framework/path.js';

const OPERATOR = `${API}/operator`;

/** Where operators work. */
export const OPERATOR_PATHS = {
  owners: `${OPERATOR}/owners`,
  owner: `${OPERATOR}/owners/:wallet`,
  projects: `${OPERATOR}/projects`,
  keys: `${OPERATOR}/keys`,
  suspensions: `${OPERATOR}/suspensions`,
  suspend: `${OPERATOR}/suspend`,
  resume: `${OPERATOR}/resume`,
  audit: `${OPERATOR}/audit`,
} as const;

const MAX_TARGET = 64;
const time = z.iso.datetime();
const name = nameText(MAX_TARGET);
const suspendedSince = time.nullable().describe('Since when it is suspended; null: it is not.');

/** What a cursor of these lists holds: a time, and an id or a wallet. */
export const placeCursor = z.tuple([z.int().min(0), z.string().regex(/^\w{1,64}$/)]);
/** What a cursor of the audit log holds. */
export const auditCursor = z.tuple([z.int().min(0)]);

/** Query of the list of owners. */
export const ownersQuery = z.object(pageQuery);
/** Query of lists that can be of one owner. */
export const ownedQuery = z.object({
  ...pageQuery,
  owner: name.optional().describe('Wallet. Default: all owners.'),
});
/** Query of `GET /api/v1/operator/audit`. */
export const auditQuery = z.object({
  ...pageQuery,
  owner: name.optional().describe('Wallet whose it is.'),
  actor: name.optional().describe('Wallet that has made the change.'),
  target: name.optional().describe('Id of what was changed, or a wallet.'),
  action: name.optional().describe('Such as `project.updated`.'),
});

/** Body of `POST /api/v1/operator/suspend`. */
export const suspendBody = z.strictObject(
  {
    kind: z
      .enum(SUSPENDED_KINDS, `must be one of ${SUSPENDED_KINDS.join(', ')}`)
      .describe(
        '`owner`: all that a wallet sells. `project`. `key`: a service key. `wallet`: whatever a wallet and its keys do here.',
      ),
    target: name.describe('A wallet for `owner` and `wallet`, else an id.'),
    reason: z
      .string('must be a text')
      .max(500, 'must have at most 500 characters')
      .regex(/^[^\p{Cc}]*$/u, 'must be one line')
      .optional()
      .describe('For the audit log, and for other operators.'),
  },
  'must be a JSON object',
);
/** Body of `POST /api/v1/operator/resume`. */
export const resumeBody = suspendBody.omit({ reason: true });

const FEE_PERCENT =
  'How much of the network fees of an hour payments for what it sells may use, in percent. All sellers together have 60; one with more than that is beside them.';
const DAILY_CHANGES = 'How many changes it and its keys may make a day.';
const UNPAID_REQUESTS = 'How many payments its keys may ask for a day that nobody makes.';
const feePercent = z.int('must be an integer').min(1, 'must be 1 or more').max(100, 'must be 100 or less');

/** Body of `PATCH /api/v1/operator/owners/{wallet}`. */
export const ownerPatchBody = z.strictObject(
  {
    quotas: z
      .strictObject(
        {
          projects: quotaCount.nullable().optional(),
          keys: quotaCount.nullable().optional(),
          webhooks: quotaCount.nullable().optional(),
          project_bytes: quotaBytes.nullable().optional(),
          daily_changes: quotaCount.nullable().optional().describe(DAILY_CHANGES),
          unpaid_requests: quotaCount.nullable().optional().describe(UNPAID_REQUESTS),
          fee_percent: feePercent.nullable().optional().describe(FEE_PERCENT),
        },
        'must be {projects?, keys?, webhooks?, project_bytes?, daily_changes?, unpaid_requests?, fee_percent?}',
      )
      .describe('Null: that of everybody. What is left out stays.'),
  },
  'must be a JSON object',
);

const quotas = z.object({
  projects: countSchema,
  keys: countSchema,
  webhooks: countSchema,
  project_bytes: countSchema,
  daily_changes: countSchema.describe(DAILY_CHANGES),
  unpaid_requests: countSchema.describe(UNPAID_REQUESTS),
  fee_percent: countSchema.describe(FEE_PERCENT),
});

/** An owner as operators see it. */
export const ownerResponse = z.object({
  wallet: address,
  since: time,
  projects: countSchema.describe('Those that are not deleted.'),
  keys: countSchema.describe('Those that are not revoked.'),
  webhooks: countSchema,
  quotas: quotas.describe('What it may own, and change.'),
  suspended_at: suspendedSince.describe('Since when what it sells is suspended.'),
  wallet_suspended_at: suspendedSince.describe('Since when the wallet and its keys are suspended.'),
});

/** A project as operators see it. */
export const operatorProjectResponse = z.object({
  id: z.string(),
  slug: z.string(),
  name: z.string(),
  owner: address,
  state: z.enum(['active', 'paused', 'deleted']),
  visibility: z.enum(['listed', 'unlisted', 'private']),
  created_at: time,
  updated_at: time,
  suspended_at: suspendedSince,
});

/** A service key as operators see it: nothing that it could be used with. */
export const operatorKeyResponse = z.object({
  id: z.string(),
  name: z.string(),
  owner: address,
  project_id: z.string().nullable(),
  scopes: z.array(z.string()),
  mode: z.enum(['live', 'test']),
  created_at: time,
  expires_at: time.nullable(),
  last_used_at: time.nullable(),
  revoked_at: time.nullable(),
  suspended_at: suspendedSince,
});

/** What is suspended. */
export const suspensionResponse = z.object({
  kind: z.enum(SUSPENDED_KINDS),
  target: z.string(),
  suspended_at: time,
  operator: address,
  reason: z.string().nullable(),
});

/** An entry of the audit log. */
export const auditResponse = z.object({
  id: z.string(),
  at: time,
  actor: z.object({
    wallet: address,
    key_id: z.string().nullable(),
    address: z.string().nullable().describe('Address of the client.'),
    request_id: z.string().nullable(),
  }),
  action: z.string(),
  target: z.string(),
  owner: address,
  details: z.record(z.string(), z.unknown()),
});

/** The lists. */
export const ownersResponse = listResponseOf(ownerResponse);
/** The projects that operators see. */
export const operatorProjectsResponse = listResponseOf(operatorProjectResponse);
/** The service keys that operators see. */
export const operatorKeysResponse = listResponseOf(operatorKeyResponse);
/** All that is suspended: there is one page. */
export const suspensionsResponse = listResponseOf(suspensionResponse);
/** A page of the audit log. */
export const auditsResponse = listResponseOf(auditResponse);
