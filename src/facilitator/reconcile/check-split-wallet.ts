import { setTimeout as pause } from 'node:timers/promises';
import { isAddress } from '../../protocol/address.js';
import type { NetworkId } from '../../protocol/types.js';
import { tokenAccountOf } from '../../solana/accounts/token-accounts.js';
import { RpcError, type SolanaRpc } from '../../solana/rpc/rpc.js';
import type { OwedReader, SplitHolding } from '../../storage/books/owed-reader.js';
import type { PaymentReader } from '../../storage/books/payment-reader.js';
import { readPayout } from '../payouts/past-payouts.js';
import type { Finding, Findings } from './finding.js';
import { statesOf } from './paid-out.js';
import { readWallets, takenOutOf } from './wallet-history.js';
import { withRetry } from './with-retry.js';

/** What checking split wallets needs. */
export interface SplitCheckParts {
  readonly rpc: Pick<SolanaRpc, 'getSignatureStatuses' | 'getTransaction' | 'getHistory' | 'getTokenAccountsByOwner'>;
  readonly owed: Pick<OwedReader, 'holdings' | 'recipients'>;
  readonly reader: Pick<PaymentReader, 'payouts'>;
  readonly network: NetworkId;
  /** Split wallets that the service has the key of, base58; those of the books are looked at as well. */
  readonly splitWallets: readonly string[];
  /** Between two looks at what seems to be missing, in milliseconds. Default 1,000. */
  readonly betweenLooksMs?: number;
}

/** A payout may land between two looks; so often and so long it is looked again before money is called missing. */
const LOOKS = 3;
const BETWEEN_LOOKS_MS = 1_000;

const TAKEN = 'look who else has the key of the split wallet: what was taken is still owed to the recipients';
const RESTORED =
  'if a backup of the database was restored, these are payouts made since: npx tollhouse payouts resolve books them, and nobody is ' +
  'paid again before; otherwise look who else has the key of the split wallet';
const SHORT = 'look into the transactions of the wallet and into what is owed; until then hold payouts back';
const SURPLUS = 'nobody is owed it; whoever has sent it can be found in the history of the wallet';

/** Compares what every split wallet holds with what must be in it: a deficit is a difference, a surplus is told. */
export async function checkBalances(parts: SplitCheckParts, findings: Findings): Promise<void> {
  for (let look = 1; ; look += 1) {
    // The books first: what lands meanwhile is more on the chain, and nothing is missing.
    const holdings = await parts.owed.holdings(parts.network);
    const found = await Promise.all(holdings.map((it) => balanceOf(parts, it)));
    const underWay = found.some((it) => it?.isShort) ? await landedUnderWay(parts) : new Map<string, bigint>();
    const told = found.flatMap((it) => it?.tell(underWay) ?? []);
    const isShort = told.some(({ isShort: it }) => it);
    if (isShort && look < LOOKS) {
      await pause(parts.betweenLooksMs ?? BETWEEN_LOOKS_MS);
      continue;
    }
    for (const { isShort: it, ...finding } of told) it ? findings.differs(finding) : findings.notes(finding);
    return;
  }
}

/** What a wallet holds beside what it must hold, told once it is known what is on its way out. */
async function balanceOf({ rpc }: SplitCheckParts, { wallet, mint, amount }: SplitHolding) {
  const held = await withRetry(() => heldBy(rpc, wallet, mint));
  if (held === amount) return undefined;
  const tell = (underWay: ReadonlyMap<string, bigint>): readonly (Finding & { readonly isShort: boolean })[] => {
    const wanted = amount - (underWay.get(`${wallet} ${mint}`) ?? 0n);
    if (held === wanted) return [];
    const difference = held - wanted;
    const isShort = difference < 0n;
    const what = isShort ? `${-difference} are missing` : `${difference} are a surplus`;
    const detail = `${wanted} of ${mint} are owed and not paid, and the wallet holds ${held}: ${what}`;
    return [{ kind: 'balance', ids: [wallet, mint], detail, advice: isShort ? SHORT : SURPLUS, isShort }];
  };
  return { isShort: held < amount, tell };
}

async function heldBy(rpc: SplitCheckParts['rpc'], wallet: string, mint: string): Promise<bigint> {
  if (!isAddress(wallet) || !isAddress(mint)) return 0n;
  try {
    const accounts = await rpc.getTokenAccountsByOwner(wallet, { mint }, 'confirmed');
    return accounts.reduce((sum, it) => sum + (tokenAccountOf(it)?.amount ?? 0n), 0n);
  } catch (error) {
    // A mint or a wallet that there is not: a node says so by an error.
    if (error instanceof RpcError && error.failure === 'answer') return 0n;
    throw error;
  }
}

/** What payouts that are not over in the books have taken already, by wallet and mint. */
async function landedUnderWay(parts: SplitCheckParts): Promise<ReadonlyMap<string, bigint>> {
  const sums = new Map<string, bigint>();
  for await (const page of parts.reader.payouts()) {
    const sent = page.filter(({ state, network }) => state === 'broadcast' && network === parts.network);
    const states = await statesOf(parts, sent);
    for (const { id, wallet, mint, total } of sent) {
      const key = `${wallet} ${mint}`;
      if (states.get(id)?.err === null) sums.set(key, (sums.get(key) ?? 0n) + total);
    }
  }
  return sums;
}

/**
 * Reads what has gone out of the split wallets: every transaction that took something is in the books. Those that put
 * something in are seen in the balances.
 * @param books - `known`: what is in them, as `keyOf` makes it
 * @returns the findings, by signature: what was booked meanwhile is to be taken out
 */
export async function readSplitWallets(
  parts: SplitCheckParts,
  books: { readonly since: number; readonly known: ReadonlySet<string> },
): Promise<ReadonlyMap<string, Finding>> {
  const wallets = { own: parts.splitWallets, booked: await parts.owed.holdings(parts.network) };
  return readWallets(parts, wallets, books, (wallet, signature) => takenBy(parts, wallet, signature));
}

async function takenBy(
  { rpc, owed, network }: SplitCheckParts,
  wallet: string,
  signature: string,
): Promise<Finding | undefined> {
  const landed = await withRetry(() => rpc.getTransaction(signature, 'confirmed'));
  const about = { kind: 'transaction', ids: [signature, wallet], advice: TAKEN } as const;
  if (landed === null) return { ...about, detail: 'names the split wallet, and the chain cannot show it' };
  const what = takenOutOf(landed, wallet);
  if (what === undefined) return undefined;
  const detail = `takes ${what} out of the split wallet, and no payout explains it`;
  const payout = readPayout(landed, signature, wallet);
  const known = payout === undefined ? [] : await owed.recipients(network, wallet);
  if (payout === undefined || !payout.legs.some(({ recipient }) => known.includes(recipient)))
    return { ...about, detail };
  return {
    ...about,
    detail: `${detail}: it names the payout ${payout.id}, and pays recipients of splits`,
    advice: RESTORED,
  };
}
