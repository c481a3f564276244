import type { Gateway } from '../../gateway/gateway.js';
import { GATEWAY_ERROR_HEADERS } from '../../gateway/proxy/upstream-proxy.js';
import { requestIdOf } from '../../middleware/gate/request-id.js';
import { sendProblem } from '../../middleware/gate/respond.js';
import type { Passes } from '../../middleware/passes/pass-types.js';
import type { PaidRequest } from '../../middleware/payment/payment-gate.js';
import { sendInProgress } from '../../middleware/payment/payment-responses.js';
import { noteOutcome } from '../../middleware/tracing/gate-request.js';
import type { Receipt } from '../../protocol/types.js';
import { firstUse } from './bought-pass.js';
import { callOf } from './call-request.js';
import { endUncharged } from './end-uncharged.js';
import { CREDITED } from './pass-on.js';
import { NOT_TAKEN } from './serve-covered.js';

const CODE = 'call_broken_off';
const BROKEN_OFF =
  'This call was begun several times for its payment, and was broken off on our side each time; for that payment it is begun no more.';
const RETRY_SECONDS = 1;

/**
 * Ends a call that was begun for its payment as often as any is: it is written as one that is not charged, which leaves what was paid, and
 * uses the payment up. Whoever sends it again has it paid by that.
 */
export async function giveUp(
  gateway: Gateway,
  passes: Pick<Passes, 'findByPayment' | 'debit' | 'giveBack'>,
  paid: Omit<PaidRequest, 'next'>,
  receipt: Receipt,
): Promise<void> {
  const { req, res, claim } = paid;
  const call = callOf(req);
  call.mayBePaid = true;
  const passId = await firstUse(passes, claim);
  const paidIn = await gateway.calls.paidToken(call, claim);
  const held = { call, claim, receipt, paidIn, passId, requestId: requestIdOf(res) };
  const left = await endUncharged(gateway, passes, held, { reason: CODE, durationMs: 0 });
  if (left === undefined) {
    await claim.keep();
    return sendInProgress(paid);
  }
  await claim.served(async () => undefined);
  // Its name is free for the call that what is left pays.
  await paid.identifier.giveBack();
  noteOutcome(res, 'uncharged');
  const uncharged = passId === undefined ? CREDITED : NOT_TAKEN;
  sendProblem(res, CODE, `${BROKEN_OFF} ${uncharged} Send it again, and do not pay again.`, {
    headers: { ...(await paid.landedHeaders(receipt)), ...left, ...GATEWAY_ERROR_HEADERS },
    retryAfterSeconds: RETRY_SECONDS,
  });
}
