import type { Reason } from './reasons.js';

/** Every network, mainnet first. One more begins here: the compiler names every table that has no row for it. */
export const NETWORK_IDS = ['solana', 'solana-devnet', 'solana-testnet'] as const;

/** A Solana cluster by the name that x402 version 1 and the service contract use; `networks/` knows the other names. */
export type NetworkId = (typeof NETWORK_IDS)[number];

/** How far a transaction must have come before it counts as paid (Solana's commitment levels). */
export type Commitment = 'processed' | 'confirmed' | 'finalized';

/** A token that can be asked for by its symbol. */
export interface Token {
  /** Short name in capitals, as in a price text: `USDC`. `SOL` stands for wrapped SOL. */
  readonly symbol: string;
  /** Address of the mint, base58. */
  readonly mint: string;
  /** Decimal places of one unit. */
  readonly decimals: number;
  /** The token program that owns the mint, base58. */
  readonly program: string;
}

/** What must be paid: one entry of a 402's `accepts`, free of protocol versions. */
export interface Terms {
  /** Payment scheme: `exact` of x402, or `transfer`, our own, for payment requests and money that has landed already. */
  readonly scheme: string;
  readonly network: NetworkId;
  /** Mint of the token, base58. */
  readonly asset: string;
  /** Atomic units of the token. */
  readonly amount: bigint;
  /** Wallet that receives, base58 (not its token account). */
  readonly payTo: string;
  /** How long the payer may have to wait for the settlement, in seconds. */
  readonly maxTimeoutSeconds: number;
  /** The facilitator's key that pays the network fee, base58. Missing where the payer does, and where other facilitators leave it out. */
  readonly feePayer?: string;
  /** Memo that the transaction must carry, at most 256 bytes of UTF-8. */
  readonly memo?: string;
  /** What is bought, in words, where that is more than one request: a payment of other words is for another offer. */
  readonly buys?: string;
}

/** What a payer sent, whichever codec read it. */
export interface Payment {
  readonly scheme: string;
  readonly network: NetworkId;
  /** The signed transaction, decoded from base64. */
  readonly transaction: Uint8Array;
  /** The terms the payer says it accepted; protocol versions that do not echo them leave it out. */
  readonly accepted?: Terms;
  /**
   * The secret of the 402 that the terms were taken from, where the client echoed it. It is not on the chain: who shows it
   * again is the one who paid.
   */
  readonly nonce?: string;
  /** Extensions of the protocol, by name. */
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** A refusal: a reason of the protocol and a sentence for the payer. */
export interface Refusal {
  readonly reason: Reason;
  /** What was wrong and what to do. */
  readonly message: string;
  /** The payer's wallet, where it is known. */
  readonly payer?: string;
  /** Its transaction on the chain, base58, where it has landed: it may have paid before, or failed. */
  readonly signature?: string;
}

/** The response to "is this payment good?". */
export type Verification = { readonly ok: true; readonly payer: string } | ({ readonly ok: false } & Refusal);

/** A payment that has landed: the receipt. */
export interface Receipt {
  /** Signature of the transaction, base58. */
  readonly signature: string;
  readonly network: NetworkId;
  readonly payer: string;
  readonly payTo: string;
  readonly asset: string;
  /** Atomic units. */
  readonly amount: bigint;
  /** Slot it landed in; 0 where another facilitator settled, whose response does not say. */
  readonly slot: number;
}

/** How a payment ended. What failed unsent may be brought again; a pending one is without a signature where another facilitator did not tell it. */
export type Settlement =
  | { readonly status: 'settled'; readonly receipt: Receipt }
  | ({ readonly status: 'failed' } & Refusal)
  | { readonly status: 'pending'; readonly signature?: string; readonly payer: string };
