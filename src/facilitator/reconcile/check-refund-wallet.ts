import { isAddress } from '../../protocol/address.js';
import type { NetworkId } from '../../protocol/types.js';
import { moneyMoved } from '../../solana/landed/landed-money.js';
import type { LandedTransaction } from '../../solana/rpc/landed-transaction.js';
import { associatedTokenAddress } from '../../solana/transaction/associated-token.js';
import { NATIVE_SOL, PROGRAMS } from '../../solana/transaction/programs.js';
import type { RefundReader } from '../../storage/books/refund-reader.js';
import { type HistoryParts, historyOf } from './check-history.js';
import { type Finding, keyOf } from './finding.js';
import { memosOf } from './paid-out.js';
import { withRetry } from './with-retry.js';

/** What reading the history of refund wallets needs. */
export interface RefundWalletParts extends HistoryParts {
  readonly refunds: Pick<RefundReader, 'find' | 'wallets'>;
  readonly network: NetworkId;
  /** Refund wallets that the service has the key of, base58; those of the books are looked at as well. */
  readonly refundWallets: readonly string[];
}

/** What was taken out of a refund wallet, and is not in the books. */
export interface TakenRefund {
  readonly finding: Finding;
  /** Whether it is a refund, as far as it says; else the wallet's owner may have taken it. */
  readonly isRefund: boolean;
}

const REFUND_ID = /^rfd_[1-9A-HJ-NP-Za-km-z]{1,32}$/;
const TWICE =
  'the payer was paid by it: look whether he was paid by the other one too, and who else has the key of the refund wallet';
const UNKNOWN =
  'if a backup of the database was restored, it was made since: revoke the pass of its payer before what is left of it is used or paid ' +
  'back again; otherwise look who else has the key of the refund wallet';
const TAKEN = 'if it was not you, look who else has the key of the refund wallet';

/**
 * Reads what has gone out of the refund wallets, and is no refund of the books.
 * @param known - what is in the books, as `keyOf` makes it
 * @returns what was found, by signature: what was booked meanwhile is to be taken out
 */
export async function readRefundWallets(
  parts: RefundWalletParts,
  { since, known }: { readonly since: number; readonly known: ReadonlySet<string> },
): Promise<ReadonlyMap<string, TakenRefund>> {
  const found = new Map<string, TakenRefund>();
  for (const [wallet, addresses] of await addressesOf(parts)) {
    const looked = new Set<string>();
    for (const address of addresses) {
      for await (const page of historyOf(parts, address, since)) {
        const strange = page.filter(({ signature, failed }) => !failed && !known.has(keyOf(signature)));
        for (const { signature } of strange) {
          if (looked.has(signature)) continue;
          looked.add(signature);
          const taken = await takenBy(parts, wallet, signature);
          if (taken !== undefined) found.set(signature, taken);
        }
      }
    }
  }
  return found;
}

/** Addresses by wallet: the wallet itself, and its accounts for every token that it has paid. */
async function addressesOf({ refunds, network, refundWallets }: RefundWalletParts): Promise<Map<string, Set<string>>> {
  const addresses = new Map(refundWallets.map((wallet) => [wallet, new Set([wallet])]));
  for (const { wallet, mint } of await refunds.wallets(network)) {
    if (!isAddress(wallet) || !isAddress(mint)) continue;
    const all = addresses.get(wallet) ?? new Set([wallet]);
    addresses.set(wallet, all);
    for (const program of [PROGRAMS.token, PROGRAMS.token2022]) all.add(associatedTokenAddress(wallet, mint, program));
  }
  return addresses;
}

async function takenBy(parts: RefundWalletParts, wallet: string, signature: string): Promise<TakenRefund | undefined> {
  const landed = await withRetry(() => parts.rpc.getTransaction(signature, 'confirmed'));
  const about = { kind: 'transaction', ids: [signature, wallet] } as const;
  if (landed === null) {
    const detail = 'names the refund wallet, and the chain cannot show it';
    return { finding: { ...about, detail, advice: TAKEN }, isRefund: false };
  }
  const lost = moneyMoved(landed).filter((it) => it.wallet === wallet && it.gained < 0n);
  if (lost.length === 0) return undefined;
  const what = lost.map(({ gained, asset }) => `${-gained} of ${asset === NATIVE_SOL ? 'SOL' : asset}`).join(' and ');
  const detail = `takes ${what} out of the refund wallet`;
  const id = namedRefund(landed, wallet);
  if (id === undefined) {
    return { finding: { ...about, detail: `${detail}, and names no refund`, advice: TAKEN }, isRefund: false };
  }
  const booked = await parts.refunds.find(id);
  const ids = [signature, id, wallet];
  if (booked === undefined) {
    const finding = { ...about, ids, detail: `${detail} for a refund that the books do not know`, advice: UNKNOWN };
    return { finding, isRefund: true };
  }
  const other = booked.signed === undefined ? 'without a transaction' : `with ${booked.signed.signature}`;
  const twice = `${detail} for a refund that is booked as ${booked.state} ${other}`;
  return { finding: { ...about, ids, detail: twice, advice: TWICE }, isRefund: true };
}

/** Everybody can write any memo: it says something where the wallet has signed the transaction. */
function namedRefund(landed: LandedTransaction, wallet: string): string | undefined {
  if (!landed.accounts.slice(0, landed.requiredSignatures).includes(wallet)) return undefined;
  return memosOf(landed).find((it) => REFUND_ID.test(it));
}
