import bs58 from 'bs58';
import { z } from 'zod';
import { AnswerShapeError } from './answer-shape-error.js';
import type { Instruction } from './transaction.js';

/** What an account held before a transaction and after it. */
export interface Change {
  readonly before: bigint;
  readonly after: bigint;
}

/** A token account that a transaction names, with its atomic amounts; 0 where there was, or is, no account. */
export interface TouchedTokenAccount extends Change {
  readonly mint: string;
  /** Wallet that owns the account; old nodes do not tell. */
  readonly owner: string | undefined;
  readonly decimals: number;
}

/** A transaction as the chain remembers it. */
export interface LandedTransaction {
  readonly slot: number;
  /** Solana's TransactionError as JSON, or null. */
  readonly err: unknown;
  /** What it cost its fee payer, in lamports. */
  readonly feeLamports: bigint;
  readonly computeUnits: number;
  /** Every account it names, those of lookup tables included; the first is the fee payer. */
  readonly accounts: readonly string[];
  /** Its instructions and, each after the one that made them, the inner ones. */
  readonly instructions: readonly Instruction[];
  /** Lamports by address; without accounts of more than 9 million SOL, which JSON's numbers do not hold exactly. */
  readonly lamports: ReadonlyMap<string, Change>;
  /** Token accounts by address. */
  readonly tokenAccounts: ReadonlyMap<string, TouchedTokenAccount>;
}

const index = z.int().min(0).max(255);
const instruction = z.object({ programIdIndex: index, accounts: z.array(index), data: z.string() });
const tokenBalance = z.object({
  accountIndex: index,
  mint: z.string(),
  owner: z.string().nullish(),
  uiTokenAmount: z.object({ decimals: z.int(), amount: z.string().regex(/^\d{1,20}$/) }),
});

const answer = z.object({
  slot: z.int().min(0),
  transaction: z.object({
    message: z.object({ accountKeys: z.array(z.string()), instructions: z.array(instruction) }),
  }),
  meta: z.object({
    err: z.unknown(),
    fee: z.number().min(0),
    computeUnitsConsumed: z.number().min(0).nullish(),
    loadedAddresses: z.object({ writable: z.array(z.string()), readonly: z.array(z.string()) }).nullish(),
    innerInstructions: z.array(z.object({ index, instructions: z.array(instruction) })).nullish(),
    preBalances: z.array(z.number()),
    postBalances: z.array(z.number()),
    preTokenBalances: z.array(tokenBalance).nullish(),
    postTokenBalances: z.array(tokenBalance).nullish(),
  }),
});

type Answer = z.output<typeof answer>;

/** Result of `getTransaction` in the encoding `json`. */
export function readLandedTransaction(result: unknown): LandedTransaction | null {
  if (result === null) return null;
  const parsed = answer.safeParse(result);
  if (!parsed.success) throw new AnswerShapeError(`transaction: ${parsed.error.issues[0]?.path.join('.')}`);
  const { slot, transaction, meta } = parsed.data;
  const { writable = [], readonly: readOnly = [] } = meta.loadedAddresses ?? {};
  const accounts = [...transaction.message.accountKeys, ...writable, ...readOnly];
  return {
    slot,
    err: meta.err ?? null,
    feeLamports: BigInt(meta.fee),
    computeUnits: meta.computeUnitsConsumed ?? 0,
    accounts,
    instructions: flatten(parsed.data).map((it) => resolve(it, accounts)),
    lamports: lamports(meta, accounts),
    tokenAccounts: tokenAccounts(meta, accounts),
  };
}

/** Result of `getTransaction` in the encoding `base64`. */
export function readTransactionBytes(result: unknown): Uint8Array | null {
  if (result === null) return null;
  const parsed = z.object({ transaction: z.tuple([z.string(), z.literal('base64')]) }).safeParse(result);
  if (!parsed.success) throw new AnswerShapeError('transaction is not base64');
  return Buffer.from(parsed.data.transaction[0], 'base64');
}

/** Result of `getSignaturesForAddress`: those that succeeded. */
export function readSignatures(result: unknown): readonly string[] {
  const parsed = z.array(z.object({ signature: z.string(), err: z.unknown() })).safeParse(result);
  if (!parsed.success) throw new AnswerShapeError('signatures are not a list');
  return parsed.data.filter(({ err }) => (err ?? null) === null).map(({ signature }) => signature);
}

function flatten({ transaction, meta }: Answer): Answer['transaction']['message']['instructions'] {
  const inner = new Map((meta.innerInstructions ?? []).map((it) => [it.index, it.instructions]));
  return transaction.message.instructions.flatMap((it, position) => [it, ...(inner.get(position) ?? [])]);
}

function resolve(compiled: z.output<typeof instruction>, accounts: readonly string[]): Instruction {
  return {
    program: accounts[compiled.programIdIndex] ?? '',
    accounts: compiled.accounts.map((it) => accounts[it] ?? ''),
    data: bs58.decodeUnsafe(compiled.data) ?? new Uint8Array(),
  };
}

function lamports(
  { preBalances, postBalances }: Answer['meta'],
  accounts: readonly string[],
): ReadonlyMap<string, Change> {
  return new Map(
    accounts.flatMap((account, position): [string, Change][] => {
      const [before, after] = [preBalances[position], postBalances[position]];
      if (!Number.isSafeInteger(before) || !Number.isSafeInteger(after)) return [];
      return [[account, { before: BigInt(before ?? 0), after: BigInt(after ?? 0) }]];
    }),
  );
}

function tokenAccounts(meta: Answer['meta'], accounts: readonly string[]): ReadonlyMap<string, TouchedTokenAccount> {
  const found = new Map<string, TouchedTokenAccount>();
  const take = (balances: Answer['meta']['preTokenBalances'], change: (amount: bigint) => Partial<Change>): void => {
    for (const { accountIndex, mint, owner, uiTokenAmount } of balances ?? []) {
      const address = accounts[accountIndex] ?? '';
      const { before, after } = found.get(address) ?? { before: 0n, after: 0n };
      const { decimals, amount } = uiTokenAmount;
      found.set(address, { mint, owner: owner ?? undefined, decimals, before, after, ...change(BigInt(amount)) });
    }
  };
  take(meta.preTokenBalances, (before) => ({ before }));
  take(meta.postTokenBalances, (after) => ({ after }));
  return found;
}
