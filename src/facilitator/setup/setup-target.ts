import { shown } from '../../lib/parsed.js';
import { isAddress } from '../../protocol/address.js';
import { type AddressInput, addressText } from '../../protocol/address-input.js';
import { type AtomicPrice, type PriceInput, readPrice } from '../../protocol/money/money.js';
import type { NetworkId, Token } from '../../protocol/types.js';
import { type SetupFinding, setupError } from './setup-finding.js';

/** What a check of the set-up looks at beside the facilitator itself. */
export interface SetupTarget {
  /** Wallet that is to be paid, base58 or `PublicKey`, or several. Default: none is looked at. */
  readonly payTo?: AddressInput | readonly AddressInput[];
  /** What it is paid: the price of a route, or several. Default: the token that a price in dollars means. */
  readonly price?: PriceInput | readonly PriceInput[];
}

/** A token that is to be paid with, and who is to receive it. */
export interface PaymentNeed {
  /** Base58; missing where only the token is looked at. */
  readonly payTo?: string;
  /** Mint, base58. */
  readonly asset: string;
  /** Default: that of whoever looks. */
  readonly network?: NetworkId;
}

/** What there is to look at, and what is wrong with how it was said. */
export interface ReadTarget {
  readonly needs: readonly PaymentNeed[];
  readonly findings: readonly SetupFinding[];
}

/** Reads what somebody asks to have checked; what cannot be read is a finding. */
export function readTarget({ payTo = [], price }: SetupTarget, tokens: readonly Token[]): ReadTarget {
  const wallets = listOf(payTo).map((it) => addressText(it) ?? it);
  const prices = price === undefined ? undefined : listOf(price).map((it) => ({ it, read: readPrice(it, tokens) }));
  const dollars = tokens.find(({ symbol }) => symbol === 'USDC') ?? tokens[0];
  const usual = wallets.length === 0 || dollars === undefined ? [] : [dollars.mint];
  const assets = prices?.flatMap(({ read }) => (read.ok ? [read.value.asset] : [])) ?? usual;
  const unreadable = prices?.flatMap(({ it, read }) => (read.ok ? [] : [priceFinding(it, read.detail)])) ?? [];
  const good = wallets.filter((it): it is string => typeof it === 'string' && isAddress(it));
  const bad = wallets.filter((it) => typeof it !== 'string' || !isAddress(it)).map(walletFinding);
  const needs =
    good.length === 0
      ? assets.map((asset) => ({ asset }))
      : good.flatMap((wallet) => assets.map((asset) => ({ payTo: wallet, asset })));
  return { needs, findings: [...bad, ...unreadable] };
}

function listOf<T extends AddressInput | AtomicPrice>(value: T | readonly T[]): readonly T[] {
  return Array.isArray(value) ? value : [value as T];
}

function walletFinding(wallet: unknown): SetupFinding {
  return setupError({
    code: 'recipient_not_wallet',
    about: shown(wallet),
    detail: `payTo ${shown(wallet)} is no Solana address`,
    fix: 'set payTo to the address of your wallet, base58 of 32 bytes: solana address',
  });
}

function priceFinding(price: unknown, detail: string): SetupFinding {
  const about = typeof price === 'string' ? shown(price) : 'price';
  return setupError({ code: 'price_unreadable', about, detail, fix: 'write the price as the sentence says' });
}
