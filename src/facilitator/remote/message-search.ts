import { boundedCache } from '../../lib/bounded-cache.js';
import type { HistoryEntry } from '../../solana/rpc/landed-transaction.js';
import { RpcError, type SolanaRpc } from '../../solana/rpc/rpc.js';
import { MAX_HISTORY_PER_CALL } from '../../solana/rpc/rpc-client.js';
import { PROGRAMS } from '../../solana/transaction/programs.js';
import type { InspectedPayment } from '../backend/backend.js';

/** A transaction that was found by its message. */
export interface FoundByMessage {
  readonly status: 'landed';
  readonly signature: string;
  readonly slot: number;
  readonly err: unknown;
}

/** How far a history is read. */
export interface SearchBounds {
  /** It landed no earlier, in milliseconds since the epoch. */
  readonly since: number;
  readonly maxPages: number;
  /** Transactions read for one look; the next one goes on where it ended. */
  readonly maxReads: number;
}

/** Finds transactions whose names nobody here knows. All of it rejects with RpcError. */
export interface MessageSearch {
  /** A transaction by its name, where it has landed with this message. */
  read(signature: string, messageHash: string): Promise<FoundByMessage | 'unread' | undefined>;
  /** By its message, in the history of the account that pays. Null when it is not there, undefined when not everything could be read. */
  search(inspected: InspectedPayment, bounds: SearchBounds): Promise<FoundByMessage | null | undefined>;
}

type ChainReader = Pick<SolanaRpc, 'getHistory' | 'getTransaction'>;

const REMEMBERED = 20_000;
/** A node's code for a transaction of a version that was not asked for. */
const OTHER_VERSION = -32_015;

/**
 * Makes the search. Who signs as fee payer names the transaction, so its name is not known here: it is looked for
 * among the latest transactions of the account that pays, by the message that the payer has signed.
 */
export function createMessageSearch(rpc: ChainReader): MessageSearch {
  /** Messages of transactions that have landed, by their signatures. */
  const messages = boundedCache<string, string>({ max: REMEMBERED });

  /** Undefined when it cannot be told. */
  async function isSame(signature: string, messageHash: string): Promise<boolean | undefined> {
    const known = messages.get(signature);
    if (known !== undefined && known !== messageHash) return false;
    const landed = await rpc.getTransaction(signature, 'confirmed').catch(otherVersion);
    if (landed === null) return undefined;
    messages.set(signature, landed.messageHash);
    return landed.messageHash === messageHash;
  }

  async function found(signature: string): Promise<FoundByMessage | undefined> {
    const landed = await rpc.getTransaction(signature, 'confirmed');
    return landed === null ? undefined : { status: 'landed', signature, slot: landed.slot, err: landed.err };
  }

  return {
    async read(signature, messageHash) {
      if ((await isSame(signature, messageHash)) !== true) return undefined;
      return (await found(signature)) ?? 'unread';
    },
    async search(inspected, { since, maxPages, maxReads }) {
      const { transaction, transfer, payer } = inspected;
      const mayBe = memoFilter(inspected);
      let reads = 0;
      let isWhole = true;
      let before: string | undefined;
      for (let page = 0; page < maxPages; page += 1) {
        const entries = await rpc.getHistory(transfer?.source ?? payer, before);
        for (const entry of entries) {
          const { signature, blockTime = since } = entry;
          if (blockTime < since) return isWhole ? null : undefined;
          if (!mayBe(entry)) continue;
          if (!messages.has(signature)) reads += 1;
          if (reads > maxReads) return undefined;
          const same = await isSame(signature, transaction.messageHash);
          if (same === true) return found(signature);
          if (same === undefined) isWhole = false;
        }
        if (entries.length < MAX_HISTORY_PER_CALL) return isWhole ? null : undefined;
        before = entries.at(-1)?.signature;
      }
      return undefined;
    },
  };
}

/** A payment's memo is random, and the list of a history tells the memos: nothing else has to be read. */
function memoFilter({ transaction }: InspectedPayment): (entry: HistoryEntry) => boolean {
  const memo = transaction.instructions.find(({ program }) => program === PROGRAMS.memo);
  if (memo === undefined) return () => true;
  const text = Buffer.from(memo.data).toString();
  return (entry) => entry.memo === undefined || (entry.memo?.includes(text) ?? false);
}

function otherVersion(error: unknown): { readonly messageHash: string } {
  if (error instanceof RpcError && error.details.code === OTHER_VERSION) return { messageHash: '' };
  throw error;
}
