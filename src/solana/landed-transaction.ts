import bs58 from 'bs58';
import { z } from 'zod';
import { AnswerShapeError } from './answer-shape-error.js';
import { type DecodedTransaction, decodeTransaction, type Instruction } from './transaction.js';

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
export interface LandedTransaction extends Pick<DecodedTransaction, 'messageHash' | 'blockhash'> {
  readonly slot: number;
  /** When its block was made, in milliseconds since the epoch, to the second; old nodes do not tell. */
  readonly blockTime: number | undefined;
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

/** A transaction in the history of an address. */
export interface HistoryEntry {
  readonly signature: string;
  readonly slot: number;
  readonly failed: boolean;
  /** When its block was made, in milliseconds since the epoch, to the second; old nodes do not tell. */
  readonly blockTime: number | undefined;
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
  blockTime: z.number().nullish(),
  transaction: z.tuple([z.string(), z.literal('base64')]),
  meta: z.object({
    err: z.unknown(),
    fee: z.int().min(0),
    computeUnitsConsumed: z.int().min(0).nullish(),
    loadedAddresses: z.object({ writable: z.array(z.string()), readonly: z.array(z.string()) }).nullish(),
    innerInstructions: z.array(z.object({ index, instructions: z.array(instruction) })).nullish(),
    preBalances: z.array(z.number()),
    postBalances: z.array(z.number()),
    preTokenBalances: z.array(tokenBalance).nullish(),
    postTokenBalances: z.array(tokenBalance).nullish(),
  }),
});

type Answer = z.output<typeof answer>;

/** Result of `getTransaction` in the encoding `base64`: only the bytes tell which payment it is. */
export function readLandedTransaction(result: unknown): LandedTransaction | null {
  if (result === null) return null;
  const parsed = answer.safeParse(result);
  if (!parsed.success) throw new AnswerShapeError(`transaction: ${parsed.error.issues[0]?.path.join('.')}`);
  const { slot, blockTime, transaction, meta } = parsed.data;
  const { writable = [], readonly: readOnly = [] } = meta.loadedAddresses ?? {};
  const decoded = decodeTransaction(Buffer.from(transaction[0], 'base64'), [...writable, ...readOnly]);
  if (!decoded.ok) throw new AnswerShapeError(`transaction: ${decoded.detail}`);
  const { messageHash, blockhash, instructions } = decoded.transaction;
  const accounts = [...decoded.transaction.accounts, ...writable, ...readOnly];
  return {
    slot,
    blockTime: milliseconds(blockTime),
    messageHash,
    blockhash,
    err: meta.err ?? null,
    feeLamports: BigInt(meta.fee),
    computeUnits: meta.computeUnitsConsumed ?? 0,
    accounts,
    instructions: withInner(instructions, meta, accounts),
    lamports: lamports(meta, accounts),
    tokenAccounts: tokenAccounts(meta, accounts),
  };
}

const history = z.array(
  z.object({ signature: z.string(), slot: z.int().min(0), err: z.unknown(), blockTime: z.number().nullish() }),
);

/** Result of `getSignaturesForAddress`. */
export function readHistory(result: unknown): readonly HistoryEntry[] {
  const parsed = history.safeParse(result);
  if (!parsed.success) throw new AnswerShapeError('signatures are not a list');
  return parsed.data.map(({ signature, slot, err, blockTime }) => ({
    signature,
    slot,
    failed: (err ?? null) !== null,
    blockTime: milliseconds(blockTime),
  }));
}

function milliseconds(seconds: number | null | undefined): number | undefined {
  return typeof seconds === 'number' ? seconds * 1000 : undefined;
}

function withInner(
  instructions: readonly Instruction[],
  meta: Answer['meta'],
  accounts: readonly string[],
): readonly Instruction[] {
  const inner = new Map((meta.innerInstructions ?? []).map((it) => [it.index, it.instructions]));
  return instructions.flatMap((it, position) => [
    it,
    ...(inner.get(position) ?? []).map((compiled) => resolve(compiled, accounts)),
  ]);
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
