import { HEALTHY_LAG } from '../../solana/confirmation/expiry.js';
import type { SolanaRpc } from '../../solana/rpc/rpc.js';
import { giveSpendBack, type Spend, type SpendAccount, settleSpend, spendsOf } from './budget-book.js';

/** Nodes may forget what is older. */
const LOOKED_UP_FOR_MS = 86_400_000;
const MOST_TRANSACTIONS = 100;

/**
 * Gives those spends back of which no receipt has come, and which have charged nothing. That a seller has refused one is no proof: he has
 * the signed payment, and could still send it. So a spend counts until its transaction cannot land any more, and then the chain is
 * asked. What the chain does not tell stays counted.
 */
export async function clearDoubtful(account: SpendAccount, rpc: SolanaRpc): Promise<void> {
  const youngest = Date.now() - LOOKED_UP_FOR_MS;
  const doubtful = spendsOf(account).filter(({ sent, at }) => sent !== undefined && at > youngest);
  if (doubtful.length === 0) return;
  try {
    const { blockHeight } = await rpc.getTip('finalized');
    for (const { id, sent } of doubtful) {
      if (id === undefined || sent === undefined || blockHeight <= sent.lastHeight) continue;
      const landed = await hasLanded(account.payer, sent, rpc);
      if (landed === true) settleSpend(id);
      if (landed === false) giveSpendBack(id);
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.emitWarning(`payments without a receipt still count: ${reason}`, { code: 'TOLLHOUSE_BUDGET' });
  }
}

/** Whether a transaction that its payer has signed stands in his history; undefined where that is longer than is read. */
async function hasLanded(
  payer: string,
  { messageHash, slot }: NonNullable<Spend['sent']>,
  rpc: SolanaRpc,
): Promise<boolean | undefined> {
  const history = await rpc.getHistory(payer);
  const since = history.filter((it) => it.slot >= slot - HEALTHY_LAG);
  for (const { signature, failed } of since.slice(0, MOST_TRANSACTIONS)) {
    const landed = failed ? undefined : await rpc.getTransaction(signature, 'confirmed');
    if (landed === null) return undefined;
    if (landed?.messageHash === messageHash) return true;
  }
  return since.length > MOST_TRANSACTIONS ? undefined : false;
}
