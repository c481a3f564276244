import { z } from 'zod';
import { isAddress } from '../../protocol/address.js';
import { address, countSchema, moneyMode } from '../framework/fields.js';
import { listResponseOf, pageQuery } from '../framework/list-response.js';
import { API } from '../framework/path.js';
import { callPriceResponse, priceResponse } from './price-schemas.js';
import { freeCallsResponse, offeredRouteResponse } from './route-schemas.js';
import { projectIdText } from './schemas.js';

/** Where the marketplace is. */
export const MARKETPLACE_PATHS = { all: `${API}/marketplace`, one: `${API}/marketplace/:slug` } as const;

const DEFAULT_SORT = 'calls';

const text = (max: number) => z.string('must be a text').max(max, `must have at most ${max} characters`);

const price = text(64)
  .regex(/^(?:\d{1,20}(?:\.\d{1,18})?)?$/, 'must be a decimal amount such as "0.05"')
  .optional();

/** Query of `GET /api/v1/marketplace`. */
export const marketQuery = z.object({
  q: text(200).optional().describe('Words that must all occur in name, description, slug or tags.'),
  tag: text(32).toLowerCase().optional(),
  token: text(64)
    .regex(/^[!-~]*$/, 'must be a symbol or a mint')
    .transform((it) => (isAddress(it) ? it : it.toUpperCase()))
    .optional()
    .describe('Symbol or mint of the token that is paid in.'),
  min_price: price.describe("As `max_price`: what a project's cheapest calls cost at least."),
  max_price: price.describe(
    "What a project's cheapest calls cost at most, free ones not counted. In whole tokens, each price in its own: name the `token` unless you mean any token's number.",
  ),
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
  status: z
    .enum(['active', 'down'])
    .describe('`down`: its upstream does not answer, and nothing is sold until it does. Lists leave it out.'),
  pricing: priceResponse,
  price_range: z
    .object({ from: z.string(), to: z.string() })
    .describe("Between what the prices of its routes lie, in whole tokens of `pricing`'s; free ones are none of them."),
  has_free_routes: z.boolean().describe('Whether some of its routes need a service key, and no payment.'),
  free_calls: freeCallsResponse.nullable().describe('Calls that each service key has without paying.'),
  calls: countSchema.describe('Calls that reached the project lately.'),
  success_rate: z.number().min(0).max(1).nullable().describe('Share of them that it answered; null without calls.'),
  p95_ms: countSchema.nullable().describe('95 of 100 were answered within so many milliseconds; null where not known.'),
  example: z.object({
    method: z.string(),
    url: z.string(),
    body: z.unknown().nullable(),
    pricing: callPriceResponse.nullable().describe('What this call costs; null where it is free, or not for sale.'),
    curl: z.string().describe('The call as a command for a shell.'),
  }),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

/** Response of `GET /api/v1/marketplace`. */
export const marketResponse = listResponseOf(marketItemResponse);

/** Response of `GET /api/v1/marketplace/:slug`. */
export const marketProjectResponse = marketItemResponse.extend({
  routes: z
    .array(offeredRouteResponse)
    .describe('What calls of some paths cost; the first that matches decides, and all others cost `pricing`.'),
  openapi: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe("The project's own OpenAPI document, with what each operation costs (`x-payment-info`)."),
});
