import { TollhouseError } from '../../errors/errors.js';
import type { NetworkId } from '../../protocol/types.js';
import type { SolanaRpc } from '../../solana/rpc/rpc.js';
import type { PaymentRequestRecord } from '../../storage/ledger/payment-request.js';
import type { RequestLooks } from '../../storage/ledger/request-looks.js';
import { online } from '../backend/chain-landing.js';
import type { PaymentRequests } from './payment-request-types.js';

/** What looking after payment requests needs. */
export interface RequestLookParts extends Pick<PaymentRequests, 'paymentRequest'> {
  readonly network: NetworkId;
  readonly rpc: Pick<SolanaRpc, 'getHistory'>;
  readonly looks: RequestLooks;
}

/** So many calls of the chain at once, and so many requests in one go. */
const BATCH = 8;

/**
 * Makes the function that looks at payment requests whose time is over, although nobody asks for them: a wallet may have paid one by
 * itself, or something that does not pay it, and its seller is to hear of it. It costs one call of the chain where nothing came.
 */
export function createLookAfterRequests(parts: RequestLookParts): () => Promise<void> {
  const { network, rpc, looks, paymentRequest } = parts;

  /** @returns whether the chain could be asked; if not, it is tried again */
  async function look(request: PaymentRequestRecord): Promise<boolean> {
    try {
      const history = await online(rpc.getHistory(request.reference));
      if (history.length > 0) await paymentRequest(request.id);
    } catch (error) {
      if (error instanceof TollhouseError) return false;
      throw error;
    }
    await looks.looked(request);
    return true;
  }

  return async () => {
    for (;;) {
      const taken = await looks.take(network, BATCH);
      const looked = await Promise.all(taken.map(look));
      if (taken.length < BATCH || !looked.includes(true)) return;
    }
  };
}
