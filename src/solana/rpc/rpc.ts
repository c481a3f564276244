import type { Commitment } from '../../protocol/types.js';
import type { HistoryEntry, LandedTransaction } from './landed-transaction.js';

/** An account as it is on the chain. */
export interface AccountState {
  readonly lamports: bigint;
  /** Program that owns it, base58. */
  readonly owner: string;
  readonly data: Uint8Array;
}

/** What a simulation is asked beside whether the transaction passes. */
export interface SimulationOptions {
  readonly commitment: Commitment;
  /** Accounts whose state after the transaction is wanted, base58; at most as many as the transaction names. */
  readonly accounts?: readonly string[];
  /** Whether to list which instructions called other programs. Default false. */
  readonly innerInstructions?: boolean;
  /** Whether the node is to take a recent blockhash instead of the transaction's own. Default false. */
  readonly replaceBlockhash?: boolean;
}

/** What a simulation told. */
export interface SimulationOutcome {
  /** Solana's TransactionError as JSON, or null when the transaction would succeed. */
  readonly err: unknown;
  readonly logs: readonly string[];
  /** Slot of the bank it ran in. */
  readonly slot: number;
  /**
   * The accounts after the transaction, in the order asked, null where there is none (and for all of them when it
   * fails); undefined where none were asked for or the node does not say.
   */
  readonly accounts?: readonly (AccountState | null)[] | undefined;
  /**
   * Positions of the instructions that called another program; undefined where that was not asked or the node does not
   * say, which is no proof of anything.
   */
  readonly innerInstructions?: readonly number[] | undefined;
}

/** Where a signature stands. */
export interface SignatureState {
  readonly slot: number;
  /** Solana's TransactionError as JSON, or null. */
  readonly err: unknown;
  readonly commitment: Commitment;
}

/** What a status look-up told: as of when, and each signature in the order asked, null where nothing is known. */
export interface SignatureStatuses {
  /** Newest slot the answering node had seen; a null says nothing about later ones. */
  readonly slot: number;
  readonly states: readonly (SignatureState | null)[];
}

/** How far the chain is: a slot and the number of blocks up to it. */
export interface ChainTip {
  readonly slot: number;
  readonly blockHeight: number;
}

/** A blockhash and how long it lives. */
export interface LatestBlockhash {
  readonly blockhash: string;
  readonly lastValidBlockHeight: number;
}

/**
 * The Solana JSON-RPC calls in use, and no others. Each call has a deadline and rejects with {@link RpcError};
 * none of them hangs. Transactions go in as bytes.
 */
export interface SolanaRpc {
  getLatestBlockhash(commitment: Commitment): Promise<LatestBlockhash>;
  /** Slot and height together, so that a later look-up can be told from one of a node that lags behind. */
  getTip(commitment: Commitment): Promise<ChainTip>;
  /**
   * Accounts in the order asked, null where there is none; at most 100.
   * @param headBytes - how much of each account's data is wanted, from its beginning. Where somebody else has chosen an address,
   *   an account may have 10 MiB. Default: all
   */
  getAccounts(
    addresses: readonly string[],
    commitment: Commitment,
    headBytes?: number,
  ): Promise<readonly (AccountState | null)[]>;
  /**
   * All token accounts of an owner, of one mint or of everything under one token program; of each its first 72 bytes: mint,
   * owner and amount. A mint that does not exist is an error of the node (`answer`). How many they are is the owner's choice, so a
   * node that takes too long is asked how it is (`getHealth`) before it counts as sick.
   * @param maxBytes - largest response that is read, some 335 bytes for each account; a larger one is `too_large`. Default: the client's
   */
  getTokenAccountsByOwner(
    owner: string,
    filter: TokenAccountFilter,
    commitment: Commitment,
    maxBytes?: number,
  ): Promise<readonly AccountState[]>;
  /** Runs the transaction without its signatures being checked and without effect. */
  simulateTransaction(transaction: Uint8Array, options: SimulationOptions): Promise<SimulationOutcome>;
  /** Hands the transaction to the cluster; safe to repeat with the same bytes. Returns the signature. */
  sendTransaction(transaction: Uint8Array, options: SendOptions): Promise<string>;
  /** Where the signatures stand; at most 256. Only `searchHistory` finds what is older than some 300 slots. */
  getSignatureStatuses(
    signatures: readonly string[],
    options?: { readonly searchHistory?: boolean },
  ): Promise<SignatureStatuses>;
  /** A transaction that has reached the commitment, null when there is none; `processed` is not enough for a node to tell. */
  getTransaction(signature: string, commitment: 'confirmed' | 'finalized'): Promise<LandedTransaction | null>;
  /** Transactions that name an address, whether they succeeded or not, newest first, at most 1,000 before one of them. */
  getHistory(address: string, before?: string): Promise<readonly HistoryEntry[]>;
  getGenesisHash(): Promise<string>;
  close(): Promise<void>;
  /**
   * Which of several nodes lag behind the best of them by more than some 10 s; they are asked after all others. Looked at every 10 s while they are in
   * use. Takes a second at most, never rejects. Missing where it is not known.
   */
  lagging?(): Promise<readonly LaggingNode[]>;
  /** The nodes behind it, one by one; missing where they are not known. */
  readonly nodes?: readonly SolanaNode[];
}

/** A node that is behind others. */
export interface LaggingNode {
  /** Host and port; never the path or the query, which hold keys. */
  readonly host: string;
  /** Behind the best of them. */
  readonly slotsBehind: number;
}

/**
 * One of the nodes that are asked, for itself: where all of them are to be heard, or one of them may have forgotten. There are
 * no second tries.
 */
export interface SolanaNode {
  /** Host and port, for messages. */
  readonly host: string;
  getTip: SolanaRpc['getTip'];
  getHistory: SolanaRpc['getHistory'];
  /** Where a signature stands, by the whole history that the node has, and the newest slot that it had seen. */
  findSignature(signature: string): Promise<{ readonly slot: number; readonly state: SignatureState | null }>;
  /** The first slot whose blocks the node still has: of what landed earlier it knows nothing. */
  getFirstAvailableSlot(): Promise<number>;
  getGenesisHash: SolanaRpc['getGenesisHash'];
  simulateTransaction: SolanaRpc['simulateTransaction'];
}

/** Which token accounts of an owner: those of a mint, or those under a token program. Addresses base58. */
export type TokenAccountFilter = { readonly mint: string } | { readonly programId: string };

/** How a transaction is handed over. */
export interface SendOptions {
  /** Skips the endpoint's own simulation. */
  readonly skipPreflight: boolean;
  readonly preflightCommitment: Commitment;
}

/**
 * How an RPC call went wrong. `answer` is a node's own refusal, a JSON-RPC error in reply to this call, and is final; the
 * others may pass. `unreachable`: no connection, or something before the node turned the request away (HTTP 4xx). `too_large`:
 * the node answers more than is read, and would again; it is about what was asked, and says nothing against the node.
 */
export type RpcFailure = 'unreachable' | 'timeout' | 'rate_limited' | 'bad_answer' | 'too_large' | 'answer' | 'closed';

/** What is known about a failed RPC call beside its kind. */
export interface RpcErrorDetails {
  /** JSON-RPC error code, for `answer`. */
  readonly code?: number;
  /** JSON-RPC error data, for `answer`. */
  readonly data?: unknown;
  /**
   * Whether the request, or an earlier try of the same call, may have reached a node and taken effect: every failure but
   * a node's own refusal and a request of which no byte has left. An HTTP status proves nothing: a gateway may give it
   * after it has passed the request on.
   */
  readonly mayHaveArrived?: boolean;
  /** How long the endpoint asked to be left alone, in milliseconds, for `rate_limited`. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** A failed RPC call. The message names the method and the endpoint's host, never its path or query (they hold keys). */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  constructor(
    readonly failure: RpcFailure,
    message: string,
    readonly details: RpcErrorDetails = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
  }
}
