import type { ErrorRequestHandler } from 'express';
import { type ErrorCode, TollhouseError } from '../../errors/errors.js';
import { sendError, sendFault, sendProblem } from '../../middleware/gate/respond.js';

/** Errors of `express.json()` by their type. */
const BODY_ERRORS: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  'entity.parse.failed': ['invalid_json', 'The body cannot be parsed as JSON.'],
  'entity.too.large': ['body_too_large', 'The body is larger than this address accepts.'],
  'encoding.unsupported': ['unsupported_media_type', 'The content encoding of the body is not supported.'],
  'charset.unsupported': ['unsupported_media_type', 'The character set of the body is not supported.'],
};

/** Answers errors as problem bodies; what is not ours is told without its particulars. */
export const problemHandler: ErrorRequestHandler = (error: unknown, _req, res, next) => {
  if (res.headersSent) return next(error);
  if (error instanceof TollhouseError) return sendError(res, error);
  const known = BODY_ERRORS[String(Reflect.get(Object(error), 'type'))];
  if (known !== undefined) return sendProblem(res, ...known);
  if (isRefusal(error)) return sendProblem(res, 'invalid_request', 'The address or the body cannot be read.');
  sendFault(res, error);
};

/** Express's own refusals, for instance of an address that cannot be decoded, have a status below 500. */
function isRefusal(error: unknown): boolean {
  const status: unknown = Reflect.get(Object(error), 'status');
  return typeof status === 'number' && status >= 400 && status < 500;
}
