import type { Keypair } from '@solana/web3.js';
import type { AddressInput } from '../protocol/address-input.js';
import type { Token } from '../protocol/types.js';
import type { PayLimits, ProofHeaders } from './buyer/buyer.js';
import type { RefusedResponse } from './buyer/refused-response.js';
import type { Faults } from './faults.js';
import type { CallCounts } from './rpc/calls.js';
import type { RuntimeAccount } from './runtime/runtime.js';
import type { SandboxNetwork } from './sandbox-options.js';
import type { CreatedMint, MintOptions } from './tokens/create-mint.js';

/**
 * What a new wallet holds, as decimal text by lower-case symbol: `{ sol: '1', usdc: '20.5' }`. `'0'` of a token gives it an
 * empty account to receive in, a token left out none.
 */
export type WalletFunds = { readonly [Symbol in 'sol' | 'usdc' | 'usdt' | 'pyusd' | 'usdg' | 'cash']?: string };

/**
 * A local Solana chain. Addresses are base58 text (or, where they are given, `PublicKey`s), lamports and token amounts are atomic `bigint`s. What is changed
 * through this object (not through a transaction) is final at once and counted nowhere.
 */
export interface Sandbox {
  /** HTTP endpoint of the JSON-RPC; accepts WebSocket upgrades too. */
  readonly rpcUrl: string;
  /** WebSocket endpoint; on the port after the HTTP one where that was free, which is where web3.js looks. */
  readonly wsUrl: string;
  readonly network: SandboxNetwork;
  /** USDC first, USDT, and the other known tokens, at their real addresses; some belong to Token-2022. */
  readonly tokens: readonly Token[];
  /** Wallets everybody knows (see {@link demoWallet}), each with 100 SOL and 10,000 of every token. */
  readonly demoWallets: readonly Keypair[];
  /** Pays for the sandbox's own chores; mint and freeze authority of every mint. A new one per sandbox. */
  readonly treasury: Keypair;
  /** JSON-RPC calls received so far, per method: `calls.sendTransaction`. WebSocket methods are not part of `total`. */
  readonly calls: CallCounts;
  /** Sets every counter of `calls` to 0. */
  resetCalls(): void;
  /** Faults on demand. */
  readonly faults: Faults;
  /** A new wallet holding what is asked for. */
  createWallet(funds?: WalletFunds): Promise<Keypair>;
  /**
   * A `fetch` that is a wallet, for tests of your routes: it signs in where the response offers that, then pays where it is still asked
   * to, and answers what comes of it. It pays the first terms that are not over `maxAmount`.
   * @throws TollhouseError `bad_option` where all terms are over it, or none is on this chain
   */
  fetchAs(wallet: Keypair, limits?: PayLimits): typeof fetch;
  /**
   * The headers that pay, to be sent with the same request again: `request(app).get(path).set(headers)`.
   * @param response - the 402 of supertest or `fetch`
   * @throws TollhouseError `bad_option` where it asks for no payment, or for none that this wallet may make
   */
  paymentHeaders(wallet: Keypair, response: RefusedResponse, limits?: PayLimits): ProofHeaders;
  /**
   * The headers that sign a wallet in, for one request.
   * @param response - the 401 or 402 of supertest or `fetch`
   * @throws TollhouseError `bad_option` where it offers no sign-in
   */
  signInHeaders(wallet: Keypair, response: RefusedResponse): ProofHeaders;
  /** Adds lamports to an address. */
  airdrop(address: AddressInput, lamports: bigint): void;
  /** Adds tokens to an owner's associated token account, created when missing, frozen or not; returns its address. */
  fundToken(owner: AddressInput, mint: AddressInput, amountAtomic: bigint): string;
  /** Creates a mint, with Token-2022 extensions where asked for. */
  createMint(options?: MintOptions): CreatedMint;
  /** Lamports of an address, by the newest state. */
  balance(address: AddressInput): bigint;
  /** Atomic amount in an owner's associated token account, by the newest state; 0 where there is none. */
  tokenBalance(owner: AddressInput, mint: AddressInput): bigint;
  /** An account, by the newest state; null where there is none. */
  account(address: AddressInput): RuntimeAccount | null;
  /** Writes an account as it is given, whether a transaction could have made it so or not. */
  setAccount(address: AddressInput, state: RuntimeAccount): void;
  /** The current slot. */
  slot(): number;
  /** Height of the current block; not the slot. */
  blockHeight(): number;
  /** Goes on by a number of slots at once. Default 1. */
  advanceSlots(count?: number): void;
  /** Goes on until every blockhash given out so far has expired. */
  expireBlockhashes(): void;
  /** Stops the ticking of slots. */
  pauseSlots(): void;
  /** Lets slots tick again. */
  resumeSlots(): void;
  /** Stops the chain and cuts every connection. */
  close(): Promise<void>;
}
