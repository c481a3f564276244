import type { ServiceKeys } from '../identity/service-keys/service-keys.js';
import type { NetworkId } from '../protocol/types.js';
import type { ReceiptReader } from '../storage/books/receipt-reader.js';
import type { EventLog } from '../storage/events/event-log.js';
import type { Quotas } from '../storage/owners/quotas.js';
import type { Suspensions } from '../storage/owners/suspensions.js';
import type { ProjectRecord } from '../storage/projects/projects.js';
import type { Observed } from '../telemetry/observed.js';
import type { Calls } from './calls/calls.js';
import type { ResponseSecrets } from './calls/response-secrets.js';
import type { Analytics } from './figures/analytics.js';
import type { SpendingReports } from './figures/spending-report.js';
import type { ChangeLimit } from './owners/change-limit.js';
import type { Operator } from './owners/operator.js';
import type { RequestLimit } from './owners/request-limit.js';
import type { Payouts } from './payouts/payouts.js';
import type { Marketplace } from './projects/marketplace.js';
import type { Projects } from './projects/projects.js';
import type { UpstreamProxy } from './proxy/upstream-proxy.js';
import type { DescribeToken } from './token-label.js';
import type { UpstreamWatch } from './upstream-health/upstream-watch.js';
import type { Upstreams } from './upstream-secrets/upstreams.js';
import type { EventTail } from './webhooks/event-tail.js';
import type { Webhooks } from './webhooks/webhooks.js';

/** Sells APIs: projects, their callers, their money and their figures. Made by `createGateway`. */
export interface Gateway {
  readonly keys: ServiceKeys;
  readonly projects: Projects;
  /** A project by slug or id that is not deleted. */
  findProject(slugOrId: string): Promise<ProjectRecord | undefined>;
  readonly marketplace: Marketplace;
  readonly analytics: Analytics;
  readonly spendingReports: SpendingReports;
  /** Payments beside what they have bought. */
  readonly receipts: ReceiptReader;
  readonly webhooks: Webhooks;
  /** What operators see and do. */
  readonly operator: Operator;
  /** What a wallet may own. */
  quotas(owner: string): Promise<Quotas>;
  /** How much a wallet changes. */
  readonly changes: ChangeLimit;
  /** How many payments are asked for that nobody makes. */
  readonly requests: RequestLimit;
  /** What operators have suspended. */
  readonly suspensions: Suspensions;
  readonly events: EventLog;
  readonly tail: EventTail;
  /** Where there is a split wallet. */
  readonly payouts?: Payouts;
  readonly calls: Calls;
  /** What responses of calls are kept with. */
  readonly responseSecrets: ResponseSecrets;
  readonly proxy: UpstreamProxy;
  /** What owners add to the calls of their upstreams. */
  readonly upstreams: Upstreams;
  /** Looks at upstreams. */
  readonly upstreamHealth: UpstreamWatch;
  readonly describeToken: DescribeToken;
  /** Where its calls are told of to be counted: that of its first facilitator. */
  readonly observed?: Observed;
  /** Holds what x402 payments owe to several recipients on the first network, base58. */
  readonly splitWallet?: string;
  /** The same on a network; undefined where there is none. */
  splitWalletOn(network: NetworkId): string | undefined;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
  /** Begins what is done in the background: webhooks, payouts, looks at upstreams. */
  start(): void;
  /** Ends what is under way, and the background. */
  close(): Promise<void>;
}
