import { badOption } from '../errors.js';

/** The cluster the sandbox answers as. It decides the genesis hash and the mint addresses. */
export type SandboxNetwork = 'solana-devnet' | 'solana';

/** Options of {@link startSandbox}. All may be left out. */
export interface SandboxOptions {
  /** Port of the HTTP endpoint. Default 0: a free one. The WebSocket endpoint takes the next port where it is free. */
  readonly port?: number;
  /** Address to listen on. Default `127.0.0.1`. */
  readonly host?: string;
  /** Cluster to answer as. Default `solana-devnet`. */
  readonly network?: SandboxNetwork;
  /** Milliseconds per slot. Default 200. 0: slots advance only by `advanceSlots`. */
  readonly slotMs?: number;
  /** Slots until a transaction is `confirmed`. Default 2. */
  readonly confirmedAfter?: number;
  /** Slots until a transaction is `finalized`. Default 32; not below `confirmedAfter`. */
  readonly finalizedAfter?: number;
  /** Blocks a blockhash stays valid. Default 150. */
  readonly maxBlockhashAge?: number;
  /**
   * Transactions kept, the oldest go first: what can be looked up, and what is refused as a duplicate. Default 100,000, at
   * about 4 KB each.
   */
  readonly historyLimit?: number;
}

/** Options with the defaults filled in. */
export type ResolvedOptions = Readonly<Required<SandboxOptions>>;

const DEFAULTS: ResolvedOptions = {
  port: 0,
  host: '127.0.0.1',
  network: 'solana-devnet',
  slotMs: 200,
  confirmedAfter: 2,
  finalizedAfter: 32,
  maxBlockhashAge: 150,
  historyLimit: 100_000,
};

type NumberOption = Exclude<keyof SandboxOptions, 'host' | 'network'>;

const RANGES: Readonly<Record<NumberOption, readonly [min: number, max: number]>> = {
  port: [0, 65_535],
  slotMs: [0, 60_000],
  confirmedAfter: [0, 1_000],
  finalizedAfter: [0, 1_000],
  maxBlockhashAge: [1, 10_000],
  historyLimit: [1, 10_000_000],
};

const NETWORKS: readonly string[] = ['solana-devnet', 'solana'];

/**
 * Fills in the defaults and checks every option.
 *
 * @throws TollhouseError `bad_option` with the fix in the message, for an unknown name or a value out of range
 */
export function resolveOptions(options: SandboxOptions = {}): ResolvedOptions {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw badOption('startSandbox', 'expects an object of options, or nothing');
  }
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(DEFAULTS, name));
  if (unknown !== undefined) {
    const names = Object.keys(DEFAULTS).join(', ');
    throw badOption('startSandbox', `unknown option "${unknown}"; the options are ${names}`, unknown);
  }
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const resolved: ResolvedOptions = { ...DEFAULTS, ...given };
  checkNumbers(resolved);
  checkTexts(resolved);
  return Object.freeze(resolved);
}

function checkNumbers(options: ResolvedOptions): void {
  for (const [name, [min, max]] of Object.entries(RANGES) as [NumberOption, readonly [number, number]][]) {
    const value: unknown = options[name];
    if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
      throw badOption('startSandbox', `"${name}" must be a whole number from ${min} to ${max}`, name);
    }
  }
  if (options.finalizedAfter < options.confirmedAfter) {
    const detail = `"finalizedAfter" (${options.finalizedAfter}) must not be below "confirmedAfter" (${options.confirmedAfter})`;
    throw badOption('startSandbox', detail, 'finalizedAfter');
  }
}

function checkTexts(options: ResolvedOptions): void {
  if (!NETWORKS.includes(options.network)) {
    throw badOption('startSandbox', `"network" must be ${NETWORKS.map((name) => `"${name}"`).join(' or ')}`, 'network');
  }
  if (typeof options.host !== 'string' || options.host === '') {
    throw badOption('startSandbox', '"host" must be an address to listen on, such as "127.0.0.1"', 'host');
  }
}
