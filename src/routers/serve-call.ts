import type { Request, Response } from 'express';
import type { ErrorCode } from '../errors.js';
import type { Claim } from '../facilitator/types.js';
import type { Gateway } from '../gateway/gateway.js';
import { signingSecrets } from '../gateway/gateway-secret.js';
import { MAX_TRIES } from '../gateway/payment-tries.js';
import { type Delivered, GATEWAY_ERROR_HEADERS, type Undelivered } from '../gateway/upstream-proxy.js';
import { isGone } from '../middleware/delivered.js';
import { EXPOSED_HEADERS } from '../middleware/payment-offer.js';
import { requestIdOf } from '../middleware/request-id.js';
import { EXPOSE_HEADERS, privateCacheControl, sendProblem, withExposed } from '../middleware/respond.js';
import { type PaidRequest, takeMoney } from '../middleware/serve-paid.js';
import { formatAmount } from '../protocol/money.js';
import type { Receipt } from '../protocol/types.js';
import type { CallRecord } from '../storage/call-book.js';
import { type EventRecord, newEvent } from '../storage/events.js';
import { type Call, callOf } from './call.js';

const TRIED_OUT = {
  code: 'payment_already_used',
  detail: `This payment was tried ${MAX_TRIES} times within ten minutes and its call failed each time; it is tried no more.`,
} as const;
const STILL_GOOD = 'The payment stays good: send the same request with the same payment again.';

/**
 * Serves a call whose payment is held: the money first, then the upstream, whose answer flows as it comes. A call that was
 * not delivered leaves its payment good for the same caller (service.md §4).
 */
export function createCallServer(gateway: Gateway): (paid: PaidRequest) => Promise<void> {
  return async (paid) => {
    const { req, res, claim } = paid;
    const settlement = await takeMoney(paid, (write) => write());
    if (settlement?.status !== 'settled') return;
    if (isGone(res)) return claim.release();
    // The first try counts when it fails: most do not.
    if (!claim.isNew && !(await gateway.tries.take(claim.id))) {
      await claim.release();
      return paid.offer(TRIED_OUT);
    }
    const call = callOf(req);
    const { receipt } = settlement;
    const receiptHeaders = paid.door.receipt(settlement, paid.options.facilitator.network);
    const end = await forward(gateway, call, { req, res, claim, receiptHeaders }).catch(async (error: unknown) => {
      if (claim.isNew) await gateway.tries.take(claim.id);
      await claim.release();
      throw error;
    });
    if (end.delivered) return bookDelivered(gateway, call, claim, { end, receipt, res });
    if (claim.isNew) await gateway.tries.take(claim.id);
    await bookFailed(gateway, call, claim, { end, receipt, res });
    if (!end.headSent && end.reason !== 'client_gone') answerFailed(res, end.reason, end.detail, receiptHeaders);
  };
}

interface Exchange {
  readonly req: Request;
  readonly res: Response;
  readonly claim: Claim;
  readonly receiptHeaders: Readonly<Record<string, string>>;
}

function forward(gateway: Gateway, call: Call, { req, res, claim, receiptHeaders }: Exchange) {
  const { project, publicPath, rest } = call;
  const { price, limits, upstream } = project;
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
      amount: formatAmount(claim.terms.amount, price.token.decimals),
      token: price.token.symbol,
      payment: claim.id,
    },
    beforeHead: () => {
      for (const name of Object.keys(GATEWAY_ERROR_HEADERS)) res.removeHeader(name);
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
  readonly res: Response;
}

/**
 * The whole answer has left: payment, sums, budget and events in one transaction. While that cannot be written the payment
 * stays held by this process, so that nobody is served for it again, and it is written as soon as it can be.
 */
async function bookDelivered(gateway: Gateway, call: Call, claim: Claim, ended: Ended<Delivered>): Promise<void> {
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
    events: [callEvent(call, record, gateway.now())],
    ...(reservationId === undefined ? {} : { reservationId }),
  };
  await claim.complete(async () => {
    await book.finish(record, options).catch((error: unknown) => {
      onFault(error);
      throw error;
    });
    gateway.wake();
    void spending.tell({ key: call.key, charge: { mint, amount }, at: call.at });
  });
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
  try {
    await gateway.book.finish(record, {
      events: [callEvent(call, record, gateway.now())],
      ...(reservationId === undefined ? {} : { reservationId }),
    });
    call.isBooked = true;
    gateway.wake();
  } finally {
    await claim.release();
  }
}

function recordOf(call: Call, claim: Claim, { end, receipt, res }: Ended<Delivered | Undelivered>) {
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

function callEvent({ project, key }: Call, record: CallRecord, at: number): EventRecord {
  const { id, method, status, outcome, reason, charge, payer, paymentId, signature, durationMs, requestId } = record;
  const { token } = project.price;
  const paid = charge && {
    amount: formatAmount(charge.amount, token.decimals),
    amount_atomic: String(charge.amount),
    token: token.symbol,
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

function answerFailed(
  res: Response,
  reason: ErrorCode,
  detail: string,
  receiptHeaders: Readonly<Record<string, string>>,
): void {
  sendProblem(res, reason, `${detail} ${STILL_GOOD}`, { headers: { ...receiptHeaders, ...GATEWAY_ERROR_HEADERS } });
}
