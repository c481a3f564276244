import type { Commitment } from '../../protocol/types.js';

/** How the wait for a transaction ended. */
export type Landing =
  /**
   * It reached the commitment; `err` is null when it succeeded, else Solana's TransactionError.
   * `slot` is the slot it is in, or a slightly later one: a push names the newest slot of that commitment, and to ask
   * for the exact one would cost every payment an RPC call (`getTransaction` tells it).
   */
  | { readonly status: 'landed'; readonly slot: number; readonly err: unknown }
  /** Its blockhash is dead and it never landed: it never will. */
  | { readonly status: 'expired' }
  /** The caller's time is over and nothing final is known. */
  | { readonly status: 'unknown' }
  /**
   * A node's preflight refused it, and then the chain was looked at for a moment and did not know it. `err` is Solana's
   * TransactionError, undefined where the node did not say; `AlreadyProcessed` means that the chain does know it: it had landed
   * before it was sent here, or was passed on in spite of what was said.
   */
  | { readonly status: 'rejected'; readonly err: unknown; readonly logs: readonly string[] };

/** What to send and how long to wait for it. */
export interface Delivery {
  /** Fully signed transaction. */
  readonly transaction: Uint8Array;
  /** Its first signature, base58. */
  readonly signature: string;
  /** Its blockhash, base58. */
  readonly blockhash: string;
  readonly commitment: Commitment;
  /** Height after which it can no longer land; asked for when it is needed and not given. */
  readonly lastValidBlockHeight?: number;
  /** Whether the endpoint simulates it before forwarding. */
  readonly preflight: boolean;
  /** How long to wait before the response is `unknown`, in milliseconds. */
  readonly timeoutMs: number;
}

/** A transaction that was sent before, with or without its bytes. */
export type SentDelivery = Omit<Delivery, 'transaction' | 'preflight'> & Partial<Pick<Delivery, 'transaction'>>;

/** Sends transactions and learns what became of them. */
export interface TransactionDelivery {
  /**
   * Sends, rebroadcasts while it is not seen, and waits. Rejects with RpcError where no byte has left, or (`answer`) where a
   * node would not take it and the chain, looked at for a moment, did not know it, or could not be looked at. In doubt it counts as sent.
   */
  deliver(delivery: Delivery): Promise<Landing>;
  /**
   * Waits for a transaction that was sent before. The first look is at once and into the history. Only when the cluster then
   * does not know it, and its bytes are given, is it sent again: the first send may have been lost on its way.
   */
  watch(delivery: SentDelivery): Promise<Landing>;
  /** Ends the connection and all waiting, with `unknown`. */
  close(): Promise<void>;
}
