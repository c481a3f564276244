import type { Request } from 'express';
import type { Claim } from '../../facilitator/types.js';
import type { IdentifiedPayment } from '../../middleware/payment/identified-payment.js';
import { type NamedCall, namedByKey } from './named-call.js';

/** The payment of a call, under the `Idempotency-Key` of that: one call pays one, and has its response by either. */
export function namedPayment(req: Request, { id: paymentId }: Claim): IdentifiedPayment {
  let named: NamedCall | undefined;
  const abandon = async () => named?.abandon();
  return {
    async take() {
      const found = await namedByKey(req);
      const answer = await found?.begin({ paymentId });
      if (answer === undefined) named = found;
      return answer;
    },
    async keep(response) {
      // Else who comes under the name finds what is kept for the payment that it notes.
      if (named !== undefined && !(await named.finish(response))) await named.release();
      named = undefined;
    },
    giveBack: abandon,
    leave: abandon,
  };
}
