import { type Request, type Response, Router } from 'express';
import { type ErrorCode, TollhouseError } from '../../errors/errors.js';
import type { EmbeddedFacilitator } from '../../facilitator/create-facilitator.js';
import type { NewPaymentRequest } from '../../facilitator/requests/payment-request-types.js';
import type { Gateway } from '../../gateway/gateway.js';
import { mountAddress } from '../../middleware/gate/request-url.js';
import { sendProblem } from '../../middleware/gate/respond.js';
import { handled } from '../framework/handled.js';
import { jsonBody } from '../framework/json-body.js';
import { problemHandler } from '../framework/problem-handler.js';
import { readBody } from '../framework/read-body.js';
import { refuseOtherMethods } from '../framework/refuse-other-methods.js';
import { createPaymentBody, transactionBody } from './contract-schemas.js';
import { createAskSeller, sellerParts } from './payment-seller.js';
import { createdPaymentView, paymentStateView } from './payment-views.js';

/** Options of {@link createPaymentsRouter}. */
export interface PaymentsRouterOptions {
  readonly facilitator: EmbeddedFacilitator;
  /** Knows projects and service keys. Default: there are none. */
  readonly gateway?: Gateway | undefined;
  /** Address under which clients reach this server. Default: from the request. */
  readonly baseUrl?: string | undefined;
  /** Name that a wallet shows when it is asked to pay. Default `Tollhouse`. */
  readonly label?: string | undefined;
}

const BODY_LIMIT = '100kb';
const DEFAULT_LABEL = 'Tollhouse';

/** A small picture of a tollgate, for wallets. */
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="12" fill="#1f4f46"/><path d="M14 50V24h8v26zm10-20 28-8v6l-28 8z" fill="#fff"/></svg>`;

const FIELD_CODES: Readonly<Record<string, ErrorCode>> = {
  '/amount': 'invalid_amount',
  '/token': 'invalid_token',
  '/recipient': 'invalid_recipient',
  '/payer': 'invalid_payer',
  '/account': 'invalid_payer',
  '/split': 'invalid_split',
  '/project': 'project_not_found',
};

/**
 * Payments of our own making (interface-specification.md, service.md §2): `POST /create-payment`, `GET /payments/:id`, and
 * the transaction of a payment, which is also Solana Pay's transaction request.
 */
export function createPaymentsRouter(options: PaymentsRouterOptions): Router {
  const router = Router();
  const json = jsonBody(BODY_LIMIT);
  router
    .route('/create-payment')
    .post(
      ...json,
      handled((req, res) => createPayment(options, req, res)),
    )
    .all(refuseOtherMethods('POST'));
  router
    .route('/payments/icon.svg')
    .get((_req, res) => void res.type('image/svg+xml').send(ICON))
    .all(refuseOtherMethods('GET', 'HEAD'));
  router
    .route('/payments/:id')
    .get(handled((req, res) => tellPayment(options, req, res)))
    .all(refuseOtherMethods('GET', 'HEAD'));
  router
    .route('/payments/:id/transaction')
    .get((req, res) => describeToWallet(options, req, res))
    .post(
      ...json,
      handled((req, res) => prepareTransaction(options, req, res)),
    )
    .all(refuseOtherMethods('GET', 'HEAD', 'POST'));
  router.use(problemHandler);
  return router;
}

async function createPayment(
  { facilitator, gateway, baseUrl }: PaymentsRouterOptions,
  req: Request,
  res: Response,
): Promise<void> {
  const body = readBody(createPaymentBody, req.body, { code: 'invalid_request', fields: FIELD_CODES });
  const { network, expires_in: expiresInSeconds, project, ...asked } = body;
  if (network !== undefined && network !== facilitator.network) {
    const detail = `network "${network}" is not served here; this facilitator is on "${facilitator.network}"`;
    throw new TollhouseError('invalid_request', detail, { param: 'network' });
  }
  const request = withoutUndefined({ ...asked, expiresInSeconds });
  const seller = await sellerParts(gateway, { ...request, project }, req, res);
  const created = await facilitator.createPayment({ ...request, ...seller });
  res.json(createdPaymentView(created, mountAddress(req, baseUrl)));
}

type Loose<T> = { readonly [K in keyof T]: T[K] | undefined };

function withoutUndefined(
  request: Loose<NewPaymentRequest> & Pick<NewPaymentRequest, 'amount' | 'token' | 'recipient'>,
): NewPaymentRequest {
  const { payer, memo, metadata, split, expiresInSeconds, amount, token, recipient } = request;
  return {
    amount,
    token,
    recipient,
    ...(payer === undefined ? {} : { payer }),
    ...(memo === undefined ? {} : { memo }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(split === undefined ? {} : { split }),
    ...(expiresInSeconds === undefined ? {} : { expiresInSeconds }),
  };
}

async function tellPayment({ facilitator }: PaymentsRouterOptions, req: Request, res: Response): Promise<void> {
  const state = await facilitator.paymentRequest(String(req.params.id));
  if (state === undefined) return sendNotFound(res);
  res.setHeader('Cache-Control', 'no-store');
  res.json(paymentStateView(state));
}

/** Solana Pay, first step: what the wallet shows. */
function describeToWallet({ baseUrl, label }: PaymentsRouterOptions, req: Request, res: Response): void {
  res.json({ label: label ?? DEFAULT_LABEL, icon: `${mountAddress(req, baseUrl)}/payments/icon.svg` });
}

/**
 * The finished transaction for a payer. A Solana Pay wallet names its `account` and sends the transaction itself, so it
 * pays the network fee; whoever names a `payer` brings it back to `/settle`, and we pay.
 */
async function prepareTransaction(
  { facilitator, gateway, baseUrl }: PaymentsRouterOptions,
  req: Request,
  res: Response,
): Promise<void> {
  const body = readBody(transactionBody, req.body, { code: 'invalid_request', fields: FIELD_CODES });
  const id = String(req.params.id);
  const askSeller = createAskSeller(gateway);
  if ('account' in body) {
    const created = await facilitator.preparePayment(id, body.account, 'payer', askSeller);
    if (created === undefined) return sendNotFound(res);
    const { transaction } = createdPaymentView(created, mountAddress(req, baseUrl));
    return void res.json({ transaction: transaction.serialized, message: created.request.memo ?? 'Payment' });
  }
  const created = await facilitator.preparePayment(id, body.payer, 'facilitator', askSeller);
  if (created === undefined) return sendNotFound(res);
  res.json(createdPaymentView(created, mountAddress(req, baseUrl)));
}

function sendNotFound(res: Response): void {
  sendProblem(res, 'payment_not_found', 'There is no payment with this id; it may have been forgotten after its time.');
}
