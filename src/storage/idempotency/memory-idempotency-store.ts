import { LRUCache } from 'lru-cache';
import {
  ENTRY_BYTES,
  type IdempotencyBounds,
  type IdempotencyStore,
  type IdempotentRun,
  type KnownResponse,
  NO_RUN,
  RESPONSE_RETENTION_MS,
} from './idempotency-store.js';

interface Entry {
  readonly fingerprint: string;
  readonly lease: string;
  readonly leaseEnds: number;
  /** Missing while the run is under way. */
  readonly answer?: Uint8Array;
}

const DEFAULT_BYTES = 64 * 1024 * 1024;

/**
 * Answers in this process's memory, at most 64 MiB by default: for middleware in somebody's app, and for tests. They are
 * forgotten at exit.
 */
export function createMemoryIdempotencyStore(options: IdempotencyBounds = {}): IdempotencyStore {
  const { retentionMs = RESPONSE_RETENTION_MS, maxBytes = DEFAULT_BYTES, now = Date.now } = options;
  const entries = new LRUCache<string, Entry>({
    maxSize: maxBytes,
    sizeCalculation: ({ answer }) => (answer?.length ?? 0) + ENTRY_BYTES,
    ttl: retentionMs,
    // Without it the cache would remember the time of an injected clock for a real millisecond.
    ttlResolution: 0,
    perf: { now },
  });

  function find(id: string, fingerprint: string): KnownResponse | undefined {
    const entry = entries.get(id);
    if (entry === undefined) return undefined;
    if (entry.fingerprint !== fingerprint) return { status: 'mismatch' };
    if (entry.answer !== undefined) return { status: 'replay', response: entry.answer };
    return entry.leaseEnds > now() ? { status: 'running' } : undefined;
  }

  function begin({ id, fingerprint, lease, leaseMs }: IdempotentRun): KnownResponse | { readonly status: 'started' } {
    const known = find(id, fingerprint);
    if (known !== undefined) return known;
    entries.set(id, { fingerprint, lease, leaseEnds: now() + leaseMs });
    return { status: 'started' };
  }

  /** The run under an id, while it is held by this lease. */
  function heldBy(id: string, lease: string): Entry | undefined {
    const entry = entries.get(id);
    return entry?.lease === lease && entry.answer === undefined ? entry : undefined;
  }

  return {
    find: async (id, fingerprint) => find(id, fingerprint),
    begin: async (run) => begin(run),
    async finish(id, lease, answer) {
      const entry = heldBy(id, lease);
      if (entry === undefined) return false;
      entries.set(id, { ...entry, answer });
      return entries.has(id);
    },
    async put(id, answer) {
      entries.set(id, { fingerprint: NO_RUN, lease: '', leaseEnds: 0, answer });
      return entries.has(id);
    },
    async get(id) {
      const known = find(id, NO_RUN);
      return known?.status === 'replay' ? known.response : undefined;
    },
    async release(id, lease) {
      const entry = heldBy(id, lease);
      if (entry !== undefined) entries.set(id, { ...entry, leaseEnds: 0 });
      return entry !== undefined;
    },
    abandon: async (id, lease) => heldBy(id, lease) !== undefined && entries.delete(id),
  };
}
