import type { Commitment } from '../../protocol/types.js';
import { loadedAddresses } from '../runtime/lookup-tables.js';
import { memoOf } from '../runtime/memo.js';
import type { Execution, Runtime, RuntimeAccount } from '../runtime/runtime.js';
import { decodeMint, readTokenAccount } from '../runtime/token-layout.js';
import type { TransactionErr } from '../runtime/transaction-errors.js';
import { transactionFee } from '../runtime/transaction-fee.js';
import type { WireTransaction } from '../runtime/wire-transaction.js';
import type { AccountHistory } from './account-history.js';
import type { Blockhashes } from './blockhashes.js';
import type { Balances, BlockHistory, LedgerEntry, TokenBalance } from './ledger.js';
import type { Slots } from './slots.js';

/** What the bank works on. */
export interface BankParts {
  readonly runtime: Runtime;
  readonly slots: Slots;
  readonly blockhashes: Blockhashes;
  readonly ledger: BlockHistory;
  readonly accounts: AccountHistory;
}

/** Decides which transactions become part of the chain. */
export interface Bank {
  /**
   * Runs a transaction without a trace.
   *
   * @param transaction - its signatures are not looked at
   * @param commitment - the state whose blockhashes count; accounts are always the newest
   * @param anyBlockhash - skips the blockhash and duplicate checks
   */
  simulate(transaction: WireTransaction, commitment: Commitment, anyBlockhash?: boolean): Execution;
  /**
   * Takes a transaction into the current slot. One that is a duplicate, has expired or cannot pay its fee leaves no
   * trace, as on a real chain; one that fails while executing lands with its error and pays.
   *
   * @param transaction - its signatures have been checked
   */
  land(transaction: WireTransaction): LedgerEntry | null;
  /** Calls back with every transaction that lands. */
  onLanded(listener: (landed: LedgerEntry) => void): void;
}

/** Creates the bank of a chain. */
export function createBank(parts: BankParts): Bank {
  const { runtime, slots, blockhashes, ledger, accounts } = parts;
  const listeners: ((landed: LedgerEntry) => void)[] = [];

  const rejection = (transaction: WireTransaction, height: number): TransactionErr | null => {
    if (!blockhashes.isValid(transaction.parsed.message.recentBlockhash, height)) {
      return 'BlockhashNotFound';
    }
    return ledger.has(transaction) ? 'AlreadyProcessed' : null;
  };

  const land = (transaction: WireTransaction): LedgerEntry | null => {
    if (rejection(transaction, slots.height()) !== null) {
      return null;
    }
    const loaded = loadedAddresses(runtime, transaction.parsed.message);
    const keys = [...transaction.staticKeys, ...loaded.writable, ...loaded.readonly];
    const programs = new Set(transaction.parsed.message.compiledInstructions.map((item) => item.programIdIndex));
    const before = keys.map((key, index) => (programs.has(index) ? null : runtime.account(key)));
    const pre = balancesOf(runtime, keys, before);
    const execution = runtime.execute(transaction.bytes);
    const after = keys.map((key, index) => (programs.has(index) ? null : runtime.account(key)));
    const post = balancesOf(runtime, keys, after);
    if (execution.err !== null && post.lamports[0] === pre.lamports[0]) {
      return null;
    }
    const changed = keys.filter((_key, index) => !isSame(before[index] ?? null, after[index] ?? null));
    for (const key of changed) {
      accounts.changed(key, before[keys.indexOf(key)] ?? null);
    }
    const { signature, messageHash, bytes } = transaction;
    const { message } = transaction.parsed;
    const [fee, memo] = [transactionFee(message), memoOf(message)];
    return {
      signature,
      messageHash,
      bytes,
      slot: slots.slot(),
      execution,
      fee,
      memo,
      keys,
      loaded,
      changed,
      pre,
      post,
    };
  };

  return {
    simulate: (transaction, commitment, anyBlockhash = false) => {
      const err = anyBlockhash ? null : rejection(transaction, slots.height(commitment));
      return err === null ? runtime.simulate(transaction.bytes) : notExecuted(err);
    },
    land: (transaction) => {
      const landed = land(transaction);
      if (landed !== null) {
        ledger.add(landed);
        for (const listener of listeners) {
          listener(landed);
        }
      }
      return landed;
    },
    onLanded: (listener) => listeners.push(listener),
  };
}

function notExecuted(err: TransactionErr): Execution {
  return { err, logs: [], innerInstructions: [], unitsConsumed: 0n, returnData: null, postAccounts: new Map() };
}

function balancesOf(runtime: Runtime, keys: readonly string[], states: readonly (RuntimeAccount | null)[]): Balances {
  return {
    lamports: keys.map((key, index) => states[index]?.lamports ?? runtime.balance(key)),
    tokens: states.flatMap((state, index) => tokenBalance(runtime, state, index)),
  };
}

function tokenBalance(runtime: Runtime, state: RuntimeAccount | null, accountIndex: number): TokenBalance[] {
  const account = readTokenAccount(state);
  const mint = account === null ? null : decodeMint(runtime.account(account.mint));
  return state === null || account === null || mint === null
    ? []
    : [{ accountIndex, ...account, programId: state.owner, decimals: mint.decimals }];
}

function isSame(before: RuntimeAccount | null, after: RuntimeAccount | null): boolean {
  if (before === null || after === null) {
    return before === after;
  }
  return (
    before.lamports === after.lamports && before.owner === after.owner && Buffer.compare(before.data, after.data) === 0
  );
}
