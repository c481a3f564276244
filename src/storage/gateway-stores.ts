import type { CallBook } from './call-book.js';
import type { DeliveryStore } from './deliveries.js';
import type { EventLog } from './event-log.js';
import type { PayoutBook } from './payout-book.js';
import type { ProjectStore } from './projects.js';
import type { ServiceKeyStore } from './service-keys.js';
import { createSqlCallBook } from './sql-call-book.js';
import type { SqlDatabase } from './sql-database.js';
import { createSqlDeliveries } from './sql-deliveries.js';
import { createSqlEventLog } from './sql-event-log.js';
import { createSqlPayoutBook } from './sql-payout-book.js';
import { createSqlProjects } from './sql-projects.js';
import { createSqlServiceKeys } from './sql-service-keys.js';
import { createSqlWebhooks } from './sql-webhooks.js';
import type { WebhookStore } from './webhooks.js';

/** Where a gateway keeps its projects, their callers, their figures and what is told of them. */
export interface GatewayStores {
  readonly projects: ProjectStore;
  readonly keys: ServiceKeyStore;
  readonly book: CallBook;
  readonly events: EventLog;
  readonly webhooks: WebhookStore;
  readonly deliveries: DeliveryStore;
  readonly payouts: PayoutBook;
  /**
   * Forgets a few entries of each kind; call it from time to time until it answers 0.
   * @param before - events and their deliveries from before it go, milliseconds since the epoch
   * @param limit - how many of each kind go at most
   * @param booksBefore - the same for calls, sums and payouts
   * @returns how many went
   */
  prune(before: number, limit: number, booksBefore: number): Promise<number>;
}

/**
 * Makes the stores of a gateway. The database is not closed with them.
 * @param now - clock, milliseconds since the epoch
 */
export function createGatewayStores(database: SqlDatabase, now: () => number): GatewayStores {
  const book = createSqlCallBook(database, now);
  const events = createSqlEventLog(database);
  const deliveries = createSqlDeliveries(database, now);
  const payouts = createSqlPayoutBook(database, now);
  return {
    projects: createSqlProjects(database),
    keys: createSqlServiceKeys(database),
    book,
    events,
    webhooks: createSqlWebhooks(database),
    deliveries,
    payouts,
    async prune(before, limit, booksBefore) {
      const calls = await book.prune(booksBefore, booksBefore, limit);
      const told = (await deliveries.prune(before, limit)) + (await events.prune(before, limit));
      return calls + told + (await payouts.prune(booksBefore, limit));
    },
  };
}
