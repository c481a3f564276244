import type { NetworkId } from '../../protocol/types.js';
import type { LandedTransaction } from '../../solana/rpc/landed-transaction.js';
import type { RefundReader } from '../../storage/books/refund-reader.js';
import type { HistoryParts } from './check-history.js';
import type { Finding } from './finding.js';
import { memosOf } from './paid-out.js';
import { readWallets, takenOutOf } from './wallet-history.js';
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
  /** The id that it says it has as a refund. Missing where it says none: the wallet's owner may have taken it. */
  readonly refundId?: string;
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
 * @param books - `known`: what is in them, as `keyOf` makes it
 * @returns what was found, by signature: what was booked meanwhile is to be taken out
 */
export async function readRefundWallets(
  parts: RefundWalletParts,
  books: { readonly since: number; readonly known: ReadonlySet<string> },
): Promise<ReadonlyMap<string, TakenRefund>> {
  const wallets = { own: parts.refundWallets, booked: await parts.refunds.wallets(parts.network) };
  return readWallets(parts, wallets, books, (wallet, signature) => takenBy(parts, wallet, signature));
}

async function takenBy(parts: RefundWalletParts, wallet: string, signature: string): Promise<TakenRefund | undefined> {
  const landed = await withRetry(() => parts.rpc.getTransaction(signature, 'confirmed'));
  const about = { kind: 'transaction', ids: [signature, wallet] } as const;
  if (landed === null) {
    const detail = 'names the refund wallet, and the chain cannot show it';
    return { finding: { ...about, detail, advice: TAKEN } };
  }
  const what = takenOutOf(landed, wallet);
  if (what === undefined) return undefined;
  const detail = `takes ${what} out of the refund wallet`;
  const id = namedRefund(landed, wallet);
  if (id === undefined) {
    return { finding: { ...about, detail: `${detail}, and names no refund`, advice: TAKEN } };
  }
  const booked = await parts.refunds.find(id);
  const ids = [signature, id, wallet];
  if (booked === undefined) {
    const finding = { ...about, ids, detail: `${detail} for a refund that the books do not know`, advice: UNKNOWN };
    return { finding, refundId: id };
  }
  const other = booked.signed === undefined ? 'without a transaction' : `with ${booked.signed.signature}`;
  const twice = `${detail} for a refund that is booked as ${booked.state} ${other}`;
  return { finding: { ...about, ids, detail: twice, advice: TWICE }, refundId: id };
}

/** Everybody can write any memo: it says something where the wallet has signed the transaction. */
function namedRefund(landed: LandedTransaction, wallet: string): string | undefined {
  if (!landed.accounts.slice(0, landed.requiredSignatures).includes(wallet)) return undefined;
  return memosOf(landed).find((it) => REFUND_ID.test(it));
}
