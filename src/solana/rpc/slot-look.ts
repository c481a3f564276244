import { withTimeout } from '../../lib/work/with-timeout.js';
import type { JsonRpcEndpoint } from './json-rpc.js';
import { readText, readTip } from './rpc-responses.js';

/** How far each of several endpoints is, by the slots that they name; each beside those of the same chain. */
export interface SlotLook {
  /**
   * Asks all that are well how far they are, unless that was done a moment ago: whoever comes meanwhile shares it. Takes
   * {@link PATIENCE_MS} at most, never rejects. Where there is one endpoint alone nobody is asked.
   * @returns undefined where there is nothing to wait for
   */
  look(): Promise<void> | undefined;
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
  /** The chain of each, by the hash of its first block: slots of another one say nothing of this one's. */
  const chains = new Map<JsonRpcEndpoint, string>();
  const told = new Set<JsonRpcEndpoint>();
  let lookedAt = Number.NEGATIVE_INFINITY;
  let isDoubted = false;
  let underWay: Promise<void> | undefined;

  async function ask(endpoint: JsonRpcEndpoint): Promise<void> {
    const askFor = <T>(method: string, params: readonly unknown[], read: (result: unknown) => T) =>
      withTimeout(PATIENCE_MS, () => endpoint.call(method, params, PATIENCE_MS).then(read));
    const [tip, chain] = await Promise.all([
      askFor('getEpochInfo', [{ commitment: 'processed' }], readTip),
      chains.has(endpoint) ? undefined : askFor('getGenesisHash', [], readText),
    ]);
    if (chain !== undefined) chains.set(endpoint, chain.value);
    // A slot of before stays: the chain has not gone back since.
    if (tip !== undefined) slots.set(endpoint, tip.value.slot);
  }

  function isFresh(): boolean {
    return now() - lookedAt < (isDoubted ? Math.min(DOUBT_MS, freshMs) : freshMs);
  }

  function lagOf(endpoint: JsonRpcEndpoint): number {
    const [slot, chain] = [slots.get(endpoint), chains.get(endpoint)];
    if (slot === undefined || chain === undefined) return 0;
    const abreast = endpoints.filter((it) => chains.get(it) === chain).map((it) => slots.get(it) ?? slot);
    return Math.max(...abreast) - slot;
  }

  function tell(): void {
    for (const endpoint of endpoints) {
      const lag = lagOf(endpoint);
      if (lag > MAX_SLOTS_BEHIND && !told.has(endpoint)) warn(endpoint.host, lag);
      if (lag > MAX_SLOTS_BEHIND) told.add(endpoint);
      // One that is now a little above the bound and now a little below has been told of.
      if (lag < MAX_SLOTS_BEHIND / 2) told.delete(endpoint);
    }
  }

  return {
    look() {
      if (endpoints.length < 2 || freshMs === Number.POSITIVE_INFINITY) return undefined;
      if (underWay === undefined && !isFresh()) {
        isDoubted = false;
        lookedAt = now();
        underWay = Promise.all(endpoints.filter(isWell).map(ask)).then(() => {
          underWay = undefined;
          tell();
        });
      }
      return underWay;
    },
    doubt() {
      isDoubted = true;
    },
    behind(endpoint) {
      const lag = lagOf(endpoint);
      return lag > MAX_SLOTS_BEHIND ? lag : 0;
    },
  };
}

function warn(host: string, lag: number): void {
  const text = `the Solana RPC ${host} is ${lag} slots behind the best of the endpoints; the others are asked instead. To mend it: see what its provider says, or set rpcUrl (SOLANA_RPC_URL) to endpoints that keep up`;
  process.emitWarning(text, { code: 'TOLLHOUSE_RPC_BEHIND' });
}
