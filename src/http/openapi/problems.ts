import { ERRORS, type ErrorCode } from '../../errors/errors.js';
import { groupBy } from '../../lib/group-by.js';
import { EXPOSED_HEADERS } from '../../middleware/payment/payment-required.js';

const ANY: readonly ErrorCode[] = ['invalid_request', 'internal_error', 'rate_limited', 'stopping'];
/** Of operations that take an Idempotency-Key. */
const REPEATABLE: readonly ErrorCode[] = [
  'invalid_idempotency_key',
  'idempotency_key_reused',
  'idempotency_in_progress',
  'store_unavailable',
];
const WITH_BODY: readonly ErrorCode[] = [
  'invalid_json',
  'body_already_read',
  'body_too_large',
  'unsupported_media_type',
];
const RETRY_AFTER = { 'Retry-After': { description: 'Seconds.', schema: { type: 'integer', minimum: 0 } } };

const text = { type: 'string' };
const PAYMENT_REQUIRED = 402;

/** Header fields that terms and receipts come in. */
export const PAYMENT_HEADERS = Object.fromEntries(EXPOSED_HEADERS.map((name) => [name, { schema: text }]));

/** The schema of every error response (RFC 9457), with every code that there is. */
export function problemSchema(): object {
  return {
    type: 'object',
    required: ['type', 'title', 'status', 'detail', 'code', 'retryable', 'request_id'],
    properties: {
      type: text,
      title: text,
      status: { type: 'integer' },
      detail: { ...text, description: 'What was wrong, where, and what to do.' },
      code: { ...text, oneOf: Object.keys(ERRORS).map(describeCode) },
      retryable: { type: 'boolean', description: 'Whether the same request can succeed later.' },
      param: { ...text, description: 'The field or header at fault.' },
      errors: {
        type: 'array',
        items: {
          type: 'object',
          required: ['pointer', 'code', 'detail'],
          properties: { pointer: { ...text, description: 'JSON pointer (RFC 6901).' }, code: text, detail: text },
        },
      },
      request_id: text,
    },
  };
}

/** What an operation takes beside its parameters. */
export interface OperationInput {
  /** A body. */
  readonly body?: boolean;
  /** An Idempotency-Key. */
  readonly key?: boolean;
}

/** The error responses of an operation that has these errors, by status; each says which codes it has. */
export function problemResponses(
  errors: readonly ErrorCode[],
  { body = false, key = false }: OperationInput = {},
): Record<string, object> {
  const codes = [...errors, ...(body ? WITH_BODY : []), ...(key ? REPEATABLE : []), ...ANY];
  const byStatus = groupBy(new Set(codes), (code) => ERRORS[code].status);
  return Object.fromEntries([...byStatus].map(([status, some]) => [String(status), problemResponse(status, some)]));
}

/** One error response that has one of some codes. Terms of payment are JSON of x402, which is a problem as well. */
function problemResponse(status: number, codes: readonly ErrorCode[]): object {
  const offers = status === PAYMENT_REQUIRED;
  const schema = {
    allOf: [
      { $ref: '#/components/schemas/Problem' },
      { type: 'object', properties: { code: { ...text, enum: codes } } },
    ],
  };
  const retryable = codes.some((code) => ERRORS[code].retryable);
  const headers = { ...(offers ? PAYMENT_HEADERS : {}), ...(retryable ? RETRY_AFTER : {}) };
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].title}.`).join(' '),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    content: { [offers ? 'application/json' : 'application/problem+json']: { schema } },
  };
}

function describeCode(code: string): object {
  const { status, title, retryable } = ERRORS[code as ErrorCode];
  return {
    const: code,
    title,
    description: `Status ${status}; ${retryable ? 'a retry can help' : 'a retry does not help'}.`,
  };
}
