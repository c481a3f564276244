import type { Request, Response } from 'express';
import type { Call } from '../../gateway/calls/call.js';
import type { CallEnd } from '../../gateway/calls/call-records.js';
import { isCharged } from '../../gateway/calls/charged-status.js';
import { keyFields } from '../../gateway/calls/key-fields.js';
import { isUsableInPieces } from '../../gateway/calls/usable-in-pieces.js';
import type { Gateway } from '../../gateway/gateway.js';
import { signingSecrets } from '../../gateway/projects/gateway-secret.js';
import type { GatewayPayment } from '../../gateway/proxy/gateway-signature.js';
import {
  type Delivered,
  type ForwardOptions,
  GATEWAY_ERROR_HEADERS,
  takeOffErrorHeaders,
  type Undelivered,
} from '../../gateway/proxy/upstream-proxy.js';
import { clientIp } from '../../lib/http/client-ip.js';
import type { MaybePromise } from '../../lib/maybe-promise.js';
import { CREDIT_HEADER } from '../../middleware/gate/pass-headers.js';
import { requestIdOf } from '../../middleware/gate/request-id.js';
import { EXPOSE_HEADERS, sendProblem, withExposed } from '../../middleware/gate/respond.js';
import { EXPOSED_HEADERS } from '../../middleware/payment/payment-required.js';
import { noteOutcome } from '../../middleware/tracing/gate-request.js';
import { DEFAULT_RETRIES } from '../../storage/projects/projects.js';
import { projectLabel } from '../framework/project-label.js';

/** A call that is passed on to its upstream, and what is made of how that ends. */
export interface PassedCall {
  readonly req: Request;
  readonly res: Response;
  /** What the upstream is told of who paid. */
  readonly payment: GatewayPayment;
  /** Headers of a response that is charged. */
  readonly headers: Readonly<Record<string, string>>;
  /** What becomes of the price of one that is not charged, in a sentence. */
  readonly uncharged: string;
  /** The head of a response that is charged is about to leave. `endNow` tells of a call that ends when it is called. */
  charged?(endNow: () => CallEnd): void;
  /** It is charged: writes that, before the last of its response leaves where that can be. Called once at most. Default: others write it. */
  book?(end: CallEnd): Promise<void>;
  /** Whether a caller who has ended it is charged, once the upstream was asked; the head of its response may have been sent by then. */
  isCallersLoss(headSent: boolean): MaybePromise<boolean>;
  /** Whether the response is taken on to its end, asked when the caller has left and with each piece after that. Default: it is not. */
  outlivesCaller?(): boolean;
  /** It is not charged: writes that, before anything of the response leaves, and returns its headers. Called once at most. */
  notCharged(end: CallEnd): Promise<Readonly<Record<string, string>>>;
}

/** How it ended: with a response that has its price, though its caller may have left before its end, or without one. */
export interface PassedOn {
  readonly charged: boolean;
  readonly end: CallEnd;
  /** Resolves when it is written that it is charged, rejects when it cannot be; undefined where that is for others to do. */
  readonly booked?: Promise<void> | undefined;
}

/** What becomes of the price where it is credit then. */
export const CREDITED =
  'Nothing was charged: what this call would have cost pays the next one of this key at this project.';

const RETRY_SECONDS = 1;

/** What the codes of its failures begin with. */
const UPSTREAM = 'upstream_';

const EXPOSED = [...EXPOSED_HEADERS, CREDIT_HEADER];

/** Passes a call on, and answers it where its upstream does not. */
export async function passOn(gateway: Gateway, call: Call, passed: PassedCall): Promise<PassedOn> {
  const { res } = passed;
  const begunAt = performance.now();
  let headAt: number | undefined;
  call.passedOnAfterMs = begunAt - call.begunAt;
  let isRefunded = false;
  const refund = async (end: CallEnd) => {
    isRefunded = true;
    noteOutcome(res, 'uncharged');
    return passed.notCharged(end);
  };
  const headersOf = (more: Readonly<Record<string, string>>) => ({
    ...more,
    [EXPOSE_HEADERS]: withExposed(res.getHeader(EXPOSE_HEADERS), EXPOSED),
  });

  const sinceBegun = () => performance.now() - begunAt;
  let booked: Promise<void> | undefined;
  const chargedAs = (end: CallEnd): PassedOn => {
    booked ??= passed.book?.(end);
    return { charged: true, end, booked };
  };

  const result = await forward(gateway, call, passed, {
    beforeHead(status) {
      headAt = performance.now();
      takeOffErrorHeaders(res);
      if (isCharged(call.project.price, status)) {
        const upstreamMs = sinceBegun();
        passed.charged?.(() => ({ durationMs: sinceBegun(), upstreamMs, ...answered(status) }));
        return headersOf(passed.headers);
      }
      return refund({ durationMs: sinceBegun(), upstreamMs: sinceBegun(), ...answered(status) }).then(headersOf);
    },
    beforeEnd(status) {
      const upstreamMs = headAt && headAt - begunAt;
      return isRefunded ? undefined : chargedAs({ durationMs: sinceBegun(), upstreamMs, ...answered(status) }).booked;
    },
    // Before the caller can ask again.
    async beforeCut(status, reason) {
      if (!isRefunded && !isHadUpToBound(res, reason)) await refund({ durationMs: sinceBegun(), status, reason });
    },
  });
  const end = { upstreamMs: headAt && headAt - begunAt, ...endOf(result) };
  tellUpstream(gateway, call, end, headAt);
  if (isRefunded) return { charged: false, end };
  if (result.delivered) return chargedAs(end);
  const { reason, status, durationMs, headSent } = result;
  if (headSent && isHadUpToBound(res, reason)) return chargedAs(end);
  const isLoss = reason === 'client_gone' && durationMs > 0 && (await passed.isCallersLoss(headSent));
  if (isLoss) return chargedAs({ status, durationMs, upstreamMs: end.upstreamMs });
  const headers = await refund(end);
  if (!headSent && reason !== 'client_gone') {
    sendProblem(res, reason, `${result.detail} ${passed.uncharged}`, {
      headers: { ...headers, ...GATEWAY_ERROR_HEADERS },
      retryAfterSeconds: reason === 'stopping' ? RETRY_SECONDS : undefined,
    });
  }
  return { charged: false, end };
}

/**
 * Of a stream that outgrows what is passed on its caller has had all that one call gives, and of one that ends with this process all that
 * there was; of anything else he has a broken beginning.
 */
function isHadUpToBound(res: Response, reason: string): boolean {
  return (
    (reason === 'upstream_answer_too_large' || reason === 'stopping') && isUsableInPieces(res.getHeader('Content-Type'))
  );
}

/**
 * Tells how the upstream did. Its time begins when it was asked: what a slow caller has sent until then is not its own, nor is it
 * a failure of the upstream that a caller has hung up.
 */
function tellUpstream({ observed }: Gateway, { project }: Call, end: CallEnd, headAt: number | undefined): void {
  const { durationMs, reason = '' } = end;
  const askedAt = performance.now() - durationMs;
  const seconds = headAt === undefined ? undefined : Math.max(0, headAt - askedAt) / 1_000;
  const failure = reason.startsWith(UPSTREAM) ? reason.slice(UPSTREAM.length) : undefined;
  if (seconds === undefined && failure === undefined) return;
  observed?.tell('upstream.call', { project: projectLabel(project), seconds, failure });
}

function endOf(result: Delivered | Undelivered): CallEnd {
  const { durationMs, status } = result;
  if (result.delivered) return { durationMs, ...answered(result.status) };
  return { durationMs, status, reason: result.reason };
}

function answered(status: number): Pick<CallEnd, 'status' | 'reason'> {
  return status < 500 ? { status } : { status, reason: 'upstream_error' };
}

function forward(
  gateway: Gateway,
  { project, key, publicPath, rest }: Call,
  { req, res, payment, outlivesCaller }: PassedCall,
  hooks: Pick<ForwardOptions, 'beforeHead' | 'beforeEnd' | 'beforeCut'>,
) {
  const { limits, upstream } = project;
  return gateway.proxy.forward(req, res, {
    url: upstream.url,
    rest,
    publicPath,
    timeoutMs: upstream.timeoutMs,
    maxBodyBytes: limits.maxBodyBytes,
    retries: upstream.retries ?? DEFAULT_RETRIES,
    additions: () => gateway.upstreams.additions(project),
    secrets: signingSecrets(project, gateway.now()),
    requestId: requestIdOf(res),
    headers: keyFields(key),
    caller: { address: clientIp(req), protocol: req.protocol, host: req.get('host') },
    payment,
    outlivesCaller,
    ...hooks,
  });
}
