import { type Request, type Response, Router } from 'express';
import type { EmbeddedFacilitator } from '../../facilitator/create-facilitator.js';
import type { Facilitator } from '../../facilitator/types.js';
import type { Gateway } from '../../gateway/gateway.js';
import { sendProblem } from '../../middleware/gate/respond.js';
import { retryOf } from '../../middleware/payment/retry.js';
import { leaveOpen } from '../../middleware/response/idempotency-notes.js';
import { delivered } from '../../middleware/response/response-end.js';
import {
  encodeSettlement,
  encodeSupported,
  encodeVerification,
  readFacilitatorRequest,
} from '../../protocol/codecs/facilitator-codec.js';
import { explorerOf, redirectToExplorer } from '../framework/explorer.js';
import { handled } from '../framework/handled.js';
import { jsonBody } from '../framework/json-body.js';
import { problemHandler } from '../framework/problem-handler.js';
import { refuseOtherMethods } from '../framework/refuse-other-methods.js';
import { createAskSeller } from '../payments/payment-seller.js';
import { answerContractVerify, isContractVerify } from '../payments/verify-route.js';
import { supportedNetworks } from '../service/supported-networks.js';
import { identifySettlement } from './settle-identifier.js';
import { answerContractSettle, isContractSettle } from './settle-route.js';

const BODY_LIMIT = '100kb';
const TAKEN = 'Another payment was settled under the payment identifier of this one, which was not sent.';

/** Options of {@link createSettlementRouter}. */
export interface SettlementRouterOptions {
  readonly facilitator: EmbeddedFacilitator;
  /** Knows the projects that payments are for. Default: there are none. */
  readonly gateway?: Gateway | undefined;
  /** Address under which clients reach this server. Default: from the request. */
  readonly baseUrl?: string | undefined;
  /** Address of a block explorer, without `/tx/…`. Default: one that knows the network, see explorer.ts. */
  readonly explorerUrl?: string | undefined;
}

/**
 * `POST /verify`, `POST /settle` and `GET /supported`: the contract's and, on the same paths, x402's for other servers
 * (x402.md §4). The body's shape tells them apart. In x402's, business answers are 200, whether the payment is good or not;
 * 400 is a malformed body, 5xx a fault.
 */
export function createSettlementRouter(options: SettlementRouterOptions): Router {
  const { facilitator } = options;
  const askSeller = createAskSeller(options.gateway);
  const router = Router();
  const json = jsonBody(BODY_LIMIT);
  router
    .route('/supported')
    .get(handled((_req, res) => answerSupported(facilitator, res)))
    .all(refuseOtherMethods('GET', 'HEAD'));
  router
    .route('/verify')
    .post(
      ...json,
      handled((req, res) =>
        isContractVerify(req.body) ? answerContractVerify(facilitator, req, res) : answerVerify(facilitator, req, res),
      ),
    )
    .all(refuseOtherMethods('POST'));
  router
    .route('/settle')
    .post(
      ...json,
      handled((req, res) =>
        isContractSettle(req.body)
          ? answerContractSettle({ facilitator, askSeller, explorerUrl: explorerOf(options, req) }, req, res)
          : answerSettle(facilitator, req, res),
      ),
    )
    .all(refuseOtherMethods('POST'));
  router
    .route('/explorer/tx/:signature')
    .get(redirectToExplorer(facilitator.network))
    .all(refuseOtherMethods('GET', 'HEAD'));
  router.use(problemHandler);
  return router;
}

async function answerSupported(facilitator: Facilitator, res: Response): Promise<void> {
  res.json({ ...encodeSupported(await facilitator.supported()), networks: supportedNetworks(facilitator) });
}

async function answerVerify(facilitator: Facilitator, req: Request, res: Response): Promise<void> {
  // A payment that is good now may be used up when it is asked for again.
  leaveOpen(res);
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
  const identified = await identifySettlement(facilitator, call.payment, call.terms);
  if (identified.isTaken) return sendProblem(res, 'payment_identifier_conflict', TAKEN);
  try {
    await facilitator.settlePayment(call.payment, call.terms, {
      retryHash: retryOf(req, call.payment).hash,
      async deliver(settlement) {
        await identified.end(settlement);
        if (settlement.status !== 'settled') leaveOpen(res);
        const arrived = delivered(res);
        res.json(encodeSettlement(settlement, call.terms.network, call.version));
        return arrived;
      },
    });
  } catch (error) {
    await identified.end(undefined);
    throw error;
  }
}
