import type { Claim } from '../../facilitator/types.js';
import type { Receipt } from '../../protocol/types.js';
import type { Admitted } from '../gate/gate.js';
import { setHeaders } from '../gate/respond.js';
import type { CreditMeter } from '../passes/pass-types.js';
import { recordResponse } from '../response/response-recorder.js';
import { charges } from './gate-hooks.js';
import { isTheirs } from './landed-headers.js';
import { type PaidResponse, paidResponse } from './paid-responses.js';
import type { PaidRequest, PaymentAttempt } from './payment-gate.js';
import { withReceipt } from './payment-required.js';

/** What becomes of a request that fails once its money has landed, and of one that comes again after that. */
export function compensated(
  { req, res, gate, retry }: PaymentAttempt,
  claim: Claim,
  meter: CreditMeter | undefined,
): Pick<PaidRequest, 'makeGood' | 'comeAgain'> {
  const { compensation } = gate.passes ?? {};
  let made: ReturnType<PaidRequest['makeGood']> | undefined;
  async function makeGood() {
    if (compensation === undefined) return undefined;
    await meter?.end(false);
    // Whoever has taken the payment over serves it.
    if (!(await claim.isHeld())) return undefined;
    return compensation.makeGood(req, claim, isTheirs(claim, retry));
  }
  return {
    makeGood() {
      made ??= makeGood().catch((error: unknown) => warn(claim, error));
      return made;
    },
    async comeAgain() {
      if (claim.receipt === undefined || !(await claim.isHeld())) return undefined;
      return compensation?.comeAgain(req, res, claim.id, isTheirs(claim, retry));
    },
  };
}

function warn({ id }: Claim, error: unknown): undefined {
  const reason = error instanceof Error ? error.message : String(error);
  const detail = `the payment ${id} of a request that has failed stays owed, as its payer could not be left with credit: ${reason}`;
  process.emitWarning(detail, { code: 'TOLLHOUSE_NOT_COMPENSATED' });
}

/**
 * Serves a request whose payment has come again by what its payer was left with, and uses the payment up: it is never both.
 * @returns whether it did
 */
export async function enterOnCredit(paid: PaidRequest): Promise<boolean> {
  const again = await paid.comeAgain();
  const { claim, next, challenge, kept } = paid;
  const { receipt } = claim;
  if (again === undefined || receipt === undefined) return false;
  await claim.served();
  if (again.admitted) {
    tellAndKeep(paid, paid.receiptHeaders({ status: 'settled', receipt }), kept);
    await again.enter(next);
  } else challenge(withReceipt(again.cause, receipt));
  return true;
}

/** Lets a request in whose payment was used up, by what its payer was left with; undefined where nothing was. */
export async function admitOnCredit(
  attempt: PaymentAttempt,
  { id, receipt }: { readonly id: string; readonly receipt: Receipt },
): Promise<Admitted | undefined> {
  const { req, res, gate, retry, codec } = attempt;
  // Others come from the same address, and whoever has read the chain could spend what is left: its payer has the token.
  if (retry.byAddress !== undefined) return undefined;
  const again = await gate.passes?.compensation?.comeAgain(req, res, id, true);
  if (!again?.admitted) return undefined;
  const { facilitator } = gate.options;
  return {
    admitted: true,
    enter(next) {
      const kept = paidResponse(facilitator, id, retry.secret, receipt.payer);
      tellAndKeep(attempt, codec.receipt({ status: 'settled', receipt }, facilitator.network), kept);
      return again.enter(next);
    },
  };
}

/** The response has the receipt of its payment and is kept, as the first one would have been. */
function tellAndKeep(
  { res, gate }: Pick<PaymentAttempt, 'res' | 'gate'>,
  receipt: Readonly<Record<string, string>>,
  kept: PaidResponse,
): void {
  setHeaders(res, receipt);
  recordResponse(res, async (response) => response !== undefined && charges(gate, res) && kept.put(response));
}
