import type { Request, Response } from 'express';
import type { ErrorCode } from '../../errors/errors.js';
import type { Claim } from '../../facilitator/types.js';
import type { Call } from '../../gateway/calls/call.js';
import type { Gateway } from '../../gateway/gateway.js';
import { signingSecrets } from '../../gateway/projects/gateway-secret.js';
import {
  type Delivered,
  GATEWAY_ERROR_HEADERS,
  takeOffErrorHeaders,
  type Undelivered,
} from '../../gateway/proxy/upstream-proxy.js';
import type { TokenLabel } from '../../gateway/token-label.js';
import { requestIdOf } from '../../middleware/gate/request-id.js';
import { EXPOSE_HEADERS, privateCacheControl, sendProblem, withExposed } from '../../middleware/gate/respond.js';
import type { PaymentGate } from '../../middleware/payment/payment-gate.js';
import { EXPOSED_HEADERS } from '../../middleware/payment/payment-required.js';
import type { RecordedResponse } from '../../middleware/response/response-recorder.js';
import { formatAmount } from '../../protocol/money/money.js';
import { callOf } from './call-request.js';

const STILL_GOOD = 'The payment stays good: send the same request with the same payment again.';
const TRIED_OUT =
  'The request of this payment has failed each time that it was tried, and is tried no more; its seller has the money.';

/**
 * Serves a call whose money has landed: the upstream's response flows as it comes. A caller who hangs up after its head has
 * had it; a call that was not served leaves its payment good for the same caller and request.
 */
export function createCallServer(gateway: Gateway): NonNullable<PaymentGate['run']> {
  const { calls } = gateway;
  return async (request, receipt, recorded) => {
    const { req, res, claim } = request;
    const call = callOf(req);
    const receiptHeaders = request.receiptHeaders({ status: 'settled', receipt });
    const paidIn = await calls.paidToken(call, claim);
    const end = await forward(gateway, call, { req, res, claim, paidIn, receiptHeaders });
    const paid = { call, claim, receipt, paidIn, requestId: requestIdOf(res) };
    const status = servedStatus(end, recorded);
    if (status !== undefined) return { served: true, write: calls.served(paid, { ...end, status }) };
    if (end.delivered) throw new Error('unreachable: what was delivered was served');
    await calls.failed(paid, end);
    if (!end.headSent && end.reason !== 'client_gone')
      sendFailed(res, { reason: end.reason, detail: end.detail }, claim, receiptHeaders);
    return { served: false };
  };
}

/** The upstream's status where its response was given: as a whole, or until its caller hung up; undefined for a failure. */
function servedStatus(end: Delivered | Undelivered, { begun, isKept }: RecordedResponse): number | undefined {
  if (end.delivered) return end.status;
  return end.reason === 'client_gone' && (begun || isKept) ? end.status : undefined;
}

interface Exchange {
  readonly req: Request;
  readonly res: Response;
  readonly claim: Claim;
  readonly paidIn: TokenLabel;
  readonly receiptHeaders: Readonly<Record<string, string>>;
}

function forward(gateway: Gateway, call: Call, { req, res, claim, paidIn, receiptHeaders }: Exchange) {
  const { project, publicPath, rest } = call;
  const { limits, upstream } = project;
  return gateway.proxy.forward(req, res, {
    url: upstream.url,
    rest,
    publicPath,
    timeoutMs: upstream.timeoutMs,
    maxBodyBytes: limits.maxBodyBytes,
    secrets: signingSecrets(project, gateway.now()),
    requestId: requestIdOf(res),
    caller: { address: req.ip, protocol: req.protocol, host: req.get('host') },
    payment: {
      payer: claim.payer,
      amount: formatAmount(claim.terms.amount, paidIn.decimals),
      token: paidIn.symbol,
      payment: claim.id,
    },
    beforeHead: () => {
      takeOffErrorHeaders(res);
      return {
        ...receiptHeaders,
        'Cache-Control': privateCacheControl(res.getHeader('Cache-Control')),
        [EXPOSE_HEADERS]: withExposed(res.getHeader(EXPOSE_HEADERS), EXPOSED_HEADERS),
      };
    },
  });
}

function sendFailed(
  res: Response,
  { reason, detail }: { readonly reason: ErrorCode; readonly detail: string },
  { isLastRun }: Claim,
  receiptHeaders: Readonly<Record<string, string>>,
): void {
  const headers = { ...receiptHeaders, ...GATEWAY_ERROR_HEADERS };
  if (!isLastRun) return sendProblem(res, reason, `${detail} ${STILL_GOOD}`, { headers });
  sendProblem(res, reason, `${detail} ${TRIED_OUT}`, { headers, more: { retryable: false } });
}
