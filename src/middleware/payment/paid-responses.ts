import type { Facilitator } from '../../facilitator/types.js';
import { warned } from '../idempotency/idempotent-request.js';
import { withoutExchangeHeaders } from '../response/response-recorder.js';
import { createSeal, type SealingSecrets, type StoredResponse } from '../response/response-seal.js';

/** The response of a payment, kept for the one who may come again. */
export interface PaidResponse {
  /** Keeps it without what is told anew, such as a token of a pass, encrypted with that one's secret; tells whether it is kept. A store that fails is warned of. */
  put(response: StoredResponse): Promise<boolean>;
  /** What was kept; undefined where nothing was, or is no more. Rejects with `store_unavailable`. */
  find(): Promise<StoredResponse | undefined>;
}

const SCOPE = 'paid response';

/** A response as it is kept, by the id under which it can be had. */
export interface SealedResponse {
  readonly id: string;
  readonly answer: Uint8Array;
  readonly owner?: string | undefined;
}

/** Who a response is kept for, and by whom. */
export interface PaidResponseUse {
  /** Of the one who may come again. */
  readonly secret: string;
  /** What it is sealed with. Default: the secret. */
  readonly sealedWith?: SealingSecrets | undefined;
  /** Whose share of the room it takes. Default: nobody's. */
  readonly payer?: string;
  /** Keeps it in the place of the store's `put`; undefined where it does not. Default: nobody does. */
  readonly keep?: ((kept: SealedResponse) => Promise<boolean> | undefined) | undefined;
}

/** Where the response of a payment is kept: in the facilitator's `idempotency`. */
export function paidResponse(
  { idempotency }: Pick<Facilitator, 'idempotency'>,
  paymentId: string,
  { secret, sealedWith, payer: owner, keep }: PaidResponseUse,
): PaidResponse {
  const { id, seal, open } = createSeal(`${SCOPE} ${paymentId}`, secret, sealedWith);
  return {
    put: (response) =>
      warned(async () => {
        const answer = seal(withoutExchangeHeaders(response));
        return keep?.({ id, answer, owner }) ?? idempotency.put(id, answer, owner);
      }),
    async find() {
      const sealed = await idempotency.get(id);
      return sealed === undefined ? undefined : open(sealed);
    },
  };
}
