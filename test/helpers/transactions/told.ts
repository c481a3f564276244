import type { TransactionInstruction } from '@solana/web3.js';
import bs58 from 'bs58';
import { decodeTransaction } from '../../../src/solana/transaction/transaction.js';

/** A token account as a node tells of it, before a transaction and after it. */
export interface ToldTokens {
  readonly address: string;
  readonly mint: string;
  readonly owner?: string;
  /** Where another one owns it afterwards. */
  readonly laterOwner?: string;
  readonly decimals?: number;
  /** Undefined: there was no account, as nodes do not name it then. */
  readonly before?: bigint;
  readonly after?: bigint;
}

/** What a node tells of a transaction beside its bytes. */
export interface ToldOutcome {
  readonly err?: unknown;
  readonly fee?: number;
  /** Lamports before and after, by address; the others hold none. */
  readonly lamports?: Readonly<Record<string, readonly [number, number]>>;
  /** Those that the transaction names are told. */
  readonly tokens?: readonly ToldTokens[];
  /** Instructions that one of the transaction's made, by the position of that. They name accounts of the transaction. */
  readonly inner?: Readonly<Record<number, readonly TransactionInstruction[]>>;
}

/** The result of `getTransaction` for a transaction that has landed. */
export function toldOf(bytes: Uint8Array, outcome: ToldOutcome = {}): unknown {
  const decoded = decodeTransaction(bytes);
  if (!decoded.ok) throw new Error(decoded.detail);
  const { accounts } = decoded.transaction;
  const { err = null, fee = 5_000, lamports = {}, tokens = [], inner = {} } = outcome;
  const balances = (at: 0 | 1) => accounts.map((it) => lamports[it]?.[at] ?? 0);
  const tokenBalances = (when: 'before' | 'after') =>
    tokens.flatMap((it) => {
      const { [when]: amount, address, mint, decimals = 6 } = it;
      const owner = (when === 'after' ? it.laterOwner : undefined) ?? it.owner;
      const accountIndex = accounts.indexOf(address);
      if (amount === undefined || accountIndex === -1) return [];
      return [{ accountIndex, mint, owner, uiTokenAmount: { decimals, amount: `${amount}` } }];
    });
  return {
    slot: 7,
    blockTime: 1_700_000_000,
    transaction: [Buffer.from(bytes).toString('base64'), 'base64'],
    meta: {
      err,
      fee,
      computeUnitsConsumed: 450,
      preBalances: balances(0),
      postBalances: balances(1),
      preTokenBalances: tokenBalances('before'),
      postTokenBalances: tokenBalances('after'),
      innerInstructions: Object.entries(inner).map(([index, made]) => ({
        index: Number(index),
        instructions: made.map((it) => compiled(it, accounts)),
      })),
    },
  };
}

function compiled({ programId, keys, data }: TransactionInstruction, accounts: readonly string[]) {
  return {
    programIdIndex: accounts.indexOf(programId.toBase58()),
    accounts: keys.map(({ pubkey }) => accounts.indexOf(pubkey.toBase58())),
    data: bs58.encode(data),
  };
}
