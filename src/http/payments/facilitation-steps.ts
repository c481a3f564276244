import type { RequestHandler } from 'express';
import type { CallStep } from '../../identity/service-keys/service-key-types.js';
import { noteCallStep } from '../../middleware/service-key/read-service-key.js';
import { PAYMENTS_PATHS } from './schemas.js';

const STEPS: ReadonlyMap<unknown, CallStep> = new Map([
  [PAYMENTS_PATHS.create, 'payment'],
  [PAYMENTS_PATHS.transaction, 'transaction'],
  [PAYMENTS_PATHS.settle, 'settlement'],
]);

/** Notes what leads to a call, made with its service key, as what it is; goes before what reads the key. */
export const noteFacilitationStep: RequestHandler = (req, _res, next) => {
  const { path }: { readonly path?: unknown } = Object(req.route);
  const step = STEPS.get(path);
  if (step !== undefined) noteCallStep(req, step);
  next();
};
