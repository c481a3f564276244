import type { LandedPayout } from '../../storage/payouts/payout-store.js';
import type { PayoutPage } from '../payouts/past-payouts.js';
import type { PayoutSender } from '../payouts/payout-sender.js';

/** What the chain has of the refunds of a wallet. Rejects with `chain_unavailable`. */
export interface RefundHistory {
  /** @param before - `next` of the page before it. Default: the newest */
  page(before?: string): Promise<PayoutPage>;
  /** Those of some transactions that are refunds which the wallet has signed, in their order. */
  refundsAmong(signatures: readonly string[]): Promise<readonly LandedPayout[]>;
}

/** What the ids of refunds begin with. */
export const REFUND_PREFIX = 'rfd_';
const AT_ONCE = 8;
/** Many times what a page holds; some megabytes. */
const MOST_REMEMBERED = 20_000;

/**
 * Makes what reads the histories of wallets, by their addresses. Everybody can name a wallet and write the memo of a refund: a transaction
 * that is none is looked at once, whatever fails beside it and however often its page is read.
 */
export function createRefundHistories(sender: Pick<PayoutSender, 'past'>): (wallet: string) => RefundHistory {
  const histories = new Map<string, RefundHistory>();
  return (wallet) => {
    const history = histories.get(wallet) ?? createRefundHistory(sender, wallet);
    histories.set(wallet, history);
    return history;
  };
}

function createRefundHistory(sender: Pick<PayoutSender, 'past'>, wallet: string): RefundHistory {
  const past = sender.past(wallet, REFUND_PREFIX);
  const others = new Set<string>();

  async function look(signature: string): Promise<LandedPayout | undefined> {
    const landed = await past.landed(signature);
    if (landed !== undefined) return landed;
    const [oldest] = others;
    if (oldest !== undefined && others.size >= MOST_REMEMBERED) others.delete(oldest);
    others.add(signature);
    return undefined;
  }

  return {
    page: (before) => past.page(before),
    async refundsAmong(signatures) {
      const asked = signatures.filter((it) => !others.has(it));
      const found: LandedPayout[] = [];
      for (let at = 0; at < asked.length; at += AT_ONCE) {
        const looks = await Promise.allSettled(asked.slice(at, at + AT_ONCE).map(look));
        const failed = looks.find((it) => it.status === 'rejected');
        if (failed !== undefined) throw failed.reason;
        found.push(...looks.flatMap((it) => (it.status === 'fulfilled' ? (it.value ?? []) : [])));
      }
      return found;
    },
  };
}
