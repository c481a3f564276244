import { LRUCache } from 'lru-cache';
import { TollhouseError } from '../errors.js';
import type { ClaimRequest, ClaimResult, Ledger, Outcome, PaymentRecord, PaymentState } from './ledger.js';

/** Bounds of the ledger in memory. */
export interface MemoryLedgerOptions {
  /** How many payments may be open (claimed, sent, or paid and not yet served) at once. Default 50,000. */
  readonly maxOpen?: number;
  /** How many finished payments are remembered. Default 200,000. */
  readonly maxFinished?: number;
  /** How long finished payments are remembered, in milliseconds. Default 24 hours. */
  readonly retentionMs?: number;
  /** Clock, milliseconds since the epoch. */
  readonly now?: () => number;
}

interface Entry {
  record: PaymentRecord;
  lease: string | undefined;
  leaseEnds: number;
}

const FINAL: ReadonlySet<PaymentState> = new Set(['served', 'expired', 'failed']);
const DAY_MS = 86_400_000;

/**
 * A ledger in this process's memory: for middleware in somebody's app, and for tests. It is forgotten at exit; a payment
 * that landed before is then refused by the chain, which knows its transaction (service.md §7).
 */
export function createMemoryLedger(options: MemoryLedgerOptions = {}): Ledger {
  const { maxOpen = 50_000, maxFinished = 200_000, retentionMs = DAY_MS, now = Date.now } = options;
  const open = new Map<string, Entry>();
  const finished = new LRUCache<string, PaymentRecord>({ max: maxFinished, ttl: retentionMs });

  function claim(request: ClaimRequest): ClaimResult {
    const done = finished.get(request.id);
    if (done !== undefined) return { status: 'closed', record: done };
    const entry = open.get(request.id);
    if (entry === undefined) return insert(request);
    if (entry.record.binding !== request.binding) return { status: 'closed', record: entry.record };
    if (entry.lease !== undefined && entry.leaseEnds > now()) return { status: 'busy', record: entry.record };
    entry.lease = request.lease;
    entry.leaseEnds = now() + request.leaseMs;
    return { status: 'won', record: entry.record };
  }

  function insert({ lease, leaseMs, ...payment }: ClaimRequest): ClaimResult {
    if (open.size >= maxOpen) {
      throw new TollhouseError('payment_backend_unavailable', 'Too many payments are open at once; try again shortly.', {
        retryAfterSeconds: 2,
      });
    }
    const record: PaymentRecord = { ...payment, state: 'claimed', claimedAt: now() };
    open.set(record.id, { record, lease, leaseEnds: now() + leaseMs });
    return { status: 'won', record };
  }

  function change(id: string, lease: string, changes: Partial<PaymentRecord>): boolean {
    const entry = open.get(id);
    if (entry?.lease !== lease) return false;
    entry.record = { ...entry.record, ...changes };
    if (FINAL.has(entry.record.state)) {
      open.delete(id);
      finished.set(id, entry.record);
    }
    return true;
  }

  function release(id: string, lease: string): boolean {
    const entry = open.get(id);
    if (entry?.lease !== lease) return false;
    if (entry.record.state === 'claimed') open.delete(id);
    entry.lease = undefined;
    return true;
  }

  return {
    claim: async (request) => claim(request),
    recordBroadcast: async (id, lease, broadcast) => change(id, lease, { ...broadcast, state: 'broadcast' }),
    withdrawBroadcast: async (id, lease) => change(id, lease, { state: 'claimed' }),
    recordOutcome: async (id, lease, outcome: Outcome) => change(id, lease, outcome),
    complete: async (id, lease) => change(id, lease, { state: 'served' }),
    release: async (id, lease) => release(id, lease),
    find: async (id) => open.get(id)?.record ?? finished.get(id),
    close: async () => {
      open.clear();
      finished.clear();
    },
  };
}
