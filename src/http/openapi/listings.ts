import type { ErrorCode } from '../../errors/errors.js';
import type { Listing } from '../../middleware/terms/catalogue.js';
import { BY_PAYMENT } from '../framework/operation.js';
import { pathParameters } from './openapi.js';
import { PAYMENT_HEADERS, problemResponses } from './problems.js';

const TAG = 'Paid';
const ERRORS_OF_GATES: readonly ErrorCode[] = [
  'payment_required',
  'no_matching_requirements',
  'payment_invalid',
  'payment_already_used',
  'payment_failed',
  'invalid_payment_header',
  'invalid_payment_identifier',
  'payment_identifier_conflict',
  'payment_in_progress',
  'settlement_pending',
  'payment_backend_unavailable',
  'fee_limit_reached',
  'too_many_payments',
  'store_unavailable',
  'answer_too_large',
  'handler_timeout',
];

/** A gated route that is listed, as the OpenAPI document describes it. What its handler answers, only that knows. */
export function describeListing({ path, described }: Listing, origin: string): object {
  const parameters = pathParameters(path);
  const { description, mimeType = 'application/json' } = described;
  return {
    tags: [TAG],
    summary: description ?? `Paid: ${path}`,
    servers: [{ url: origin }],
    security: BY_PAYMENT,
    ...(parameters.length === 0 ? {} : { parameters }),
    responses: {
      200: { description: 'The paid answer.', headers: PAYMENT_HEADERS, content: { [mimeType]: { schema: {} } } },
      ...problemResponses(ERRORS_OF_GATES),
    },
  };
}
