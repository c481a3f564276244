import type { Finding } from '../../../src/facilitator/reconcile/finding.js';
import { type ReconcileParts, type Reconciliation, reconcile } from '../../../src/facilitator/reconcile/reconcile.js';
import type { Sandbox } from '../../../src/sandbox/start-sandbox.js';
import { createSolanaRpc } from '../../../src/solana/rpc/rpc-client.js';
import { createBookReaders } from '../../../src/storage/books/book-readers.js';
import type { Storage } from '../../../src/storage/storage.js';

/** Whose books are compared with a chain. */
export interface ReconciledFixture {
  readonly sandbox: Pick<Sandbox, 'rpcUrl' | 'network'>;
  /** Base58. */
  readonly feePayers: readonly string[];
  readonly splitWallets: readonly string[];
  readonly refundWallets?: readonly string[];
}

/** What `tollhouse reconcile` finds. */
export interface Reconciled extends Reconciliation {
  readonly found: readonly Finding[];
  readonly notes: readonly Finding[];
}

/** Compares books with the chain, as `tollhouse reconcile` does. */
export async function reconciled(
  { sandbox, feePayers, splitWallets, refundWallets = [] }: ReconciledFixture,
  { database, ledger }: Pick<Storage, 'database' | 'ledger'>,
  amounts = true,
  more: Partial<Pick<ReconcileParts, 'opensIn' | 'now'>> = {},
): Promise<Reconciled> {
  const rpc = createSolanaRpc({ urls: sandbox.rpcUrl });
  const found: Finding[] = [];
  const notes: Finding[] = [];
  const { network } = sandbox;
  const books = createBookReaders(database);
  const wallets = { feePayers, splitWallets, refundWallets };
  const parts = { rpc, ledger, ...books, network, amounts, ...wallets, betweenLooksMs: 50, now: Date.now };
  try {
    const counts = await reconcile({ ...parts, ...more }, undefined, {
      onOpen: () => undefined,
      onNote: (finding) => void notes.push(finding),
      onDifference: (finding) => void found.push(finding),
      onProgress: () => undefined,
    });
    return { ...counts, found, notes };
  } finally {
    await rpc.close();
  }
}
