import { takeAgain } from '../../facilitator/payments/price-credit.js';
import type { Claim } from '../../facilitator/types.js';
import { errorText } from '../../lib/error-text.js';
import type { CreditMeter } from '../passes/pass-types.js';
import type { StoredResponse } from '../response/response-seal.js';
import { isTheirs } from './landed-headers.js';
import type { PaidRequest, PaymentAttempt } from './payment-gate.js';
import { ASKED_MORE, STILL_OWED, TRIED_OUT, USED } from './payment-required.js';
import { givenAgain, sendUsed } from './used-payment.js';

/** What becomes of a request that fails once its money has landed, and of one that comes again after that. */
export function compensated(
  { req, gate, retry }: PaymentAttempt,
  claim: Claim,
  meter: CreditMeter | undefined,
): Pick<PaidRequest, 'makeGood' | 'takeAgain'> {
  const { compensation } = gate.passes ?? {};
  const { passes } = gate.options.facilitator;
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
    takeAgain: () => takeAgain(passes, claim, async (mint) => compensation?.priceNow(req, mint)),
  };
}

/**
 * Whether the handler is run for a payment that has come again: as often as its runs come to their end, and a few times more; nobody may end
 * the process by one payment again and again. Where it is not, the request is answered here.
 */
export async function mayRunAgain(paid: PaidRequest): Promise<boolean> {
  const { req, gate, claim, isByIpAddress } = paid;
  const { id, receipt } = claim;
  if (!paid.isAskedStill && receipt !== undefined) {
    const isMadeGood = (await paid.makeGood()) !== undefined;
    await (isMadeGood && isByIpAddress ? claim.served() : claim.keep());
    await sendUsed(paid, { id, receipt, isTheirs: !isByIpAddress, cause: ASKED_MORE });
    return false;
  }
  const again = await paid.takeAgain();
  if (again !== 'gone') {
    await gate.beforeRunAgain?.(req);
    if (again === 'taken' || (await claim.runAgain())) return true;
  }
  if (again === 'owed' && receipt !== undefined && gate.giveUp !== undefined) {
    await gate.giveUp(paid, receipt);
    return false;
  }
  // What was charged of a stream stays taken.
  const isOver = again === 'charged' || (again === 'owed' && (await paid.makeGood()) !== undefined);
  // What was had otherwise may be given back, and what could not be made good is owed.
  await (isOver ? claim.served() : claim.keep());
  const cause = again === 'gone' ? USED : isOver ? TRIED_OUT : STILL_OWED;
  await sendUsed(paid, { id, receipt, isTheirs: !isByIpAddress, cause });
  return false;
}

/**
 * Whether a response that is kept is given again. Where the process died before it was handed over, what it has cost was given back:
 * whoever has used that since has had another response for it. Where it is not given, the request is answered here.
 */
export async function mayReplay(paid: PaidRequest, kept: StoredResponse): Promise<boolean> {
  const { claim, isByIpAddress } = paid;
  const { id, receipt } = claim;
  const { stored, cause } = givenAgain(paid, kept);
  if (stored !== undefined && (await paid.takeAgain()) !== 'gone') return true;
  await claim.keep();
  await sendUsed(paid, { id, receipt, isTheirs: !isByIpAddress, cause });
  return false;
}

function warn({ id }: Claim, error: unknown): undefined {
  const reason = error instanceof Error ? error.message : errorText(error);
  const detail = `the payment ${id} of a request that has failed stays owed, as its payer could not be left with credit: ${reason}`;
  process.emitWarning(detail, { code: 'TOLLHOUSE_NOT_COMPENSATED' });
}
