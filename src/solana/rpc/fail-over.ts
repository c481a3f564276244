import { isPending } from '../../lib/maybe-promise.js';
import { CallWords } from './call-words.js';
import { createEndpointPool, type Member, noteFailure, type PoolOptions } from './endpoint-pool.js';
import { badResponse, type JsonRpcEndpoint } from './json-rpc.js';
import { ResponseShapeError } from './response-shape-error.js';
import { type LaggingNode, RpcError } from './rpc.js';
import { isBlockhashUnknown } from './send-failure.js';

/** What is known of a call's answer before it comes. */
export interface CallBounds<T = unknown> {
  /** Largest response that is read, in bytes. Default: the endpoint's. */
  readonly maxBytes?: number | undefined;
  /** Whether a stranger has chosen what the node has to look up, and so how long it takes. Default false. */
  readonly isChosen?: boolean;
  /** Whether the answer is worth no more than how far its node is: endpoints that were not compared of late are compared first. Default false. */
  readonly isOfNow?: boolean;
  /** Whether a node answers so because it may not have got a block yet: another one that is well is asked as well. Default: none does. */
  readonly isUnknown?: (result: T) => boolean;
}

/** Calls a method on whichever endpoint is well, and reads its result. */
export type RpcCall = <T>(
  method: string,
  params: readonly unknown[],
  read: (result: unknown) => T,
  bounds?: CallBounds<T>,
) => Promise<T>;

/** Several endpoints that look like one. */
export interface FailOver {
  readonly call: RpcCall;
  /** Those that lag behind the best of them by more than a few seconds, where that is looked at. Takes a second at most, never rejects. */
  lagging(): Promise<readonly LaggingNode[]>;
}

/**
 * Makes several endpoints look like one. The first that is well is asked; one that fails rests (longer each time) and
 * is asked again by a `getHealth` of our own. Where there is nobody else to ask, callers wait for what comes of it: however
 * many they are, a sick endpoint is not beaten, and one that fails in a single method stays of use for the others.
 * Only for calls that may be repeated: each try may happen although an earlier one took effect.
 *
 * @param endpoints - in order of preference, at least one
 */
export function createFailOver(endpoints: readonly JsonRpcEndpoint[], options: PoolOptions): FailOver {
  const { now, timeoutMs } = options;
  const { pick, another, probe, slots } = createEndpointPool(endpoints, options);

  function isFinal(member: Member, startedAt: number, error: unknown, isChosen: boolean): boolean {
    // A stranger must not be able to rest a node by asking for what takes long: a call of our own tells how it is.
    const isSlow = isChosen && error instanceof RpcError && error.failure === 'timeout';
    if (isSlow && member.health.well()) probe(member);
    else return noteFailure(member.health, startedAt, error);
    return false;
  }

  async function call<T>(
    method: string,
    params: readonly unknown[],
    read: (result: unknown) => T,
    { maxBytes, isChosen = false, isOfNow = false, isUnknown }: CallBounds<T> = {},
  ): Promise<T> {
    const looked = slots.look();
    if (isOfNow) await looked;
    const words = new CallWords<T>();
    let startedAt = now();
    const deadline = startedAt + timeoutMs;
    for (let tries = endpoints.length + 1; tries > 0 && startedAt < deadline; tries -= 1) {
      let member = words.isOneUnsure ? another(words) : pick(startedAt, deadline);
      if (isPending(member)) {
        member = await member;
        startedAt = now();
      }
      if (member === undefined) break;
      try {
        const allowed = Math.max(1, Math.floor((deadline - startedAt) / tries));
        const answer = await member.endpoint.call(method, params, allowed, maxBytes);
        const result = readResult(member, method, answer, read);
        member.health.succeeded();
        if (isUnknown?.(result) !== true) return result;
        words.unsure(member, { result });
      } catch (error) {
        const isLast = isFinal(member, startedAt, error, isChosen);
        if (!(error instanceof RpcError)) throw error;
        if (isBlockhashUnknown(error)) words.unsure(member, error);
        else words.failed(error);
        if (isLast && !words.isUnsure(member)) break;
      }
      startedAt = now();
    }
    if (words.isOneUnsure) slots.doubt();
    const word = words.conclude() ?? allResting(method, endpoints);
    if (word instanceof RpcError) throw word;
    return word.result;
  }

  return {
    call,
    async lagging() {
      await slots.look();
      return endpoints.flatMap((it) => {
        const slotsBehind = slots.behind(it);
        return slotsBehind > 0 ? [{ host: it.host, slotsBehind }] : [];
      });
    },
  };
}

function readResult<T>(member: Member, method: string, result: unknown, read: (result: unknown) => T): T {
  try {
    return read(result);
  } catch (error) {
    if (error instanceof ResponseShapeError) throw badResponse(`${method} at ${member.endpoint.host}`, error.message);
    throw error;
  }
}

function allResting(method: string, endpoints: readonly JsonRpcEndpoint[]): RpcError {
  const hosts = endpoints.map(({ host }) => host).join(', ');
  return new RpcError('unreachable', `${method} at ${hosts}: not asked, it failed a moment ago and is left to rest`);
}
