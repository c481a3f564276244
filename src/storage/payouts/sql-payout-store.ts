import { newId } from '../../lib/ids.js';
import type { NetworkId } from '../../protocol/types.js';
import { eventSteps } from '../events/event-statements.js';
import { type EventRecord, type EventType, newEvent } from '../events/events.js';
import { amountToSql, legsFromSql, legsToSql } from '../ledger/payment-rows.js';
import { type ProcessLeases, processLeases } from '../sql/presence/lost-leases.js';
import type { Row, SqlDatabase, Step } from '../sql/sql-database.js';
import { exactSum } from '../sql/sql-sums.js';
import { bookLanded, matchLanded } from './landed-payouts.js';
import { byRecipient, toOwedSum, toOwedTotal, toPayout } from './payout-rows.js';
import { IDS_AT_ONCE, PAYOUTS } from './payout-statements.js';
import {
  type BookedLanding,
  type HeldReason,
  type LandedPayout,
  MAX_PAYOUT_LEGS,
  MAX_UNFINISHED,
  type OwedAccount,
  type OwedSum,
  type OwedTotal,
  type PayoutFailure,
  type PayoutPosition,
  type PayoutRecord,
  type PayoutStore,
  type SignedPayout,
} from './payout-store.js';

/** Later than every payout. */
const END: PayoutPosition = { createdAt: Number.MAX_SAFE_INTEGER, id: '' };

/**
 * A payout book on SQLite or Postgres, in the database of the ledger. The database is not closed with it.
 * @param now - clock, milliseconds since the epoch. Instances that share a database must agree to a fraction of a lease
 */
export function createSqlPayoutStore(database: SqlDatabase, now: () => number = Date.now): PayoutStore {
  return new SqlPayoutStore(database, now);
}

class SqlPayoutStore implements PayoutStore {
  readonly #database: SqlDatabase;
  readonly #now: () => number;
  readonly #leases: ProcessLeases;

  constructor(database: SqlDatabase, now: () => number) {
    this.#database = database;
    this.#now = now;
    this.#leases = processLeases(database, PAYOUTS, now);
  }

  async accrue(limit: number): Promise<number> {
    const payments = await this.#database.query(PAYOUTS.accruable, limit);
    if (payments.length > 0) await this.#database.batch(payments.flatMap(accrualSteps));
    return payments.length;
  }

  async owed(projectId: string): Promise<readonly OwedSum[]> {
    return (await this.#database.query(PAYOUTS.owed, projectId)).map(toOwedSum);
  }

  async ready(network: NetworkId, wallet: string): Promise<readonly OwedTotal[]> {
    return (await this.#database.query(PAYOUTS.ready, network, wallet, this.#now())).map(toOwedTotal);
  }

  async due(network: NetworkId, wallet: string, mint: string): Promise<bigint> {
    const rows = await this.#database.query(PAYOUTS.due, network, wallet, mint);
    return rows.reduce((sum, row) => (row.high === null ? sum : sum + exactSum(row)), 0n);
  }

  async hold(account: OwedAccount, recipient: string, reason: HeldReason, until: number): Promise<void> {
    await this.#database.query(PAYOUTS.hold, ...keyOf(account), recipient, reason, until);
  }

  async plan(account: OwedAccount, recipients: readonly string[]): Promise<PayoutRecord | undefined> {
    if (recipients.length > MAX_PAYOUT_LEGS) throw new RangeError(`a payout has at most ${MAX_PAYOUT_LEGS} recipients`);
    const id = newId('pyo');
    const places = Array.from({ length: MAX_PAYOUT_LEGS }, (_, index) => recipients[index] ?? '');
    await this.#database.batch([
      [PAYOUTS.insert, ...keyOf(account), id, this.#now()],
      [PAYOUTS.claim, ...keyOf(account), id, ...places],
    ]);
    return this.#create(id);
  }

  /**
   * Sums up what a planned payout pays. What it has claimed is its own, so that this gives the same whoever does it, and
   * whenever: after a crash it is done by who takes the payout.
   */
  async #create(id: string): Promise<PayoutRecord | undefined> {
    const rows = await this.#database.query(PAYOUTS.legs, id);
    if (rows.length === 0) {
      await this.#database.query(PAYOUTS.forget, id);
      return undefined;
    }
    const legs = rows.map((row) => ({ recipient: String(row.recipient), amount: exactSum(row) }));
    const total = legs.reduce((sum, { amount }) => sum + amount, 0n);
    const owner = String(rows[0]?.owner);
    const planned = await this.find(id);
    if (planned === undefined) return undefined;
    const created: PayoutRecord = { ...planned, state: 'created', owner, legs, total };
    const guard: Step = [PAYOUTS.create, id, owner, legsToSql(legs), String(total)];
    await this.#database.batchIf(guard, eventSteps([payoutEvent('payout.created', created, this.#now())]));
    return this.find(id);
  }

  async take(network: NetworkId, lease: string, leaseMs: number, limit: number): Promise<readonly PayoutRecord[]> {
    await this.#leases.endLost(leaseMs);
    const time = this.#now();
    const held = this.#leases.named(lease);
    const rows = await this.#database.query(PAYOUTS.take, network, held, time + leaseMs, time, limit);
    const taken = rows.map((row) => (row.state === 'planned' ? this.#create(String(row.id)) : toPayout(row)));
    return (await Promise.all(taken)).filter((it) => it !== undefined);
  }

  async takeOne(id: string, lease: string, leaseMs: number): Promise<PayoutRecord | undefined> {
    await this.#leases.endLost(leaseMs);
    const time = this.#now();
    const [row] = await this.#database.query(PAYOUTS.takeOne, id, this.#leases.named(lease), time + leaseMs, time);
    if (row === undefined) return undefined;
    return row.state === 'planned' ? this.#create(id) : toPayout(row);
  }

  async unfinished(): Promise<readonly PayoutRecord[]> {
    return (await this.#database.query(PAYOUTS.unfinished, MAX_UNFINISHED)).map(toPayout);
  }

  async heldBack(): Promise<readonly OwedSum[]> {
    return (await this.#database.query(PAYOUTS.heldBack, MAX_UNFINISHED)).map(toOwedSum);
  }

  async owedByAll(): Promise<readonly OwedSum[]> {
    return (await this.#database.query(PAYOUTS.owedByAll, MAX_UNFINISHED)).map(toOwedSum);
  }

  async signaturesOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
      const places = Array.from({ length: IDS_AT_ONCE }, (_, index) => ids[at + index] ?? '');
      for (const row of await this.#database.query(PAYOUTS.signatures, ...places)) {
        found.set(String(row.id), String(row.signature));
      }
    }
    return found;
  }

  async owedSince(network: NetworkId, wallet: string): Promise<number | undefined> {
    const [row] = await this.#database.query(PAYOUTS.owedSince, network, wallet);
    return row === undefined || row.at === null ? undefined : Number(row.at);
  }

  async bookLanded(network: NetworkId, landed: LandedPayout): Promise<BookedLanding | undefined> {
    const match = await matchLanded(this.#database, network, landed);
    if (match === undefined) return undefined;
    const { id, wallet, mint, legs, slot, signature, blockhash, blockTime = this.#now() } = landed;
    const signed = { signature, transaction: new Uint8Array(), blockhash, lastValidBlockHeight: 0 };
    const { projectId, owner } = match;
    const total = legs.reduce((sum, { amount }) => sum + amount, 0n);
    const about = { id, projectId, owner, network, wallet, mint, state: 'paid', legs, total, signed, slot } as const;
    const payout = { ...about, createdAt: blockTime, updatedAt: this.#now() };
    const told = eventSteps([payoutEvent('payout.paid', payout, this.#now())]);
    const isBooked = await bookLanded(this.#database, payout, match, told);
    return isBooked ? { payout, beyond: match.beyond } : undefined;
  }

  async recordSigned(id: string, lease: string, signed: SignedPayout): Promise<boolean> {
    const { signature, transaction, blockhash, lastValidBlockHeight, signedSlot = null } = signed;
    const bytes = Buffer.from(transaction).toString('base64');
    const values = [signature, bytes, blockhash, lastValidBlockHeight, this.#now(), signedSlot] as const;
    return (await this.#database.query(PAYOUTS.recordSigned, id, this.#leases.named(lease), ...values)).length > 0;
  }

  recordPaid(id: string, lease: string, slot: number): Promise<boolean> {
    const guard: Step = [PAYOUTS.recordPaid, id, this.#leases.named(lease), slot, this.#now()];
    return this.#end('payout.paid', id, guard, { state: 'paid', slot });
  }

  recordFailed(id: string, lease: string, failure: PayoutFailure): Promise<boolean> {
    const { reason, recipient = '', heldUntil, signature = '' } = failure;
    const guard: Step = [PAYOUTS.recordFailed, id, this.#leases.named(lease), reason, this.#now(), signature];
    return this.#end('payout.failed', id, guard, { state: 'failed', reason }, [
      [PAYOUTS.holdFreed, id, reason, heldUntil, recipient],
      [PAYOUTS.freeOwed, id],
    ]);
  }

  /** Ends a payout, with its event, if the guard lets it. */
  async #end(
    type: EventType,
    id: string,
    guard: Step,
    change: Partial<PayoutRecord>,
    steps: readonly Step[] = [],
  ): Promise<boolean> {
    const payout = await this.find(id);
    if (payout === undefined) return false;
    const event = payoutEvent(type, { ...payout, ...change }, this.#now());
    return (await this.#database.batchIf(guard, [...steps, ...eventSteps([event])])).length > 0;
  }

  async release(id: string, lease: string, until: number, reason?: HeldReason): Promise<boolean> {
    const held = this.#leases.named(lease);
    return (await this.#database.query(PAYOUTS.release, id, held, until, reason ?? null)).length > 0;
  }

  async ownerOf(projectId: string): Promise<string | undefined> {
    // Postgres takes no text with this character, and no project has it.
    if (projectId.includes('\0')) return undefined;
    const [row] = await this.#database.query(PAYOUTS.ownerOf, projectId);
    return row && String(row.owner);
  }

  async list(projectId: string, limit: number, after: PayoutPosition = END): Promise<readonly PayoutRecord[]> {
    return (await this.#database.query(PAYOUTS.list, projectId, after.createdAt, after.id, limit)).map(toPayout);
  }

  async prune(before: number, limit: number): Promise<number> {
    return (await this.#database.query(PAYOUTS.prune, before, limit)).length;
  }

  async find(id: string): Promise<PayoutRecord | undefined> {
    const [row] = await this.#database.query(PAYOUTS.find, id);
    return row && toPayout(row);
  }
}

function keyOf({ projectId, network, wallet, mint }: OwedAccount) {
  return [projectId, network, wallet, mint] as const;
}

/** The rows first, then the mark: the same steps a second time change nothing. */
function accrualSteps({ id, project_id, owner, network, asset, pay_to, owed, claimed_at }: Row): readonly Step[] {
  const payment = String(id);
  const texts = [project_id, owner, network, pay_to, asset].map(String);
  const at = Number(claimed_at);
  const rows = byRecipient(legsFromSql(String(owed))).map(
    ({ recipient, amount }): Step => [PAYOUTS.addOwed, payment, recipient, ...texts, amountToSql(amount), at],
  );
  return [...rows, [PAYOUTS.markAccrued, payment]];
}

function payoutEvent(type: EventType, payout: PayoutRecord, at: number): EventRecord {
  const { id, projectId, owner, network, mint, state, legs, total, signed, reason } = payout;
  const data = {
    payout_id: id,
    state,
    network,
    mint,
    amount_atomic: String(total),
    legs: legs.map(({ recipient, amount }) => ({ recipient, amount_atomic: String(amount) })),
    signature: signed?.signature ?? null,
    reason: reason ?? null,
  };
  return newEvent({ type, owner, projectId, data }, at);
}
