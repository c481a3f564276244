import type { LandedTransaction } from '../../solana/rpc/landed-transaction.js';
import type { SolanaRpc } from '../../solana/rpc/rpc.js';
import { associatedTokenAddress } from '../../solana/transaction/associated-token.js';
import { PROGRAMS } from '../../solana/transaction/programs.js';
import type { Ledger } from '../../storage/ledger/ledger.js';
import { readPayout } from '../payouts/past-payouts.js';
import { type SetupFinding, setupWarning } from '../setup/setup-finding.js';
import type { PaymentNeed } from '../setup/setup-target.js';

/** What comparing the chain with the books takes. */
export interface BooksParts {
  readonly rpc: Pick<SolanaRpc, 'getHistory' | 'getTransaction'>;
  /** Addresses, at least one; the first is offered. */
  readonly feePayers: readonly string[];
  readonly ledger: Pick<Ledger, 'find' | 'remembersSince'>;
}

const RECENT_MS = 3_600_000;
/** Of the newest; whoever settles elsewhere as well is found by one of them. */
const MAX_READ = 5;

/**
 * Whether a key of ours has lately settled what is not in the books: then others work with it whose books are not these, and a payment
 * that is shown to both could be served by both. Nothing on the chain tells who has sent it. Rejects with RpcError.
 */
export async function checkOtherBooks(
  { rpc, feePayers: [feePayer = ''], ledger }: BooksParts,
  needs: readonly PaymentNeed[],
): Promise<readonly SetupFinding[]> {
  // Books that forget say nothing by not knowing it.
  if (needs.length === 0 || ledger.remembersSince !== undefined) return [];
  const since = Date.now() - RECENT_MS;
  const recent = (await rpc.getHistory(feePayer)).filter((it) => !it.failed && (it.blockTime ?? 0) > since);
  for (const { signature } of recent.slice(0, MAX_READ)) {
    const landed = await rpc.getTransaction(signature, 'confirmed');
    const isOurs =
      landed?.accounts[0] === feePayer && needs.some((need) => isPaid(landed, need)) && !isPayout(landed, signature);
    if (!isOurs || (await ledger.find(landed.messageHash)) !== undefined) continue;
    return [elsewhere(feePayer, signature)];
  }
  return [];
}

/** Payouts have books of their own. */
function isPayout(landed: LandedTransaction, signature: string): boolean {
  const signers = landed.accounts.slice(0, landed.requiredSignatures);
  return signers.some((wallet) => readPayout(landed, signature, wallet) !== undefined);
}

function isPaid({ tokenAccounts }: LandedTransaction, { payTo, asset }: PaymentNeed): boolean {
  return [PROGRAMS.token, PROGRAMS.token2022].some((program) => {
    if (payTo === undefined) return false;
    const { before = 0n, after = 0n } = tokenAccounts.get(associatedTokenAddress(payTo, asset, program)) ?? {};
    return after > before;
  });
}

function elsewhere(feePayer: string, signature: string): SetupFinding {
  return setupWarning({
    code: 'payments_elsewhere',
    about: feePayer,
    detail: `the fee payer ${feePayer} has settled ${signature} within the last hour, which pays a wallet that is paid here and is not in the books: a payment that is shown to two services with books of their own can be served by both`,
    fix: 'give all services that share a fee payer and a payTo one database (DATABASE_URL), or each its own fee payer; where books were lost: npx tollhouse reconcile --book-lost',
  });
}
