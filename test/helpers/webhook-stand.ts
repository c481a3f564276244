import { createAddressGuard } from '../../src/gateway/network-guard/address-guard.js';
import { createWebhookSender } from '../../src/gateway/webhooks/webhook-sender.js';
import { createWebhookWorker, type WebhookWorkerParts } from '../../src/gateway/webhooks/webhook-worker.js';
import type { EventRecord } from '../../src/storage/events/events.js';
import { createSqlEventLog } from '../../src/storage/events/sql-event-log.js';
import type { SqlDatabase } from '../../src/storage/sql/sql-database.js';
import { openSqlite } from '../../src/storage/sql/sqlite/sqlite-database.js';
import type { DeliveryAttempt } from '../../src/storage/webhooks/deliveries.js';
import { createSqlDeliveries } from '../../src/storage/webhooks/sql-deliveries.js';
import { createSqlWebhooks } from '../../src/storage/webhooks/sql-webhooks.js';
import type { WebhookRecord } from '../../src/storage/webhooks/webhooks.js';
import { testClock } from './test-clock.js';
import { aWebhook } from './webhook-samples.js';

/** A sender that may call this machine. */
export function senderWith(timeoutMs?: number) {
  const guard = createAddressGuard({ allow: ['127.0.0.0/8'] });
  return createWebhookSender({ guard, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
}

/** A worker on a database, and a clock that is moved by hand. Everything is closed with it. */
export async function openWebhookStand(open: () => Promise<SqlDatabase> = () => openSqlite(':memory:')) {
  const database = await open();
  const { now, advance } = testClock();
  const log = createSqlEventLog(database);
  const webhooks = createSqlWebhooks(database);
  const deliveries = createSqlDeliveries(database, now);
  const errors: unknown[] = [];
  const closers: (() => Promise<void>)[] = [];

  function workerWith(parts: Partial<WebhookWorkerParts> = {}) {
    const sender = senderWith();
    const onError = (error: unknown) => void errors.push(error);
    const worker = createWebhookWorker({ deliveries, webhooks, sender, now, random: () => 0.5, onError, ...parts });
    closers.push(() => worker.stop());
    return worker;
  }

  return {
    database,
    log,
    webhooks,
    deliveries,
    errors,
    now,
    advance,
    worker: workerWith(),
    workerWith,
    async register(changes: Partial<WebhookRecord>): Promise<WebhookRecord> {
      const webhook = aWebhook({ createdAt: now(), updatedAt: now(), ...changes });
      await webhooks.create(webhook, 99);
      return webhook;
    },
    tell: (...events: readonly EventRecord[]) => log.append(events),
    /** Every attempt at every delivery to a webhook. */
    async attemptsOf({ id }: WebhookRecord): Promise<readonly DeliveryAttempt[]> {
      const all = await deliveries.list(id, { limit: 100 });
      return (await Promise.all(all.map((it) => deliveries.attempts(it.id)))).flat();
    },
    async close() {
      for (const close of closers) await close();
      await database.close();
    },
  };
}

export type WebhookStand = Awaited<ReturnType<typeof openWebhookStand>>;
