import type { Response } from 'express';
import type { Claim } from '../../facilitator/types.js';
import type { Payment } from '../../protocol/types.js';
import { clientAddress } from '../gate/client-address.js';
import type { Decision, Refused } from '../gate/gate.js';
import { sendProblem } from '../gate/respond.js';
import { identifierFault } from './identified-payment.js';
import { isNamed } from './offered-terms.js';
import type { PaymentAttempt } from './payment-gate.js';
import { NO_MATCH, type OfferedTerms } from './payment-required.js';
import { refused } from './payment-responses.js';

/** Refuses a payment for what is wrong with its identifier; undefined where nothing is, or where it was sent when none was asked for. */
export async function refuseMisnamed(
  { options }: PaymentAttempt['gate'],
  res: Response,
  payment: Payment,
  { terms }: OfferedTerms,
): Promise<Refused | undefined> {
  const fault = identifierFault(options, payment);
  if (fault === undefined || (await options.facilitator.knownTerms(payment)) !== undefined) return undefined;
  const isForOther = !isNamed(payment, terms);
  return refused(() => sendProblem(res, 'invalid_payment_identifier', fault), { isForOther });
}

/**
 * What is decided about a payment that is held before any money is taken: whether it is of who may pay, and whether its payer is
 * covered by what was bought before, and is not charged. Undefined where it goes on; where it does not, and where this rejects, the
 * payment is given back.
 */
export async function decideClaim(attempt: PaymentAttempt, claim: Claim): Promise<Decision | undefined> {
  try {
    // Whose money has landed gets what it has bought.
    if (claim.receipt !== undefined) return undefined;
    const decision = refuseOtherPayer(attempt, claim) ?? (await coverInstead(attempt, claim));
    if (decision !== undefined) await claim.forget();
    return decision;
  } catch (error) {
    await (claim.receipt === undefined ? claim.forget() : claim.keep());
    throw error;
  }
}

async function coverInstead({ req, res, gate, payment }: PaymentAttempt, claim: Claim): Promise<Decision | undefined> {
  if (payment === undefined) return undefined;
  const { facilitator } = gate.options;
  const isGood = async () => (await facilitator.verify(payment, claim.terms, clientAddress(req).client)).ok;
  return gate.passes?.sales?.coverInstead(req, res, claim, isGood);
}

/** What holders pay is paid by the wallet that has signed in. */
function refuseOtherPayer({ req, gate, challenge }: PaymentAttempt, { payer }: Claim): Decision | undefined {
  const wallet = gate.payerOf?.(req);
  if (wallet === undefined || wallet === payer) return undefined;
  const detail = `What holders pay is taken from the wallet alone that has signed in, ${wallet}, and the payment is of ${payer}. Nothing was charged: pay with that wallet, or what everybody pays, without a sign-in.`;
  return refused(() => challenge({ ...NO_MATCH, detail }));
}
