import type { Listing } from '../middleware/catalogue.js';
import { EXPOSED_HEADERS } from '../middleware/payment-offer.js';
import { pathParameters } from './openapi.js';

const TAG = 'Paid';

/** A gated route that is listed, as the OpenAPI document describes it. */
export function describeListing({ path, described }: Listing, origin: string): object {
  const parameters = pathParameters(path);
  const { description, mimeType = 'application/json' } = described;
  return {
    tags: [TAG],
    summary: description ?? `Paid: ${path}`,
    servers: [{ url: origin }],
    ...(parameters.length === 0 ? {} : { parameters }),
    responses: {
      200: { description: 'The paid answer.', content: { [mimeType]: { schema: {} } } },
      402: {
        description: 'The terms, in the header PAYMENT-REQUIRED for x402 version 2, in the body for version 1.',
        headers: Object.fromEntries(EXPOSED_HEADERS.map((name) => [name, { schema: { type: 'string' } }])),
        content: { 'application/json': { schema: {} } },
      },
      default: {
        description: 'What went wrong.',
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    },
  };
}
