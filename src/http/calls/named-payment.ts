import type { Request } from 'express';
import type { Claim } from '../../facilitator/types.js';
import type { IdentifiedPayment } from '../../middleware/payment/identified-payment.js';
import { type NamedCall, namedByKey } from './named-call.js';

/**
 * The payment of a call, under the `Idempotency-Key` of that: one call pays one, and has its response by either. Once its money may have
 * moved, the key is that payment's until its response is kept, or cannot be had again.
 */
export function namedPayment(req: Request, { id, payer, buys }: Claim): IdentifiedPayment {
  let named: NamedCall | undefined;
  const end = async (how: (it: NamedCall) => Promise<unknown>): Promise<void> => {
    const it = named;
    named = undefined;
    if (it !== undefined) await how(it);
  };
  return {
    async take() {
      const found = await namedByKey(req);
      const answer = await found?.beginPaid(id);
      if (answer === undefined) named = found;
      return answer;
    },
    keep: (response) =>
      end(async (it) => {
        // A pass that was bought is left of it, and not bought again.
        if (response === undefined) return buys === undefined ? it.abandon() : it.release();
        return (await it.finish(response, payer)) || it.release();
      }),
    isHeld: async () => named === undefined || named.isSurelyHeld(),
    giveBack: () => end((it) => it.abandon()),
    leave: () => end((it) => it.release()),
  };
}
