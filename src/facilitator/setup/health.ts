import { TollhouseError } from '../../errors/errors.js';
import { defined } from '../../lib/defined.js';
import { withTimeout } from '../../lib/work/with-timeout.js';
import { withAmountJson } from '../../protocol/money/amount-json.js';
import { GENESIS_HASHES } from '../../protocol/networks/networks.js';
import type { NetworkId } from '../../protocol/types.js';
import { CLOCK_SYSVAR, chainTimeOf } from '../../solana/accounts/chain-time.js';
import { LEAST_LAMPORTS } from '../../solana/accounts/least-lamports.js';
import type { LaggingNode, SolanaRpc } from '../../solana/rpc/rpc.js';
import type { Ledger } from '../../storage/ledger/ledger.js';
import type { Storage, StoreState } from '../../storage/storage.js';
import type { SetupCheck } from './setup-finding.js';

/**
 * What keeps a facilitator from settling. `fee_payer_low` alone does not yet: it can pay for fewer than a hundred
 * settlements more. `fee_limit_reached`: it has paid as much for network fees as it may in this hour. `recipient_unpayable`: a
 * wallet that is to be paid cannot receive the token, or the token cannot be taken; others can. `store_unwritable`: the store is
 * read, and takes no writes (a full or read-only disk, a standby). `store_full`: its disk has less than 16 MiB left, which payments
 * under way may need; `disk_low`: less than 256 MiB. `store_moved`: its file was moved, deleted or replaced while it is open, so that
 * the next start would not find what is written now. `rpc_behind`: one of several RPC endpoints lags
 * behind the others, which are asked instead. `clock_off`: this machine's clock and the chain's are more than 30 s apart.
 */
export type HealthFault =
  | 'rpc_unreachable'
  | 'rpc_behind'
  | 'wrong_network'
  | 'fee_payer_empty'
  | 'fee_payer_low'
  | 'fee_limit_reached'
  | 'store_unreachable'
  | 'store_unwritable'
  | 'store_full'
  | 'store_moved'
  | 'disk_low'
  | 'clock_off'
  | 'facilitator_unreachable'
  | 'recipient_unpayable';

/** Whether a facilitator can settle. */
export interface FacilitatorHealth {
  /** `down`: it cannot; `degraded`: it can, and not for long, or not everywhere. */
  readonly status: 'active' | 'degraded' | 'down';
  /** The fee payer that is offered, base58. */
  readonly wallet: string;
  /** What it holds, if that could be asked. */
  readonly lamports?: bigint;
  /** How far this machine's clock is ahead of the chain's, in milliseconds, if that could be asked. Some seconds are usual. */
  readonly clockAheadMs?: number;
  /** The RPC endpoints that lag behind the best of several, by their hosts; missing where none does. */
  readonly behind?: readonly LaggingNode[];
  /** Room that is left on the disk of the store, in bytes; missing where it is not a file here. */
  readonly freeBytes?: number;
  /** What is wrong; empty when all is well. */
  readonly faults: readonly HealthFault[];
}

/** What is looked at. */
export interface HealthParts {
  readonly rpc: Pick<SolanaRpc, 'getAccounts' | 'getGenesisHash' | 'lagging'>;
  readonly network: NetworkId;
  readonly ledger: Pick<Ledger, 'find'>;
  /** Proves that the store takes writes. Default: only reading is tried. */
  readonly probe?: Storage['probe'] | undefined;
  /** Which file of the store is not in its place any more. Default: all are. */
  readonly misplaced?: Storage['misplaced'] | undefined;
  /** The fee payer that is offered, base58. */
  readonly wallet: string;
  /** Clock in milliseconds, never going back. Default `performance.now`. */
  readonly now?: () => number;
  /** Clock that is compared with the chain's, milliseconds since the epoch. Default `Date.now`. */
  readonly wallClock?: () => number;
}

/** Looks after the health of a facilitator. */
export interface HealthMonitor {
  /** Asks the chain and the ledger, at most once in five seconds however often it is called. Takes 2 s at most, never rejects. */
  check(): Promise<FacilitatorHealth>;
  /**
   * What the last check found, at once; undefined before the first. While that is `down`, it has things checked again. That the file of
   * the store is not in its place is found without any check: nobody may ever ask for one.
   */
  known(): FacilitatorHealth | undefined;
  /** Asks anew whether this machine's clock is right by the chain's. False where the chain does not tell. Takes 2 s at most, never rejects. */
  isClockRight(): Promise<boolean>;
}

/** What one settlement costs its fee payer: two signatures (the priority fee of the official client is below one lamport). */
export const LAMPORTS_PER_SETTLEMENT = 10_000n;
/** Below what this many settlements cost, the fee payer is nearly empty. */
const RESERVE_SETTLEMENTS = 100n;
const FRESH_MS = 5_000;
const PATIENCE_MS = 2_000;
const STORE_RETRY_SECONDS = 5;
const MIB = 1_048_576;
/** Payments that are under way must still be written down when no other is taken any more. */
const FULL_BYTES = 16 * MIB;
const LOW_BYTES = 256 * MIB;
/** The chain's clock is a median of its validators', seconds away from anybody's. */
const CLOCK_TOLERANCE_MS = 30_000;
/** No payment has this id: looking for it tells whether the ledger answers. */
export const NOBODY = 'health';

const DOWN: ReadonlySet<HealthFault> = new Set([
  'rpc_unreachable',
  'wrong_network',
  'fee_payer_empty',
  'store_unreachable',
  'store_unwritable',
  'store_full',
  'store_moved',
]);

/** The store answers, and what it would be given now could be lost. */
const CLOSED: ReadonlySet<HealthFault> = new Set(['store_unwritable', 'store_full', 'store_moved']);

/** Makes the monitor of an embedded facilitator. It asks nothing before it is asked. */
export function createHealthMonitor(parts: HealthParts): HealthMonitor {
  const { now = () => performance.now() } = parts;
  let last: { readonly health: FacilitatorHealth; readonly at: number } | undefined;
  const isElsewhere = createGenesisCheck(parts);
  let underWay: Promise<FacilitatorHealth> | undefined;

  async function look(): Promise<FacilitatorHealth> {
    const health = await examine(parts, isElsewhere);
    last = { health, at: now() };
    underWay = undefined;
    return health;
  }

  async function check(): Promise<FacilitatorHealth> {
    if (last !== undefined && now() - last.at < FRESH_MS) return last.health;
    underWay ??= look();
    return underWay;
  }

  return {
    check,
    known() {
      if (last?.health.status === 'down') void check();
      return parts.misplaced?.() === undefined ? last?.health : withMovedStore(parts.wallet, last?.health);
    },
    async isClockRight() {
      const { clockAheadMs, faults } = await look();
      return clockAheadMs !== undefined && !faults.includes('clock_off');
    },
  };
}

async function examine(
  { rpc, ledger, probe, wallet, wallClock = Date.now }: HealthParts,
  isElsewhere: () => Promise<boolean>,
): Promise<FacilitatorHealth> {
  const [accounts, record, probed, elsewhere, lagging = []] = await Promise.all([
    withTimeout(PATIENCE_MS, () => rpc.getAccounts([wallet, CLOCK_SYSVAR], 'confirmed')),
    withTimeout(PATIENCE_MS, () => ledger.find(NOBODY)),
    withTimeout(PATIENCE_MS, async (): Promise<StoreState> => probe?.() ?? { writable: true }),
    isElsewhere(),
    rpc.lagging?.(),
  ]);
  const lamports = accounts === undefined ? undefined : (accounts.value[0]?.lamports ?? 0n);
  const chainTime = chainTimeOf(accounts?.value[1]);
  const clockAheadMs = chainTime && Math.round(wallClock() - chainTime);
  const faults: readonly HealthFault[] = [
    ...feePayerFaults(lamports),
    ...(lagging.length > 0 ? (['rpc_behind'] as const) : []),
    ...(elsewhere ? (['wrong_network'] as const) : []),
    ...storeFaults(record !== undefined, probed?.value),
    ...(Math.abs(clockAheadMs ?? 0) > CLOCK_TOLERANCE_MS ? (['clock_off'] as const) : []),
  ];
  const down = faults.some((it) => DOWN.has(it));
  const status = down ? 'down' : faults.length > 0 ? 'degraded' : 'active';
  return withAmountJson({
    status,
    wallet,
    ...defined({ lamports, clockAheadMs, freeBytes: probed?.value.freeBytes }),
    ...(lagging.length > 0 ? { behind: lagging } : {}),
    faults,
  });
}

/** What keeps a store from being written to that is read. */
export const STORE_REASONS = {
  store_moved:
    'the file of the store of payments is another one, or gone: a restart would not find what is written now',
  store_unwritable: 'the store of payments takes no writes: its disk is full or read-only, or its server is a standby',
  store_full: 'the disk of the store has less than 16 MiB left, which payments under way may need',
} as const;

/** What is wrong with a store. */
export function storeFaults(answers: boolean, probed: StoreState | undefined): readonly HealthFault[] {
  if (!answers) return ['store_unreachable'];
  const { writable = false, freeBytes = Number.POSITIVE_INFINITY, moved = false } = probed ?? {};
  return [
    ...(moved ? (['store_moved'] as const) : []),
    ...(writable ? [] : (['store_unwritable'] as const)),
    ...(freeBytes < FULL_BYTES ? (['store_full'] as const) : []),
    ...(freeBytes >= FULL_BYTES && freeBytes < LOW_BYTES ? (['disk_low'] as const) : []),
  ];
}

function withMovedStore(wallet: string, known?: FacilitatorHealth): FacilitatorHealth {
  const { faults, ...rest } = known ?? { wallet, faults: [] };
  return { ...rest, status: 'down', faults: [...new Set([...faults, 'store_moved' as const])] };
}

/**
 * Whether the RPC belongs to another cluster, where tokens may be had for nothing. Asked until it answered rightly once; an
 * endpoint that does not tell is not blamed.
 */
function createGenesisCheck({ rpc, network }: HealthParts): () => Promise<boolean> {
  let isRight = false;
  return async () => {
    if (isRight) return false;
    const told = await withTimeout(PATIENCE_MS, () => rpc.getGenesisHash());
    isRight = told?.value === GENESIS_HASHES[network];
    return told !== undefined && !isRight;
  };
}

function feePayerFaults(lamports: bigint | undefined): readonly HealthFault[] {
  if (lamports === undefined) return ['rpc_unreachable'];
  const fault = feePayerFault(lamports);
  return fault === undefined ? [] : [fault];
}

/** What is wrong with a fee payer that holds this; undefined when nothing is. */
export function feePayerFault(lamports: bigint): 'fee_payer_empty' | 'fee_payer_low' | undefined {
  const left = settlementsLeft(lamports);
  if (left === 0n) return 'fee_payer_empty';
  return left < RESERVE_SETTLEMENTS ? 'fee_payer_low' : undefined;
}

/** How many settlements a fee payer that holds this pays for. */
export function settlementsLeft(lamports: bigint): bigint {
  return lamports < LEAST_LAMPORTS ? 0n : (lamports - LEAST_LAMPORTS) / LAMPORTS_PER_SETTLEMENT;
}

/**
 * Whether a facilitator that is down serves nobody. Where no more network fees are paid in this hour, whoever pays his own is
 * served, and so is who has paid already; other instances share the limit and could do no more.
 */
export function servesNobody({ status, faults }: FacilitatorHealth): boolean {
  return status === 'down' && (!faults.includes('fee_limit_reached') || faults.some((it) => DOWN.has(it)));
}

/** Why no payment is begun although the store can be read: what could not be written down would be taken for nothing. */
export function storeFault(health: FacilitatorHealth | undefined): TollhouseError | undefined {
  if (health?.faults.some((it) => CLOSED.has(it)) !== true) return undefined;
  const detail = 'The store of payments takes no writes at the moment, so no payment is taken; nothing was charged.';
  return new TollhouseError('store_unavailable', detail, { retryAfterSeconds: STORE_RETRY_SECONDS });
}

/** The health of a facilitator, together with what was found of those who are to be paid. */
export function withSetup(health: FacilitatorHealth, known: SetupCheck | undefined): FacilitatorHealth {
  const unpayable = known?.findings.some(
    ({ code, severity }) => severity === 'error' && /^(recipient|mint)_/.test(code),
  );
  if (unpayable !== true) return health;
  const status = health.status === 'active' ? 'degraded' : health.status;
  return { ...health, status, faults: [...health.faults, 'recipient_unpayable'] };
}
