import type { ServerResponse } from 'node:http';
import { walletOwner } from '../../facilitator/backend/wallet-owner.js';
import type { Facilitator } from '../../facilitator/types.js';
import { type TryingOwner, tryAgain } from '../../lib/work/try-again.js';
import { warnOfLost } from '../idempotency/idempotent-request.js';
import { withoutExchangeHeaders } from '../response/response-recorder.js';
import { createSeal, type SealingSecrets, type StoredResponse } from '../response/response-seal.js';

/** The response of a payment, kept for the one who may come again. */
export interface PaidResponse {
  /** Keeps it without what is told anew, such as a token of a pass, encrypted with that one's secret; tells whether it is kept. Rejects with `store_unavailable`. */
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
  readonly isPaid: true;
}

/** Who a response is kept for, and by whom. */
export interface PaidResponseUse {
  /** Of the one who may come again. */
  readonly secret: string;
  /** What it is sealed with. Default: the secret. */
  readonly sealedWith?: SealingSecrets | undefined;
  /** The wallet whose share of the room it takes. Default: nobody's. */
  readonly payer?: string;
  /** Keeps it in the place of the store's `put`; undefined where it does not. Default: nobody does. */
  readonly keep?: ((kept: SealedResponse) => Promise<boolean> | undefined) | undefined;
}

/** Where the response of a payment is kept: in the facilitator's `idempotency`. */
export function paidResponse(
  { idempotency }: Pick<Facilitator, 'idempotency'>,
  paymentId: string,
  { secret, sealedWith, payer, keep }: PaidResponseUse,
): PaidResponse {
  const owner = payer === undefined ? undefined : walletOwner(payer);
  const { id, seal, open } = createSeal(`${SCOPE} ${paymentId}`, secret, sealedWith);
  return {
    async put(response) {
      const answer = seal(withoutExchangeHeaders(response));
      return keep?.({ id, answer, owner, isPaid: true }) ?? idempotency.put(id, answer, owner, true);
    },
    async find() {
      const sealed = await idempotency.get(id);
      return sealed === undefined ? undefined : open(sealed);
    },
  };
}

/** Keeps a response as it leaves, which does not wait for a store that is away. */
export interface LeavingResponse {
  /** Keeps it, now or as soon as that can be done; tells whether it is kept by now. */
  put(response: StoredResponse | undefined): Promise<boolean>;
  /** Waits for that. False where it neither can be had again nor has gone out whole: it is owed. */
  isSettled(): Promise<boolean>;
}

/** @param put - where it is kept; rejects while that cannot be done */
export function keepAsItLeaves(
  owner: TryingOwner,
  res: Pick<ServerResponse, 'writableFinished'>,
  put: LeavingResponse['put'],
): LeavingResponse {
  let isSettled = Promise.resolve(true);

  async function putLater(response: StoredResponse | undefined, first: unknown): Promise<boolean> {
    const failure = await tryAgain(owner, () => put(response), first);
    if (failure === undefined) return true;
    warnOfLost(failure);
    return res.writableFinished;
  }

  return {
    put: (response) =>
      put(response).catch((error: unknown) => {
        isSettled = putLater(response, error);
        return false;
      }),
    isSettled: () => isSettled,
  };
}
