/** What an error code means to the one who reads it. */
export interface ErrorEntry {
  /** HTTP status the code is answered with. */
  readonly status: number;
  /** A short, fixed sentence; the particulars go into `detail`. */
  readonly title: string;
  /** Whether the same request can succeed later without being changed. */
  readonly retryable: boolean;
}

/**
 * Every error that leaves Tollhouse over HTTP or as an exception: code, status, title, and whether a retry can help.
 * Reasons why one payment was refused are a protocol of their own, see `protocol/reasons.ts`.
 */
export const ERRORS = {
  bad_option: { status: 500, title: 'An option is wrong', retryable: false },
  backup_failed: { status: 500, title: 'The backup could not be made or restored', retryable: false },
  missing_dependency: { status: 500, title: 'An optional package is not installed', retryable: false },
  invalid_json: { status: 400, title: 'The body is not valid JSON', retryable: false },
  invalid_request: { status: 400, title: 'The request is not valid', retryable: false },
  body_already_read: { status: 500, title: 'The body was read before it came here', retryable: false },
  body_too_large: { status: 413, title: 'The body is too large', retryable: false },
  headers_too_large: { status: 431, title: 'The headers are too large', retryable: false },
  request_timeout: { status: 408, title: 'The request did not arrive in time', retryable: true },
  unsupported_media_type: { status: 415, title: 'The content type is not supported', retryable: false },
  validation_failed: { status: 422, title: 'Some fields are not valid', retryable: false },
  unauthenticated: { status: 401, title: 'Prove who is calling', retryable: false },
  invalid_access_token: { status: 401, title: 'The access token is not valid', retryable: false },
  token_expired: { status: 401, title: 'The token has expired', retryable: false },
  invalid_refresh_token: { status: 401, title: 'The refresh token is not valid', retryable: false },
  invalid_sign_in: { status: 401, title: 'The sign-in does not prove the wallet', retryable: false },
  sign_in_replayed: { status: 401, title: 'The sign-in was used before', retryable: false },
  invalid_service_key: { status: 401, title: 'The service key is not valid', retryable: false },
  service_key_expired: { status: 401, title: 'The service key has expired', retryable: false },
  service_key_revoked: { status: 401, title: 'The service key was revoked', retryable: false },
  insufficient_scope: { status: 403, title: 'The service key is not good for this', retryable: false },
  key_project_not_allowed: { status: 403, title: 'The service key is not good for this project', retryable: false },
  service_key_suspended: { status: 403, title: 'The operator has suspended the service key', retryable: false },
  wallet_suspended: { status: 403, title: 'The operator has suspended the wallet', retryable: false },
  owner_suspended: { status: 403, title: 'The operator has suspended what the wallet sells', retryable: false },
  owner_not_allowed: { status: 403, title: 'The wallet may not have projects here', retryable: false },
  not_an_operator: { status: 403, title: 'The wallet is no operator of this service', retryable: false },
  spending_limit_reached: { status: 403, title: 'The service key may not spend that much', retryable: false },
  wrong_key_mode: { status: 403, title: 'The service key is for test networks only', retryable: false },
  address_not_allowed: { status: 403, title: 'The service key may not be used from this address', retryable: false },
  insufficient_balance: { status: 403, title: 'The wallet holds too little of the token', retryable: false },
  insufficient_tier: { status: 403, title: 'The wallet has not reached the tier', retryable: false },
  wallet_denied: { status: 403, title: 'The wallet is not let in here', retryable: false },
  held_too_short: { status: 403, title: 'The wallet has not held it for long enough', retryable: true },
  invalid_delegation: {
    status: 400,
    title: 'The statement does not let the wallet stand for another',
    retryable: false,
  },
  wallet_too_large: { status: 403, title: 'The wallet has too many token accounts to be looked at', retryable: false },
  invalid_wallet: { status: 400, title: 'This is not a wallet address', retryable: false },
  chain_unavailable: { status: 503, title: 'The chain cannot be asked at the moment', retryable: true },
  rate_limited: { status: 429, title: 'Too many requests', retryable: true },
  store_unavailable: { status: 503, title: 'Nothing can be remembered at the moment', retryable: true },
  not_ready: { status: 503, title: 'The service cannot take payments at the moment', retryable: true },
  stopping: { status: 503, title: 'The server is stopping', retryable: true },
  not_configured: { status: 501, title: 'This server is not set up for that', retryable: false },
  not_found: { status: 404, title: 'There is nothing at this address', retryable: false },
  project_suspended: { status: 503, title: 'The operator has suspended the project', retryable: true },
  project_paused: { status: 503, title: 'The project is paused', retryable: true },
  project_upstream_down: { status: 503, title: 'The upstream of the project is down', retryable: true },
  secrets_key_missing: { status: 501, title: 'This server can keep no secrets of upstreams', retryable: false },
  secrets_key_unknown: { status: 503, title: 'The secrets of the upstream cannot be opened', retryable: true },
  gateway_loop: { status: 508, title: 'The call has come through too many gateways', retryable: false },
  upgrade_not_supported: { status: 501, title: 'WebSockets are not passed on', retryable: false },
  project_not_found: { status: 404, title: 'There is no such project', retryable: false },
  route_not_found: { status: 404, title: 'The project has nothing there', retryable: false },
  route_denied: { status: 403, title: 'The route is not for sale', retryable: false },
  ambiguous_path: { status: 400, title: 'The path can be read in several ways', retryable: false },
  slug_taken: { status: 409, title: 'The slug is taken', retryable: false },
  precondition_failed: { status: 412, title: 'It was changed since you read it', retryable: false },
  quota_reached: { status: 409, title: 'The wallet owns as much as it may', retryable: false },
  webhook_disabled: { status: 409, title: 'The webhook is disabled', retryable: false },
  method_not_allowed: { status: 405, title: 'This address does not answer to this method', retryable: false },
  invalid_amount: { status: 400, title: 'The amount is not valid', retryable: false },
  invalid_token: { status: 400, title: 'The token is not known or not accepted', retryable: false },
  invalid_recipient: { status: 400, title: 'The recipient is not a wallet that can be paid', retryable: false },
  invalid_payer: { status: 400, title: 'The payer is not a wallet that can pay', retryable: false },
  invalid_split: { status: 400, title: 'The split is not valid', retryable: false },
  invalid_signature: { status: 400, title: 'This is not a transaction signature', retryable: false },
  invalid_transaction: { status: 400, title: 'The transaction does not pay this payment', retryable: false },
  payment_not_found: { status: 404, title: 'There is no such payment', retryable: false },
  nothing_to_refund: { status: 409, title: 'Nothing of the payment can be refunded', retryable: false },
  refund_limit_reached: { status: 409, title: 'The refund is beyond what may be refunded', retryable: false },
  payment_expired: { status: 400, title: 'The payment can no longer be made', retryable: false },
  payment_already_settled: { status: 400, title: 'The payment was settled by another transaction', retryable: false },
  blockchain_error: { status: 500, title: 'The transaction failed on the chain', retryable: false },
  invalid_payment_header: { status: 400, title: 'The payment header cannot be read', retryable: false },
  sign_in_required: { status: 402, title: 'Sign in with a wallet', retryable: false },
  payment_required: { status: 402, title: 'Payment required', retryable: false },
  no_matching_requirements: {
    status: 402,
    title: 'The payment is for other terms than the offered ones',
    retryable: false,
  },
  payment_invalid: { status: 402, title: 'The payment was refused', retryable: false },
  payment_not_confirmed: { status: 402, title: 'The payment is not confirmed yet', retryable: true },
  payment_already_used: { status: 402, title: 'The payment was used before', retryable: false },
  payment_failed: { status: 402, title: 'The payment failed on the chain', retryable: false },
  invalid_pass: { status: 402, title: 'The access pass is not valid', retryable: false },
  pass_of_another_site: { status: 402, title: 'The access pass is of another site', retryable: false },
  pass_of_another_route: { status: 402, title: 'The access pass is for another route', retryable: false },
  pass_of_another_wallet: { status: 402, title: 'The access pass is of another wallet', retryable: false },
  pass_of_another_token: { status: 402, title: 'The access pass is credit that buys nothing here', retryable: false },
  pass_revoked: { status: 402, title: 'The access pass was revoked', retryable: false },
  pass_ended: { status: 402, title: 'The access pass has ended', retryable: false },
  pass_used_up: { status: 402, title: 'The access pass is used up', retryable: false },
  pass_sign_in_refused: { status: 402, title: 'The sign-in to use a pass was refused', retryable: false },
  invalid_payment_identifier: {
    status: 400,
    title: 'The payment identifier is missing or not valid',
    retryable: false,
  },
  payment_identifier_conflict: {
    status: 409,
    title: 'Another payment or request has this payment identifier',
    retryable: false,
  },
  invalid_idempotency_key: { status: 400, title: 'The Idempotency-Key is not valid', retryable: false },
  idempotency_key_reused: { status: 422, title: 'The Idempotency-Key was used for another request', retryable: false },
  idempotency_in_progress: { status: 409, title: 'The request with this Idempotency-Key is running', retryable: true },
  payment_in_progress: { status: 409, title: 'The same payment is being served right now', retryable: true },
  settlement_pending: { status: 503, title: 'The outcome of the payment is not known yet', retryable: true },
  payment_backend_unavailable: { status: 503, title: 'Payments cannot be taken at the moment', retryable: true },
  fee_limit_reached: { status: 503, title: 'No more network fees are paid in this hour', retryable: true },
  too_many_payments: { status: 503, title: 'Too many payments are under way at the moment', retryable: true },
  answer_too_large: { status: 500, title: 'The answer is too large to be held until it is paid', retryable: false },
  upstream_unreachable: { status: 502, title: 'The upstream cannot be reached', retryable: true },
  upstream_error: { status: 502, title: 'The upstream failed', retryable: true },
  upstream_reset: { status: 502, title: 'The upstream broke off', retryable: true },
  upstream_answer_too_large: { status: 502, title: 'The upstream answered too much', retryable: true },
  upstream_timeout: { status: 504, title: 'The upstream did not answer in time', retryable: true },
  call_broken_off: { status: 503, title: 'The call was broken off on our side each time', retryable: true },
  handler_timeout: { status: 504, title: 'The answer took too long; nothing was charged', retryable: true },
  internal_error: { status: 500, title: 'Something went wrong on our side', retryable: true },
} as const satisfies Record<string, ErrorEntry>;

/** A code of the error table. */
export type ErrorCode = keyof typeof ERRORS;

/** One field of a request body that is at fault. */
export interface FieldFault {
  /** Where it is, as a JSON pointer (RFC 6901); empty for the whole body. */
  readonly pointer: string;
  /** What is wrong with it, for programs: `required`, `unknown`, or the name of the rule that it breaks. */
  readonly code: string;
  /** What it must be, for people. */
  readonly detail: string;
}

/** What an error may carry beside its code. */
export interface ErrorContext {
  /** The option, parameter or header that is at fault. */
  readonly param?: string;
  /** Every field at fault, where a body was checked. */
  readonly errors?: readonly FieldFault[];
  /** Seconds after which a retry makes sense; sent as `Retry-After`. */
  readonly retryAfterSeconds?: number;
  /** What went wrong underneath; never shown to a client. */
  readonly cause?: unknown;
}

/** The body of an error response, `application/problem+json` (RFC 9457). */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly param?: string;
  readonly errors?: readonly FieldFault[];
  readonly request_id?: string;
}

/** Members of a problem that only some errors have. */
export type ProblemMembers = Pick<Problem, 'param' | 'errors' | 'request_id'>;

/** The one error class. `code` is stable and meant for programs, `message` for people. */
export class TollhouseError extends Error {
  override readonly name = 'TollhouseError';
  readonly code: ErrorCode;
  readonly context: ErrorContext;

  /**
   * @param code - a code of {@link ERRORS}
   * @param detail - what was wrong, where, and what to do; shown to clients, so no secrets
   * @param context - the parameter at fault, when to retry, the cause
   */
  constructor(code: ErrorCode, detail: string, context: ErrorContext = {}) {
    super(detail, context.cause === undefined ? undefined : { cause: context.cause });
    this.code = code;
    this.context = context;
  }

  /** HTTP status of the code. */
  get status(): number {
    return ERRORS[this.code].status;
  }

  /** Whether the same request can succeed later. */
  get retryable(): boolean {
    return ERRORS[this.code].retryable;
  }

  /** The error as a problem body. */
  toProblem(requestId?: string): Problem {
    const { param, errors } = this.context;
    return problem(this.code, this.message, {
      ...(param === undefined ? {} : { param }),
      ...(errors === undefined ? {} : { errors }),
      ...(requestId === undefined ? {} : { request_id: requestId }),
    });
  }
}

/** Builds a problem body (RFC 9457) for a code of the table. */
export function problem(code: ErrorCode, detail: string, extra: ProblemMembers = {}): Problem {
  const { status, title, retryable } = ERRORS[code];
  return { type: `urn:tollhouse:error:${code}`, title, status, detail, code, retryable, ...extra };
}

/** The error for a wrong option: `requirePayment: option "prise" …`. Thrown where the option is given, before any request. */
export function badOption(where: string, detail: string, param?: string): TollhouseError {
  return new TollhouseError('bad_option', `${where}: ${detail}`, param === undefined ? {} : { param });
}
