import type { Facilitator } from '../../facilitator/types.js';
import { warned } from '../idempotency/idempotent-request.js';
import { withoutExchangeHeaders } from '../response/response-recorder.js';
import { createSeal, type StoredResponse } from '../response/response-seal.js';

/** The response of a payment, kept for the one who may come again. */
export interface PaidResponse {
  /** Keeps it without what is told anew, such as a token of a pass, encrypted with that one's secret; tells whether it is kept. A store that fails is warned of. */
  put(response: StoredResponse): Promise<boolean>;
  /** What was kept; undefined where nothing was, or is no more. Rejects with `store_unavailable`. */
  find(): Promise<StoredResponse | undefined>;
}

const SCOPE = 'paid response';

/**
 * Where the response of a payment is kept: in the facilitator's `idempotency`.
 * @param secret - of the one who may come again
 * @param payer - whose share of the room it takes
 */
export function paidResponse(
  { idempotency }: Pick<Facilitator, 'idempotency'>,
  paymentId: string,
  secret: string,
  payer?: string,
): PaidResponse {
  const { id, seal, open } = createSeal(`${SCOPE} ${paymentId}`, secret);
  return {
    put: (response) => warned(() => idempotency.put(id, seal(withoutExchangeHeaders(response)), payer)),
    async find() {
      const sealed = await idempotency.get(id);
      return sealed === undefined ? undefined : open(sealed);
    },
  };
}
