import { type FacilitatorHealth, type HealthFault, STORE_REASONS } from '../../facilitator/setup/health.js';
import type { NetworkId } from '../../protocol/types.js';
import type { RedisRefused } from '../../storage/counters/refused.js';

/** What taking payments depends on. */
export const PART_NAMES = [
  'store',
  'disk',
  'rpc',
  'fee_payer',
  'fee_limit',
  'clock',
  'recipients',
  'facilitator',
  'counters',
  'limits',
] as const;

/** One of {@link PART_NAMES}. */
export type PartName = (typeof PART_NAMES)[number];

/** How a part is: `failed` keeps payments from being taken, `degraded` does not yet, `unknown` could not be looked at. */
export const PART_STATES = ['ok', 'degraded', 'failed', 'unknown'] as const;

/** What is said of a check in one word. */
export const CHECK_STATES = [
  'ok',
  'low',
  'empty',
  'unreachable',
  'refused',
  'behind',
  'unwritable',
  'full',
  'moved',
  'wrong_network',
  'limit_reached',
  'unpayable',
  'off',
  'unknown',
] as const;

/** One of {@link CHECK_STATES}. */
export type CheckState = (typeof CHECK_STATES)[number];

/** A part as it was found. */
export interface SeenPart {
  readonly part: PartName;
  /** Missing where all networks share it. */
  readonly network?: NetworkId;
  readonly state: (typeof PART_STATES)[number];
  /** What is wrong, as a part of a sentence; missing when nothing is. */
  readonly reason?: string;
  /** The same in one word, under the name that checks have. */
  readonly check?: readonly [name: PartName, state: CheckState];
}

type Fault = Required<Omit<SeenPart, 'network'>>;

const FAULTS: Readonly<Record<HealthFault, Fault>> = {
  rpc_unreachable: {
    part: 'rpc',
    state: 'failed',
    reason: 'the Solana RPC does not answer',
    check: ['rpc', 'unreachable'],
  },
  rpc_behind: {
    part: 'rpc',
    state: 'degraded',
    reason: 'one of the endpoints of the Solana RPC lags behind the others, which are asked instead',
    check: ['rpc', 'behind'],
  },
  wrong_network: {
    part: 'rpc',
    state: 'failed',
    reason: 'the Solana RPC belongs to another network',
    check: ['rpc', 'wrong_network'],
  },
  fee_payer_empty: {
    part: 'fee_payer',
    state: 'failed',
    reason: 'the fee payer is empty and needs SOL',
    check: ['fee_payer', 'empty'],
  },
  fee_payer_low: {
    part: 'fee_payer',
    state: 'degraded',
    reason: 'the fee payer pays for fewer than a hundred payments more and needs SOL',
    check: ['fee_payer', 'low'],
  },
  fee_limit_reached: {
    part: 'fee_limit',
    state: 'degraded',
    reason: 'as much was paid for network fees as may be in an hour; who pays his own is served',
    check: ['fee_payer', 'limit_reached'],
  },
  store_unreachable: {
    part: 'store',
    state: 'failed',
    reason: 'the store of payments does not answer',
    check: ['store', 'unreachable'],
  },
  store_unwritable: {
    part: 'store',
    state: 'failed',
    reason: STORE_REASONS.store_unwritable,
    check: ['store', 'unwritable'],
  },
  store_moved: {
    part: 'store',
    state: 'failed',
    reason: STORE_REASONS.store_moved,
    check: ['store', 'moved'],
  },
  store_full: {
    part: 'disk',
    state: 'failed',
    reason: STORE_REASONS.store_full,
    check: ['disk', 'full'],
  },
  disk_low: {
    part: 'disk',
    state: 'degraded',
    reason: 'the disk of the store has less than 256 MiB left',
    check: ['disk', 'low'],
  },
  clock_off: {
    part: 'clock',
    state: 'degraded',
    reason: "this machine's clock and the chain's are more than 30 seconds apart",
    check: ['clock', 'off'],
  },
  facilitator_unreachable: {
    part: 'facilitator',
    state: 'failed',
    reason: 'the facilitator does not answer',
    check: ['facilitator', 'unreachable'],
  },
  recipient_unpayable: {
    part: 'recipients',
    state: 'degraded',
    reason: 'a wallet that is to be paid cannot receive the token; others can',
    check: ['recipients', 'unpayable'],
  },
};
const BALANCE_UNKNOWN: Fault = {
  part: 'fee_payer',
  state: 'unknown',
  reason: 'what the fee payer holds could not be asked',
  check: ['fee_payer', 'unknown'],
};
const CLOCK_UNKNOWN: SeenPart = { part: 'clock', state: 'unknown', reason: 'the time of the chain could not be asked' };

/** How the store is that all networks share, and its disk where that is one of this machine. */
export function partsOfStore(healths: readonly FacilitatorHealth[]): readonly SeenPart[] {
  const faults = healths.flatMap((it) => it.faults);
  const hasDisk = healths.some(({ freeBytes }) => freeBytes !== undefined);
  return [partOf('store', faults), ...(hasDisk ? [partOf('disk', faults)] : [])];
}

/**
 * How everything is that a network has for itself.
 * @param isSetupKnown - whether those who are to be paid were looked at
 */
export function partsOfNetwork(
  network: NetworkId,
  { faults, lamports, clockAheadMs, behind = [] }: FacilitatorHealth,
  isSetupKnown: boolean,
): readonly SeenPart[] {
  const isElsewhere = lamports === undefined || faults.includes('wrong_network');
  const parts = [
    withLag(partOf('rpc', faults), behind),
    isElsewhere ? BALANCE_UNKNOWN : partOf('fee_payer', faults),
    partOf('fee_limit', faults),
    clockAheadMs === undefined || isElsewhere ? CLOCK_UNKNOWN : partOf('clock', faults),
    ...(isSetupKnown ? [partOf('recipients', faults)] : []),
    ...(faults.includes('facilitator_unreachable') ? [FAULTS.facilitator_unreachable] : []),
  ];
  return parts.map((it) => ({ ...it, network }));
}

/** How a store of counters has answered. */
export type CountersAnswer = 'ok' | 'silent' | RedisRefused;

/**
 * How the stores of counters are; without limits everything passes, and the service goes on.
 * @param answers - whether what is kept can be read, and whether limits are counted
 */
export function partsOfCounters({ kept, counted }: Record<'kept' | 'counted', CountersAnswer>): readonly SeenPart[] {
  return [
    partOfCounters('counters', 'failed', kept, { silent: 'the store of counters does not answer', so: '' }),
    partOfCounters('limits', 'degraded', counted, {
      silent: 'the store that limits are counted in (Redis, where there is one) does not answer',
      so: ', so nobody is limited',
    }),
  ];
}

/** @param texts - what is said of one that is silent, and what follows from any fault */
function partOfCounters(
  part: 'counters' | 'limits',
  state: 'failed' | 'degraded',
  answer: CountersAnswer,
  { silent, so }: { readonly silent: string; readonly so: string },
): SeenPart {
  if (answer === 'ok') return { part, state: 'ok' };
  if (answer === 'silent') return { part, state, reason: silent + so, check: [part, 'unreachable'] };
  return { part, state, reason: `Redis refuses: ${answer.word}${so}; ${answer.advice}`, check: [part, 'refused'] };
}

/** Names the endpoints that lag, where that is the worst of it. */
function withLag(part: SeenPart, behind: NonNullable<FacilitatorHealth['behind']>): SeenPart {
  if (part.check?.[1] !== 'behind') return part;
  const lags = behind.map(({ host, slotsBehind }) => `${host} is ${slotsBehind} slots behind`);
  return { ...part, reason: `${lags.join(', ')}; the other endpoints of the Solana RPC are asked instead` };
}

/** The worst that is wrong with a part: failures come first. */
function partOf(part: PartName, faults: readonly HealthFault[]): SeenPart {
  const found = faults.map((it) => FAULTS[it]).filter((it) => it.part === part);
  return found.find(({ state }) => state === 'failed') ?? found[0] ?? { part, state: 'ok' };
}
