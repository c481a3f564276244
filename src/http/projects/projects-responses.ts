import { z } from 'zod';
import { listResponseOf } from '../framework/list-response.js';
import { address, countSchema, networkId } from '../framework/response.js';

/** A price with its token. */
export const priceResponse = z.object({
  amount: z.string().describe('In whole tokens, decimal.'),
  amount_atomic: z.string().describe("In the token's smallest unit."),
  token: z.string().describe('Symbol; the mint of an unknown token.'),
  mint: address,
  decimals: countSchema,
  token_program: address,
  network: networkId,
});

/** A call that shows how. */
export const exampleResponse = z.object({
  method: z.string(),
  path: z.string().describe('Below `/v1/<slug>`.'),
  body: z.unknown().optional(),
});

const share = z.object({
  recipient: address,
  bps: countSchema.describe('Basis points.'),
  label: z.string().nullable(),
});

/** A project in a list. */
export const projectItem = z.object({
  id: z.string(),
  slug: z.string(),
  url: z.string().describe('Where it is called.'),
  name: z.string(),
  description: z.string().nullable(),
  owner: address,
  state: z.enum(['active', 'paused', 'deleted']),
  visibility: z.enum(['private', 'listed']),
  upstream: z.object({ url: z.string(), timeout_ms: countSchema }),
  pricing: priceResponse,
  split: z.array(share),
  limits: z.object({ per_second: countSchema, concurrent: countSchema, max_body_bytes: countSchema }),
  tags: z.array(z.string()),
  metadata: z.record(z.string(), z.string()).nullable(),
  example: exampleResponse.nullable(),
  version: countSchema.describe('One more with every change; the `ETag` holds it.'),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

/** Answer of `GET /api/v1/projects`. */
export const projectList = listResponseOf(projectItem);

/** A project. */
export const projectResponse = projectItem.extend({
  openapi: z.record(z.string(), z.unknown()).nullable(),
  gateway_secret: z
    .string()
    .optional()
    .describe('Signs what the gateway sends upstream; shown to callers with the scope `projects:write`.'),
});
