import type { LoadedAddresses } from '../runtime/lookup-tables.js';
import type { Execution } from '../runtime/runtime.js';
import type { WireTransaction } from '../runtime/wire-transaction.js';

/** A token account's balance around a transaction. */
export interface TokenBalance {
  /** Index into the transaction's account keys. */
  readonly accountIndex: number;
  readonly mint: string;
  readonly owner: string;
  readonly programId: string;
  readonly amount: bigint;
  readonly decimals: number;
}

/** Balances of a transaction's accounts at one moment, in the order of its account keys. */
export interface Balances {
  readonly lamports: readonly bigint[];
  readonly tokens: readonly TokenBalance[];
}

/** A transaction that is part of the chain, successful or not. */
export interface LedgerEntry {
  readonly signature: string;
  readonly messageHash: string;
  readonly bytes: Uint8Array;
  readonly slot: number;
  readonly execution: Execution;
  readonly fee: bigint;
  /** Its memos as nodes list them, null where it has none. */
  readonly memo: string | null;
  /** All account keys: those of the message, then the loaded writable and read-only ones. */
  readonly keys: readonly string[];
  readonly loaded: LoadedAddresses;
  /** The keys whose accounts it changed. */
  readonly changed: readonly string[];
  readonly pre: Balances;
  readonly post: Balances;
}

/** The chain's transactions, oldest first, bounded in number. */
export interface BlockHistory {
  add(transaction: LedgerEntry): void;
  /** The transaction with this first signature. */
  find(signature: string): LedgerEntry | undefined;
  /** Whether this message is on the chain already, under whatever signatures. */
  has(transaction: WireTransaction): boolean;
  /** Transactions that name an address, newest first. */
  mentioning(address: string): Generator<LedgerEntry>;
  /** Number of transactions since the start. */
  count(): number;
}

/** Creates an empty ledger that forgets the oldest transaction when it holds `limit` of them. */
export function createLedger(limit: number): BlockHistory {
  const bySignature = new Map<string, LedgerEntry>();
  const messages = new Set<string>();
  let count = 0;

  return {
    add: (transaction) => {
      count += 1;
      bySignature.set(transaction.signature, transaction);
      messages.add(transaction.messageHash);
      for (const [signature, oldest] of bySignature) {
        if (bySignature.size <= limit) {
          break;
        }
        bySignature.delete(signature);
        messages.delete(oldest.messageHash);
      }
    },
    find: (signature) => bySignature.get(signature),
    has: ({ messageHash }) => messages.has(messageHash),
    *mentioning(address) {
      for (const transaction of [...bySignature.values()].reverse()) {
        if (transaction.keys.includes(address)) {
          yield transaction;
        }
      }
    },
    count: () => count,
  };
}
