import type { ErrorCode } from '../errors.js';
import type { Listing } from '../middleware/catalogue.js';
import { EXPOSED_HEADERS } from '../middleware/payment-offer.js';
import { pathParameters } from './openapi.js';
import { problemAnswer, problemAnswers } from './openapi-problems.js';

const TAG = 'Paid';
const OFFERED: readonly ErrorCode[] = [
  'payment_required',
  'no_matching_requirements',
  'payment_invalid',
  'payment_already_used',
  'payment_failed',
];
const OTHERS: readonly ErrorCode[] = [
  'invalid_payment_header',
  'payment_in_progress',
  'settlement_pending',
  'payment_backend_unavailable',
  'store_unavailable',
  'answer_too_large',
  'handler_timeout',
];
const HEADERS = Object.fromEntries(EXPOSED_HEADERS.map((name) => [name, { schema: { type: 'string' } }]));

/** A gated route that is listed, as the OpenAPI document describes it. What its handler answers, only that knows. */
export function describeListing({ path, described }: Listing, origin: string): object {
  const parameters = pathParameters(path);
  const { description, mimeType = 'application/json' } = described;
  return {
    tags: [TAG],
    summary: description ?? `Paid: ${path}`,
    servers: [{ url: origin }],
    ...(parameters.length === 0 ? {} : { parameters }),
    responses: {
      200: { description: 'The paid answer.', headers: HEADERS, content: { [mimeType]: { schema: {} } } },
      402: { ...problemAnswer(OFFERED, 'application/json'), headers: HEADERS },
      ...problemAnswers(OTHERS, false),
    },
  };
}
