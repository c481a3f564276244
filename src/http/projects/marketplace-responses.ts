import { z } from 'zod';
import { listResponseOf } from '../framework/list-response.js';
import { address, countSchema } from '../framework/response.js';
import { priceResponse } from './projects-responses.js';

/** A project in the marketplace. */
export const marketItem = z.object({
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

/** Answer of `GET /api/v1/marketplace`. */
export const marketList = listResponseOf(marketItem);

/** Answer of `GET /api/v1/marketplace/:slug`. */
export const marketProject = marketItem.extend({
  openapi: z.record(z.string(), z.unknown()).nullable().describe("The project's own OpenAPI document."),
});
