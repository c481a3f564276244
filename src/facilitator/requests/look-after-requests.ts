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

/** So many requests in one go, a call of the chain each: asking for payments costs nothing, and the chain is there for those that are made. */
const BATCH = 4;

/**
 * Makes the function that looks at payment requests whose time is over, although nobody asks for them: a wallet may have paid one by
 * itself, or something that does not pay it, and its seller is to hear of it. It costs one call of the chain where nothing came.
 */
export function createLookAfterRequests(parts: RequestLookParts): () => Promise<void> {
  const { network, rpc, looks, paymentRequest } = parts;

  /** Where the chain cannot be asked it is tried again. */
  async function look(request: PaymentRequestRecord): Promise<void> {
    try {
      const history = await online(rpc.getHistory(request.reference));
      if (history.length > 0) await paymentRequest(request.id);
    } catch (error) {
      if (error instanceof TollhouseError) return;
      throw error;
    }
    await looks.looked(request);
  }

  return async () => {
    const taken = await looks.take(network, BATCH);
    await Promise.all(taken.map(look));
  };
}
