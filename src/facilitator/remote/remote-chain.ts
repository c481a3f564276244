import { boundedCache } from '../../lib/bounded-cache.js';
import { BLOCKHASH_LIFE, HEALTHY_LAG } from '../../solana/confirmation/expiry.js';
import { RpcError, type SolanaRpc } from '../../solana/rpc/rpc.js';
import { MAX_HISTORY_PER_CALL } from '../../solana/rpc/rpc-client.js';
import type { InspectedPayment } from '../backend/backend.js';

/** What is known here of a payment that another facilitator was given. */
export interface GivenPayment {
  /** When it was claimed here, in milliseconds since the epoch: it had not landed long before. */
  readonly claimedAt: number;
  /** What the other facilitator said that its transaction is called. */
  readonly signature?: string;
  /** Height after which it can no longer land, from an earlier look-up. */
  readonly lastValidBlockHeight?: number;
}

/** What the chain says of it. `absent`: it may still land; `unknown`: the chain could not be asked to the end. */
export type ChainWord =
  | { readonly status: 'landed'; readonly signature: string; readonly slot: number; readonly err: unknown }
  | { readonly status: 'absent'; readonly lastValidBlockHeight: number }
  | { readonly status: 'expired' | 'unknown' };

/** Asks the chain about payments whose transactions others have signed and sent. */
export interface RemoteChain {
  /** Never rejects for an outage. */
  lookUp(inspected: InspectedPayment, given: GivenPayment): Promise<ChainWord>;
  close(): Promise<void>;
}

type Landed = Extract<ChainWord, { readonly status: 'landed' }>;
type ChainReader = Pick<SolanaRpc, 'getTip' | 'getHistory' | 'getTransaction' | 'close'>;

/** So much may our clock and those of the validators differ. */
const CLOCKS_MS = 600_000;
const MAX_PAGES = 5;
/** Transactions read for one look-up; the next one goes on where it ended. */
const MAX_READS = 200;
const REMEMBERED = 20_000;
/** A node's code for a transaction of a version that was not asked for. */
const OTHER_VERSION = -32_015;

/**
 * Makes what asks the chain. Who signs as fee payer names the transaction, so its name is not known here: it is looked for
 * among the latest transactions of the account that pays, by the message that the payer has signed.
 */
export function createRemoteChain(rpc: ChainReader): RemoteChain {
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

  async function read(signature: string): Promise<Landed | undefined> {
    const landed = await rpc.getTransaction(signature, 'confirmed');
    return landed === null ? undefined : { status: 'landed', signature, slot: landed.slot, err: landed.err };
  }

  /** Null when it is not there, undefined when not everything could be read. */
  async function search(inspected: InspectedPayment, { claimedAt }: GivenPayment): Promise<Landed | null | undefined> {
    const { transaction, transfer, payer } = inspected;
    let reads = 0;
    let isWhole = true;
    let before: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const entries = await rpc.getHistory(transfer?.source ?? payer, before);
      for (const { signature, blockTime = claimedAt } of entries) {
        if (blockTime < claimedAt - CLOCKS_MS) return isWhole ? null : undefined;
        if (!messages.has(signature)) reads += 1;
        if (reads > MAX_READS) return undefined;
        const same = await isSame(signature, transaction.messageHash);
        if (same === true) return read(signature);
        if (same === undefined) isWhole = false;
      }
      if (entries.length < MAX_HISTORY_PER_CALL) return isWhole ? null : undefined;
      before = entries.at(-1)?.signature;
    }
    return undefined;
  }

  async function lookUp(inspected: InspectedPayment, given: GivenPayment): Promise<ChainWord> {
    const { signature, lastValidBlockHeight } = given;
    if (signature !== undefined && (await isSame(signature, inspected.transaction.messageHash)) === true) {
      return (await read(signature)) ?? { status: 'unknown' };
    }
    // Before the search, so that what is dead by then has landed before the search or never.
    const { blockHeight } = await rpc.getTip('confirmed');
    const found = await search(inspected, given);
    if (found === undefined) return { status: 'unknown' };
    if (found !== null) return found;
    // The payer took the blockhash from a block that existed when it was claimed, which this node may not have seen yet.
    const last = lastValidBlockHeight ?? blockHeight + BLOCKHASH_LIFE + HEALTHY_LAG;
    // The node that was searched may lag behind the one that told the height.
    return blockHeight > last + HEALTHY_LAG ? { status: 'expired' } : { status: 'absent', lastValidBlockHeight: last };
  }

  return {
    lookUp: (inspected, given) => lookUp(inspected, given).catch(unknownInOutage),
    close: () => rpc.close(),
  };
}

function otherVersion(error: unknown): { readonly messageHash: string } {
  if (error instanceof RpcError && error.details.code === OTHER_VERSION) return { messageHash: '' };
  throw error;
}

function unknownInOutage(error: unknown): ChainWord {
  if (error instanceof RpcError) return { status: 'unknown' };
  throw error;
}
