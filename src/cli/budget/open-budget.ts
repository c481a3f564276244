import { randomHex } from '../../lib/ids.js';
import type { NetworkId } from '../../protocol/types.js';
import { BLOCKHASH_LIFE, HEALTHY_LAG } from '../../solana/confirmation/expiry.js';
import type { SolanaRpc } from '../../solana/rpc/rpc.js';
import { decodeTransaction } from '../../solana/transaction/transaction.js';
import { CommandError } from '../command.js';
import type { WalletBudget } from './budget.js';
import { addSpend, spendsOf } from './budget-book.js';
import { clearDoubtful } from './clear-doubtful.js';
import { overBudget, type WantedSpend } from './over-budget.js';

/** A budget as a wallet uses it. */
export interface OpenBudget {
  /** Why a payment is more than is left, in a sentence; undefined where it is not. */
  refusalOf(wanted: WantedSpend): Promise<string | undefined>;
  /**
   * Takes a signed payment from the budget before it is sent, together with all others who pay from it at the same time.
   * @returns the id of the spend
   * @throws CommandError where that is more than is left
   */
  take(wanted: WantedSpend, transaction: Uint8Array): Promise<string>;
}

const ID_BYTES = 16;

/** Opens a budget for a wallet, whose spends are kept in the state folder. */
export function openBudget(
  budget: WalletBudget,
  { payer, network }: { readonly payer: string; readonly network: NetworkId },
  rpc: SolanaRpc,
): OpenBudget {
  const accountOf = ({ paidIn: { asset } }: WantedSpend) => ({ payer, network, asset });
  return {
    async refusalOf(wanted) {
      await clearDoubtful(accountOf(wanted), rpc);
      return overBudget(budget, wanted, spendsOf(accountOf(wanted)));
    },
    async take(wanted, transaction) {
      const decoded = decodeTransaction(transaction);
      if (!decoded.ok) throw new CommandError(`nothing was paid: ${decoded.detail}`);
      const { messageHash } = decoded.transaction;
      const { slot, blockHeight } = await rpc.getTip('confirmed');
      const id = randomHex(ID_BYTES);
      // Its blockhash is of a block that exists, be the node that was asked as far behind as a node may be, and so may the next one.
      const sent = { messageHash, slot, lastHeight: blockHeight + BLOCKHASH_LIFE + 2 * HEALTHY_LAG };
      const spend = { id, ...accountOf(wanted), at: Date.now(), amount: wanted.amount, sent };
      addSpend(spend, (spends) => {
        const refusal = overBudget(budget, wanted, spends);
        if (refusal !== undefined) throw new CommandError(`nothing was paid: ${refusal}`);
      });
      return id;
    },
  };
}
