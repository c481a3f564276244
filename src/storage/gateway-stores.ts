import type { AuditLog } from './audit/audit-log.js';
import { createSqlAuditLog } from './audit/sql-audit-log.js';
import { createPassFigures, type PassFigures } from './books/pass-figures.js';
import { createReceiptReader, type ReceiptReader } from './books/receipt-reader.js';
import { createResponseFigures, type ResponseFigures } from './books/response-figures.js';
import type { CallStore } from './calls/call-store.js';
import type { CreditStore } from './calls/credit-store.js';
import { createSqlCallStore } from './calls/sql-call-store.js';
import { createSqlCreditStore } from './calls/sql-credit-store.js';
import type { EventLog } from './events/event-log.js';
import { createSqlEventLog } from './events/sql-event-log.js';
import type { ResponseKeyStore } from './idempotency/response-keys.js';
import { createSqlResponseKeys } from './idempotency/sql-response-keys.js';
import type { ServiceKeyStore } from './keys/service-keys.js';
import { createSqlServiceKeys } from './keys/sql-service-keys.js';
import type { OwnerStore } from './owners/owners.js';
import { createSqlOwners } from './owners/sql-owners.js';
import { createSuspensions, type Suspensions } from './owners/suspensions.js';
import type { PayoutStore } from './payouts/payout-store.js';
import { createSqlPayoutStore } from './payouts/sql-payout-store.js';
import type { ProjectSecretsStore } from './projects/project-secrets.js';
import type { ProjectStore } from './projects/projects.js';
import { createSqlProjectSecrets } from './projects/sql-project-secrets.js';
import { createSqlProjects } from './projects/sql-projects.js';
import { createSqlUpstreamHealth } from './projects/sql-upstream-health.js';
import type { UpstreamHealthStore } from './projects/upstream-health.js';
import type { SqlDatabase } from './sql/sql-database.js';
import type { DeliveryStore } from './webhooks/deliveries.js';
import { createSqlDeliveries } from './webhooks/sql-deliveries.js';
import { createSqlWebhooks } from './webhooks/sql-webhooks.js';
import type { WebhookStore } from './webhooks/webhooks.js';

/** Where a gateway keeps its projects, their callers, their figures and what is told of them. */
export interface GatewayStores {
  readonly projects: ProjectStore;
  readonly projectSecrets: ProjectSecretsStore;
  readonly responseKeys: ResponseKeyStore;
  readonly upstreamHealth: UpstreamHealthStore;
  readonly keys: ServiceKeyStore;
  readonly book: CallStore;
  readonly credit: CreditStore;
  readonly passSales: PassFigures;
  readonly responses: ResponseFigures;
  readonly receipts: ReceiptReader;
  readonly events: EventLog;
  readonly webhooks: WebhookStore;
  readonly deliveries: DeliveryStore;
  readonly payouts: PayoutStore;
  readonly owners: OwnerStore;
  /** What operators have suspended, remembered for all that works with this storage. */
  readonly suspensions: Suspensions;
  readonly audit: AuditLog;
  /**
   * Forgets a few entries of each kind; call it from time to time until it answers 0.
   * @param before - events and their deliveries from before it go, milliseconds since the epoch
   * @param limit - how many of each kind go at most
   * @param booksBefore - the same for calls, sums, payouts and the audit log
   * @param askedBefore - the same for events `payment.created` and their deliveries. Default `before`
   * @returns how many went
   */
  prune(before: number, limit: number, booksBefore: number, askedBefore?: number): Promise<number>;
}

/**
 * Makes the stores of a gateway. The database is not closed with them.
 * @param now - clock, milliseconds since the epoch
 */
export function createGatewayStores(database: SqlDatabase, now: () => number): GatewayStores {
  const book = createSqlCallStore(database, now);
  const credit = createSqlCreditStore(database, now);
  const events = createSqlEventLog(database);
  const deliveries = createSqlDeliveries(database, now);
  const payouts = createSqlPayoutStore(database, now);
  const audit = createSqlAuditLog(database);
  const owners = createSqlOwners(database);
  const responseKeys = createSqlResponseKeys(database, now);
  return {
    projects: createSqlProjects(database),
    projectSecrets: createSqlProjectSecrets(database),
    responseKeys,
    upstreamHealth: createSqlUpstreamHealth(database),
    keys: createSqlServiceKeys(database),
    book,
    credit,
    passSales: createPassFigures(database, now),
    responses: createResponseFigures(database, now),
    receipts: createReceiptReader(database),
    events,
    webhooks: createSqlWebhooks(database),
    deliveries,
    payouts,
    owners,
    suspensions: createSuspensions({ store: owners, now }),
    audit,
    async prune(before, limit, booksBefore, askedBefore = before) {
      const calls = (await book.prune(booksBefore, booksBefore, limit)) + (await credit.prune(limit));
      const range = [before, limit, askedBefore] as const;
      const told = (await deliveries.prune(...range)) + (await events.prune(...range));
      const keys = await responseKeys.prune(limit);
      return calls + told + keys + (await payouts.prune(booksBefore, limit)) + (await audit.prune(booksBefore, limit));
    },
  };
}
