import { defined } from '../../lib/defined.js';
import { withTimeout } from '../../lib/with-timeout.js';
import { withAmountJson } from '../../protocol/money/amount-json.js';
import { GENESIS_HASHES } from '../../protocol/networks/networks.js';
import type { NetworkId } from '../../protocol/types.js';
import type { SolanaRpc } from '../../solana/rpc/rpc.js';
import type { Ledger } from '../../storage/ledger/ledger.js';
import type { SetupCheck } from './setup-finding.js';

/**
 * What keeps a facilitator from settling. `fee_payer_low` alone does not yet: it can pay for fewer than a hundred
 * settlements more. `fee_limit_reached`: it has paid as much for network fees as it may in this hour. `recipient_unpayable`: a
 * wallet that is to be paid cannot receive the token, or the token cannot be taken; others can.
 */
export type HealthFault =
  | 'rpc_unreachable'
  | 'wrong_network'
  | 'fee_payer_empty'
  | 'fee_payer_low'
  | 'fee_limit_reached'
  | 'store_unreachable'
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
  /** What is wrong; empty when all is well. */
  readonly faults: readonly HealthFault[];
}

/** What is looked at. */
export interface HealthParts {
  readonly rpc: Pick<SolanaRpc, 'getAccounts' | 'getGenesisHash'>;
  readonly network: NetworkId;
  readonly ledger: Pick<Ledger, 'find'>;
  /** The fee payer that is offered, base58. */
  readonly wallet: string;
  /** Clock in milliseconds, never going back. Default `performance.now`. */
  readonly now?: () => number;
}

/** Looks after the health of a facilitator. */
export interface HealthMonitor {
  /** Asks the chain and the ledger, at most once in five seconds however often it is called. Takes 2 s at most, never rejects. */
  check(): Promise<FacilitatorHealth>;
  /** What the last check found, at once; undefined before the first. While that is `down`, it has things checked again. */
  known(): FacilitatorHealth | undefined;
}

/** What one settlement costs its fee payer: two signatures (the priority fee of the official client is below one lamport). */
export const LAMPORTS_PER_SETTLEMENT = 10_000n;
/** Below what this many settlements cost, the fee payer is nearly empty. */
const RESERVE_SETTLEMENTS = 100n;
const FRESH_MS = 5_000;
const PATIENCE_MS = 2_000;
/** No payment has this id: looking for it tells whether the ledger answers. */
export const NOBODY = 'health';

const DOWN: ReadonlySet<HealthFault> = new Set([
  'rpc_unreachable',
  'wrong_network',
  'fee_payer_empty',
  'store_unreachable',
]);

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
      return last?.health;
    },
  };
}

async function examine(
  { rpc, ledger, wallet }: HealthParts,
  isElsewhere: () => Promise<boolean>,
): Promise<FacilitatorHealth> {
  const [accounts, record, elsewhere] = await Promise.all([
    withTimeout(PATIENCE_MS, () => rpc.getAccounts([wallet], 'confirmed')),
    withTimeout(PATIENCE_MS, () => ledger.find(NOBODY)),
    isElsewhere(),
  ]);
  const lamports = accounts === undefined ? undefined : (accounts.value[0]?.lamports ?? 0n);
  const faults: readonly HealthFault[] = [
    ...feePayerFaults(lamports),
    ...(elsewhere ? (['wrong_network'] as const) : []),
    ...(record === undefined ? (['store_unreachable'] as const) : []),
  ];
  const down = faults.some((it) => DOWN.has(it));
  const status = down ? 'down' : faults.length > 0 ? 'degraded' : 'active';
  return withAmountJson({ status, wallet, ...defined({ lamports }), faults });
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
  if (lamports < LAMPORTS_PER_SETTLEMENT) return 'fee_payer_empty';
  return lamports < LAMPORTS_PER_SETTLEMENT * RESERVE_SETTLEMENTS ? 'fee_payer_low' : undefined;
}

/**
 * Whether a facilitator that is down serves nobody. Where no more network fees are paid in this hour, whoever pays his own is
 * served, and so is who has paid already; other instances share the limit and could do no more.
 */
export function servesNobody({ status, faults }: FacilitatorHealth): boolean {
  return status === 'down' && (!faults.includes('fee_limit_reached') || faults.some((it) => DOWN.has(it)));
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
