import { beforeHead } from '../response/before-head.js';
import { flowOn } from '../response/flow-on.js';
import { leaveOpen } from '../response/idempotency-notes.js';
import { closed, watchBreak } from '../response/response-end.js';
import type { RecordedResponse } from '../response/response-recorder.js';
import { charges } from './gate-hooks.js';
import type { PaidRequest, RunEnd } from './payment-gate.js';

/** No lease ends so soon after the money was taken under it. */
const SURELY_HELD_MS = 100;

/**
 * Runs the handler behind the gate until it has ended its response, or until nobody waits for it any more. A response without a price
 * leaves when its payer was left with what was paid, and says so.
 */
export async function runHandler(paid: PaidRequest, _: unknown, recorded: RecordedResponse): Promise<RunEnd> {
  const { res, next, gate, meter } = paid;
  const isBrokenHere = watchBreak(res);
  let isFailed = false;
  const since = performance.now();
  beforeHead(res, () => {
    isFailed = hasNoPrice(paid);
    if (isFailed) return paid.makeGood();
    return performance.now() - since < SURELY_HELD_MS ? undefined : breakUnlessHeld(paid);
  });
  const flow = flowOn(res, () => !recorded.cannotBeKept());
  next();
  await Promise.race([recorded.ended, closed(res)]);
  // The handler may still make a whole response, which can be asked for again, or say what it has cost: not of what this side broke off.
  const isCut = !recorded.hasEnded && isBrokenHere();
  const mayMatter = !isCut && (!recorded.cannotBeKept() || meter !== undefined);
  if (!recorded.hasEnded && mayMatter) {
    const ended = recorded.endsWithin(gate.options.handlerTimeoutMs);
    await (meter === undefined ? Promise.race([ended, flow.isLost]) : ended);
  }
  flow.letGo();
  if (!recorded.hasEnded) leaveOpen(res);
  const given = recorded.begun && (recorded.hasEnded || !isBrokenHere() || meter?.isKept === true);
  const served = !isFailed && given && charges(gate, res);
  const failed = isFailed || (recorded.hasEnded ? !charges(gate, res) : isBrokenHere());
  return { served, failed: !served && failed };
}

/** Whoever has taken the payment over while this process stood still serves it, and it is served once. */
async function breakUnlessHeld({ claim, res }: PaidRequest): Promise<undefined> {
  if (!(await claim.isHeld())) res.destroy();
}

/** A rule of the seller's that throws is heard of when the response has ended. */
function hasNoPrice({ gate, res }: PaidRequest): boolean {
  try {
    return !charges(gate, res);
  } catch {
    return false;
  }
}
