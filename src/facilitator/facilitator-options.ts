import { z } from 'zod';
import { type AddressInput, addressOption } from '../protocol/address-input.js';
import { networkWanted } from '../protocol/networks/network-name.js';
import { NETWORK_IDS, type NetworkId, type Token } from '../protocol/types.js';
import type { KeypairInput } from '../solana/keypair.js';
import type { Counters } from '../storage/counters/counters.js';
import type { IdempotencyStore } from '../storage/idempotency/idempotency-store.js';
import type { Ledger } from '../storage/ledger/ledger.js';
import type { Storage } from '../storage/storage.js';
import { DEFAULT_LEASE_MS } from './payments/leases.js';
import { addressShareOption, paymentsInFlightOption } from './payments/payments-in-flight.js';
import { type RefundOptions, refundOptions } from './refunds/refund-options.js';

/** A token as it is configured: its addresses base58 or web3.js `PublicKey`. */
export interface TokenInput extends Omit<Token, 'mint' | 'program'> {
  readonly mint: AddressInput;
  readonly program: AddressInput;
}

/** Options of {@link createFacilitator}. */
export interface FacilitatorOptions {
  /** The cluster: `solana` (mainnet), `solana-devnet` or `solana-testnet`. */
  readonly network: NetworkId;
  /** HTTP address of the Solana RPC, or several in order of preference. Default: the cluster's public, rate-limited one. */
  readonly rpcUrl?: string | readonly string[] | undefined;
  /** WebSocket address of the RPC, on which confirmations are pushed. Default: none, statuses are polled. */
  readonly wsUrl?: string | undefined;
  /**
   * The key that pays network fees: web3.js `Keypair`, 64 bytes, base58, or the JSON text of a key file. With several,
   * the first is offered and the others keep serving what they were offered for. It signs for nothing but the fee.
   */
  readonly keypair: KeypairInput | readonly KeypairInput[];
  /**
   * The key of the wallet that is paid for projects with several recipients, and pays them out; in the same forms. With several,
   * the first is paid, and what was paid to the others before is paid out of them. None may pay fees as well; they sign nothing
   * but payouts. Default: none, and then there are no payouts.
   */
  readonly splitKeypair?: KeypairInput | readonly KeypairInput[] | undefined;
  /**
   * How what is left of payments is paid back on the chain, where you ask for that (`facilitator.refund`): the key of the wallet that pays,
   * and how much it may pay. Needs `storage`. Default: nothing is paid back, and payers are left with credit.
   */
  readonly refunds?: RefundOptions | undefined;
  /**
   * What `openStorage` answered: payments, responses that can be asked for again and fees are kept there, for all instances that
   * share it; what a dead process left is brought to an end, at once and every few seconds; and what is over is forgotten, what
   * was paid after 400 days. It is not closed with the facilitator. Default: each is kept in this process's memory.
   */
  readonly storage?: Storage | undefined;
  /** Told of what went wrong in the background with a `storage`; it is tried again. Default: nobody. */
  readonly onFault?: ((error: unknown) => void) | undefined;
  /** Where payments are remembered. Default: that of `storage`, or this process's memory, one for all its facilitators on the network. */
  readonly ledger?: Ledger | undefined;
  /**
   * Where responses are kept that can be asked for again: paid ones by their `payment-identifier`, those of the router by their
   * `Idempotency-Key`. Default: those of `storage`, or this process's memory, at most 64 MiB.
   */
  readonly idempotency?: IdempotencyStore | undefined;
  /**
   * Tokens that can be asked for by symbol, each symbol once. What the chain says of a mint goes before what stands here: where the
   * decimals or the program are others, gates answer 500 and no payment is taken. Default: the known ones of the network.
   */
  readonly tokens?: readonly TokenInput[] | undefined;
  /**
   * Token-2022 mints to take although they have a transfer hook, a permanent delegate or confidential transfers. One that keeps
   * a fee of its transfers is refused all the same: the seller would get less than the price. Default: none.
   */
  readonly allowMints?: readonly AddressInput[] | undefined;
  /** Highest network fee that a payment may cost the fee payer, in lamports. Default 30,000. */
  readonly maxFeeLamports?: bigint | undefined;
  /**
   * Most that is spent on network fees in an hour, in lamports, by all fee payers together; payouts count as well. What
   * would pass it is not signed: payments are answered 503 `fee_limit_reached` until the hour is over, and nothing is offered.
   * The hour begins with its first fee. No payer uses more than a fifth of it, no seller of the service, and not the public
   * settling for servers elsewhere; a fifth that is less than one fee lets one pass. All sellers and the public settling together use
   * three fifths at most, and the rest is for your own routes and payouts. With `storage`, operators set other shares for sellers; one of
   * more than 60 percent is beside those three fifths. Default 1,000,000,000 (1 SOL, some 100,000 payments).
   */
  readonly maxFeeLamportsPerHour?: bigint | number | undefined;
  /**
   * Where fees are counted, and payers whose transactions landed and failed: `counters` of `openStorage`, so that instances
   * which share a store keep one bound together; while it cannot be reached, each keeps the bound for itself. What is on its
   * way from a payer's account is known to each instance alone. Default: those of `storage`, or this process's memory, which a
   * restart clears.
   */
  readonly counters?: Counters | undefined;
  /**
   * Whether a 402 carries a recent blockhash, which saves the payer's client a call. Default true: while 402s are being
   * asked for, one call in eight seconds renews it for all of them.
   */
  readonly blockhashHints?: boolean | undefined;
  /** Longest wait for a settlement before the response is "pending", in milliseconds. Default 60,000. */
  readonly settleTimeoutMs?: number | undefined;
  /**
   * How long a payment stays this process's own after the process was last heard of, in milliseconds; then another instance,
   * or a request with the same payment, takes it over. Heart-beats extend it while the process lives, so it is no limit for
   * handlers. Clocks of instances that share a ledger may differ by a third of it. Default 30,000.
   */
  readonly leaseMs?: number | undefined;
  /** Longest wait for an RPC call, in milliseconds. Default 10,000. */
  readonly rpcTimeoutMs?: number | undefined;
  /**
   * How many payments may be under way at once in this process: those that are looked at, and from their claim on to their outcome, so
   * that of a route with `settle: 'after'` its handler counts as well. One more gets 503 `too_many_payments` at once, and
   * can be brought again; nothing is claimed or sent for it. While checks are late because many are under way there is room for
   * fewer, down to 50. One wallet has a fifth of the places at most. What may have been sent before,
   * is owed, or has landed finds a place always; what a pass covers needs none. `Infinity`: no bound. Default 500.
   */
  readonly maxPaymentsInFlight?: number | undefined;
  /**
   * What share of nine tenths of those one client address may have, of an IPv6 one its /56 network, as long as it is alone; beside others
   * it is less. Its /24, or its /48 and its /32, have wider shares, each half of what the one before leaves. One more gets 503
   * `too_many_payments`. The last tenth is for those whose networks have none under way, one for each. Behind a proxy that the app does
   * not trust (`trust proxy`), or for one server that pays for many, all come from one address: raise it there. 1: no bound, and no tenth
   * is kept. Default 0.5.
   */
  readonly maxAddressShare?: number | undefined;
  /**
   * Whether the set-up is looked at in the background once a gate is used: what `facilitator.check()` would find is told once,
   * as a warning with a code such as `TOLLHOUSE_FEE_PAYER_EMPTY`. Default true.
   */
  readonly check?: boolean | undefined;
  /** Clock, milliseconds since the epoch, by which payment requests expire. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

const address = addressOption('a Solana address (base58 or PublicKey)');
const http = z.url({ protocol: /^https?$/, error: 'an http(s) address' });

const token = z.strictObject({
  symbol: z.string().regex(/^[A-Z0-9]{1,12}$/, 'a symbol of capitals and digits'),
  mint: address,
  decimals: z.int().min(0).max(18),
  program: address,
});

/** A number of milliseconds that a timer can hold. */
export const milliseconds = z
  .int('a whole number of milliseconds')
  .min(1, 'at least 1 millisecond')
  .max(2_147_483_647, 'at most 2,147,483,647 milliseconds');

/** Schema of an option that names the cluster. */
export const networkOption = z.enum(NETWORK_IDS, { error: ({ input }) => networkWanted(input) });

/** Schema of an option that is a storage. */
export const storageOption = z
  .custom<Storage>((it) => typeof Reflect.get(Object(it), 'prune') === 'function', 'a storage, opened by openStorage')
  .optional();

/** Schema of an option that is a ledger. */
export const ledgerOption = z
  .custom<Ledger>(
    (it) => typeof Reflect.get(Object(it), 'claim') === 'function',
    'a ledger: "ledger" of what openStorage answers',
  )
  .optional();

/** Schema of an option that is a store of kept responses. */
export const idempotencyOption = z
  .custom<IdempotencyStore>(
    (it) => typeof Reflect.get(Object(it), 'begin') === 'function',
    'a store of kept responses: "idempotency" of what openStorage answers',
  )
  .optional();

/** Schema of an option that lists tokens. */
export const tokensOption = z
  .array(token)
  .superRefine((tokens, context) => {
    const seen = new Set<string>();
    for (const [at, { symbol }] of tokens.entries()) {
      const message = `a symbol that stands once: there are two tokens "${symbol}", and a price could mean either`;
      if (seen.has(symbol)) context.addIssue({ code: 'custom', path: [at, 'symbol'], message });
      seen.add(symbol);
    }
  })
  .readonly()
  .optional();

/** Schema of an option that says whether the set-up is looked at unasked. */
export const checkOption = z.boolean('true or false').default(true);

const MIN_FEES = 10_000n;

/** Schema of {@link FacilitatorOptions}; the defaults of the embedded facilitator stand here. */
export const facilitatorOptions = z.strictObject({
  network: networkOption,
  rpcUrl: z.union([http, z.array(http).min(1, 'an address')], 'an http(s) address, or a list of them').optional(),
  wsUrl: z.url({ protocol: /^wss?$/, error: 'a ws(s) address' }).optional(),
  keypair: z.custom<FacilitatorOptions['keypair']>(
    (it) => it !== undefined && it !== null,
    'the key that pays network fees',
  ),
  splitKeypair: z
    .custom<KeypairInput | readonly KeypairInput[]>(
      (it) => it !== undefined && it !== null,
      'the key of the split wallet',
    )
    .optional(),
  refunds: refundOptions,
  storage: storageOption,
  onFault: z.custom<(error: unknown) => void>((it) => typeof it === 'function', 'a function').default(() => () => {}),
  ledger: ledgerOption,
  idempotency: idempotencyOption,
  tokens: tokensOption,
  allowMints: z.array(address).readonly().default([]),
  maxFeeLamports: z
    .bigint('a number of lamports as bigint, such as 30_000n')
    .min(5_000n, 'at least 5,000 lamports, the base fee')
    .default(30_000n),
  maxFeeLamportsPerHour: z
    .union([z.bigint(), z.int()], 'a whole number of lamports, such as 1_000_000_000')
    .transform(BigInt)
    .refine((it) => it >= MIN_FEES, 'at least 10,000 lamports, which one payment costs')
    .refine((it) => it <= Number.MAX_SAFE_INTEGER, 'at most 9,007,199,254,740,991 lamports')
    .default(1_000_000_000n),
  counters: z
    .custom<Counters>(
      (it) => typeof Reflect.get(Object(it), 'increment') === 'function',
      'counters: "counters" of what openStorage answers',
    )
    .optional(),
  blockhashHints: z.boolean('true or false').default(true),
  settleTimeoutMs: milliseconds.default(60_000),
  leaseMs: milliseconds.default(DEFAULT_LEASE_MS),
  rpcTimeoutMs: milliseconds.default(10_000),
  maxPaymentsInFlight: paymentsInFlightOption,
  maxAddressShare: addressShareOption,
  check: checkOption,
  now: z
    .custom<() => number>((it) => typeof it === 'function', 'a function that answers the time')
    .default(() => Date.now),
});

/** Public RPC of each cluster; rate-limited, for trying things out. */
export const PUBLIC_RPC: Readonly<Record<NetworkId, string>> = {
  solana: 'https://api.mainnet-beta.solana.com',
  'solana-devnet': 'https://api.devnet.solana.com',
  'solana-testnet': 'https://api.testnet.solana.com',
};
