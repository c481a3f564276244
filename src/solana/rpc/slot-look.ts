import { withTimeout } from '../../lib/work/with-timeout.js';
import type { JsonRpcEndpoint } from './json-rpc.js';
import { readTip } from './rpc-responses.js';

/** How far each of several endpoints is, by the slots that they name. */
export interface SlotLook {
  /**
   * Asks all that are well how far they are, unless that was done a moment ago: whoever comes meanwhile shares it. Takes
   * {@link PATIENCE_MS} at most, never rejects. Where there is one endpoint alone nobody is asked.
   */
  look(): Promise<void>;
  /** Has the next `look` ask, however fresh what is known is: an endpoint did not know what another one knows. */
  doubt(): void;
  /** How many slots an endpoint was behind the best of them, 0 where that is few enough for what is done here, or not known. */
  behind(endpoint: JsonRpcEndpoint): number;
}

/** What looking takes. */
export interface SlotLookParts {
  readonly endpoints: readonly JsonRpcEndpoint[];
  /** Whether an endpoint is well: one that rests is left alone. */
  isWell(endpoint: JsonRpcEndpoint): boolean;
  /** Milliseconds since any fixed point. */
  readonly now: () => number;
  /** How long what is known holds, in milliseconds; with `Infinity` nobody is asked. */
  readonly freshMs: number;
}

/** Some 10 s of the chain: well within the life of a blockhash, and more than the members of a provider's pool are apart. */
const MAX_SLOTS_BEHIND = 25;
const PATIENCE_MS = 1_000;
/** One doubt does not follow another at once: who sends blockhashes that do not exist is not to choose how often is asked. */
const DOUBT_MS = 1_000;

/** Makes what compares endpoints. It asks nothing by itself: whoever uses them has it look. */
export function createSlotLook({ endpoints, isWell, now, freshMs }: SlotLookParts): SlotLook {
  const slots = new Map<JsonRpcEndpoint, number>();
  let lookedAt = Number.NEGATIVE_INFINITY;
  let isDoubted = false;
  let underWay: Promise<unknown> | undefined;

  async function ask(endpoint: JsonRpcEndpoint): Promise<void> {
    const told = await withTimeout(PATIENCE_MS, () =>
      endpoint.call('getEpochInfo', [{ commitment: 'processed' }], PATIENCE_MS).then(readTip),
    );
    // A slot of before stays: the chain has not gone back since.
    if (told !== undefined) slots.set(endpoint, told.value.slot);
  }

  function isFresh(): boolean {
    return now() - lookedAt < (isDoubted ? Math.min(DOUBT_MS, freshMs) : freshMs);
  }

  return {
    async look() {
      if (endpoints.length < 2 || freshMs === Number.POSITIVE_INFINITY) return;
      if (underWay === undefined && !isFresh()) {
        isDoubted = false;
        lookedAt = now();
        underWay = Promise.all(endpoints.filter(isWell).map(ask)).finally(() => {
          underWay = undefined;
        });
      }
      await underWay;
    },
    doubt() {
      isDoubted = true;
    },
    behind(endpoint) {
      const slot = slots.get(endpoint);
      if (slot === undefined) return 0;
      const lag = Math.max(...slots.values()) - slot;
      return lag > MAX_SLOTS_BEHIND ? lag : 0;
    },
  };
}
