import {
  ANYBODY,
  type BegunRun,
  ENTRY_BYTES,
  type EndedRun,
  type IdempotencyBounds,
  type IdempotencyStore,
  type IdempotentRun,
  type KnownResponse,
  NO_RUN,
  RESPONSE_RETENTION_MS,
  takenOverLease,
} from './idempotency-store.js';
import { createSharedRoom } from './shared-room.js';

interface Entry {
  readonly owner: string;
  readonly fingerprint: string;
  readonly lease: string;
  readonly leaseEnds: number;
  /** Missing while the run is under way. */
  readonly answer?: Uint8Array;
  /** Whether somebody has paid for it. */
  readonly isPaid?: boolean;
}

const DEFAULT_BYTES = 64 * 1024 * 1024;

/**
 * Answers in this process's memory, at most 64 MiB by default, which their owners share: for middleware in somebody's app, and for tests. They are
 * forgotten at exit.
 */
export function createMemoryIdempotencyStore(options: IdempotencyBounds = {}): IdempotencyStore {
  const { retentionMs = RESPONSE_RETENTION_MS, maxBytes = DEFAULT_BYTES, now = Date.now } = options;
  const room = createSharedRoom<Entry>({
    maxSize: maxBytes,
    sizeOf: ({ answer }) => (answer?.length ?? 0) + ENTRY_BYTES,
    goesFirst: ({ answer, isPaid = false }) => answer !== undefined && !isPaid,
    ttlMs: retentionMs,
    now,
  });
  const keep = (id: string, entry: Entry) => room.set(id, entry, entry.owner);

  function find(id: string, fingerprint: string): KnownResponse | EndedRun | undefined {
    const entry = room.get(id);
    if (entry === undefined) return undefined;
    if (entry.fingerprint !== fingerprint) return { status: 'mismatch' };
    if (entry.answer !== undefined) return { status: 'replay', response: entry.answer };
    return { status: entry.leaseEnds > now() ? 'running' : 'ended' };
  }

  function begin({ id, fingerprint, lease, leaseMs, owner = ANYBODY }: IdempotentRun): KnownResponse | BegunRun {
    const known = find(id, fingerprint);
    if (known !== undefined && known.status !== 'ended') return known;
    const former = room.get(id);
    const held = former === undefined ? lease : takenOverLease(lease, former.lease);
    keep(id, { owner, fingerprint, lease: held, leaseEnds: now() + leaseMs });
    return { status: 'started', ...(former === undefined ? {} : { lease: held }) };
  }

  /** The run under an id, while it is held by this lease. */
  function heldBy(id: string, lease: string): Entry | undefined {
    const entry = room.get(id);
    return entry?.lease === lease && entry.answer === undefined ? entry : undefined;
  }

  return {
    find: async (id, fingerprint) => find(id, fingerprint),
    begin: async (run) => begin(run),
    async extend(id, lease, leaseMs) {
      const entry = heldBy(id, lease);
      if (entry !== undefined) keep(id, { ...entry, leaseEnds: now() + leaseMs });
      return entry !== undefined;
    },
    async finish(id, lease, answer, paidBy) {
      const entry = heldBy(id, lease);
      if (entry === undefined) return false;
      keep(id, { ...entry, answer, owner: paidBy ?? entry.owner, isPaid: paidBy !== undefined });
      return room.has(id);
    },
    async put(id, answer, owner = ANYBODY, isPaid = false) {
      keep(id, { owner, fingerprint: NO_RUN, lease: '', leaseEnds: 0, answer, isPaid });
      return room.has(id);
    },
    async get(id) {
      const known = find(id, NO_RUN);
      return known?.status === 'replay' ? known.response : undefined;
    },
    async release(id, lease) {
      const entry = heldBy(id, lease);
      if (entry !== undefined) keep(id, { ...entry, leaseEnds: 0 });
      return entry !== undefined;
    },
    abandon: async (id, lease) => heldBy(id, lease) !== undefined && room.delete(id),
  };
}
