import { TollhouseError } from '../../errors/errors.js';

const MAX_STREAMS = 1_000;
const MAX_STREAMS_OF_WALLET = 10;
/** From half of all streams on, so that a few wallets leave room for the others. */
const WHEN_HALF_FULL = 2;
const RETRY_SECONDS = 10;

/** Counts open streams. */
export interface StreamRoom {
  /** Returns how to leave; throws `rate_limited` when there is no room for one more of this wallet, or of all. */
  enter(wallet: string): () => void;
}

/** Makes room for 1,000 streams, at most 10 of one wallet, and for new ones at most 2 while more than half are open. */
export function createStreamRoom(): StreamRoom {
  const open = new Map<string, number>();
  let all = 0;
  return {
    enter(wallet) {
      const own = open.get(wallet) ?? 0;
      const most = all < MAX_STREAMS / 2 ? MAX_STREAMS_OF_WALLET : WHEN_HALF_FULL;
      if (own >= most || all >= MAX_STREAMS) {
        const detail = `At most ${most} streams of a wallet, and ${MAX_STREAMS} in all, can be open at once now.`;
        throw new TollhouseError('rate_limited', detail, { retryAfterSeconds: RETRY_SECONDS });
      }
      open.set(wallet, own + 1);
      all += 1;
      return () => {
        const left = (open.get(wallet) ?? 1) - 1;
        if (left === 0) open.delete(wallet);
        else open.set(wallet, left);
        all -= 1;
      };
    },
  };
}
