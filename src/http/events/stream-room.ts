import { TollhouseError } from '../../errors/errors.js';
import { ADDRESS_SHARE, createAddressShares } from '../../lib/work/address-shares.js';
import { createTally } from '../../lib/work/tally.js';

const MAX_STREAMS = 1_000;
const MAX_STREAMS_OF_WALLET = 10;
/** From half of all streams on, so that a few wallets leave room for the others. */
const WHEN_HALF_FULL = 2;
const RETRY_SECONDS = 10;

/** Counts open streams. */
export interface StreamRoom {
  /**
   * Takes a place, and returns how to leave.
   * @param client - what names the address, an IPv6 one by its network. Default: not known, and no address has a share
   * @throws TollhouseError `rate_limited` when there is no room for one more of this wallet, from its address or the networks around
   *   that, or of all
   */
  enter(wallet: string, client?: string): () => void;
}

/**
 * Makes room for 1,000 streams, at most 10 of one wallet, and for new ones at most 2 while more than half are open. An address and the
 * networks around it have shares, see `AddressShares`.
 */
export function createStreamRoom(): StreamRoom {
  const open = createTally();
  let all = 0;
  const shares = createAddressShares({ share: ADDRESS_SHARE, places: () => MAX_STREAMS, taken: () => all });
  return {
    enter(wallet, client) {
      const networks = shares.networksOf(client);
      const most = all < MAX_STREAMS / 2 ? MAX_STREAMS_OF_WALLET : WHEN_HALF_FULL;
      if (open.of(wallet) >= most || all >= MAX_STREAMS) {
        throw refusal(`At most ${most} streams of a wallet, and ${MAX_STREAMS} in all, can be open at once now.`);
      }
      if (shares.isFull(networks)) throw refusal(ADDRESS_FULL);
      const count = (by: 1 | -1) => {
        open.add(wallet, by);
        shares.count(networks, by);
        all += by;
      };
      count(1);
      return () => count(-1);
    },
  };
}

const ADDRESS_FULL = `As many streams as may be open at once now are open from this address or its network, whosever they are. Try again in ${RETRY_SECONDS} seconds, or when one of them has ended.`;

function refusal(detail: string): TollhouseError {
  return new TollhouseError('rate_limited', detail, { retryAfterSeconds: RETRY_SECONDS });
}
