import { moneyOf, SOL_MINT } from '../../protocol/networks/tokens.js';
import type { LandedTransaction, TouchedTokenAccount } from '../rpc/landed-transaction.js';
import { readInstruction } from '../transaction/instructions.js';
import { NATIVE_SOL } from '../transaction/programs.js';

/** What a wallet holds more of an asset after a transaction than before it, or less. */
export interface Gain {
  /** Mint, base58; {@link NATIVE_SOL} for SOL. */
  readonly asset: string;
  readonly decimals: number;
  /** Base58. */
  readonly wallet: string;
  /** Atomic units, negative for what it holds less; never zero. */
  readonly gained: bigint;
}

const SOL_DECIMALS = 9;

/**
 * What a transaction changed, net, for each wallet and asset: whatever went around on the way, and by whatever instruction.
 *
 * - Tokens: the sum over the accounts that were the wallet's before and after. An account that the transaction opened or closed
 *   counts with nothing on that side. One whose owner it changed proves nothing to anybody: who had it has lost what was in it,
 *   and nobody gains. The same where the node does not tell an owner.
 * - SOL: the lamports at an address where no token account stands. The network fee is no part of it, so who paid it has not lost
 *   it here. Lamports of a token account (its rent) belong to nobody while it stands: rent leaves a wallet when the account is
 *   opened, and comes to one when it is closed.
 * - Wrapped SOL is the token that it is, by the amounts of its accounts: wrapping takes SOL and gives wrapped SOL.
 *
 * A transaction that failed moved nothing. Addresses of more than 9 million SOL are left out: what they hold is not told exactly.
 */
export function moneyMoved(landed: LandedTransaction): readonly Gain[] {
  if (landed.err !== null) return [];
  const sums = new Map<string, Gain>();
  for (const change of [...tokenChanges(landed), ...solChanges(landed)]) {
    const key = `${change.asset} ${change.wallet}`;
    sums.set(key, { ...change, gained: change.gained + (sums.get(key)?.gained ?? 0n) });
  }
  return [...sums.values()].filter(({ gained }) => gained !== 0n);
}

/** The same for one wallet and asset; undefined where it is not told exactly. */
export function gainedBy(landed: LandedTransaction, wallet: string, asset: string): bigint | undefined {
  if (landed.err !== null) return 0n;
  const isUntold = asset === NATIVE_SOL && landed.accounts.includes(wallet) && !landed.lamports.has(wallet);
  if (isUntold) return undefined;
  const found = moneyMoved(landed).find((it) => it.wallet === wallet && it.asset === asset);
  return found?.gained ?? 0n;
}

/** The same where SOL is one money, wrapped or not: what was given in the one form and taken back in the other is taken off. */
export function moneyGainedBy(landed: LandedTransaction, wallet: string, asset: string): bigint | undefined {
  const gained = gainedBy(landed, wallet, asset);
  if (gained === undefined || moneyOf(asset) !== SOL_MINT) return gained;
  const other = gainedBy(landed, wallet, asset === NATIVE_SOL ? SOL_MINT : NATIVE_SOL) ?? 0n;
  return other < 0n ? gained + other : gained;
}

/** The wallet whose a token account was before the transaction and after it, as far as there was one; undefined if there is none. */
export function keeperOf(landed: LandedTransaction, address: string): string | undefined {
  const account = landed.tokenAccounts.get(address);
  if (account === undefined || !isKept(account) || handedOver(landed).has(address)) return undefined;
  return account.ownerAfter ?? account.ownerBefore;
}

function isKept({ ownerBefore, ownerAfter, before, after }: TouchedTokenAccount): boolean {
  const isOpened = ownerBefore === undefined && before === 0n;
  const isClosed = ownerAfter === undefined && after === 0n;
  return isOpened || isClosed || ownerBefore === ownerAfter;
}

/** Accounts to which some instruction gave an owner, be it the same one again: what came before it was another's perhaps. */
function handedOver({ instructions }: LandedTransaction): ReadonlySet<string> {
  const changes = instructions.map(readInstruction).filter((it) => it.kind === 'owner-change');
  return new Set(changes.map(({ account }) => account));
}

function* tokenChanges(landed: LandedTransaction): Generator<Gain> {
  const handed = handedOver(landed);
  for (const [address, account] of landed.tokenAccounts) {
    const { mint: asset, decimals, ownerBefore, ownerAfter, before, after, formerly } = account;
    const wallet = ownerAfter ?? ownerBefore;
    if (formerly?.owner !== undefined) {
      yield { asset: formerly.mint, decimals: formerly.decimals, wallet: formerly.owner, gained: -formerly.amount };
    }
    if (wallet !== undefined && isKept(account) && !handed.has(address)) {
      yield { asset, decimals, wallet, gained: after - before };
    } else if (ownerBefore !== undefined) {
      const left = ownerBefore === ownerAfter ? after : 0n;
      yield { asset, decimals, wallet: ownerBefore, gained: left < before ? left - before : 0n };
    }
  }
}

function* solChanges({ lamports, tokenAccounts, accounts, feeLamports }: LandedTransaction): Generator<Gain> {
  for (const [wallet, change] of lamports) {
    const account = tokenAccounts.get(wallet);
    const wasToken = account !== undefined && (account.ownerBefore ?? account.formerly) !== undefined;
    const isToken = account?.ownerAfter !== undefined;
    const [before, after] = [wasToken ? 0n : change.before, isToken ? 0n : change.after];
    const fee = accounts[0] === wallet ? feeLamports : 0n;
    yield { asset: NATIVE_SOL, decimals: SOL_DECIMALS, wallet, gained: after - before + fee };
  }
}
