import { Router } from 'express';
import { sendProblem } from '../../middleware/gate/respond.js';
import type { Routes } from '../framework/routes.js';
import { PAYOUTS_PATHS } from './schemas.js';

const NOTHING_PAID_OUT =
  'This service pays nothing out: it has no wallet that takes payments of x402 for several recipients (its operator sets SPLIT_KEYPAIR, option "splitKeypair"). What is paid with POST /create-payment pays each of them in the same transaction.';

/** In the place of the operations on payouts, where there are none: whoever looks for them is told why. */
export function withoutPayouts(): Routes {
  const router = Router();
  router.all(Object.values(PAYOUTS_PATHS), (_req, res) => sendProblem(res, 'not_found', NOTHING_PAID_OUT));
  return { router, operations: [] };
}
