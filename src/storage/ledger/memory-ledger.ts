import { randomUUID } from 'node:crypto';
import type { LRUCache } from 'lru-cache';
import { TollhouseError } from '../../errors/errors.js';
import { boundedCache } from '../../lib/bounded-cache.js';
import { defined } from '../../lib/defined.js';
import { withAmountJson } from '../../protocol/money/amount-json.js';
import {
  type Broadcast,
  type ClaimRequest,
  type ClaimResult,
  type LandedMoney,
  type Ledger,
  MAX_RERUNS,
  type Outcome,
  type PaymentRecord,
  type PaymentState,
} from './ledger.js';
import type { PaymentRequestRecord } from './payment-request.js';
import { FINAL_STATES, isSameUse, lostClaim, MOST_PURCHASES } from './payment-use.js';
import type { InterruptedQuery, UnresolvedQuery } from './unfinished-payments.js';

/** Bounds of the ledger in memory. */
export interface MemoryLedgerOptions {
  /**
   * How many payments may be open (claimed, sent, or paid and not yet served) at once; above that the oldest that nobody
   * holds is forgotten. Default 50,000.
   */
  readonly maxOpen?: number | undefined;
  /** How many finished payments are remembered. Default 200,000. */
  readonly maxFinished?: number | undefined;
  /** How many payment requests are remembered. Default 50,000. */
  readonly maxRequests?: number | undefined;
  /** How long finished payments and payment requests are remembered, in milliseconds. Default 24 hours. */
  readonly retentionMs?: number | undefined;
  /** Clock, milliseconds since the epoch. */
  readonly now?: (() => number) | undefined;
}

interface Entry {
  record: PaymentRecord;
  lease: string | undefined;
  leaseEnds: number;
}

/** Money that has landed stays landed, whatever its holder says afterwards. */
const UNPAID: readonly PaymentState[] = ['claimed', 'broadcast'];
const OPEN: readonly PaymentState[] = [...UNPAID, 'confirmed'];
const DAY_MS = 86_400_000;

/**
 * A ledger in this process's memory: for middleware in somebody's app, and for tests. It is forgotten at exit; a payment
 * that landed before is then refused by the chain, which knows its transaction. Each is a memory of its own; facilitators
 * that are given none share one.
 */
export function createMemoryLedger(options: MemoryLedgerOptions = {}): Ledger {
  return new MemoryLedger(options);
}

class MemoryLedger implements Ledger {
  readonly remembersSince: number;
  readonly #now: () => number;
  readonly #maxOpen: number;
  readonly #open = new Map<string, Entry>();
  readonly #finished: LRUCache<string, PaymentRecord>;
  readonly #requests: LRUCache<string, PaymentRequestRecord>;

  constructor(options: MemoryLedgerOptions) {
    const { maxOpen = 50_000, maxFinished = 200_000, maxRequests = 50_000, retentionMs = DAY_MS } = options;
    this.#now = options.now ?? Date.now;
    this.remembersSince = this.#now();
    this.#maxOpen = maxOpen;
    this.#finished = boundedCache({ max: maxFinished, ttl: retentionMs });
    this.#requests = boundedCache({ max: maxRequests, ttl: retentionMs });
  }

  newLease(): string {
    return randomUUID();
  }

  async claim(request: ClaimRequest): Promise<ClaimResult> {
    const done = this.#finished.get(request.id);
    if (done !== undefined) return lostClaim(done, request);
    const entry = this.#open.get(request.id);
    if (entry === undefined) return this.#claimNew(request);
    const { record } = entry;
    const isFree = entry.lease === undefined || entry.leaseEnds <= this.#now();
    if (isFree && isSameUse(record, request)) return this.#takeOver(entry, request);
    if (!isFree || record.state !== 'claimed') return lostClaim(record, request);
    this.#open.delete(record.id);
    return this.#claimNew(request);
  }

  #claimNew(request: ClaimRequest): ClaimResult {
    return { status: 'won', record: this.#insert(request, { state: 'claimed' }), isFirstUse: true };
  }

  #takeOver(entry: Entry, { lease, leaseMs, fingerprint, retryHash, admitted }: ClaimRequest): ClaimResult {
    const isFirstUse = entry.record.fingerprint !== fingerprint || entry.record.retryHash !== retryHash;
    const whom = entry.record.admitted ?? admitted;
    if (isFirstUse) entry.record = { ...entry.record, ...defined({ fingerprint, retryHash, admitted: whom }) };
    entry.lease = lease;
    entry.leaseEnds = this.#now() + leaseMs;
    return { status: 'won', record: entry.record, isFirstUse };
  }

  async claimLanded(request: ClaimRequest, { slot, signature }: LandedMoney): Promise<PaymentRecord | undefined> {
    if (this.#finished.has(request.id) || this.#open.has(request.id)) return undefined;
    return this.#insert(request, { state: 'confirmed', slot, signature });
  }

  #insert(
    { lease, leaseMs, ...payment }: ClaimRequest,
    life: Pick<PaymentRecord, 'state' | 'slot' | 'signature'>,
  ): PaymentRecord {
    if (this.#open.size >= this.#maxOpen && !this.#makeRoom()) {
      throw new TollhouseError(
        'payment_backend_unavailable',
        'Too many payments are open at once; try again shortly.',
        {
          retryAfterSeconds: 2,
        },
      );
    }
    const record: PaymentRecord = { claimedAt: this.#now(), ...payment, ...life };
    this.#open.set(record.id, { record, lease, leaseEnds: this.#now() + leaseMs });
    return record;
  }

  /** Forgets the oldest payment that nobody holds: its payer has not come back for longer than all others. */
  #makeRoom(): boolean {
    for (const [id, { lease, leaseEnds }] of this.#open) {
      if (lease === undefined || leaseEnds <= this.#now()) return this.#open.delete(id);
    }
    return false;
  }

  /** Changes a payment that the lease holds and that is in one of some states. */
  #change(id: string, lease: string, states: readonly PaymentState[], changes: Partial<PaymentRecord>): boolean {
    const entry = this.#heldIn(id, lease, states);
    if (entry === undefined) return false;
    entry.record = Object.assign({}, entry.record, changes);
    if (FINAL_STATES.has(entry.record.state)) {
      this.#open.delete(id);
      this.#finished.set(id, entry.record);
    }
    return true;
  }

  #heldIn(id: string, lease: string, states: readonly PaymentState[]): Entry | undefined {
    const entry = this.#open.get(id);
    return entry?.lease === lease && states.includes(entry.record.state) ? entry : undefined;
  }

  async recordBroadcast(id: string, lease: string, broadcast: Broadcast, leaseMs?: number): Promise<boolean> {
    const entry = this.#heldIn(id, lease, UNPAID);
    if (entry !== undefined && leaseMs !== undefined) {
      entry.leaseEnds = Math.max(entry.leaseEnds, this.#now() + leaseMs);
    }
    return this.#change(id, lease, UNPAID, { state: 'broadcast', ...broadcast });
  }

  async recordOutcome(id: string, lease: string, outcome: Outcome): Promise<boolean> {
    return this.#change(id, lease, 'slot' in outcome ? OPEN : UNPAID, outcome);
  }

  async forget(id: string, lease: string): Promise<boolean> {
    return this.#heldIn(id, lease, UNPAID) !== undefined && this.#open.delete(id);
  }

  async keep(id: string, lease: string): Promise<boolean> {
    const entry = this.#heldIn(id, lease, OPEN);
    if (entry !== undefined) entry.lease = undefined;
    return entry !== undefined;
  }

  async served(id: string, lease: string): Promise<boolean> {
    return this.#change(id, lease, ['confirmed'], { state: 'served' });
  }

  async runAgain(id: string, lease: string): Promise<boolean> {
    const { reruns = 0 } = this.#open.get(id)?.record ?? {};
    return reruns < MAX_RERUNS && this.#change(id, lease, ['confirmed'], { reruns: reruns + 1 });
  }

  async extend(id: string, lease: string, leaseMs: number): Promise<boolean> {
    const entry = this.#open.get(id);
    if (entry?.lease !== lease) return false;
    entry.leaseEnds = this.#now() + leaseMs;
    return true;
  }

  async takeUnresolved({ network, restMs, limit }: UnresolvedQuery): Promise<readonly PaymentRecord[]> {
    const time = this.#now();
    const taken = [...this.#open.values()]
      .filter(({ leaseEnds, record }) => leaseEnds <= time && isUnresolved(record) && record.terms.network === network)
      .sort((one, other) => one.leaseEnds - other.leaseEnds)
      .slice(0, limit);
    for (const entry of taken) {
      entry.lease = undefined;
      entry.leaseEnds = time + restMs;
    }
    return taken.map(({ record }) => record);
  }

  async interrupted({ network, endedWithinMs, limit }: InterruptedQuery): Promise<readonly PaymentRecord[]> {
    const time = this.#now();
    return [...this.#open.values()]
      .filter(({ lease, record: { state, terms } }) => {
        return lease !== undefined && state === 'confirmed' && terms.network === network;
      })
      .filter(({ leaseEnds }) => leaseEnds <= time && leaseEnds > time - endedWithinMs)
      .sort((one, other) => one.leaseEnds - other.leaseEnds)
      .slice(0, limit)
      .map(({ record }) => record);
  }

  async openPurchases(payer: string): Promise<readonly PaymentRecord[]> {
    return [...this.#open.values()]
      .map(({ record }) => record)
      .filter((record) => record.payer === payer && record.buys !== undefined && record.state === 'broadcast')
      .slice(0, MOST_PURCHASES);
  }

  async find(id: string): Promise<PaymentRecord | undefined> {
    return this.#open.get(id)?.record ?? this.#finished.get(id);
  }

  async savePaymentRequest(request: PaymentRequestRecord): Promise<void> {
    this.#requests.set(request.id, request);
  }

  async findPaymentRequestByReference(accounts: readonly string[]): Promise<PaymentRequestRecord | undefined> {
    const references = new Set(accounts);
    return this.#requests.find(({ reference }) => references.has(reference));
  }

  async findPaymentRequest(id: string): Promise<PaymentRequestRecord | undefined> {
    return this.#requests.get(id);
  }

  async attachAttempt(requestId: string, paymentId: string): Promise<string | undefined> {
    const request = this.#requests.get(requestId);
    if (request === undefined) return undefined;
    const { attempt } = request;
    if (attempt !== undefined && attempt !== paymentId && this.#mayStillPay(attempt)) return attempt;
    // It must not outlive the payments that name it: one that is forgotten could pay it once more.
    this.#requests.set(requestId, withAmountJson({ ...request, attempt: paymentId }), { noUpdateTTL: true });
    return paymentId;
  }

  #mayStillPay(id: string): boolean {
    this.#forgetAbandoned(id);
    const record = this.#open.get(id)?.record ?? this.#finished.get(id);
    return record !== undefined && record.state !== 'expired' && record.state !== 'failed';
  }

  /** A payment that was never sent and whose holder is gone makes place, and its holder, should it come back, loses it. */
  #forgetAbandoned(id: string): void {
    const entry = this.#open.get(id);
    if (entry?.record.state === 'claimed' && entry.leaseEnds <= this.#now()) this.#open.delete(id);
  }

  async close(): Promise<void> {
    this.#open.clear();
    this.#finished.clear();
    this.#requests.clear();
  }
}

function isUnresolved({ state, signature }: PaymentRecord): boolean {
  return state === 'broadcast' && signature !== undefined;
}
