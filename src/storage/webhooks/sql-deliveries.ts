import { boundedCache } from '../../lib/bounded-cache.js';
import { newIdAt } from '../../lib/ids.js';
import { eventSteps } from '../events/event-statements.js';
import type { Row, SqlDatabase, Step } from '../sql/sql-database.js';
import {
  type AttemptOutcome,
  type DeliveryAttempt,
  type DeliveryRecord,
  type DeliveryStore,
  PROMPT_MS,
  type TakenDelivery,
} from './deliveries.js';
import { toAttempt, toDelivery, toTaken } from './delivery-rows.js';
import {
  DELIVERIES,
  FANNED_AT_ONCE,
  INSERTED_AT_ONCE,
  insertDeliveries,
  type NewDelivery,
  takingStatements,
} from './delivery-statements.js';
import { toWebhook } from './webhook-rows.js';

/** After every delivery. */
const NEWEST = { createdAt: Number.MAX_SAFE_INTEGER, id: '' };

/** So many attempts are kept of a webhook that have succeeded, and as many that have not. */
const KEPT_ATTEMPTS = 1_000;

/** What is beyond that goes at each fiftieth attempt: to find where it begins takes as long as there are many. */
const FORGETS_EVERY = 50;
/** Of so many webhooks it is known when that was done last; of any other it is done at once. */
const WEBHOOKS_COUNTED = 10_000;

/** More than anybody has. */
const NO_BOUND = 1_000_000;

/**
 * The outbox on SQLite or Postgres. The database is not closed with it.
 * @param now - clock, milliseconds since the epoch. Instances that share a database must agree to a fraction of a lease
 * @param keptAttempts - so many that have succeeded are kept of a webhook, and as many that have not. Default 1,000. A twentieth more may
 * be there for each process
 */
export function createSqlDeliveries(
  database: SqlDatabase,
  now: () => number = Date.now,
  keptAttempts: number = KEPT_ATTEMPTS,
): DeliveryStore {
  const { lock, take } = takingStatements(database.dialect);
  const isTimeToForget = createTurns(Math.max(1, Math.floor((keptAttempts * FORGETS_EVERY) / KEPT_ATTEMPTS)));

  async function fanOut(limit: number): Promise<number> {
    const rows = await database.query(DELIVERIES.outbox, limit);
    if (rows.length === 0) return 0;
    const ids = [...new Set(rows.map(({ event_id }) => String(event_id)))];
    const time = now();
    const wanted = rows.filter(isWanted).map((row) => fanned(row, time));
    await database.batch([...inChunks(wanted, INSERTED_AT_ONCE).map(insertDeliveries), ...fannedOutSteps(ids)]);
    return ids.length;
  }

  async function find(webhookId: string, id: string): Promise<DeliveryRecord | undefined> {
    const [row] = await database.query(DELIVERIES.find, id, webhookId);
    return row === undefined ? undefined : toDelivery(row);
  }

  return {
    fanOut,
    find,
    due: async (atOnce, limit, { ofOwner = NO_BOUND, promptOnly = false } = {}) =>
      (await database.query(DELIVERIES.due, now(), atOnce, limit, ofOwner, promptOnly ? 1 : 0)).map(toWebhook),
    async take(webhookId, { lease, leaseMs, atOnce, ofOwner = NO_BOUND }) {
      const time = now();
      const results = await database.batch([
        [lock, webhookId],
        [take, webhookId, lease, time, time + leaseMs, atOnce, ofOwner],
        [DELIVERIES.taken, webhookId, lease],
      ]);
      return (results.at(-1) ?? []).map((row) => toTaken(row, webhookId, lease));
    },
    async record(delivery, attempt, outcome) {
      const kind = isDelivered(outcome) ? 1 : 0;
      const steps = [
        ...attemptSteps(delivery, attempt, outcome),
        ...(isTimeToForget(`${delivery.webhookId} ${kind}`)
          ? [[DELIVERIES.forgetAttempts, delivery.webhookId, kind, keptAttempts] as const]
          : []),
      ];
      return (await database.batchIf(outcomeStep(delivery, outcome, now()), steps)).length > 0;
    },
    async queue(event, webhookId, place) {
      const { id: eventId, type: eventType, at: createdAt } = event;
      const delivery = { id: newIdAt('dlv', createdAt), webhookId, eventId, eventType, createdAt };
      const row = { ...columnsOf(delivery.id, event.id, webhookId), ...pendingAt(event.at), place };
      await database.batch([...eventSteps([event]), insertDeliveries([row]), ...fannedOutSteps([event.id])]);
      return { ...delivery, state: 'pending', attempts: 0, nextAt: event.at };
    },
    list: async (webhookId, { state = '', after = NEWEST, limit }) =>
      (await database.query(DELIVERIES.list, webhookId, state, after.createdAt, after.id, limit)).map(toDelivery),
    attempts: async (id) => (await database.query(DELIVERIES.attempts, id)).map(toAttempt),
    retry: async (id) => (await database.query(DELIVERIES.retry, id, now())).length > 0,
    recover: async (webhookId, since, limit) =>
      (await database.query(DELIVERIES.recover, webhookId, now(), since, limit)).length,
    async prune(before, limit, askedBefore = before) {
      const asked = await database.query(DELIVERIES.pruneAsked, askedBefore, limit);
      return asked.length + (await database.query(DELIVERIES.prune, before, limit)).length;
    },
  };
}

function isWanted({ events, type }: Row): boolean {
  if (typeof events !== 'string') return false;
  const wanted = JSON.parse(events) as readonly string[];
  return wanted.includes('*') || wanted.includes(String(type));
}

function fanned({ event_id, webhook_id, status }: Row, time: number): NewDelivery {
  const columns = { ...columnsOf(newIdAt('dlv', time), String(event_id), String(webhook_id)), place: 0 };
  if (status === 'enabled') return { ...columns, ...pendingAt(time) };
  return { ...columns, state: 'failed', next_at: null, created_at: time, finished_at: time };
}

function columnsOf(id: string, event_id: string, webhook_id: string) {
  return { id, event_id, webhook_id };
}

function pendingAt(time: number) {
  return { state: 'pending', next_at: time, created_at: time, finished_at: null };
}

function inChunks<T>(all: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));
}

/** Places that are left over name the first event once more. */
function fannedOutSteps(ids: readonly string[]): readonly Step[] {
  return inChunks(ids, FANNED_AT_ONCE).map((group) => [
    DELIVERIES.fannedOut,
    ...Array.from({ length: FANNED_AT_ONCE }, (_, at) => group[at] ?? group[0] ?? ''),
  ]);
}

function outcomeStep({ id, lease }: TakenDelivery, outcome: AttemptOutcome, time: number): Step {
  return 'state' in outcome
    ? [DELIVERIES.record, id, lease, outcome.state, time, null]
    : [DELIVERIES.record, id, lease, null, null, outcome.nextAt];
}

function attemptSteps(
  { id, webhookId, attempts }: TakenDelivery,
  { at, durationMs, status, error, answer }: Omit<DeliveryAttempt, 'number'>,
  outcome: AttemptOutcome,
): readonly Step[] {
  const values = [attempts + 1, at, Math.round(durationMs), status ?? null, error ?? null, answer ?? null] as const;
  const hasSucceeded = isDelivered(outcome);
  return [
    [DELIVERIES.recordAttempt, id, ...values, webhookId, hasSucceeded ? 1 : 0],
    hasSucceeded
      ? [DELIVERIES.succeeding, webhookId, durationMs <= PROMPT_MS ? 1 : 0]
      : [DELIVERIES.failing, webhookId, at],
  ];
}

const isDelivered = (outcome: AttemptOutcome): boolean => 'state' in outcome && outcome.state === 'delivered';

/** Whether it is the turn of a key: the first time, and each `every`th time after it. */
function createTurns(every: number): (key: string) => boolean {
  const left = boundedCache<string, { times: number }>({ max: WEBHOOKS_COUNTED });
  return (key) => {
    const before = left.get(key) ?? { times: 0 };
    const isTurn = before.times % every === 0;
    before.times += 1;
    left.set(key, before);
    return isTurn;
  };
}
