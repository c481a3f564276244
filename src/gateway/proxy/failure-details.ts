import type { ForwardFailure } from './upstream-span.js';

/** What happened, for the caller to read: nothing of the upstream. */
export const FAILURE_DETAILS: Readonly<Record<ForwardFailure, string>> = {
  invalid_request: 'The path or the transfer encoding cannot be passed on.',
  method_not_allowed: 'The method cannot be passed on.',
  body_too_large: 'The body is larger than this address accepts.',
  client_gone: 'The caller closed the connection.',
  stopping: 'This server is being stopped, and the upstream has not answered so far.',
  upstream_unreachable: 'The upstream cannot be reached.',
  upstream_timeout: 'The upstream did not answer in time.',
  upstream_reset: 'The upstream broke off its answer, or what came was not HTTP.',
  upstream_answer_too_large: 'The upstream answered more than is passed on.',
};
