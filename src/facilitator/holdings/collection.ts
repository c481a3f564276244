import { withAmountJson } from '../../protocol/money/amount-json.js';
import type { LoadAccount } from '../../solana/accounts/account-batch.js';
import type { MintFacts, TokenAccount } from '../../solana/accounts/token-accounts.js';
import { associatedAmount } from './associated-amount.js';
import type { CollectionQuery, Holding } from './holding.js';
import type { FindOrigin } from './metadata-memory.js';
import type { FindMint } from './mint-memory.js';
import { tooManyAccounts, type WalletAccounts } from './wallet-accounts.js';

/** What {@link readCollection} asks. */
export interface CollectionParts {
  readonly accounts: WalletAccounts;
  readonly load: LoadAccount;
  readonly findMint: FindMint;
  readonly findOrigin: FindOrigin;
}

/** Above this many mints one look at all of a wallet's token accounts is cheaper than one at each associated account. */
const MAX_ASSOCIATED = 16;
const GROUP = 100;
/** So many of a wallet's mints are looked at one by one, in calls of a hundred; half a second of processor time. */
const MAX_LOOKED_AT = 1_000;

/**
 * How many NFTs of a collection a wallet holds: distinct mints of which it has at least one whole token, in all its accounts
 * together. Several tokens of one mint count once.
 */
export async function readCollection(query: CollectionQuery, parts: CollectionParts): Promise<Holding> {
  const { wallet, collection, atLeast, lookFurther } = query;
  let shown = 0n;
  if (atLeast !== undefined && 'mints' in collection && collection.mints.size <= MAX_ASSOCIATED) {
    const found = [...collection.mints].map(
      async (mint) => [mint, await associatedAmount(wallet, mint, parts)] as const,
    );
    const amounts = await Promise.all(found);
    shown = await wholeOnes(amounts, parts);
    if (shown >= atLeast) return withAmountJson({ amount: shown, exact: false });
  }
  const everywhere = () => inAllAccounts(query, parts);
  return lookFurther === undefined ? everywhere() : lookFurther(everywhere, shown);
}

async function inAllAccounts(query: CollectionQuery, parts: CollectionParts): Promise<Holding> {
  const { wallet, collection, atLeast } = query;
  const amounts = amountsOf(await parts.accounts.ofAll(wallet));
  const candidates = 'mints' in collection ? amounts.filter(([mint]) => collection.mints.has(mint)) : amounts;
  let amount = 0n;
  for (let from = 0; from < candidates.length; from += GROUP) {
    if (from >= MAX_LOOKED_AT) throw tooManyAccounts(wallet);
    const group = candidates.slice(from, from + GROUP);
    amount += await wholeOnes(await membersOf(group, query, parts), parts);
    if (atLeast !== undefined && amount >= atLeast) return withAmountJson({ amount, exact: false });
  }
  return withAmountJson({ amount, exact: true });
}

/** Atomic units of a mint that a wallet has. */
type MintAmount = readonly [mint: string, amount: bigint];

function amountsOf(accounts: readonly TokenAccount[]): readonly MintAmount[] {
  const amounts = new Map<string, bigint>();
  for (const { mint, amount } of accounts) if (amount > 0n) amounts.set(mint, (amounts.get(mint) ?? 0n) + amount);
  return [...amounts];
}

async function membersOf(
  group: readonly MintAmount[],
  { collection }: CollectionQuery,
  { findOrigin }: CollectionParts,
): Promise<readonly MintAmount[]> {
  if ('mints' in collection) return group;
  const origins = await Promise.all(group.map(([mint]) => findOrigin(mint)));
  return group.filter((_entry, at) => {
    const { creators = [], collection: of } = origins[at] ?? {};
    return 'creator' in collection ? creators.includes(collection.creator) : of === collection.address;
  });
}

/** Of how many mints there is at least one token that is whole: a fraction of one that has decimals is none. */
async function wholeOnes(amounts: readonly MintAmount[], { findMint }: CollectionParts): Promise<bigint> {
  const held = amounts.filter(([, amount]) => amount > 0n);
  const facts = await Promise.all(held.map(([mint]) => findMint(mint)));
  return BigInt(held.filter(([, amount], at) => isWhole(amount, facts[at])).length);
}

function isWhole(amount: bigint, facts: MintFacts | undefined): boolean {
  return facts !== undefined && amount >= 10n ** BigInt(facts.decimals);
}
