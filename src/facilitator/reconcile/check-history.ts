import { type AccountCreation, accountCreation } from '../../solana/landed/landed-account-creation.js';
import type { HistoryEntry, LandedTransaction } from '../../solana/rpc/landed-transaction.js';
import type { SolanaRpc } from '../../solana/rpc/rpc.js';
import { MAX_HISTORY_PER_CALL } from '../../solana/rpc/rpc-client.js';
import { type Finding, keyOf } from './finding.js';
import { withRetry } from './with-retry.js';

/** What reading the history of addresses needs. */
export interface HistoryParts {
  readonly rpc: Pick<SolanaRpc, 'getTransaction' | 'getHistory'>;
}

/** What was found in the history of a fee payer. */
export interface FeePayerHistory {
  /** How many transactions there were since. */
  readonly transactions: number;
  /** Signatures of those that it has paid for, that succeeded, and that are not in the books. */
  readonly unknown: readonly string[];
  /** Those of them that made token accounts and did nothing else; not in `unknown`. */
  readonly creations: readonly AccountCreation[];
}

/** The history of an address since a time, milliseconds since the epoch, the newest first. */
export async function* historyOf(
  { rpc }: HistoryParts,
  address: string,
  since: number,
): AsyncGenerator<readonly HistoryEntry[]> {
  let before: string | undefined;
  for (;;) {
    const last = before;
    const page = await withRetry(() => rpc.getHistory(address, last));
    const fresh = page.filter(({ blockTime }) => blockTime === undefined || blockTime >= since);
    yield fresh;
    if (page.length < MAX_HISTORY_PER_CALL || fresh.length < page.length) return;
    before = page.at(-1)?.signature;
  }
}

/**
 * Reads what a fee payer has paid for.
 * @param known - what is in the books, as `keyOf` makes it
 * @param onRead - told how many more were read
 */
export async function readFeePayer(
  parts: HistoryParts,
  feePayer: string,
  { since, known }: { readonly since: number; readonly known: ReadonlySet<string> },
  onRead: (count: number) => void,
): Promise<FeePayerHistory> {
  const unknown: string[] = [];
  const creations: AccountCreation[] = [];
  let transactions = 0;
  for await (const page of historyOf(parts, feePayer, since)) {
    transactions += page.length;
    onRead(page.length);
    const strange = page.filter(({ signature, failed }) => !failed && !known.has(keyOf(signature)));
    for (const { signature } of strange) {
      const landed = await withRetry(() => parts.rpc.getTransaction(signature, 'confirmed'));
      // A key is also named where somebody sends it SOL: those do not belong into the books. Whatever else it has signed does.
      if (landed !== null && !isSignedBy(landed, feePayer)) continue;
      const made = landed === null ? undefined : accountCreation(landed);
      if (made === undefined) unknown.push(signature);
      else creations.push(made);
    }
  }
  return { transactions, unknown, creations };
}

function isSignedBy({ accounts, requiredSignatures }: LandedTransaction, key: string): boolean {
  return accounts.slice(0, requiredSignatures).includes(key);
}

/** That a fee payer has signed a transaction that the books do not know. */
export function unbooked(signature: string): Finding {
  return {
    kind: 'transaction',
    ids: [signature],
    detail: 'paid for by us, and not in the books',
    advice:
      'look who else has the key of the fee payer, or which entry was taken out of the books; after a backup was restored: ' +
      'npx tollhouse reconcile --book-lost',
  };
}

/** That a fee payer has made token accounts, as `tollhouse accounts create` does: in one, since what they sum to is what counts. */
export function accountsMade(feePayer: string, creations: readonly AccountCreation[]): Finding {
  const accounts = creations.reduce((sum, it) => sum + it.accounts, 0);
  const lamports = creations.reduce((sum, it) => sum + it.lamports, 0n);
  return {
    kind: 'transaction',
    ids: [feePayer],
    detail:
      `token accounts made: ${accounts}, by ${creations.length} of its transactions that are not in the books ` +
      `and do nothing else, for ${lamports} lamports of rent and fees`,
    advice: 'if it was not you, by tollhouse accounts create, look who else has the key of the fee payer',
  };
}
