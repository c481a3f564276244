import { TollhouseError } from '../../errors/errors.js';
import type { Receipt, Settlement } from '../../protocol/types.js';
import { inSpan } from '../../telemetry/trace.js';
import { sendError } from '../gate/respond.js';
import { noteOutcome } from '../tracing/gate-request.js';
import { tellFailure, tellSettled } from './gate-hooks.js';
import type { PaidRequest } from './payment-gate.js';
import { refusalCause } from './payment-required.js';
import { sendInProgress, sendPending } from './payment-responses.js';

/**
 * Takes the money of a held payment. Unless it has landed, the request is answered here, the claim is over, and there is no receipt.
 * @param send - sends past whatever buffers the response
 */
export async function takeMoney(paid: PaidRequest, send: (write: () => void) => void): Promise<Receipt | undefined> {
  const { req, res, claim, gate, identifier } = paid;
  const settlement = await settleInSpan(paid).catch(async (error: unknown) => {
    if (!(error instanceof TollhouseError)) throw error;
    // Once money may move under an identifier, no other payment goes under it.
    await (claim.mayBeSent ? identifier.leave?.() : identifier.giveBack());
    send(() => sendError(res, error));
    return undefined;
  });
  if (settlement?.status === 'pending') {
    await identifier.leave?.();
    send(() => sendPending(paid, paid.receiptHeaders(settlement)));
  }
  if (settlement?.status === 'failed') {
    await identifier.giveBack();
    tellFailure(gate, req, settlement);
    const cause = { ...refusalCause(settlement), settlement };
    send(() => (settlement.reason === 'settlement_in_progress' ? sendInProgress(paid) : paid.challenge(cause)));
  }
  if (settlement?.status !== 'settled') return undefined;
  noteOutcome(res, 'paid');
  tellSettled(gate, req, settlement.receipt);
  return settlement.receipt;
}

function settleInSpan({ claim, identifier }: PaidRequest): Promise<Settlement> {
  return inSpan('tollhouse.settle', {}, async (span) => {
    const settlement = await claim.settle({ isWanted: identifier.isHeld });
    span?.set({ 'tollhouse.settlement.status': settlement.status });
    return settlement;
  });
}
