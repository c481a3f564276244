import { z } from 'zod';
import { badOption } from '../errors/errors.js';
import { resolveOptions } from '../lib/options.js';

/** The cluster the sandbox answers as. It decides the genesis hash and the mint addresses. */
export type SandboxNetwork = 'solana-devnet' | 'solana';

/** Options of {@link startSandbox}. All may be left out. */
export interface SandboxOptions {
  /** Port of the HTTP endpoint. Default 0: a free one. The WebSocket endpoint takes the next port where it is free. */
  readonly port?: number | undefined;
  /** Address to listen on. Default `127.0.0.1`. */
  readonly host?: string | undefined;
  /** Cluster to answer as. Default `solana-devnet`. */
  readonly network?: SandboxNetwork | undefined;
  /** Milliseconds per slot. Default 200. 0: slots advance only by `advanceSlots`. */
  readonly slotMs?: number | undefined;
  /** Slots until a transaction is `confirmed`. Default 2. */
  readonly confirmedAfterSlots?: number | undefined;
  /** Slots until a transaction is `finalized`. Default 32; not below `confirmedAfterSlots`. */
  readonly finalizedAfterSlots?: number | undefined;
  /**
   * Blocks a blockhash stays valid. Default 150, as on every cluster, or more where slots are quick: as many as a minute holds
   * (3,000 at 20 ms), so that what a wallet was given is not stale before it has signed.
   */
  readonly maxBlockhashAgeBlocks?: number | undefined;
  /**
   * Transactions kept, the oldest go first: what can be looked up, and what is refused as a duplicate. Default 100,000, at
   * about 4 KB each.
   */
  readonly historyLimit?: number | undefined;
}

/** Options with the defaults filled in. */
export type ResolvedOptions = { readonly [K in keyof SandboxOptions]-?: NonNullable<SandboxOptions[K]> };

const whole = (min: number, max: number) => {
  const text = `a whole number from ${min} to ${max}`;
  return z.int(text).min(min, text).max(max, text);
};

const CLUSTER_BLOCKHASH_AGE = 150;
const BLOCKHASH_LIFE_MS = 60_000;

/** Schema of {@link SandboxOptions}; the defaults stand here, but for the age of blockhashes, which depends on `slotMs`. */
const sandboxOptions = z.strictObject({
  port: whole(0, 65_535).default(0),
  host: z.string('an address to listen on').min(1, 'an address to listen on').default('127.0.0.1'),
  network: z.enum(['solana-devnet', 'solana'], '"solana-devnet" or "solana"').default('solana-devnet'),
  slotMs: whole(0, 60_000).default(200),
  confirmedAfterSlots: whole(0, 1_000).default(2),
  finalizedAfterSlots: whole(0, 1_000).default(32),
  maxBlockhashAgeBlocks: whole(1, BLOCKHASH_LIFE_MS).optional(),
  historyLimit: whole(1, 10_000_000).default(100_000),
});

/**
 * Fills in the defaults and checks every option.
 *
 * @throws TollhouseError `bad_option` with the fix in the message, for an unknown name or a value out of range
 */
export function resolveSandboxOptions(options?: SandboxOptions): ResolvedOptions {
  const resolved = resolveOptions('startSandbox', sandboxOptions, options);
  const { confirmedAfterSlots, finalizedAfterSlots, maxBlockhashAgeBlocks = blockhashAge(resolved.slotMs) } = resolved;
  if (finalizedAfterSlots < confirmedAfterSlots) {
    const detail = `"finalizedAfterSlots" (${finalizedAfterSlots}) must not be below "confirmedAfterSlots" (${confirmedAfterSlots})`;
    throw badOption('startSandbox', detail, 'finalizedAfterSlots');
  }
  return { ...resolved, maxBlockhashAgeBlocks };
}

function blockhashAge(slotMs: number): number {
  return slotMs === 0 ? CLUSTER_BLOCKHASH_AGE : Math.max(CLUSTER_BLOCKHASH_AGE, Math.ceil(BLOCKHASH_LIFE_MS / slotMs));
}
