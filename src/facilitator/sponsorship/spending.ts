import { type AccountDelegate, delegateOf, tokenAccountOf } from '../../solana/accounts/token-accounts.js';
import type { SimulationOutcome } from '../../solana/rpc/rpc.js';
import type { DecodedTransaction } from '../../solana/transaction/transaction.js';

/** What a transaction takes from one account of its payer. */
export interface TokenSpending {
  /** A token account, or a wallet whose SOL is spent; base58. */
  readonly account: string;
  readonly kind: 'token' | 'sol';
  /** The most that it takes, in atomic units or lamports. */
  readonly most: bigint;
  /** The least, as a token account that is there already need not be paid for. */
  readonly least: bigint;
}

/** More than any token account costs in the tokens that are known: 231 bytes of data. */
const MAX_ACCOUNT_RENT = 2_500_000n;

/** A payment is asked for its spending at every step. */
const known = new WeakMap<object, readonly TokenSpending[]>();

/** What a transaction takes from whom: one entry an account. */
export function spendingOf(transaction: Pick<DecodedTransaction, 'plain'>): readonly TokenSpending[] {
  const found = known.get(transaction);
  if (found !== undefined) return found;
  const read = readSpending(transaction);
  known.set(transaction, read);
  return read;
}

function readSpending({ plain }: Pick<DecodedTransaction, 'plain'>): readonly TokenSpending[] {
  const spending = new Map<string, TokenSpending>();
  const add = (account: string, kind: TokenSpending['kind'], most: bigint, least: bigint): void => {
    const before = spending.get(account) ?? { most: 0n, least: 0n };
    spending.set(account, { account, kind, most: before.most + most, least: before.least + least });
  };
  for (const it of plain) {
    if (it.kind === 'token-transfer') add(it.source, 'token', it.amount, it.amount);
    if (it.kind === 'sol-transfer') add(it.source, 'sol', it.lamports, it.lamports);
    if (it.kind === 'create-token-account') add(it.funder, 'sol', MAX_ACCOUNT_RENT, 0n);
  }
  return [...spending.values()];
}

/** What a delegate may take from an account. */
export interface Delegation extends AccountDelegate {
  readonly account: string;
}

const DELEGATE = 'delegate ';

/** Names a delegate apart from his wallet: anybody may name anybody his delegate. */
export function nameOfDelegate(delegate: string): string {
  return DELEGATE + delegate;
}

/** Names all wallets together that no key of their own commands: one signature may empty any number of them. */
export const UNKEYED = 'unkeyed wallets';

/** Whether a name is that of strangers to each other, and none of a wallet. */
export function isShared(name: string): boolean {
  return name === UNKEYED || name.startsWith(DELEGATE);
}

/** What a simulation shows of the accounts that a payment spends from. */
export interface FundsAfter {
  /** What is left in each; those that the node does not show are missing. */
  readonly left: ReadonlyMap<string, bigint>;
  /**
   * The wallets that own them, who need not be the one who signs: each may take the money away before the payment lands. {@link UNKEYED} in
   * the place of those.
   */
  readonly owners: readonly string[];
  /** Who else may take some of it away. */
  readonly delegates: readonly Delegation[];
}

/** Reads what a simulation shows of the accounts that are spent from, which it shows first. */
export function fundsAfter(
  spending: readonly TokenSpending[],
  { accounts = [] }: Pick<SimulationOutcome, 'accounts'>,
): FundsAfter {
  const left = new Map<string, bigint>();
  const owners: string[] = [];
  const delegates: Delegation[] = [];
  for (const [index, { account, kind }] of spending.entries()) {
    const state = accounts[index] ?? null;
    const [tokens, delegate] = [tokenAccountOf(state), delegateOf(state)];
    const amount = kind === 'sol' ? state?.lamports : tokens?.amount;
    if (amount !== undefined) left.set(account, amount);
    if (kind === 'sol') owners.push(account);
    else if (tokens !== undefined) owners.push(tokens.owner);
    if (delegate !== undefined) delegates.push({ account, ...delegate });
  }
  return { left, owners, delegates };
}
