import { TollhouseError } from '../../errors/errors.js';
import { defined } from '../../lib/defined.js';
import { isSignature } from '../../protocol/address.js';
import type { Leg } from '../../protocol/money/split.js';
import { keeperOf } from '../../solana/landed/landed-money.js';
import type { HistoryEntry, LandedTransaction } from '../../solana/rpc/landed-transaction.js';
import type { SolanaRpc } from '../../solana/rpc/rpc.js';
import { readInstruction } from '../../solana/transaction/instructions.js';
import type { LandedPayout } from '../../storage/payouts/payout-store.js';
import { asked } from '../backend/chain-landing.js';

/** A transaction in the history of a split wallet that may be a payout. */
export interface PayoutTrace {
  readonly signature: string;
  /** Id of the payout that its memo names; undefined where the node does not tell memos. */
  readonly id: string | undefined;
}

/** A page of the history of a split wallet, the newest first. */
export interface PayoutPage {
  /** What succeeded and may be a payout. */
  readonly traces: readonly PayoutTrace[];
  /** Slot of the newest transaction of the page; undefined for a page without any. */
  readonly newestSlot: number | undefined;
  readonly oldestSlot: number | undefined;
  /** When the oldest transaction of the page was made, milliseconds since the epoch; undefined where that is not told. */
  readonly oldestTime: number | undefined;
  /** Where the next page begins; undefined after the last one. */
  readonly next: string | undefined;
}

/** What the chain knows of payouts from a split wallet, whatever the books say. Rejects with `chain_unavailable`. */
export interface PastPayouts {
  /** @param before - `next` of the page before it. Default: the newest */
  page(before?: string): Promise<PayoutPage>;
  /** A payout of the history, as the wallet has signed it; undefined when the transaction is none. Rejects, too, where the node does not show it. */
  landed(signature: string): Promise<LandedPayout | undefined>;
}

const RETRY_SECONDS = 2;

/** What the id of a payout, or of a refund, begins with. */
export type PaidPrefix = 'pyo_' | 'rfd_';

interface IdForms {
  /** Nodes list memos as `[length] text`, several joined by `; `. */
  readonly listed: RegExp;
  readonly whole: RegExp;
}

const FORMS: Readonly<Record<PaidPrefix, IdForms>> = { pyo_: formsOf('pyo_'), rfd_: formsOf('rfd_') };

function formsOf(prefix: PaidPrefix): IdForms {
  const id = `${prefix}[1-9A-HJ-NP-Za-km-z]{1,32}`;
  return { listed: new RegExp(`(?:^|; )\\[\\d+\\] (${id})(?=$|; )`), whole: new RegExp(`^${id}$`) };
}

/**
 * Makes what reads the history of a split wallet (base58).
 * @param prefix - of refunds, that of a refund wallet. Default: of payouts
 */
export function createPastPayouts(
  rpc: Pick<SolanaRpc, 'getHistory' | 'getTransaction'>,
  wallet: string,
  prefix: PaidPrefix = 'pyo_',
): PastPayouts {
  return {
    async page(before) {
      const entries = await asked(rpc.getHistory(wallet, before));
      const oldest = entries.at(-1);
      return {
        traces: entries.flatMap((entry) => traceOf(entry, prefix)),
        newestSlot: entries[0]?.slot,
        oldestSlot: oldest?.slot,
        oldestTime: oldest?.blockTime,
        next: oldest?.signature,
      };
    },
    async landed(signature) {
      const landed = await asked(rpc.getTransaction(signature, 'confirmed'));
      // Its wallet's history tells of it: what a node does not show yet proves nothing.
      if (landed === null) throw notShown(signature);
      return readPayout(landed, signature, wallet, prefix);
    },
  };
}

/** A payout as its transaction shows it; undefined when the wallet has signed none by it. */
export function readPayout(
  landed: LandedTransaction,
  signature: string,
  wallet: string,
  prefix: PaidPrefix = 'pyo_',
): LandedPayout | undefined {
  const { accounts, requiredSignatures, err, slot, blockTime, blockhash } = landed;
  if (err !== null || !accounts.slice(0, requiredSignatures).includes(wallet)) return undefined;
  const instructions = landed.instructions.map(readInstruction);
  const memos = instructions.flatMap((it) => (it.kind === 'memo' ? [Buffer.from(it.data).toString()] : []));
  const id = memos.find((it) => FORMS[prefix].whole.test(it));
  const transfers = instructions.filter((it) => it.kind === 'token-transfer').filter((it) => it.authority === wallet);
  const mint = transfers[0]?.mint;
  if (id === undefined || mint === undefined) return undefined;
  const legs = new Map<string, bigint>();
  for (const { destination, amount } of transfers.filter((it) => it.mint === mint)) {
    const recipient = keeperOf(landed, destination) ?? destination;
    legs.set(recipient, (legs.get(recipient) ?? 0n) + amount);
  }
  const shares: readonly Leg[] = [...legs].map(([recipient, amount]) => ({ recipient, amount }));
  return {
    id,
    signature,
    wallet,
    mint,
    legs: shares,
    slot,
    blockhash,
    ...defined({ blockTime }),
  };
}

function notShown(signature: string): TollhouseError {
  const detail = `The node tells of the transaction ${signature}, and does not show it; nothing is paid before it is seen.`;
  return new TollhouseError('chain_unavailable', detail, { retryAfterSeconds: RETRY_SECONDS });
}

/** Everybody can name the wallet, and write any memo: it is looked at closely where the books do not know it. */
function traceOf({ signature, failed, memo }: HistoryEntry, prefix: PaidPrefix): readonly PayoutTrace[] {
  if (failed || memo === null || !isSignature(signature)) return [];
  if (memo === undefined) return [{ signature, id: undefined }];
  const id = FORMS[prefix].listed.exec(memo)?.[1];
  return id === undefined ? [] : [{ signature, id }];
}
