import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import type { NetworkId } from '../../src/protocol/types.js';
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
} from '../../src/storage/ledger/ledger.js';
import type { InterruptedQuery, UnresolvedQuery } from '../../src/storage/ledger/unfinished-payments.js';
import type { LedgerUnderTest } from './ledger.js';
import { newRequest } from './ledger-requests.js';
import { newClaim, TERMS } from './ledger-samples.js';

const LEASE_MS = 1_000;
const REST_MS = 700;
const EVER_MS = Number.MAX_SAFE_INTEGER;
const SENT: Broadcast = { signature: '5'.repeat(88), lastValidBlockHeight: 900 };
const LOST = {
  expired: { state: 'expired', reason: 'invalid_exact_svm_transaction_expired' },
  failed: { state: 'failed', reason: 'invalid_exact_svm_transaction_failed' },
} as const satisfies Record<string, Outcome>;

/** Payments and their holders are numbered; each history has payments of its own. */
const held = { payment: fc.nat({ max: 1 }), holder: fc.nat({ max: 1 }) };
/** Mostly the same, so that many claims are about one thing. */
const aUse = fc.record({
  binding: fc.constantFrom('GET /report|terms', 'GET /report|terms', 'GET /report|terms', 'GET /other|terms'),
  fingerprint: fc.constantFrom('one', 'one', 'two', undefined),
  retryHash: fc.constantFrom('mine', 'mine', 'yours', undefined),
  admitted: fc.constantFrom('a holder', 'a member', undefined),
});
const aSlot = fc.integer({ min: 1, max: 9 });
const kind = <const Kind extends string>(...kinds: readonly [Kind, ...Kind[]]) => fc.constantFrom<Kind>(...kinds);

const anEvent = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: kind('claim'), ...held, use: aUse }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('claimLanded'), ...held, use: aUse, slot: aSlot }) },
  {
    weight: 5,
    arbitrary: fc.record({
      ...{ kind: kind('recordBroadcast'), ...held, isSigned: fc.boolean() },
      leaseMs: fc.constantFrom(undefined, 1, LEASE_MS),
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: kind('land'), ...held, state: kind('confirmed', 'served'), slot: aSlot }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('lose'), ...held, state: kind('expired', 'failed') }) },
  { weight: 7, arbitrary: fc.record({ kind: kind('forget', 'keep', 'served', 'extend'), ...held }) },
  { weight: 9, arbitrary: fc.record({ kind: kind('runAgain'), ...held }) },
  { weight: 5, arbitrary: fc.record({ kind: kind('takeUnresolved') }) },
  { weight: 4, arbitrary: fc.record({ kind: kind('interrupted'), endedWithinMs: fc.constantFrom(LEASE_MS, EVER_MS) }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('attachAttempt'), payment: held.payment }) },
  { weight: 5, arbitrary: fc.record({ kind: kind('advance'), by: fc.constantFrom(1, 500, REST_MS, LEASE_MS) }) },
);
type Event = typeof anEvent extends fc.Arbitrary<infer T> ? T : never;

type Verbs = Omit<
  Ledger,
  | 'close'
  | 'newLease'
  | 'remembersSince'
  | 'openPurchases'
  | 'savePaymentRequest'
  | 'findPaymentRequest'
  | 'findPaymentRequestByReference'
>;

/** Random histories: a ledger answers each event as the model does, and its books are the model's after each. */
export function ledgerModelContract(fixture: () => LedgerUnderTest, histories: number): void {
  test('in random histories it answers as the model of the table does', async () => {
    const { ledger, now, advance } = fixture();
    const history = fc.asyncProperty(fc.array(anEvent, { maxLength: 40, size: 'max' }), async (events) => {
      const name = randomUUID();
      const request = newRequest();
      await ledger.savePaymentRequest(request);
      const model = new LedgerModel(now);
      for (const event of events) {
        if (event.kind === 'advance') await advance(event.by);
        else {
          const ask = (of: Verbs) => askFor(of, event, { name, requestId: request.id });
          const [actual, expected] = [await ask(ledger), await ask(model)];
          expectSame(actual, expected);
        }
        const ids = [0, 1].map((at) => idOf(name, at));
        const books = (of: Verbs) => Promise.all(ids.map((id) => of.find(id)));
        expectSame(await books(ledger), await books(model));
      }
    });
    await fc.assert(history, { numRuns: histories });
  }, 120_000);
}

/** Compares what is nearly always the same, thousands of times: Jest's comparison takes ten times as long. */
function expectSame(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected);
}

const idOf = (name: string, payment: number) => `${name} payment ${payment}`;

interface History {
  readonly name: string;
  readonly requestId: string;
}

async function askFor(of: Verbs, event: Exclude<Event, { kind: 'advance' }>, { name, requestId }: History) {
  const network = `solana-${name}` as NetworkId;
  if (event.kind === 'takeUnresolved') {
    return byId(await of.takeUnresolved({ network, restMs: REST_MS, limit: 10 }));
  }
  if (event.kind === 'interrupted') {
    return byId(await of.interrupted({ network, endedWithinMs: event.endedWithinMs, limit: 10 }));
  }
  const id = idOf(name, event.payment);
  if (event.kind === 'attachAttempt') return of.attachAttempt(requestId, id);
  const lease = `${name} holder ${event.holder}`;
  switch (event.kind) {
    case 'claim':
    case 'claimLanded': {
      const { binding, fingerprint, retryHash, admitted } = event.use;
      const bound = { ...(fingerprint && { fingerprint }), ...(retryHash && { retryHash }) };
      const use = { binding, ...bound, ...(admitted && { admitted }) };
      const request = newClaim({ id, lease, leaseMs: LEASE_MS, terms: { ...TERMS, network }, ...use });
      return event.kind === 'claim' ? of.claim(request) : of.claimLanded(request, landedIn(event.slot));
    }
    case 'recordBroadcast':
      return of.recordBroadcast(id, lease, event.isSigned ? SENT : {}, event.leaseMs);
    case 'land':
      return of.recordOutcome(id, lease, { state: event.state, ...landedIn(event.slot) });
    case 'lose':
      return of.recordOutcome(id, lease, LOST[event.state]);
    case 'extend':
      return of.extend(id, lease, LEASE_MS);
    default:
      return of[event.kind](id, lease);
  }
}

function byId(records: readonly PaymentRecord[]): readonly PaymentRecord[] {
  return [...records].sort((one, other) => (one.id < other.id ? -1 : 1));
}

const landedIn = (slot: number): LandedMoney => ({ slot, signature: String(slot).repeat(88) });

interface Entry {
  readonly record: PaymentRecord;
  readonly holder: string | undefined;
  readonly until: number;
}

const FINAL: readonly PaymentState[] = ['served', 'failed', 'expired'];
const SENDABLE: readonly PaymentState[] = ['claimed', 'broadcast'];
const OPEN: readonly PaymentState[] = ['claimed', 'broadcast', 'confirmed'];

/** What the table at `PaymentState` says, for a handful of payments and one request. */
class LedgerModel implements Verbs {
  readonly #now: () => number;
  readonly #payments = new Map<string, Entry>();
  #attempt: string | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  async claim(request: ClaimRequest): Promise<ClaimResult> {
    const { id, binding, fingerprint, retryHash } = request;
    const entry = this.#payments.get(id);
    if (entry === undefined) return { status: 'won', record: this.#enter(request), isFirstUse: true };
    const { record } = entry;
    const isSame =
      record.binding === binding &&
      [undefined, fingerprint].includes(record.fingerprint) &&
      [undefined, retryHash].includes(record.retryHash);
    const isFree = entry.holder === undefined || entry.until <= this.#now();
    const isFinal = FINAL.includes(record.state);
    if (!isSame && isFree && record.state === 'claimed') {
      return { status: 'won', record: this.#enter(request), isFirstUse: true };
    }
    if (!isSame) return { status: 'foreign', record };
    if (isFinal || !isFree) return { status: isFinal ? 'closed' : 'busy', record };
    const isFirstUse = record.fingerprint !== fingerprint || record.retryHash !== retryHash;
    const admitted = record.admitted ?? (isFirstUse ? request.admitted : undefined);
    const uses = {
      ...(fingerprint && { fingerprint }),
      ...(retryHash && { retryHash }),
      ...(admitted && { admitted }),
    };
    const bound = { ...record, ...uses };
    this.#payments.set(id, { record: bound, holder: request.lease, until: this.#now() + request.leaseMs });
    return { status: 'won', record: bound, isFirstUse };
  }

  async claimLanded(request: ClaimRequest, landed: LandedMoney): Promise<PaymentRecord | undefined> {
    return this.#payments.has(request.id) ? undefined : this.#enter(request, { state: 'confirmed', ...landed });
  }

  #enter({ lease, leaseMs, ...payment }: ClaimRequest, life: Partial<PaymentRecord> = {}): PaymentRecord {
    const record: PaymentRecord = { ...payment, state: 'claimed', claimedAt: this.#now(), ...life };
    this.#payments.set(record.id, { record, holder: lease, until: this.#now() + leaseMs });
    return record;
  }

  /** Replaces what the holder holds in one of some states; by nothing where `next` answers nothing. */
  #change(id: string, lease: string, states: readonly PaymentState[], next: (entry: Entry) => Entry | undefined) {
    const entry = this.#payments.get(id);
    if (entry === undefined || entry.holder !== lease || !states.includes(entry.record.state)) return false;
    const changed = next(entry);
    if (changed === undefined) this.#payments.delete(id);
    else this.#payments.set(id, FINAL.includes(changed.record.state) ? { ...changed, holder: undefined } : changed);
    return true;
  }

  async recordBroadcast(id: string, lease: string, broadcast: Broadcast, leaseMs?: number) {
    const sent = { ...broadcast, state: 'broadcast' } as const;
    const heldUntil = leaseMs === undefined ? 0 : this.#now() + leaseMs;
    return this.#change(id, lease, SENDABLE, (entry) => ({
      ...entry,
      until: Math.max(entry.until, heldUntil),
      record: { ...entry.record, ...sent },
    }));
  }

  async recordOutcome(id: string, lease: string, outcome: Outcome) {
    const hasLanded = outcome.state === 'confirmed' || outcome.state === 'served';
    const states = hasLanded ? OPEN : SENDABLE;
    return this.#change(id, lease, states, (entry) => ({ ...entry, record: { ...entry.record, ...outcome } }));
  }

  async forget(id: string, lease: string) {
    return this.#change(id, lease, SENDABLE, () => undefined);
  }

  async keep(id: string, lease: string) {
    return this.#change(id, lease, OPEN, (entry) => ({ ...entry, holder: undefined }));
  }

  async served(id: string, lease: string) {
    const served = { state: 'served' } as const;
    return this.#change(id, lease, ['confirmed'], (entry) => ({ ...entry, record: { ...entry.record, ...served } }));
  }

  async runAgain(id: string, lease: string) {
    const reruns = (this.#payments.get(id)?.record.reruns ?? 0) + 1;
    const states: readonly PaymentState[] = reruns > MAX_RERUNS ? [] : ['confirmed'];
    return this.#change(id, lease, states, (entry) => ({ ...entry, record: { ...entry.record, reruns } }));
  }

  async extend(id: string, lease: string, leaseMs: number) {
    return this.#change(id, lease, OPEN, (entry) => ({ ...entry, until: this.#now() + leaseMs }));
  }

  async takeUnresolved({ restMs }: UnresolvedQuery): Promise<readonly PaymentRecord[]> {
    const due = [...this.#payments.values()].filter(
      ({ record, until }) => record.state === 'broadcast' && record.signature !== undefined && until <= this.#now(),
    );
    for (const { record } of due) {
      this.#payments.set(record.id, { record, holder: undefined, until: this.#now() + restMs });
    }
    return due.map(({ record }) => record);
  }

  async interrupted({ endedWithinMs }: InterruptedQuery): Promise<readonly PaymentRecord[]> {
    const isOver = (until: number) => until <= this.#now() && until > this.#now() - endedWithinMs;
    return [...this.#payments.values()]
      .filter(({ record, holder, until }) => record.state === 'confirmed' && holder !== undefined && isOver(until))
      .map(({ record }) => record);
  }

  async attachAttempt(_requestId: string, id: string): Promise<string> {
    const attached = this.#attempt === undefined ? undefined : this.#payments.get(this.#attempt);
    const isAbandoned = attached?.record.state === 'claimed' && attached.until <= this.#now();
    if (isAbandoned && this.#attempt !== id) this.#payments.delete(attached.record.id);
    const mayPay = attached && !isAbandoned && !['expired', 'failed'].includes(attached.record.state);
    if (!mayPay || this.#attempt === undefined) this.#attempt = id;
    return this.#attempt;
  }

  async find(id: string): Promise<PaymentRecord | undefined> {
    return this.#payments.get(id)?.record;
  }
}
