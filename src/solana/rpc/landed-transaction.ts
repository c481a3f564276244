import bs58 from 'bs58';
import { z } from 'zod';
import { defined } from '../../lib/defined.js';
import type { Instruction } from '../transaction/instructions.js';
import { type DecodedTransaction, decodeTransaction } from '../transaction/transaction.js';
import { count, listOf, record, text } from './response-shape.js';
import { ResponseShapeError } from './response-shape-error.js';

/** What an account held before a transaction and after it. */
export interface Change {
  readonly before: bigint;
  readonly after: bigint;
}

/** What a token account held before a transaction that closed it, and opened it again for another mint. */
export interface FormerHolding {
  readonly mint: string;
  readonly owner: string | undefined;
  readonly decimals: number;
  readonly amount: bigint;
}

/** A token account that a transaction names, with its atomic amounts; 0 where there was, or is, no account of the mint. */
export interface TouchedTokenAccount extends Change {
  readonly mint: string;
  readonly decimals: number;
  /** Wallet that owned the account before; undefined where there was none, or the node does not tell, as old ones. */
  readonly ownerBefore: string | undefined;
  /** Wallet that owns it after; undefined where there is none any more, or the node does not tell. */
  readonly ownerAfter: string | undefined;
  /** Where another mint's account stood at the address. */
  readonly formerly?: FormerHolding;
}

/** A transaction as the chain remembers it. */
export interface LandedTransaction
  extends Pick<DecodedTransaction, 'messageHash' | 'blockhash' | 'requiredSignatures'> {
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
  /** Those of them that its signers have signed: without the inner ones. */
  readonly signedInstructions: readonly Instruction[];
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
  /** Its memos, each as `[length] text`, joined by `; `; null where it has none, missing where the node does not tell. */
  readonly memo?: string | null;
}

/** What is read of a response. By hand: it comes with every call that was paid, and a schema takes several times as long. */
interface Answer {
  readonly slot: number;
  readonly blockTime: number | undefined;
  readonly transaction: string;
  readonly err: unknown;
  readonly fee: number;
  readonly computeUnits: number;
  /** Accounts of lookup tables. */
  readonly loaded: readonly string[];
  readonly inner: readonly { readonly index: number; readonly instructions: readonly CompiledInstruction[] }[];
  readonly preBalances: readonly number[];
  readonly postBalances: readonly number[];
  readonly preTokenBalances: readonly TokenBalance[];
  readonly postTokenBalances: readonly TokenBalance[];
}

interface CompiledInstruction {
  readonly program: number;
  readonly accounts: readonly number[];
  readonly data: string;
}

interface TokenBalance {
  readonly account: number;
  readonly mint: string;
  readonly owner: string | undefined;
  readonly decimals: number;
  readonly amount: bigint;
}

const HIGHEST_INDEX = 255;
const AMOUNT = /^\d{1,20}$/;

function readResponse(result: unknown): Answer {
  const { slot, blockTime, transaction, meta } = record(result, 'transaction');
  const about = record(meta, 'meta');
  const { writable, readonly: readOnly } = record(about['loadedAddresses'] ?? {}, 'loadedAddresses');
  if (!Array.isArray(transaction) || transaction[1] !== 'base64')
    throw new ResponseShapeError('transaction is not base64');
  return {
    slot: count(slot, 'slot'),
    blockTime: blockTime === undefined || blockTime === null ? undefined : numberOf(blockTime, 'blockTime'),
    transaction: text(transaction[0], 'transaction'),
    err: about['err'] ?? null,
    fee: count(about['fee'], 'fee'),
    computeUnits: count(about['computeUnitsConsumed'] ?? 0, 'computeUnitsConsumed'),
    loaded: [...listOf(writable, 'writable', text), ...listOf(readOnly, 'readonly', text)],
    inner: listOf(about['innerInstructions'], 'innerInstructions', readInner),
    preBalances: balances(about['preBalances'], 'preBalances'),
    postBalances: balances(about['postBalances'], 'postBalances'),
    preTokenBalances: listOf(about['preTokenBalances'], 'preTokenBalances', readTokenBalance),
    postTokenBalances: listOf(about['postTokenBalances'], 'postTokenBalances', readTokenBalance),
  };
}

function readInner(entry: unknown, name: string) {
  const { index, instructions } = record(entry, name);
  return { index: indexOf(index, name), instructions: listOf(instructions, name, readCompiled) };
}

function readCompiled(entry: unknown, name: string): CompiledInstruction {
  const { programIdIndex, accounts, data } = record(entry, name);
  return { program: indexOf(programIdIndex, name), accounts: listOf(accounts, name, indexOf), data: text(data, name) };
}

function readTokenBalance(entry: unknown, name: string): TokenBalance {
  const { accountIndex, mint, owner, uiTokenAmount } = record(entry, name);
  const { decimals, amount } = record(uiTokenAmount, name);
  const digits = text(amount, name);
  if (!AMOUNT.test(digits)) throw new ResponseShapeError(`${name} has an amount that is none`);
  return {
    account: indexOf(accountIndex, name),
    mint: text(mint, name),
    owner: owner === undefined || owner === null ? undefined : text(owner, name),
    decimals: count(decimals, name),
    amount: BigInt(digits),
  };
}

function balances(value: unknown, name: string): readonly number[] {
  if (!Array.isArray(value)) throw new ResponseShapeError(`${name} is not a list`);
  return listOf(value, name, numberOf);
}

function indexOf(value: unknown, name: string): number {
  const index = count(value, name);
  if (index > HIGHEST_INDEX) throw new ResponseShapeError(`${name} has an index of more than ${HIGHEST_INDEX}`);
  return index;
}

function numberOf(value: unknown, name: string): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new ResponseShapeError(`${name} is not a number`);
}

/** Result of `getTransaction` in the encoding `base64`: only the bytes tell which payment it is. */
export function readLandedTransaction(result: unknown): LandedTransaction | null {
  if (result === null) return null;
  const answer = readResponse(result);
  const { slot, blockTime, transaction, err, fee, computeUnits, loaded } = answer;
  const decoded = decodeTransaction(Buffer.from(transaction, 'base64'), loaded);
  if (!decoded.ok) throw new ResponseShapeError(`transaction: ${decoded.detail}`);
  const { messageHash, blockhash, requiredSignatures, instructions } = decoded.transaction;
  const accounts = [...decoded.transaction.accounts, ...loaded];
  return {
    slot,
    blockTime: milliseconds(blockTime),
    messageHash,
    blockhash,
    requiredSignatures,
    err,
    feeLamports: BigInt(fee),
    computeUnits,
    accounts,
    instructions: withInner(instructions, answer, accounts),
    signedInstructions: instructions,
    lamports: lamports(answer, accounts),
    tokenAccounts: tokenAccounts(answer, accounts),
  };
}

const history = z.array(
  z.object({
    signature: z.string(),
    slot: z.int().min(0),
    err: z.unknown(),
    blockTime: z.number().nullish(),
    memo: z.string().nullish(),
  }),
);

/** Result of `getSignaturesForAddress`. */
export function readHistory(result: unknown): readonly HistoryEntry[] {
  const parsed = history.safeParse(result);
  if (!parsed.success) throw new ResponseShapeError('signatures are not a list');
  return parsed.data.map(({ signature, slot, err, blockTime, memo }) => ({
    signature,
    slot,
    failed: err !== null,
    blockTime: milliseconds(blockTime),
    ...defined({ memo }),
  }));
}

function milliseconds(seconds: number | null | undefined): number | undefined {
  return typeof seconds === 'number' ? seconds * 1000 : undefined;
}

function withInner(
  instructions: readonly Instruction[],
  { inner }: Answer,
  accounts: readonly string[],
): readonly Instruction[] {
  const made = new Map(inner.map((it) => [it.index, it.instructions]));
  return instructions.flatMap((it, position) => [
    it,
    ...(made.get(position) ?? []).map((compiled) => resolve(compiled, accounts)),
  ]);
}

/**
 * Characters of an inner instruction's data that are read: 512 bytes, more than anything that is looked at. Programs may pass
 * each other 10 KiB, and base58 takes the square of its length: ten seconds for what one transaction can hold.
 */
const LONGEST_DATA = 700;

/** Data that is not read is empty, which no instruction that did anything for a token account can be. */
function resolve({ program, accounts: indexes, data }: CompiledInstruction, accounts: readonly string[]): Instruction {
  return {
    program: accounts[program] ?? '',
    accounts: indexes.map((it) => accounts[it] ?? ''),
    data: (data.length <= LONGEST_DATA ? bs58.decodeUnsafe(data) : undefined) ?? new Uint8Array(),
  };
}

function lamports({ preBalances, postBalances }: Answer, accounts: readonly string[]): ReadonlyMap<string, Change> {
  const changes = new Map<string, Change>();
  for (const [position, account] of accounts.entries()) {
    const [before, after] = [preBalances[position], postBalances[position]];
    if (isExact(before) && isExact(after)) changes.set(account, { before: BigInt(before), after: BigInt(after) });
  }
  return changes;
}

function isExact(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function tokenAccounts(answer: Answer, accounts: readonly string[]): ReadonlyMap<string, TouchedTokenAccount> {
  const found = new Map<string, TouchedTokenAccount>();
  for (const { account, mint, owner, decimals, amount } of answer.preTokenBalances) {
    const gone = { after: 0n, ownerAfter: undefined };
    found.set(accounts[account] ?? '', { mint, decimals, before: amount, ownerBefore: owner, ...gone });
  }
  for (const balance of answer.postTokenBalances) {
    const address = accounts[balance.account] ?? '';
    found.set(address, { ...earlier(found.get(address), balance), after: balance.amount, ownerAfter: balance.owner });
  }
  return found;
}

/** What there was where a balance stands afterwards. */
function earlier(
  known: TouchedTokenAccount | undefined,
  { mint, decimals }: TokenBalance,
): Omit<TouchedTokenAccount, 'after' | 'ownerAfter'> {
  if (known?.mint === mint) return known;
  const opened = { mint, decimals, before: 0n, ownerBefore: undefined };
  if (known === undefined) return opened;
  const { before: amount, ownerBefore: owner } = known;
  return { ...opened, formerly: { mint: known.mint, decimals: known.decimals, owner, amount } };
}
