import { type RequestHandler, Router } from 'express';
import { GATEWAY_ERROR_HEADERS } from '../../gateway/proxy/upstream-proxy.js';
import { keepPrivate, varyBy } from '../../middleware/gate/cache-control.js';
import { PASS_HEADER } from '../../middleware/gate/pass-headers.js';
import { exposeHeaders, setHeaders } from '../../middleware/gate/respond.js';
import { noteCallStep } from '../../middleware/service-key/read-service-key.js';
import { noteRoute } from '../../middleware/tracing/route-label.js';
import { CODECS } from '../../protocol/codecs/codecs.js';
import { SERVICE_PAYMENT_HEADER } from '../../protocol/wire/service-payment.js';
import { ANY_KEY, BY_PAYMENT, defineOperation } from '../framework/operation.js';
import { CALLS_PATH } from '../framework/path.js';
import { problemHandler } from '../framework/problem-handler.js';
import { handled, type Routes } from '../framework/routes.js';
import { type CallParts, handleCall } from './handle-call.js';

const PAYMENT_HEADERS = [SERVICE_PAYMENT_HEADER, ...CODECS.map((it) => it.requestHeader)].map((it) => it.toLowerCase());
const CALL_HEADERS = [...PAYMENT_HEADERS, PASS_HEADER.toLowerCase()];
const DECIDING_HEADERS = ['x-service-key', 'x-service-secret', ...CALL_HEADERS].join(', ');
const ERROR_HEADERS = Object.keys(GATEWAY_ERROR_HEADERS);

/** Every method and every path below it: POST stands for them. */
const callProject = defineOperation({
  method: 'post',
  path: `${CALLS_PATH}/:slug`,
  id: 'callProject',
  tag: 'Calls',
  summary: "A paid call of a project's upstream",
  description:
    'Any method, and any path below. Send the service key and one payment. Errors of the gateway carry ' +
    'X-Service-Error: gateway; everything else is the answer of the upstream. What is charged for are 2xx and 3xx, and what ' +
    'the project names beside them; what was paid for anything else pays the next call of the key (Access-Credit).',
  headers: {
    'X-Service-Key': 'The public half of a service key.',
    'X-Service-Secret': 'Its secret.',
    'X-Service-Payment':
      'A payment that has landed: base64 of its signature, as 64 bytes or as base58 text. It paid a payment request that was ' +
      'made with this key for this project, before the request expired; or the wallet of the key paid the recipients without ' +
      'a request, as its own fee payer, with the memo `tollhouse:<slug>:<key id>`, and no other memo or account.',
    'PAYMENT-SIGNATURE': 'A payment of x402, version 2.',
    'X-PAYMENT': 'A payment of x402, version 1.',
    'Access-Pass': 'The token of a pass that was bought with an earlier call.',
    'Idempotency-Key':
      'Names a call that credit or a pass pays: the same call again under it gets the same response for 24 hours, and is charged ' +
      'once. Without it the payment that such a call brings names it. A call with a body of more than 1 MiB has no name.',
  },
  // The key alone asks for the price, calls what is free, and is paid for by credit.
  security: [...[...BY_PAYMENT, { servicePayment: [] }, { pass: [] }].map((it) => ({ ...ANY_KEY, ...it })), ANY_KEY],
  takesKey: false,
  responses: { 200: { description: 'What the upstream answered, whatever its status.', mediaType: '*/*' } },
  errors: [
    'project_not_found',
    'project_paused',
    'project_suspended',
    'project_upstream_down',
    'secrets_key_unknown',
    'gateway_loop',
    'upgrade_not_supported',
    'route_not_found',
    'route_denied',
    'ambiguous_path',
    'unauthenticated',
    'invalid_service_key',
    'service_key_expired',
    'service_key_revoked',
    'service_key_suspended',
    'wallet_suspended',
    'wrong_key_mode',
    'address_not_allowed',
    'insufficient_scope',
    'key_project_not_allowed',
    'rate_limited',
    'spending_limit_reached',
    'invalid_payment_header',
    'payment_required',
    'no_matching_requirements',
    'payment_invalid',
    'payment_not_confirmed',
    'payment_already_used',
    'payment_failed',
    'invalid_pass',
    'pass_of_another_site',
    'pass_of_another_route',
    'pass_of_another_wallet',
    'pass_of_another_token',
    'pass_revoked',
    'pass_ended',
    'pass_used_up',
    'pass_sign_in_refused',
    'payment_in_progress',
    'idempotency_key_reused',
    'idempotency_in_progress',
    'settlement_pending',
    'payment_backend_unavailable',
    'fee_limit_reached',
    'too_many_payments',
    'store_unavailable',
    'upstream_unreachable',
    'upstream_timeout',
    'upstream_reset',
    'upstream_answer_too_large',
    'call_broken_off',
    'body_already_read',
    'body_too_large',
    'invalid_request',
    'method_not_allowed',
  ],
  async handler({ req, res, params }, parts: CallParts) {
    await handleCall(parts, req, res, params.slug);
  },
});

/** Marks what is sent before a call reaches its upstream as said by the gateway; for all of `/v1`. */
export const markOwnErrors: RequestHandler = (_req, res, next) => {
  setHeaders(res, GATEWAY_ERROR_HEADERS);
  exposeHeaders(res, ERROR_HEADERS);
  next();
};

/**
 * Notes whether a call brings its payment or its pass, or asks for the price, which count by themselves, and that its response is its
 * caller's; goes before what reads the key.
 */
export const noteStepOfCall: RequestHandler = (req, res, next) => {
  varyBy(res, DECIDING_HEADERS);
  keepPrivate(res);
  if (!CALL_HEADERS.some((name) => req.headers[name] !== undefined)) noteCallStep(req, 'price');
  next();
};

/** Calls have no route of Express, under which requests are counted. */
const labelRoute: RequestHandler = (req, _res, next) => {
  noteRoute(req, callProject.path);
  next();
};

/**
 * `/v1/<slug>`, every method and every path below it: a paid call of a project's upstream.
 * @param before - what each call meets first
 */
export function createCallRoutes(parts: CallParts, before: readonly RequestHandler[]): Routes {
  const router = Router();
  router.use(
    callProject.path,
    labelRoute,
    ...before,
    handled((req, res) => callProject.run(req, res, parts)),
  );
  router.use(problemHandler);
  return { router, operations: [callProject] };
}
