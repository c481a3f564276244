import type { Claim } from '../../facilitator/types.js';
import type { Decision } from '../gate/gate.js';
import type { PaymentAttempt } from './payment-gate.js';

/**
 * What is decided about a payment that is held before any money is taken: whether its gate accepts it, and whether its payer is
 * covered by what was bought before, and is not charged. Undefined where it goes on; where it does not, and where this rejects, the
 * payment is given back.
 */
export async function decideClaim(attempt: PaymentAttempt, claim: Claim): Promise<Decision | undefined> {
  const { req, res, gate } = attempt;
  try {
    await gate.accept?.(req, claim);
    // Whose money has landed gets what it has bought.
    const decision = claim.receipt === undefined ? await gate.passes?.sales?.coverInstead(req, res, claim) : undefined;
    if (decision !== undefined) await claim.forget();
    return decision;
  } catch (error) {
    await (claim.receipt === undefined ? claim.forget() : claim.keep());
    throw error;
  }
}
