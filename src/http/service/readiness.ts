import type { Networks } from '../../facilitator/networks/networks.js';
import { type FacilitatorHealth, servesNobody } from '../../facilitator/setup/health.js';
import type { Facilitator } from '../../facilitator/types.js';
import { withTimeout } from '../../lib/work/with-timeout.js';
import type { NetworkId } from '../../protocol/types.js';
import type { Counters } from '../../storage/counters/counters.js';
import { RedisRefused } from '../../storage/counters/refused.js';
import {
  type CheckState,
  type CountersAnswer,
  type PartName,
  partsOfCounters,
  partsOfNetwork,
  partsOfStore,
  type SeenPart,
} from './readiness-parts.js';

/** What readiness depends on. */
export interface ReadinessSources {
  readonly networks: Networks;
  /** Where nonces are kept and limits are counted: in one store, or in two. */
  readonly counters: Pick<Counters, 'get' | 'increment'>;
}

/** A part, how it is, and since when, milliseconds since the epoch. */
export type TimedPart = SeenPart & { readonly since: number };

type UsualCheck = 'rpc' | 'fee_payer' | 'store' | 'counters' | 'limits';

/** Whether payments can be taken. */
export interface ReadyState {
  /** Whether they can on one network at least. */
  readonly ready: boolean;
  readonly parts: readonly TimedPart[];
  /** The worst of each check over all networks, `ok` where nothing is wrong with it. */
  readonly checks: Readonly<Record<UsualCheck, CheckState> & Partial<Record<PartName, CheckState>>>;
  readonly networks: Partial<Record<NetworkId, FacilitatorHealth['status']>>;
}

/** Looks whether payments can be taken. */
export interface Readiness {
  /** Takes two seconds at most, and asks what is outside this process at most once in five. */
  look(): Promise<ReadyState>;
}

const ALL_WELL = { rpc: 'ok', fee_payer: 'ok', store: 'ok', counters: 'ok', limits: 'ok' } as const;
const PATIENCE_MS = 2_000;
const FRESH_MS = 5_000;
const PROBE = 'health:probe';
const PROBE_WINDOW_MS = 60_000;

const made = new WeakMap<Facilitator, { readonly counters: object; readonly readiness: Readiness }>();

/** The readiness of facilitators with their counters: the same one for whoever asks, so that all know since when a part is as it is. */
export function readinessOf(sources: ReadinessSources): Readiness {
  const { networks, counters } = sources;
  const before = made.get(networks.joined);
  if (before !== undefined && before.counters === counters) return before.readiness;
  const readiness = createReadiness(sources);
  made.set(networks.joined, { counters, readiness });
  return readiness;
}

function createReadiness({ networks, counters }: ReadinessSources): Readiness {
  const timed = createTimes();
  const countersAnswer = createCountersLook(counters);
  return {
    async look() {
      const [states, answers] = await Promise.all([
        Promise.all(networks.all.map(async (it) => ({ network: it.network, health: await it.health() }))),
        countersAnswer(),
      ]);
      const isSetupKnown = networks.joined.setup.known() !== undefined;
      const seen = [
        ...partsOfStore(states.map(({ health }) => health)),
        ...states.flatMap(({ network, health }) => partsOfNetwork(network, health, isSetupKnown)),
        ...partsOfCounters(answers),
      ];
      return {
        ready: states.some(({ health }) => !servesNobody(health)) && answers.kept === 'ok',
        parts: timed(seen),
        checks: checksOf(seen),
        networks: Object.fromEntries(states.map(({ network, health }) => [network, health.status])),
      };
    },
  };
}

/** The first fault of a check is the one that is told. */
function checksOf(seen: readonly SeenPart[]): ReadyState['checks'] {
  const wrong = seen.flatMap(({ check }) => (check === undefined ? [] : [check])).toReversed();
  return { ...ALL_WELL, ...Object.fromEntries(wrong) };
}

/** Remembers since when each part has been in its state. */
function createTimes(): (seen: readonly SeenPart[]) => readonly TimedPart[] {
  const last = new Map<string, TimedPart>();
  return (seen) =>
    seen.map((part) => {
      const key = `${part.network ?? ''} ${part.part}`;
      const before = last.get(key);
      const now = { ...part, since: before?.state === part.state ? before.since : Date.now() };
      last.set(key, now);
      return now;
    });
}

type CountersLook = Parameters<typeof partsOfCounters>[0];

function createCountersLook(counters: ReadinessSources['counters']): () => Promise<CountersLook> {
  let looked: { readonly at: number; readonly answers: Promise<CountersLook> } | undefined;
  const look = async (): Promise<CountersLook> => {
    const [kept, counted] = await Promise.all([
      answerOf(async () => counters.get(PROBE)),
      answerOf(async () => counters.increment(PROBE, PROBE_WINDOW_MS)),
    ]);
    return { kept, counted };
  };
  return () => {
    if (looked === undefined || performance.now() - looked.at >= FRESH_MS) {
      looked = { at: performance.now(), answers: look() };
    }
    return looked.answers;
  };
}

/** How a store has answered: well, not at all, or with an error of its own. */
async function answerOf(ask: () => Promise<unknown>): Promise<CountersAnswer> {
  const answer = await withTimeout(PATIENCE_MS, () =>
    ask().then(
      () => 'ok' as const,
      (error: unknown) => (error instanceof RedisRefused ? error : 'silent'),
    ),
  );
  return answer?.value ?? 'silent';
}
