import { isAddress } from '../../protocol/address.js';
import { moneyMoved } from '../../solana/landed/landed-money.js';
import type { LandedTransaction } from '../../solana/rpc/landed-transaction.js';
import { associatedTokenAddress } from '../../solana/transaction/associated-token.js';
import { NATIVE_SOL, PROGRAMS } from '../../solana/transaction/programs.js';
import { type HistoryParts, historyOf } from './check-history.js';
import { keyOf } from './finding.js';

/** Wallets of ours whose histories are read. */
export interface OurWallets {
  /** Those that the service has the key of, base58. */
  readonly own: readonly string[];
  /** Those of the books, base58, with a mint that each holds or has paid. */
  readonly booked: readonly { readonly wallet: string; readonly mint: string }[];
}

/**
 * Looks at every transaction of some wallets that is not in the books, once each.
 * @param known - what is in the books, as `keyOf` makes it
 * @param look - what is found in one; undefined for nothing
 * @returns what was found, by signature: what was booked meanwhile is to be taken out
 */
export async function readWallets<Found>(
  parts: HistoryParts,
  wallets: OurWallets,
  { since, known }: { readonly since: number; readonly known: ReadonlySet<string> },
  look: (wallet: string, signature: string) => Promise<Found | undefined>,
): Promise<ReadonlyMap<string, Found>> {
  const found = new Map<string, Found>();
  for (const [wallet, addresses] of addressesOf(wallets)) {
    const looked = new Set<string>();
    for (const address of addresses) {
      for await (const page of historyOf(parts, address, since)) {
        const strange = page.filter(({ signature, failed }) => !failed && !known.has(keyOf(signature)));
        for (const { signature } of strange) {
          if (looked.has(signature)) continue;
          looked.add(signature);
          const taken = await look(wallet, signature);
          if (taken !== undefined) found.set(signature, taken);
        }
      }
    }
  }
  return found;
}

/** Addresses by wallet: the wallet itself, and its accounts for every token of its. */
function addressesOf({ own, booked }: OurWallets): ReadonlyMap<string, ReadonlySet<string>> {
  const addresses = new Map(own.map((wallet) => [wallet, new Set([wallet])]));
  for (const { wallet, mint } of booked) {
    // What is no address holds nothing, and has no history.
    if (!isAddress(wallet) || !isAddress(mint)) continue;
    const all = addresses.get(wallet) ?? new Set([wallet]);
    addresses.set(wallet, all);
    for (const program of [PROGRAMS.token, PROGRAMS.token2022]) all.add(associatedTokenAddress(wallet, mint, program));
  }
  return addresses;
}

/** What a transaction has taken out of a wallet, in words; undefined where that is nothing. */
export function takenOutOf(landed: LandedTransaction, wallet: string): string | undefined {
  const lost = moneyMoved(landed).filter((it) => it.wallet === wallet && it.gained < 0n);
  if (lost.length === 0) return undefined;
  return lost.map(({ gained, asset }) => `${-gained} of ${asset === NATIVE_SOL ? 'SOL' : asset}`).join(' and ');
}
