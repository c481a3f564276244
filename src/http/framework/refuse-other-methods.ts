import type { RequestHandler } from 'express';
import { sendProblem } from '../../middleware/gate/respond.js';

/**
 * Answers 405 with `Allow` (service.md §1); goes behind all handlers of a path. A CORS preflight is let by.
 * @param allowed - the methods that the path answers to
 */
export function refuseOtherMethods(...allowed: string[]): RequestHandler {
  const list = allowed.join(', ');
  return (req, res, next) => {
    if (req.method === 'OPTIONS') return next();
    sendProblem(res, 'method_not_allowed', `${req.path} answers to ${list} only.`, { headers: { Allow: list } });
  };
}
