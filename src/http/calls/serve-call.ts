import type { Request, Response } from 'express';
import type { ErrorCode } from '../../errors/errors.js';
import type { Claim } from '../../facilitator/types.js';
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
import type { PaymentGate, RunEnd } from '../../middleware/payment/payment-gate.js';
import { EXPOSED_HEADERS } from '../../middleware/payment/payment-required.js';
import type { RecordedResponse } from '../../middleware/response/response-recorder.js';
import { formatAmount } from '../../protocol/money/money.js';
import { moneyOf } from '../../protocol/networks/tokens.js';
import type { Receipt } from '../../protocol/types.js';
import type { CallRecord } from '../../storage/calls/call-store.js';
import { type EventRecord, newEvent } from '../../storage/events/events.js';
import { type Call, callOf } from './call.js';

const STILL_GOOD = 'The payment stays good: send the same request with the same payment again.';
const TRIED_OUT =
  'The request of this payment has failed each time that it was tried, and is tried no more; its seller has the money.';

/**
 * Serves a call whose money has landed: the upstream's response flows as it comes. A caller who hangs up after its head has
 * had it; a call that was not served leaves its payment good for the same caller and request.
 */
export function createCallServer(gateway: Gateway): NonNullable<PaymentGate['run']> {
  return async (paid, receipt, recorded) => {
    const { req, res, claim } = paid;
    const call = callOf(req);
    const receiptHeaders = paid.receiptHeaders({ status: 'settled', receipt });
    const paidIn = await paidTokenOf(gateway, call, claim);
    const end = await forward(gateway, call, { req, res, claim, paidIn, receiptHeaders });
    const status = servedStatus(end, recorded);
    if (status !== undefined)
      return bookServed(gateway, call, claim, { end: { ...end, status }, receipt, paidIn, res });
    if (end.delivered) throw new Error('unreachable: what was delivered was served');
    await bookFailed(gateway, call, claim, { end, receipt, paidIn, res });
    if (!end.headSent && end.reason !== 'client_gone')
      sendFailed(res, { reason: end.reason, detail: end.detail }, claim, receiptHeaders);
    return { served: false };
  };
}

/** A request is paid in what was agreed, whatever the project asks for since. Its own token is known without asking. */
async function paidTokenOf({ describeToken }: Gateway, call: Call, { terms }: Claim): Promise<TokenLabel> {
  const { token } = call.project.price;
  return moneyOf(terms.asset) === moneyOf(token.mint) ? token : describeToken(terms.asset);
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

interface Ended<End> {
  readonly end: End;
  readonly receipt: Receipt;
  readonly paidIn: TokenLabel;
  readonly res: Response;
}

/**
 * The response was given: payment, sums, budget and events in one transaction. While that cannot be written the payment
 * stays held by this process, so that nobody is served for it again, and it is written as soon as it can be.
 */
function bookServed(
  gateway: Gateway,
  call: Call,
  claim: Claim,
  ended: Ended<{ status: number; durationMs: number }>,
): RunEnd {
  const { book, spending, onFault } = gateway;
  const { asset: mint, amount } = ended.receipt;
  const record: CallRecord = {
    ...recordOf(call, claim, ended),
    status: ended.end.status,
    outcome: 'succeeded',
    charge: { mint, amount },
  };
  const { reservationId } = call;
  // It was served: what cannot be written now is not to be given back.
  call.reservationId = undefined;
  call.isBooked = true;
  const options = {
    payment: { id: claim.id, lease: claim.lease },
    events: [callEvent(call, record, ended.paidIn, gateway.now())],
    ...(reservationId === undefined ? {} : { reservationId }),
  };
  async function write(): Promise<void> {
    await book.finish(record, options).catch((error: unknown) => {
      onFault(error);
      throw error;
    });
    gateway.wake();
    void spending.tell({ key: call.key, charge: { mint, amount }, at: call.at });
  }
  return { served: true, write };
}

async function bookFailed(gateway: Gateway, call: Call, claim: Claim, ended: Ended<Undelivered>): Promise<void> {
  const { status, reason } = ended.end;
  const record: CallRecord = {
    ...recordOf(call, claim, ended),
    ...(status === undefined ? {} : { status }),
    outcome: 'failed',
    reason,
  };
  const { reservationId } = call;
  await gateway.book.finish(record, {
    events: [callEvent(call, record, ended.paidIn, gateway.now())],
    ...(reservationId === undefined ? {} : { reservationId }),
  });
  call.isBooked = true;
  gateway.wake();
}

function recordOf(call: Call, claim: Claim, { end, receipt, res }: Ended<{ readonly durationMs: number }>) {
  const { id, project, key, at, method } = call;
  return {
    id,
    projectId: project.id,
    caller: { keyId: key.id, owner: key.owner },
    payer: claim.payer,
    at,
    method,
    paymentId: claim.id,
    signature: receipt.signature,
    durationMs: Math.round(end.durationMs),
    requestId: requestIdOf(res),
  };
}

function callEvent({ project, key }: Call, record: CallRecord, paidIn: TokenLabel, at: number): EventRecord {
  const { id, method, status, outcome, reason, charge, payer, paymentId, signature, durationMs, requestId } = record;
  const paid = charge && {
    amount: formatAmount(charge.amount, paidIn.decimals),
    amount_atomic: String(charge.amount),
    token: paidIn.symbol,
  };
  const data = {
    call_id: id,
    slug: project.slug,
    key_id: key.id,
    method,
    ...(status === undefined ? {} : { status }),
    ...(reason === undefined ? {} : { reason }),
    ...paid,
    payer,
    payment_id: paymentId,
    tx_signature: signature,
    duration_ms: durationMs,
    request_id: requestId,
  };
  const type = outcome === 'succeeded' ? 'call.succeeded' : 'call.failed';
  return newEvent({ type, owner: project.owner, projectId: project.id, data }, at);
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
