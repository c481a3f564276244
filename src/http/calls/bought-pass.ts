import { TollhouseError } from '../../errors/errors.js';
import type { Claim } from '../../facilitator/types.js';
import type { Passes } from '../../middleware/passes/pass-types.js';

const NOT_THERE = 'What the payment has bought cannot be found right now; send the same request again.';
const USED_UP = 'What this payment has bought was used up meanwhile, or has ended or was revoked.';

/**
 * The pass that the payment of a call has bought, of which this call is the first use: taken once more where an earlier try gave it
 * back and could not be written down. Undefined where the payment buys one call.
 * @throws TollhouseError `store_unavailable`, or `payment_already_used` where the pass covers this call no more
 */
export async function firstUse(
  passes: Pick<Passes, 'findByPayment' | 'debit'>,
  { id: paymentId, buys, resumed }: Pick<Claim, 'id' | 'buys' | 'resumed'>,
): Promise<string | undefined> {
  if (buys === undefined) return undefined;
  const passId = (await passes.findByPayment(paymentId))?.id;
  if (passId === undefined) throw new TollhouseError('store_unavailable', NOT_THERE);
  const { bought = 0n, left = bought } = buys;
  if (!resumed || bought === left) return passId;
  const taken = await passes.debit({ passId, requestId: paymentId, amount: bought - left });
  if (!taken.ok) throw new TollhouseError('payment_already_used', USED_UP);
  return passId;
}
