import { type Request, type RequestHandler, type Response, Router } from 'express';
import type { Facilitator } from '../facilitator/types.js';
import { delivered } from '../middleware/delivered.js';
import { sendProblem } from '../middleware/respond.js';
import {
  encodeSettlement,
  encodeSupported,
  encodeVerification,
  readFacilitatorRequest,
} from '../protocol/facilitator-wire.js';
import { jsonBody } from './json-body.js';
import { problemHandler } from './problem-handler.js';

const BODY_LIMIT = '100kb';

/**
 * The facilitator as other servers use it over HTTP (x402.md §4): `POST /verify`, `POST /settle`, `GET /supported`.
 * Business answers are 200, whether the payment is good or not; 400 is a malformed body, 5xx a fault.
 */
export function createX402Router(facilitator: Facilitator): Router {
  const router = Router();
  const json = jsonBody(BODY_LIMIT);
  router.get(
    '/supported',
    handled((_req, res) => answerSupported(facilitator, res)),
  );
  router.post(
    '/verify',
    json,
    handled((req, res) => answerVerify(facilitator, req, res)),
  );
  router.post(
    '/settle',
    json,
    handled((req, res) => answerSettle(facilitator, req, res)),
  );
  router.use(problemHandler);
  return router;
}

async function answerSupported(facilitator: Facilitator, res: Response): Promise<void> {
  res.json(encodeSupported(await facilitator.supported()));
}

async function answerVerify(facilitator: Facilitator, req: Request, res: Response): Promise<void> {
  const call = readFacilitatorRequest(req.body);
  if (!call.ok && call.malformed) return sendProblem(res, 'invalid_request', call.detail);
  if (!call.ok) return void res.json(encodeVerification({ ok: false, reason: call.reason, message: call.detail }));
  res.json(encodeVerification(await facilitator.verifyPayment(call.payment, call.terms)));
}

async function answerSettle(facilitator: Facilitator, req: Request, res: Response): Promise<void> {
  const call = readFacilitatorRequest(req.body);
  if (!call.ok && call.malformed) return sendProblem(res, 'invalid_request', call.detail);
  const { network } = facilitator;
  if (!call.ok) {
    const refused = { status: 'failed', reason: call.reason, message: call.detail } as const;
    return void res.json(encodeSettlement(refused, network, call.version));
  }
  await facilitator.settlePayment(call.payment, call.terms, {
    deliver(settlement) {
      const gone = delivered(res);
      res.json(encodeSettlement(settlement, call.terms.network, call.version));
      return gone;
    },
  });
}

/** Express 4 does not wait for promises. */
function handled(handle: (req: Request, res: Response) => Promise<void>): RequestHandler {
  return (req, res, next) => {
    handle(req, res).catch(next);
  };
}
