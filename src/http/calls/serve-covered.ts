import type { Call } from '../../gateway/calls/call.js';
import type { CallEnd } from '../../gateway/calls/call-records.js';
import type { Gateway } from '../../gateway/gateway.js';
import { requestIdOf } from '../../middleware/gate/request-id.js';
import type { CoveredRequest } from '../../middleware/passes/covered-request.js';
import { noteOutcome } from '../../middleware/tracing/gate-request.js';
import type { KeptAnswer } from '../../storage/calls/call-store.js';
import { namedOf } from './named-call.js';
import { passOnNamed } from './pass-on-named.js';
import { bodyBegun, refuseUnfit } from './unfit-call.js';

/** What becomes of the price of a call that a pass covers and that is not charged. */
export const NOT_TAKEN = 'Nothing was taken of the pass for this call.';

/**
 * Serves a call that a pass covers. What it has taken is given back where the upstream's response has no price, before the caller
 * learns of it; one who hangs up has had the call, or a pass would buy any number of jobs that nobody waits for.
 */
export async function serveCovered(gateway: Gateway, call: Call, covered: CoveredRequest): Promise<void> {
  const { calls } = gateway;
  const { req, res, shown, takenAs } = covered;
  const ended = { call, passId: shown.passId, payer: shown.wallet, requestId: requestIdOf(res) };
  const endedAs = (charged: boolean, end: CallEnd, kept?: KeptAnswer) =>
    calls.endedOnPass(ended, { ...end, charged }, kept);
  const named = await namedOf(req);
  const giveBack = named?.abandon ?? covered.giveBack;
  noteOutcome(res, 'pass');
  try {
    await refuseUnfit(req, call);
    // Who takes something begins it before that.
    const answer = takenAs === undefined ? await named?.begin() : undefined;
    if (answer !== undefined) return await answer(res);
    await bodyBegun(req);
    await calls.enter(call, 'paid_before');
    const { booked } = await passOnNamed(gateway, call, {
      ...{ req, res, uncharged: NOT_TAKEN },
      payment: { payer: shown.wallet },
      headers: await covered.headers(true),
      book: (it, kept) => endedAs(true, it, kept),
      isCallersLoss: () => true,
      async notCharged(it) {
        await giveBack();
        await endedAs(false, it);
        return covered.headers(false);
      },
    });
    // Its place among the calls under way is free, however long the books take.
    await Promise.all([booked, calls.leave(call)]);
  } catch (error) {
    // Until it was passed on; what was charged stays taken.
    if (!call.isBooked) await giveBack();
    throw error;
  }
}
