import type { TollhouseError } from '../../errors/errors.js';
import type { MintFacts } from '../../solana/accounts/token-accounts.js';

export type { MintFacts } from '../../solana/accounts/token-accounts.js';

/**
 * Does the dear part of a look, a call of its own for one wallet, or answers for it, or refuses it by throwing: it is asked where a wallet
 * shows less than is wanted, as wallets do that cost nobody anything, or next to nothing.
 * @param shown - what the cheap part has found, in atomic units or NFTs; 0 where there was none
 */
export type LookFurther = (look: () => Promise<Holding>, shown: bigint) => Promise<Holding>;

/** What is asked about a wallet. */
export interface HoldingQuery {
  /** Base58. */
  readonly wallet: string;
  /**
   * One mint or several, base58; amounts of several are added up. The mint of wrapped SOL stands for SOL in both its forms:
   * lamports and wrapped.
   */
  readonly mints: readonly string[];
  /** Atomic units that are enough to know of. Default: the exact amount is wanted. */
  readonly atLeast?: bigint;
  /** Default: it is done. */
  readonly lookFurther?: LookFurther | undefined;
}

/**
 * A collection of NFTs, addresses base58: a list of mints, or what the metadata of a mint (Metaplex Token Metadata) says of it,
 * so far as it is verified: one of its creators, or the collection that it is of, named by the mint of the collection's NFT.
 */
export type Collection =
  | { readonly mints: ReadonlySet<string> }
  | { readonly creator: string }
  | { readonly address: string };

/** What is asked about a wallet and a collection. */
export interface CollectionQuery {
  /** Base58. */
  readonly wallet: string;
  readonly collection: Collection;
  /** How many NFTs are enough to know of. Default: the exact number is wanted. */
  readonly atLeast?: bigint;
  /** Default: it is done. */
  readonly lookFurther?: LookFurther | undefined;
}

/** What a wallet holds. */
export interface Holding {
  /** Atomic units; of a collection, the number of its NFTs. */
  readonly amount: bigint;
  /** False when the wallet may hold more: it was not asked further once `atLeast` was reached. */
  readonly exact: boolean;
}

/**
 * Reads from the chain what wallets hold. Rejects with `chain_unavailable` when the chain cannot be asked, with
 * `wallet_too_large` when a wallet has more token accounts than are looked at, and with `bad_option` when a token of the
 * facilitator's `tokens` is another on the chain.
 */
export interface HoldingsReader {
  /** Decimals and token program of a mint; undefined when the address is none. What is known of a mint is remembered. */
  readMint(mint: string): Promise<MintFacts | undefined>;
  /**
   * What the chain has said against a token of `tokens`: other decimals, another program. Where it was not asked yet it is asked in
   * the background, and undefined is the answer meanwhile. Missing where nobody reads the chain.
   */
  declaredFault?(mint: string): TollhouseError | undefined;
  /**
   * What a wallet holds now, over all its token accounts; nothing is cached but that a wallet is too large. Reads at the same
   * time are batched, a hundred accounts a call. A wallet's associated accounts are looked at first, and all others only where
   * those do not decide.
   */
  readHolding(query: HoldingQuery): Promise<Holding>;
  /**
   * How many NFTs of a collection a wallet holds now: distinct mints of which it has at least one whole token. What metadata
   * says is remembered for an hour.
   */
  readCollection(query: CollectionQuery): Promise<Holding>;
}
