import { z } from 'zod';
import { isAddress } from '../../protocol/address.js';
import { address, countSchema, moneyMode } from '../framework/fields.js';
import { listResponseOf, pageQuery } from '../framework/list-response.js';
import { API } from '../framework/path.js';
import { priceResponse } from './price-schemas.js';
import { projectIdText } from './schemas.js';

/** Where the marketplace is. */
export const MARKETPLACE_PATHS = { all: `${API}/marketplace`, one: `${API}/marketplace/:slug` } as const;

const DEFAULT_SORT = 'calls';

const text = (max: number) => z.string('must be a text').max(max, `must have at most ${max} characters`);

/** Query of `GET /api/v1/marketplace`. */
export const marketQuery = z.object({
  q: text(200).optional().describe('Words that must all occur in name, description, slug or tags.'),
  tag: text(32).toLowerCase().optional(),
  token: text(64)
    .regex(/^[!-~]*$/, 'must be a symbol or a mint')
    .transform((it) => (isAddress(it) ? it : it.toUpperCase()))
    .optional()
    .describe('Symbol or mint of the token that is paid in.'),
  max_price: text(64)
    .regex(/^\d{1,20}(?:\.\d{1,18})?$/, 'must be a decimal amount such as "0.05"')
    .optional()
    .describe("In whole tokens, each price in its own: name the `token` unless you mean any token's number."),
  mode: moneyMode,
  sort: z
    .enum(['calls', 'price', 'new'], 'must be "calls", "price" or "new"')
    .default(DEFAULT_SORT)
    .describe(
      'By calls: the most wallets that have paid for calls in thirty days first, the owner not counted. Or lowest price first, or newest first.',
    ),
  ...pageQuery,
});

/** What the cursors of `GET /api/v1/marketplace` hold, by sort: sort, rank, id, and since when payers are counted. */
export const marketCursors = {
  calls: z.tuple([z.literal('calls'), z.int(), projectIdText, z.int()]),
  price: z.tuple([z.literal('price'), z.string().regex(/^[\d.]+$/), projectIdText, z.int()]),
  new: z.tuple([z.literal('new'), z.int(), projectIdText, z.int()]),
};

/** A project in the marketplace. */
export const marketItemResponse = z.object({
  id: z.string(),
  slug: z.string(),
  url: z.string().describe('Where it is called.'),
  name: z.string(),
  description: z.string().nullable(),
  tags: z.array(z.string()),
  owner: address,
  pricing: priceResponse,
  calls: countSchema.describe('Calls that reached the project lately.'),
  success_rate: z.number().min(0).max(1).nullable().describe('Share of them that it answered; null without calls.'),
  p95_ms: countSchema.nullable().describe('95 of 100 were answered within so many milliseconds; null where not known.'),
  example: z.object({
    method: z.string(),
    url: z.string(),
    body: z.unknown().nullable(),
    curl: z.string().describe('The call as a command for a shell.'),
  }),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

/** Response of `GET /api/v1/marketplace`. */
export const marketResponse = listResponseOf(marketItemResponse);

/** Response of `GET /api/v1/marketplace/:slug`. */
export const marketProjectResponse = marketItemResponse.extend({
  openapi: z.record(z.string(), z.unknown()).nullable().describe("The project's own OpenAPI document."),
});
