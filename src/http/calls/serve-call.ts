import type { Request, Response } from 'express';
import type { Call } from '../../gateway/calls/call.js';
import type { CallEnd, PaidCall, PricedHold } from '../../gateway/calls/call-records.js';
import { untilWritten, writtenInTime } from '../../gateway/calls/until-written.js';
import type { Gateway } from '../../gateway/gateway.js';
import { CREDIT_HEADER } from '../../middleware/gate/pass-headers.js';
import { requestIdOf } from '../../middleware/gate/request-id.js';
import type { CoveredRequest } from '../../middleware/passes/covered-request.js';
import type { Passes } from '../../middleware/passes/pass-types.js';
import type { PaidRequest, PaymentGate, RunEnd } from '../../middleware/payment/payment-gate.js';
import type { RecordedResponse } from '../../middleware/response/response-recorder.js';
import { noteOutcome } from '../../middleware/tracing/gate-request.js';
import { formatAmount } from '../../protocol/money/money.js';
import type { Receipt } from '../../protocol/types.js';
import type { KeptAnswer } from '../../storage/calls/call-store.js';
import { firstUse } from './bought-pass.js';
import { callOf } from './call-request.js';
import { creditGiven, endUncharged } from './end-uncharged.js';
import { giveUp } from './give-up.js';
import { namedByKey, namedOf } from './named-call.js';
import { namedPayment } from './named-payment.js';
import { CREDITED, passOn } from './pass-on.js';
import { passOnNamed } from './pass-on-named.js';
import { NOT_TAKEN, serveCovered } from './serve-covered.js';
import { bodyBegun, refuseUnfit } from './unfit-call.js';

/** Serves the calls that are paid, those that credit pays, and those that passes cover. */
export type CallServer = Required<Pick<PaymentGate, 'run' | 'keep' | 'giveUp' | 'useCredit' | 'identifierFor'>> & {
  readonly serveCovered: (covered: CoveredRequest) => Promise<void>;
};

type GivenPasses = Pick<Passes, 'findByPayment' | 'debit' | 'giveBack'>;

/**
 * Serves calls: the upstream's response flows as it comes. A caller who hangs up after its head has had it, and so has one who hangs up
 * on a call that credit or a pass pays, unless he has named it. What has an `Idempotency-Key` can be had again, whatever pays it. What
 * was paid for a call that is not charged is credit of its key at the project, and of a pass nothing is taken, before the caller learns
 * of it.
 */
export function createCallServer(gateway: Gateway, passes: GivenPasses): CallServer {
  return {
    run: (paid, receipt, recorded) => servePaid(gateway, passes, paid, receipt, recorded),
    giveUp: (paid, receipt) => giveUp(gateway, passes, paid, receipt),
    identifierFor: namedPayment,
    // One transaction for both: the caller waits for one of them, and a crash leaves neither without the other.
    keep: (req, kept) => callOf(req).bookWith?.(kept),
    serveCovered: (covered) => serveCovered(gateway, callOf(covered.req), covered),
    async useCredit(req, res) {
      const call = callOf(req);
      const named = await namedOf(req);
      // Before credit is held: who comes under its name meanwhile is told of this call, and not of what it leaves.
      const answer = await named?.begin();
      if (answer !== undefined) {
        await answer(res);
        return true;
      }
      const hold = await enterOnCredit(gateway, req, call).catch(async (error: unknown) => {
        await named?.abandon();
        throw error;
      });
      if (hold === undefined) await named?.abandon();
      else await serveOnCredit(gateway, call, hold, { req, res });
      return hold !== undefined;
    },
  };
}

/** Holds the price of a call that can be passed on, and lets it in; undefined where there is no such credit. */
async function enterOnCredit({ calls }: Gateway, req: Request, call: Call): Promise<PricedHold | undefined> {
  const hold = await calls.holdCredit(call);
  if (hold === undefined) return undefined;
  try {
    await refuseUnfit(req, call);
    await bodyBegun(req);
    await calls.enter(call, 'paid_before');
    return hold;
  } catch (error) {
    await calls.giveCreditBack(hold);
    throw error;
  }
}

/** Serves a call whose money has landed. */
async function servePaid(
  gateway: Gateway,
  passes: GivenPasses,
  { req, res, gate, claim, landedHeaders }: PaidRequest,
  receipt: Receipt,
  recorded: RecordedResponse,
): Promise<RunEnd> {
  const { calls } = gateway;
  const call = callOf(req);
  call.mayBePaid = true;
  await calls.enter(call, 'payment');
  const paidIn = await calls.paidToken(call, claim);
  const amount = formatAmount(receipt.amount, paidIn.decimals);
  const passId = await firstUse(passes, claim);
  const paid = { call, claim, receipt, paidIn, passId, requestId: requestIdOf(res) };
  const store = gate.options.facilitator.idempotency;
  const isKeptHere = passId === undefined && calls.keepsFor(store);
  const named = await namedByKey(req);
  // While a pass that was bought is left of its payment, the name stays that payment's.
  const forgetName = async () => (passId === undefined ? named?.abandon() : undefined);
  const booking = bookingWithResponse(gateway, paid, store);
  // It may be kept still when its caller has left.
  const kept = async () => (recorded.isEnding ? recorded.ended : undefined);
  const { charged, end } = await passOn(gateway, call, {
    ...{ req, res, uncharged: passId === undefined ? CREDITED : NOT_TAKEN },
    payment: { payer: claim.payer, amount, token: paidIn.symbol, payment: claim.id },
    headers: await landedHeaders(receipt),
    charged(endNow) {
      if (isKeptHere) booking.offer(endNow);
    },
    outlivesCaller: () => (named !== undefined || (isKeptHere && recorded.begun)) && !recorded.cannotBeKept(),
    async isCallersLoss() {
      await kept();
      return recorded.begun || recorded.isKept;
    },
    async notCharged(it) {
      // Its caller has left while it was written, with his response, that he is charged.
      if (await booking.isWritten()) return {};
      const left = await endUncharged(gateway, passes, paid, it);
      await forgetName();
      return { ...(await landedHeaders(receipt)), ...left };
    },
  });
  await kept();
  if (!recorded.isEnding) await forgetName();
  // What is not charged is written already.
  const isDue = charged && !(await booking.isWritten());
  return { served: true, write: isDue ? calls.ended(paid, { ...end, charged }) : async () => undefined };
}

/** Books a paid call in one with its response, once that is whole. */
function bookingWithResponse({ calls }: Gateway, paid: PaidCall, store: KeptAnswer['store']) {
  let booking: Promise<boolean> | undefined;
  return {
    isWritten: async () => (await booking?.catch(() => false)) === true,
    offer(endNow: () => CallEnd): void {
      paid.call.bookWith = (kept) => {
        const [end, answer] = [endNow(), { store, ...kept }];
        booking = untilWritten(() => calls.endedWith(paid, end, answer), answer);
        return writtenInTime(booking);
      };
    },
  };
}

async function serveOnCredit(
  gateway: Gateway,
  call: Call,
  hold: PricedHold,
  { req, res }: { readonly req: Request; readonly res: Response },
): Promise<void> {
  const { calls } = gateway;
  noteOutcome(res, 'credit');
  const { token } = hold;
  const { symbol, decimals } = token;
  const amount = formatAmount(hold.amount, decimals);
  const credited = { call, hold, paidIn: token, requestId: requestIdOf(res) };
  const left = { [CREDIT_HEADER]: `${formatAmount(hold.left, decimals)} ${symbol} is left; credit has paid this call` };
  const endedAs = async (charged: boolean, end: CallEnd, kept?: KeptAnswer) =>
    calls.endedOnCredit(credited, { ...end, charged }, kept);
  const passing = passOnNamed(gateway, call, {
    ...{ req, res, uncharged: CREDITED },
    payment: { payer: call.key.owner, amount, token: symbol },
    headers: left,
    book: (it, kept) => endedAs(true, it, kept),
    // Or one payment would buy any number of jobs that nobody waits for.
    isCallersLoss: () => true,
    async notCharged(it) {
      await endedAs(false, it);
      return creditGiven(amount, token);
    },
  });
  const { booked } = await passing.catch(async (error: unknown) => {
    // Nothing has left that could be charged.
    await calls.giveCreditBack(hold);
    throw error;
  });
  // Its place among the calls under way is free, however long the books take.
  await Promise.all([booked, calls.leave(call)]);
}
