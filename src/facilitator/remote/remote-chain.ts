import { atMost } from '../../lib/work/at-most.js';
import { BLOCKHASH_LIFE, HEALTHY_LAG } from '../../solana/confirmation/expiry.js';
import { RpcError, type SolanaRpc } from '../../solana/rpc/rpc.js';
import type { InspectedPayment } from '../backend/backend.js';
import { createMessageSearch, type FoundByMessage, type MessageSearch } from './message-search.js';

/** What is known here of a payment that another facilitator was given. */
export interface GivenPayment {
  /** When it was claimed here, in milliseconds since the epoch: it had not landed long before. */
  readonly claimedAt: number;
  /** What the other facilitator said that its transaction is called. */
  readonly signature?: string;
  /** Height after which it can no longer land, from an earlier look-up. */
  readonly lastValidBlockHeight?: number;
}

/** What the chain says of it. `absent`: it may still land; `unknown`: the chain could not be asked to the end. */
export type ChainWord =
  | FoundByMessage
  | { readonly status: 'absent'; readonly lastValidBlockHeight: number }
  | { readonly status: 'expired' | 'unknown' };

/**
 * What the chain says of one that is too late by another's word. `never`: it has not landed, and will not; `unread`: there is more
 * than is read; `unknown`: the chain does not tell now, or is not as far yet.
 */
export type PastWord = FoundByMessage | { readonly status: 'never' | 'unread' | 'unknown' };

/** Asks the chain about payments whose transactions others have signed and sent. Never rejects for an outage. */
export interface RemoteChain {
  lookUp(inspected: InspectedPayment, given: GivenPayment): Promise<ChainWord>;
  /** Whether one has landed that is too late by another's word, and that nobody here has heard of. */
  landedBefore(inspected: InspectedPayment): Promise<PastWord>;
  close(): Promise<void>;
}

type ChainReader = Pick<SolanaRpc, 'getTip' | 'getHistory' | 'getTransaction' | 'simulateTransaction' | 'close'>;

/** So much may our clock and those of the validators differ. */
const CLOCKS_MS = 600_000;
const LOOK_UP = { maxPages: 5, maxReads: 200 };
/** Anybody can have this asked, for nothing. */
const LOOK_BACK = { since: 0, maxPages: 1, maxReads: 20 };
/** So many are under way or wait for their turn; whoever comes beyond that is told to come again, before that takes long for all. */
const MAX_ASKED = 16;

/** Makes what asks the chain. */
export function createRemoteChain(rpc: ChainReader): RemoteChain {
  const search = createMessageSearch(rpc);
  const inTurn = atMost(1);
  let asked = 0;
  return {
    lookUp: (inspected, given) => lookUp(rpc, search, inspected, given).catch(unknownInOutage),
    async landedBefore(inspected) {
      if (asked >= MAX_ASKED) return { status: 'unknown' };
      asked += 1;
      const look = inTurn([], () => lookBack(rpc, search, inspected).catch(unknownInOutage));
      return look.finally(() => {
        asked -= 1;
      });
    },
    close: () => rpc.close(),
  };
}

async function lookUp(
  rpc: ChainReader,
  search: MessageSearch,
  inspected: InspectedPayment,
  { signature, lastValidBlockHeight, claimedAt }: GivenPayment,
): Promise<ChainWord> {
  const named = signature === undefined ? undefined : await search.read(signature, inspected.transaction.messageHash);
  if (named !== undefined) return named === 'unread' ? { status: 'unknown' } : named;
  // Before the search, so that what is dead by then has landed before the search or never.
  const { blockHeight } = await rpc.getTip('confirmed');
  const found = await search.search(inspected, { since: claimedAt - CLOCKS_MS, ...LOOK_UP });
  if (found === undefined) return { status: 'unknown' };
  if (found !== null) return found;
  // The payer took the blockhash from a block that existed when it was claimed, which this node may not have seen yet.
  const last = lastValidBlockHeight ?? blockHeight + BLOCKHASH_LIFE + HEALTHY_LAG;
  // The node that was searched may lag behind the one that told the height.
  return blockHeight > last + HEALTHY_LAG ? { status: 'expired' } : { status: 'absent', lastValidBlockHeight: last };
}

async function lookBack(rpc: ChainReader, search: MessageSearch, inspected: InspectedPayment): Promise<PastWord> {
  // A node that still takes the blockhash may not have got the block yet in which the payment has landed.
  const { err } = await rpc.simulateTransaction(inspected.transaction.bytes, { commitment: 'confirmed' });
  if (err !== 'BlockhashNotFound' && err !== 'AlreadyProcessed') return { status: 'unknown' };
  const found = await search.search(inspected, LOOK_BACK);
  if (found === undefined) return { status: 'unread' };
  if (found !== null) return found;
  return { status: err === 'AlreadyProcessed' ? 'unknown' : 'never' };
}

function unknownInOutage(error: unknown): { readonly status: 'unknown' } {
  if (error instanceof RpcError) return { status: 'unknown' };
  throw error;
}
