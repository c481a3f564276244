import type { ServiceKeys } from '../identity/service-keys.js';
import type { CallBook } from '../storage/call-book.js';
import type { EventLog } from '../storage/event-log.js';
import type { ProjectRecord } from '../storage/projects.js';
import type { Analytics } from './analytics.js';
import type { CallLimits } from './call-limits.js';
import type { EventTail } from './event-tail.js';
import type { Marketplace } from './marketplace.js';
import type { Payouts } from './payouts.js';
import type { Projects } from './projects.js';
import type { Spending } from './spending.js';
import type { SpendingReports } from './spending-report.js';
import type { DescribeToken } from './token-label.js';
import type { UpstreamProxy } from './upstream-proxy.js';
import type { Webhooks } from './webhooks.js';

/** Sells APIs: projects, their callers, their money and their figures. Made by `createGateway`. */
export interface Gateway {
  readonly keys: ServiceKeys;
  readonly projects: Projects;
  /** A project by slug or id that is not deleted. */
  findProject(slugOrId: string): Promise<ProjectRecord | undefined>;
  readonly marketplace: Marketplace;
  readonly analytics: Analytics;
  readonly spending: Spending;
  readonly spendingReports: SpendingReports;
  readonly webhooks: Webhooks;
  readonly events: EventLog;
  readonly tail: EventTail;
  /** Where there is a split wallet. */
  readonly payouts?: Payouts;
  readonly book: CallBook;
  readonly limits: CallLimits;
  readonly proxy: UpstreamProxy;
  readonly describeToken: DescribeToken;
  /** Holds what x402 payments owe to several recipients, base58. */
  readonly splitWallet?: string;
  /** Told of what failed where nobody waits for it; it is tried again. */
  readonly onFault: (error: unknown) => void;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
  /** An event was written here: webhooks and streams look within a tenth of a second. */
  wake(): void;
  /** Begins what is done in the background: webhooks and payouts. */
  start(): void;
  /** Ends what is under way, and the background. */
  close(): Promise<void>;
}
