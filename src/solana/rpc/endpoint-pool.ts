import type { MaybePromise } from '../../lib/maybe-promise.js';
import { type CallWords, isBehind } from './call-words.js';
import { createEndpointHealth, type EndpointHealth, type HealthOptions, TRY_MS } from './endpoint-health.js';
import type { JsonRpcEndpoint } from './json-rpc.js';
import { RpcError } from './rpc.js';
import { createSlotLook, type SlotLook } from './slot-look.js';

/** Settings of {@link createEndpointPool}. */
export interface PoolOptions extends Omit<HealthOptions, 'onNews'> {
  /** Deadline of a call with all its tries, in milliseconds. */
  readonly timeoutMs: number;
  /** How often several endpoints are compared while they are in use, in milliseconds. Default: they are not. */
  readonly slotsEveryMs?: number;
}

/** An endpoint, and how it is. */
export interface Member {
  readonly endpoint: JsonRpcEndpoint;
  readonly health: EndpointHealth;
}

/** Several endpoints, in order of preference. */
export interface EndpointPool {
  /** The one to ask from now on, `time`; undefined where none is well, nor within a second. */
  pick(time: number, deadline: number): MaybePromise<Member | undefined>;
  /** One that is well and may have got a block which those that were heard have not. */
  another(heard: CallWords<unknown>): Member | undefined;
  /** Asks one how it is, by a call of our own. */
  probe(member: Member): void;
  readonly slots: SlotLook;
}

/** How long a try waits for a resting endpoint when there is no other. */
const PATIENCE_MS = 1_000;

/**
 * Makes a pool. One that fails rests (longer each time) and is asked again by a `getHealth` of our own; one that lags behind is asked
 * where there is no other.
 */
export function createEndpointPool(endpoints: readonly JsonRpcEndpoint[], options: PoolOptions): EndpointPool {
  const { now, timeoutMs, slotsEveryMs = Number.POSITIVE_INFINITY } = options;
  const waiting = createWaitQueue();
  const members = endpoints.map(
    (endpoint): Member => ({ endpoint, health: createEndpointHealth({ ...options, onNews: waiting.callAll }) }),
  );
  const isWell = (endpoint: JsonRpcEndpoint) => members.some((it) => it.endpoint === endpoint && it.health.well());
  const slots = createSlotLook({ endpoints, isWell, now, freshMs: slotsEveryMs });

  function probe({ endpoint, health }: Member): void {
    const startedAt = now();
    health.takeTry();
    endpoint.call('getHealth', [], Math.min(timeoutMs, TRY_MS)).then(
      () => health.succeeded(),
      (error: unknown) => noteFailure(health, startedAt, error),
    );
  }

  function isAbreast({ endpoint, health }: Member): boolean {
    return health.well() && slots.behind(endpoint) === 0;
  }

  function another(words: CallWords<unknown>): Member | undefined {
    return members.find((it) => isAbreast(it) && !words.isUnsure(it));
  }

  /** One that is well. Those that have rested are asked how they are. */
  function findWell(time: number): Member | undefined {
    // One that lags behind is better than none.
    const well = members.find(isAbreast) ?? members.find(({ health }) => health.well());
    for (const member of members) {
      if (!member.health.well() && member.health.restsUntil() <= time) probe(member);
    }
    return well;
  }

  async function waitForWell(begunAt: number, deadline: number): Promise<Member | undefined> {
    const patience = Math.min(begunAt + PATIENCE_MS, deadline);
    let wasTried = false;
    let time = begunAt;
    let well: Member | undefined;
    while (well === undefined) {
      const wakesAt = Math.min(...members.map(({ health }) => health.restsUntil()));
      const isTried = members.some(({ health }) => health.isTried());
      // Who waits longer makes the rest longer, for those who come when the endpoint is well again.
      const isInVain = isTried ? time >= patience : wasTried || wakesAt > patience;
      if (isInVain) return undefined;
      wasTried = isTried;
      await waiting.wait(Math.ceil(Math.min(wakesAt, patience) - time));
      time = now();
      well = findWell(time);
    }
    return well;
  }

  function pick(time: number, deadline: number): MaybePromise<Member | undefined> {
    return findWell(time) ?? waitForWell(time, deadline);
  }

  return { pick, another, probe, slots };
}

/** Notes what an error says about the endpoint; true when another try would not help. */
export function noteFailure(health: EndpointHealth, startedAt: number, error: unknown): boolean {
  if (!(error instanceof RpcError) || error.failure === 'closed' || error.failure === 'too_large') return true;
  if (error.failure === 'answer' && !isBehind(error)) {
    health.succeeded();
    return true;
  }
  health.failed(startedAt, error.details.retryAfterMs);
  return false;
}

/** Where callers wait until there is news, or until their time is over. */
interface WaitQueue {
  /** Resolves after so many milliseconds, or when all are called. */
  wait(milliseconds: number): Promise<void>;
  /** Ends the wait of everybody who waits now. */
  callAll(): void;
}

/** Opens an empty one. */
function createWaitQueue(): WaitQueue {
  const waiting = new Set<() => void>();
  return {
    wait: (milliseconds) =>
      new Promise((resolve) => {
        const go = (): void => {
          clearTimeout(timer);
          waiting.delete(go);
          resolve();
        };
        const timer = setTimeout(go, milliseconds);
        waiting.add(go);
      }),
    callAll() {
      for (const go of waiting) go();
    },
  };
}
