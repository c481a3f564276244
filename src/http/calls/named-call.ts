import type { Request, Response } from 'express';
import { walletOwner } from '../../facilitator/backend/wallet-owner.js';
import type { Facilitator } from '../../facilitator/types.js';
import { type Call, callResource } from '../../gateway/calls/call.js';
import { createRequestNote } from '../../lib/http/request-note.js';
import { sendProblem } from '../../middleware/gate/respond.js';
import { createIdempotentRequest, type IdempotentRequest } from '../../middleware/idempotency/idempotent-request.js';
import { wholeFingerprint } from '../../middleware/idempotency/request-fingerprint.js';
import type { NamedRequest } from '../../middleware/passes/pass-types.js';
import { offeredTerms } from '../../middleware/payment/offered-terms.js';
import { paidResponse } from '../../middleware/payment/paid-responses.js';
import type { PaidRequest, PaymentGate } from '../../middleware/payment/payment-gate.js';
import { sendPaymentRequired } from '../../middleware/payment/payment-required.js';
import { sendAgain, sendInProgress } from '../../middleware/payment/payment-responses.js';
import { givenAgain } from '../../middleware/payment/used-payment.js';
import type { StoredResponse } from '../../middleware/response/response-seal.js';
import { CODECS } from '../../protocol/codecs/codecs.js';
import { SERVICE_PAYMENT_HEADER } from '../../protocol/wire/service-payment.js';
import type { IdempotencyStore } from '../../storage/idempotency/idempotency-store.js';
import { broughtSecret, type CallRetry, callerOfCall } from './call-request.js';
import { serveForPayment } from './serve-for-payment.js';
import { type KnownCall, takingRun } from './taking-run.js';

/**
 * A call that its caller has named, by an `Idempotency-Key` or by the payment that it brings: its response can be had again under that
 * name, and the call is charged once. What a payment has paid itself is had again by that as well, whatever its name. A call whose
 * body is too long to be compared has no name.
 */
export interface NamedCall
  extends NamedRequest,
    Pick<IdempotentRequest, 'finish' | 'release' | 'sealed' | 'ended' | 'isSurelyHeld'> {
  /** Where responses are kept. */
  readonly store: Pick<IdempotencyStore, 'rows' | 'find'>;
  /** Answers what is known under its name; false, and nothing is answered, where nothing is. */
  answerKnown(res: Response): Promise<boolean>;
  /** Begins it for a payment, as {@link NamedRequest.begin}: that is noted, and whoever comes under the name then is served for it. */
  beginPaid(paymentId: string): ReturnType<NamedRequest['begin']>;
}

/** The gate before a call, which says who may come again for its payment. */
type NamingGate = PaymentGate & { readonly retryFor: CallRetry };

const KEY_HEADER = 'Idempotency-Key';
/** What a call takes beside the time that its upstream has for the head; milliseconds. */
const BODY_MS = 60_000;

const names = createRequestNote<Request, () => Promise<NamedCall | undefined>>();

/**
 * Notes a call that may have a name, for {@link namedOf}.
 * @param isFree - whether nothing can be paid for it: a payment names nothing then
 */
export function noteName(gate: NamingGate, call: Call, req: Request, isFree: boolean): void {
  if (isFree && keyOf(req) === undefined) return;
  let named: Promise<NamedCall | undefined> | undefined;
  names.put(req, () => {
    named ??= readName(gate, call, req);
    return named;
  });
}

/** The call that a request is by its `Idempotency-Key`, as {@link namedOf} has it; undefined where it has none. */
export async function namedByKey(req: Request): Promise<NamedCall | undefined> {
  return keyOf(req) === undefined ? undefined : namedOf(req);
}

/**
 * The call that a request is, by its name; undefined where it has none, its body is too long to be compared, or its client is gone.
 * Most calls are never asked.
 */
export function namedOf(req: Request): Promise<NamedCall | undefined> {
  return names.of(req)?.() ?? Promise.resolve(undefined);
}

async function readName(gate: NamingGate, call: Call, req: Request): Promise<NamedCall | undefined> {
  const key = keyOf(req);
  const name = key ?? paymentHeaderOf(req);
  // Two that are not compared to their end could be taken for one.
  const fingerprint = name && (await wholeFingerprint(req));
  if (name === undefined || fingerprint === undefined) return undefined;
  const isByKey = key !== undefined;
  let brought = broughtSecret(req);
  const caller = callerOfCall(call);
  const { facilitator } = gate.options;
  const { idempotency: store } = facilitator;
  const run = createIdempotentRequest({
    store,
    scope: `call ${callResource(call)}`,
    // A payment may be brought for other calls as well.
    secret: isByKey ? `${caller} key ${key}` : `${caller} payment ${name} ${fingerprint}`,
    sealedWith: gate.retryFor(req).sealedWith,
    fingerprint,
    leaseMs: call.project.upstream.timeoutMs + BODY_MS,
    owner: walletOwner(call.key.owner),
  });
  const answerAs = async (known: KnownCall, res: Response): Promise<void> => {
    if (known.status === 'replay') return answerAgain({ req, res, gate }, known.response, isByKey);
    if (known.status === 'paid') {
      brought = run.reveal(known.note);
      return serveForPayment({ req, res, gate, retry: gate.retryFor(req, brought) }, known.payment);
    }
    if (!isByKey) return sendInProgress({ req, res, gate });
    answerOther(known.status, res);
  };
  const answering = (known: KnownCall | undefined) => known && ((res: Response) => answerAs(known, res));
  const isOwed: Parameters<typeof takingRun>[2] = async ({ payment: it, note }, id) => {
    const retry = gate.retryFor(req, run.reveal(note));
    if (it.fingerprint !== fingerprint || it.retryHash !== retry.hash) return false;
    // What it has left as credit, or what cannot be had again, is no response; of a pass that it has bought its payer is told.
    const hasResponse = async () => (await paidResponse(facilitator, id, retry).find()) !== undefined;
    return !it.isServed || (await hasResponse()) || hasPass(facilitator, id);
  };
  const { known, begin, beginPaid, abandon } = takingRun(run, facilitator, isOwed);
  return {
    ...{
      store,
      finish: run.finish,
      release: run.release,
      sealed: run.sealed,
      ended: run.ended,
      isSurelyHeld: run.isSurelyHeld,
      abandon,
    },
    letGo: async () => (await run.abandon()) || run.isHeld(),
    async answerKnown(res) {
      const other = await known();
      if (other !== undefined) await answerAs(other, res);
      return other !== undefined;
    },
    begin: async (takes) => answering(await begin(takes)),
    beginPaid: async (paymentId) => answering(await beginPaid(paymentId, run.hide(brought))),
  };
}

/** Whether something is left of what a payment has bought. */
async function hasPass({ passes }: Facilitator, paymentId: string): Promise<boolean> {
  const pass = await passes.findByPayment(paymentId);
  return pass !== undefined && pass.over === undefined;
}

/** What was answered with another part than the one that is asked for now is the answer of another call. */
async function answerAgain(
  { req, res, gate }: Pick<PaidRequest, 'req' | 'res' | 'gate'>,
  kept: StoredResponse,
  isByKey: boolean,
): Promise<void> {
  const { stored, cause } = givenAgain({ req, gate }, kept);
  if (stored !== undefined) return sendAgain({ req, res, gate }, stored, {});
  if (isByKey) return answerOther('mismatch', res);
  sendPaymentRequired(req, res, gate.options, await offeredTerms(gate, req), cause);
}

/** An empty header names nothing. */
function keyOf(req: Request): string | undefined {
  return req.get(KEY_HEADER)?.trim() || undefined;
}

function paymentHeaderOf(req: Request): string | undefined {
  const names = [SERVICE_PAYMENT_HEADER, ...CODECS.map(({ requestHeader }) => requestHeader)];
  return names.map((it) => req.get(it)).find(Boolean);
}

function answerOther(status: 'mismatch' | 'running', res: Response): void {
  if (status === 'mismatch') {
    const detail = `Another call was made under this ${KEY_HEADER}; take a new key for a new call. Nothing was charged.`;
    return sendProblem(res, 'idempotency_key_reused', detail, { param: KEY_HEADER });
  }
  const detail = `The call with this ${KEY_HEADER} is running; send it again in a moment to get its response.`;
  sendProblem(res, 'idempotency_in_progress', detail, { retryAfterSeconds: 1 });
}
