import { z } from 'zod';
import { address, countSchema, nameText, signature } from '../framework/fields.js';
import { listResponseOf, pageQuery } from '../framework/list-response.js';
import { API } from '../framework/path.js';
import { rangeQuery } from '../framework/range-query.js';

/** Where calls are listed. */
export const CALL_LIST_PATHS = { own: `${API}/calls`, ofProject: `${API}/projects/:project_id/calls` } as const;

const MAX_ID = 64;
const MAX_ROUTE = 512;

/** How a call ended, or what the upstream answered. */
const STATUS = /^(succeeded|failed|[1-5](\d\d|xx))$/;

const filters = {
  ...pageQuery,
  from: rangeQuery.from.describe('Calls from then on.'),
  to: rangeQuery.to.describe('Calls before then.'),
  key: nameText(MAX_ID).optional().describe('Id of a service key. Default: all.'),
  status: z
    .string()
    .regex(STATUS, 'must be succeeded, failed, an HTTP status such as 404, or a class of them such as 4xx')
    .optional()
    .describe(
      '`succeeded` or `failed`: how they ended. `404` or `4xx`: what the upstream answered. What was refused before it was passed on is ' +
        'counted, and in no list.',
    ),
  route: nameText(MAX_ROUTE).optional().describe('As `route` of a call, such as `GET /weather/*`.'),
  format: z
    .enum(['json', 'csv'], 'must be json or csv')
    .optional()
    .describe('Default: by the header `Accept`, which may ask for `text/csv`.'),
};

/** Query of `GET /api/v1/calls`. */
export const ownCallsQuery = z.strictObject({
  ...filters,
  project: nameText(MAX_ID).optional().describe('Id of a project. Default: all.'),
});

/** Query of `GET /api/v1/projects/:project_id/calls`. */
export const projectCallsQuery = z.strictObject({
  ...filters,
  payer: nameText(44).optional().describe('Wallet that has paid. Default: all.'),
});

/** What a cursor of calls holds: when one came in, and its number. */
export const callsCursor = z.tuple([z.int().min(0), z.string().regex(/^\d{1,18}$/)]);

const call = {
  id: z.string(),
  at: z.iso.datetime().describe('When it came in.'),
  project_id: z.string(),
  method: z.string(),
  route: z
    .string()
    .nullable()
    .describe('Method and path, `*` for what differs in each call; null for calls of before it was written down.'),
  status: countSchema.nullable().describe('What the upstream answered; null when it did not.'),
  outcome: z.enum(['succeeded', 'failed']),
  reason: z.string().nullable().describe('Error code, when it failed.'),
  key_id: z.string().nullable(),
  payer: address.nullable(),
  amount: z.string().nullable().describe('What was charged, in whole tokens, decimal; null when nothing was.'),
  amount_atomic: z.string().nullable(),
  token: z.string().nullable().describe('Symbol; the mint of an unknown token.'),
  mint: address.nullable(),
  credit: z
    .object({ kind: z.enum(['given', 'used']), amount: z.string(), amount_atomic: z.string(), token: z.string() })
    .nullable()
    .describe('`given`: it was paid and bought nothing. `used`: such a payment of an earlier call paid it.'),
  pass_id: z.string().nullable().describe('The pass that has covered it, or that was bought with it.'),
  pass_uses: countSchema
    .nullable()
    .describe('How many calls of the pass it took: 1, or 0 where it was not charged; null where there was no pass.'),
  payment_id: z.string().nullable(),
  receipt_url: z.string().nullable().describe('Where the receipt of the payment is; null where none was made with it.'),
  signature: signature.nullable(),
  duration_ms: countSchema.describe('From when it was passed on until its response was over.'),
  upstream_ms: countSchema.nullable().describe('From when it was passed on until the upstream began to answer.'),
  request_id: z.string(),
};

/** A call as its buyer sees it. */
export const ownCallResponse = z.object({
  ...call,
  project: z.string().nullable().describe('Slug of the project; null where it is deleted.'),
  key_id: z.string().nullable().describe('Null where the key is of another wallet.'),
});

/** A call of a project as its owner sees it. */
export const callResponse = z.object({
  ...call,
  gateway_ms: countSchema.nullable().describe('From when it came in until it was passed on: payment, limits, books.'),
});

/** Response of `GET /api/v1/calls`. */
export const ownCallsResponse = listResponseOf(ownCallResponse);

/** Response of `GET /api/v1/projects/:project_id/calls`. */
export const callsResponse = listResponseOf(callResponse);
