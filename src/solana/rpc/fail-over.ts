import { createEndpointHealth, type EndpointHealth, type HealthOptions, TRY_MS } from './endpoint-health.js';
import { badResponse, type JsonRpcEndpoint } from './json-rpc.js';
import { ResponseShapeError } from './response-shape-error.js';
import { RpcError } from './rpc.js';
import { mayBeSent } from './send-failure.js';

/** Settings of {@link createFailOver}. */
export interface FailOverOptions extends Omit<HealthOptions, 'onNews'> {
  /** Deadline of a call with all its tries, in milliseconds. */
  readonly timeoutMs: number;
}

/** What is known of a call's answer before it comes. */
export interface CallBounds {
  /** Largest response that is read, in bytes. Default: the endpoint's. */
  readonly maxBytes?: number | undefined;
  /** Whether a stranger has chosen what the node has to look up, and so how long it takes. Default false. */
  readonly isChosen?: boolean;
}

/** Calls a method on whichever endpoint is well, and reads its result. */
export type RpcCall = <T>(
  method: string,
  params: readonly unknown[],
  read: (result: unknown) => T,
  bounds?: CallBounds,
) => Promise<T>;

interface Member {
  readonly endpoint: JsonRpcEndpoint;
  readonly health: EndpointHealth;
}

/** How long a try waits for a resting endpoint when there is no other. */
const PATIENCE_MS = 1_000;

/** A node's way to say "not now, not me": it lags behind or has not got that slot yet. */
const NODE_BEHIND = new Set([-32_004, -32_005, -32_014, -32_016]);

/**
 * Makes several endpoints look like one. The first that is well is asked; one that fails rests (longer each time) and
 * is asked again by a `getHealth` of our own. Where there is nobody else to ask, callers wait for what comes of it: however
 * many they are, a sick endpoint is not beaten, and one that fails in a single method stays of use for the others.
 * Only for calls that may be repeated: each try may happen although an earlier one took effect.
 *
 * @param endpoints - in order of preference, at least one
 */
export function createFailOver(endpoints: readonly JsonRpcEndpoint[], options: FailOverOptions): RpcCall {
  const { now, timeoutMs } = options;
  const waiting = createWaitQueue();
  const members = endpoints.map(
    (endpoint): Member => ({ endpoint, health: createEndpointHealth({ ...options, onNews: waiting.callAll }) }),
  );

  function probe({ endpoint, health }: Member): void {
    const startedAt = now();
    health.takeTry();
    endpoint.call('getHealth', [], Math.min(timeoutMs, TRY_MS)).then(
      () => health.succeeded(),
      (error: unknown) => record(health, startedAt, error),
    );
  }

  async function pick(deadline: number): Promise<Member | undefined> {
    const patience = Math.min(now() + PATIENCE_MS, deadline);
    for (let wasTried = false; ; ) {
      const time = now();
      const well = members.find(({ health }) => health.well());
      const rested = members.filter(({ health }) => !health.well() && health.restsUntil() <= time);
      rested.forEach(probe);
      if (well !== undefined) return well;
      const wakesAt = Math.min(...members.map(({ health }) => health.restsUntil()));
      const isTried = members.some(({ health }) => health.isTried());
      // Who waits longer makes the rest longer, for those who come when the endpoint is well again.
      const isInVain = isTried ? time >= patience : wasTried || wakesAt > patience;
      if (isInVain) return undefined;
      wasTried = isTried;
      await waiting.wait(Math.ceil(Math.min(wakesAt, patience) - time));
    }
  }

  function isFinal(member: Member, startedAt: number, error: unknown, isChosen: boolean): boolean {
    // A stranger must not be able to rest a node by asking for what takes long: a call of our own tells how it is.
    const isSlow = isChosen && error instanceof RpcError && error.failure === 'timeout';
    if (isSlow && member.health.well()) probe(member);
    else return record(member.health, startedAt, error);
    return false;
  }

  return async (method, params, read, { maxBytes, isChosen = false } = {}) => {
    const deadline = now() + timeoutMs;
    let failure: RpcError | undefined;
    for (let tries = members.length + 1; tries > 0 && now() < deadline; tries -= 1) {
      const member = await pick(deadline);
      if (member === undefined) break;
      const startedAt = now();
      try {
        const allowed = Math.max(1, Math.floor((deadline - startedAt) / tries));
        const answer = await member.endpoint.call(method, params, allowed, maxBytes);
        const result = readResult(member, method, answer, read);
        member.health.succeeded();
        return result;
      } catch (error) {
        const isLast = isFinal(member, startedAt, error, isChosen);
        if (!(error instanceof RpcError)) throw error;
        failure = merge(failure, error);
        if (isLast) throw failure;
      }
    }
    throw failure ?? allResting(method, members);
  };
}

/** Notes what an error says about the endpoint; true when another try would not help. */
function record(health: EndpointHealth, startedAt: number, error: unknown): boolean {
  if (!(error instanceof RpcError) || error.failure === 'closed' || error.failure === 'too_large') return true;
  if (error.failure === 'answer' && !isBehind(error)) {
    health.succeeded();
    return true;
  }
  health.failed(startedAt, error.details.retryAfterMs);
  return false;
}

function isBehind({ failure, details }: RpcError): boolean {
  return failure === 'answer' && NODE_BEHIND.has(details.code ?? 0);
}

function readResult<T>(member: Member, method: string, result: unknown, read: (result: unknown) => T): T {
  try {
    return read(result);
  } catch (error) {
    if (error instanceof ResponseShapeError) throw badResponse(`${method} at ${member.endpoint.host}`, error.message);
    throw error;
  }
}

/**
 * One error for all tries: the last one's, with the doubt of the earlier ones. A node that is behind may have passed the
 * call on all the same, and what another node says of a second try is no proof of what became of the first.
 */
function merge(earlier: RpcError | undefined, last: RpcError): RpcError {
  if (earlier === undefined || last.details.mayHaveArrived === true) return last;
  const wasHeard = mayBeSent(earlier) || (earlier.failure === 'answer' && !isBehind(last));
  if (!wasHeard) return last;
  return new RpcError(last.failure, last.message, { ...last.details, mayHaveArrived: true });
}

function allResting(method: string, members: readonly Member[]): RpcError {
  const hosts = members.map(({ endpoint }) => endpoint.host).join(', ');
  return new RpcError('unreachable', `${method} at ${hosts}: not asked, it failed a moment ago and is left to rest`);
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
      for (const go of [...waiting]) go();
    },
  };
}
