import type { NextFunction, Request, Response } from 'express';
import { isClientGone } from '../../lib/http/connection-events.js';
import { onHeaders } from '../../lib/http/write-head.js';
import { isPending, type MaybePromise, whenKnown } from '../../lib/maybe-promise.js';
import type { Settlement } from '../../protocol/types.js';
import { showOutages } from '../browser/outage-page.js';
import { keepPrivate } from '../gate/cache-control.js';
import type { Decision, Refused } from '../gate/gate.js';
import type { PresentedPayment } from '../gate/presented-payment.js';
import { absoluteUrl, requireSiteScheme } from '../gate/request-url.js';
import { exposeHeaders, sendProblem, setHeaders } from '../gate/respond.js';
import { paymentFingerprint } from '../idempotency/request-fingerprint.js';
import { retryOf } from '../idempotency/retry.js';
import { leaveOpen } from '../response/idempotency-notes.js';
import { bufferResponse } from '../response/response-buffer.js';
import { recordResponse } from '../response/response-recorder.js';
import type { StoredResponse } from '../response/response-seal.js';
import { deliver, inHandlerSpan } from '../tracing/request-span.js';
import { giveBackSignIns } from '../wallet/wallet-auth.js';
import { beforePayment } from './before-payment.js';
import { mayReplay, mayRunAgain } from './compensated.js';
import { decideClaim, refuseMisnamed } from './decide-claim.js';
import { callHook, charges, tellFailure } from './gate-hooks.js';
import { servedHeaders } from './landed-headers.js';
import { claimFor, offeredFor, offeredTerms, useAtHost } from './offered-terms.js';
import { openedRequest } from './opened-request.js';
import { notePaid } from './paid-before.js';
import { keepAsItLeaves, paidResponse } from './paid-responses.js';
import type { PaidRequest, PaymentAttempt, PaymentGate } from './payment-gate.js';
import * as required from './payment-required.js';
import { refused, sendAgain, sendInProgress, sendPending, sendUncharged } from './payment-responses.js';
import { runHandler } from './run-handler.js';
import { takeMoney } from './take-money.js';
import { challengeWith, decideUnpaid } from './unpaid-request.js';
import { givenAgain, sendUsed } from './used-payment.js';

/**
 * Decides about a request: reads the payment that it brings, finds the terms that it may be for, and claims it. A payment is
 * good for one request, and for the one who brought it first; nothing is sent yet.
 */
export function decidePayment(gate: PaymentGate, req: Request, res: Response): MaybePromise<Decision> {
  const { facilitator, page, baseUrl } = gate.options;
  requireSiteScheme(req, baseUrl);
  showOutages(req, res, { network: facilitator.network, page, url: () => absoluteUrl(req, baseUrl) });
  return whenKnown(beforePayment(gate, req, res), (approach) => {
    if (approach.decision !== undefined) return approach.decision;
    if (approach.presented === undefined) return decideUnpaid(approach, req, res);
    return decideBrought(approach.gate, approach.presented, req, res);
  });
}

async function decideBrought(
  gate: PaymentGate,
  { codec, reading }: PresentedPayment,
  req: Request,
  res: Response,
): Promise<Decision> {
  if (!reading.ok) {
    const { code, detail } = reading;
    if (code === 'invalid_payment_header') return refused(() => sendProblem(res, code, detail));
    const challenge = challengeWith(gate, req, res, await offeredTerms(gate, req));
    return refused(() => challenge({ ...required.NO_MATCH, detail }));
  }
  const { payment } = reading;
  const offered = await offeredFor(gate, req, payment);
  const challenge = challengeWith(gate, req, res, offered);
  const misnamed = await refuseMisnamed(gate, res, payment, offered);
  if (misnamed !== undefined) return misnamed;
  const fingerprint = await paymentFingerprint(req);
  if (fingerprint === undefined) return refused(() => undefined); // The client is gone.
  const retry = gate.retryFor?.(req) ?? retryOf(req, payment);
  const claimed = await claimFor(gate, req, payment, offered, {
    commitment: gate.options.commitment,
    simulate: gate.options.settle === 'after',
    fingerprint,
    retryHash: retry.hash,
    ...(gate.useFor ?? useAtHost)(req, gate.options),
  });
  return decisionOn({ req, res, gate, payment, codec, offered, ...claimed, retry, challenge });
}

/** What follows from what came of claiming a payment. */
export async function decisionOn(attempt: PaymentAttempt): Promise<Decision> {
  const { req, gate, codec, offered, opened, retry, challenge } = attempt;
  const { facilitator } = gate.options;
  const receiptHeaders = (it: Settlement) => codec.receipt(it, offered.network ?? facilitator.network);
  const refuse = (answer: Refused['answer']) => refused(answer, attempt);
  switch (opened?.status) {
    case undefined:
      return refuse(() => challenge(required.NO_MATCH));
    case 'refused': {
      tellFailure(gate, req, opened.refusal);
      const settlement = { status: 'failed', ...opened.refusal } as const;
      return refuse(() => challenge({ ...required.refusalCause(opened.refusal), settlement }));
    }
    case 'in_progress':
      return refuse(() => sendInProgress(attempt));
    case 'pending':
      return refuse(() => sendPending(attempt, receiptHeaders(opened.settlement)));
    case 'used':
      return refuse(() => challenge(required.withReceipt(required.USED, opened.receipt)));
    case 'served': {
      const { id, receipt } = opened;
      const { stored, cause } = givenAgain(attempt, await paidResponse(facilitator, id, retry).find());
      const used = { id, receipt, isTheirs: retry.byIpAddress === undefined, cause };
      if (stored === undefined) return refuse(() => sendUsed(attempt, used));
      return {
        admitted: true,
        enter: async () => sendAgain(attempt, stored, await servedHeaders(attempt, id, receipt)),
      };
    }
    case 'open': {
      const { claim } = opened;
      const decision = await decideClaim(attempt, claim);
      if (decision !== undefined) return decision;
      const paid = openedRequest(attempt, claim, receiptHeaders);
      return { admitted: true, enter: (next: NextFunction) => serve({ next, ...paid }).finally(paid.identifier.leave) };
    }
  }
}

/** Serves a request whose payment is held. Every way out of here says what becomes of the payment. */
async function serve(paid: PaidRequest): Promise<void> {
  const { req, res, gate, claim, identifier, kept } = paid;
  keepPrivate(res);
  try {
    const answer = await identifier.take();
    if (answer !== undefined) {
      await giveBack(paid);
      return await answer(res);
    }
    if (isClientGone(res)) return await giveBack(paid);
    await gate.accept?.(req, claim);
    const stored = claim.resumed ? await kept.find() : undefined;
    if (stored !== undefined && claim.receipt !== undefined) {
      if (!(await mayReplay(paid, stored))) return; // It has answered the request.
      const headers = await paid.landedHeaders(claim.receipt);
      await claim.served();
      await identifier.keep?.(stored);
      return sendAgain(paid, stored, headers);
    }
    if (claim.resumed && !(await mayRunAgain(paid))) return; // So has this.
  } catch (error) {
    await giveBack(paid);
    throw error;
  }
  paid.tell(claim.receipt);
  notePaid(req, gate, claim.terms);
  callHook(gate.where, 'onVerified', gate.options.onVerified, { req, payer: claim.payer, terms: claim.terms });
  return gate.options.settle === 'before' ? moneyFirst(paid) : handlerFirst(paid);
}

/**
 * The handler first, then the money, then the response. It is kept before the money is taken, so that whoever pays gets it
 * whatever happens to the connection or to this process, and owed until all of it was handed over. An error of the handler
 * costs nothing, and nothing of a response leaves before the money has landed.
 */
async function handlerFirst(paid: PaidRequest): Promise<void> {
  const { res, next, claim, kept, gate } = paid;
  const { maxHeldBytes: maxBytes, handlerTimeoutMs: timeoutMs, deliveryTimeoutMs } = gate.options;
  const buffered = bufferResponse(res, { maxBytes, timeoutMs });
  try {
    const end = await orGiveBack(paid, () =>
      inHandlerSpan(() => {
        next();
        return buffered.ended;
      }),
    );
    if (end.why !== 'ended' || !(await orGiveBack(paid, () => charges(gate, res)))) {
      // What had landed before is left to its payer again; by an address others could spend it.
      if (claim.receipt !== undefined && !paid.isByIpAddress) await paid.makeGood();
      await giveBack(paid);
      return buffered.send(() => sendUncharged(paid, end));
    }
    // What could not be had again is not sold.
    await orGiveBack(paid, () => kept.put(end.response));
    const receipt = await takeMoney(paid, buffered.send);
    if (receipt === undefined) return; // It has answered the request.
    await paid.meter?.end(true);
    const headers = required.paidHeaders(end.response.headers, await paid.landedHeaders(receipt));
    // Who does not read is cut off before this counts as handed over.
    const send = (): void => buffered.sendStored({ ...end.response, headers });
    const isDelivered = await orGiveBack(paid, () => deliver(res, deliveryTimeoutMs, send));
    await (isDelivered ? claim.served() : giveBack(paid));
  } catch (error) {
    // Somebody must still be able to tell the client.
    buffered.giveUp();
    throw error;
  }
}

/**
 * The money first, then the handler, whose response flows as it is written and is kept where it is short. It counts as given
 * when it is whole, or when some of it has left and its client ended it. Otherwise it is owed, or its payer is left with what was paid.
 */
async function moneyFirst(paid: PaidRequest): Promise<void> {
  const { res, gate, claim, kept } = paid;
  const { run = runHandler } = gate;
  const receipt = await takeMoney(paid, (write) => write());
  if (receipt === undefined) return; // It has answered the request.
  // Whoever serves in the handler's place keeps books of the money.
  if (isClientGone(res) && gate.run === undefined) return claim.keep();
  paid.tell(receipt);
  setHeaders(res, await paid.landedHeaders(receipt));
  onHeaders(res, () => exposeHeaders(res, required.EXPOSED_HEADERS));
  const keeping = keepAsItLeaves(gate.options.facilitator, res, kept.put);
  const keep = async (it?: StoredResponse) => keeping.put(charges(gate, res) ? it : undefined);
  const recorded = recordResponse(res, keep, gate.run !== undefined);
  try {
    const { served, failed, write } = await inHandlerSpan(() => run(paid, receipt, recorded));
    await paid.meter?.end(served);
    if (served && (await keeping.isSettled())) return await claim.served(write);
    const isMadeGood = failed && (await paid.makeGood()) !== undefined;
    // Others come from the same address, and could spend what is left: its payer has the token.
    await (isMadeGood && paid.isByIpAddress ? overWithout(paid) : giveBack(paid));
  } catch (error) {
    await giveBack(paid);
    throw error;
  }
}

/** Asks what is its seller's, who is told where it throws; nothing was delivered then. */
function orGiveBack<T>(paid: PaidRequest, ask: () => MaybePromise<T>): MaybePromise<T> {
  const fail = (error: unknown): Promise<never> => giveBack(paid).then(() => Promise.reject(error));
  try {
    const soon = ask();
    return isPending(soon) ? soon.then(undefined, fail) : soon;
  } catch (error) {
    return fail(error);
  }
}

/** Its payer has something else for it. */
function overWithout({ res, claim }: PaidRequest): Promise<void> {
  leaveOpen(res);
  return claim.served();
}

/** Nothing was delivered: without its money a payment is as if it had never been brought, else its response is owed. */
async function giveBack({ req, res, claim, identifier, meter }: PaidRequest): Promise<void> {
  leaveOpen(res);
  await meter?.end(false);
  if (claim.receipt !== undefined) return claim.keep();
  await Promise.all([claim.forget(), identifier.giveBack(), giveBackSignIns(req).catch(() => {})]);
}
