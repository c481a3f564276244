import type { EmbeddedFacilitator } from '../facilitator/create-facilitator.js';
import type { Networks } from '../facilitator/networks/networks.js';
import type { Gateway } from '../gateway/gateway.js';
import type { Identity } from '../identity/types.js';
import { idempotency } from '../middleware/idempotency/idempotency.js';
import { modeOf } from '../protocol/networks/networks.js';
import type { Counters } from '../storage/counters/counters.js';
import { CALL_LIST_OPERATIONS } from './analytics/call-operations.js';
import { ANALYTICS_OPERATIONS } from './analytics/operations.js';
import { limitChanges } from './auth/change-guard.js';
import { requireSameMode } from './auth/key-mode-guard.js';
import { limitWallets } from './auth/wallet-limit.js';
import { EVENTS_OPERATIONS, eventsParts } from './events/operations.js';
import { callerName, callerOwner, createApiCaller } from './framework/api-caller.js';
import type { Operation } from './framework/operation.js';
import { createOwnerTurns } from './framework/owner-turns.js';
import { createRoutes, type Routes } from './framework/routes.js';
import type { ShellFor } from './framework/service-pages.js';
import { KEYS_OPERATIONS } from './keys/operations.js';
import { OPERATOR_OPERATIONS } from './operator/operations.js';
import { OWN_RECEIPT_OPERATIONS } from './payments/own-receipt.js';
import { PAYOUTS_OPERATIONS } from './payouts/operations.js';
import { withoutPayouts } from './payouts/without-payouts.js';
import { MARKETPLACE_OPERATIONS } from './projects/marketplace.js';
import { PROJECTS_OPERATIONS } from './projects/operations.js';
import { SPENDING_OPERATIONS } from './spending/operations.js';
import { PASSES_OPERATIONS } from './spending/pass-operations.js';
import { WEBHOOKS_OPERATIONS } from './webhooks/operations.js';

/** What {@link gatewayRoutes} works with. */
export interface GatewayRoutesParts {
  readonly gateway: Gateway;
  readonly networks: Networks<EmbeddedFacilitator>;
  readonly identity: Identity;
  readonly counters: Counters;
  /** Multiplies the limit of wallets; false for none. */
  readonly limitScale: number | false;
  readonly baseUrl?: string | undefined;
  readonly explorerUrl?: string | undefined;
  /** For pages. Default: there are none. */
  readonly shellFor?: ShellFor | undefined;
}

/** Routes of `/api/v1`. */
export interface GatewayRoutes {
  /** For owners and callers, by access token or service key. */
  readonly authenticated: readonly Routes[];
  /** For anybody. */
  readonly open: readonly Routes[];
}

/** Everything under `/api/v1` that a gateway brings. */
export function gatewayRoutes(parts: GatewayRoutesParts): GatewayRoutes {
  const { gateway, networks, identity, counters, limitScale: scale, baseUrl, explorerUrl, shellFor } = parts;
  const { passes, idempotency: store } = networks.first;
  const { keys, projects, analytics, spendingReports, webhooks, events, tail, payouts, describeToken, now } = gateway;
  const { operator, suspensions } = gateway;
  const { isOperator } = operator;
  const isMixed = new Set(networks.all.map(({ network }) => modeOf(network))).size > 1;
  const callers = { identity, keys, isMixed, baseUrl, isOperator, refuseWallet: suspensions.refuseWallet };
  const callerFor = createApiCaller(callers);
  // Behind the check of the caller, and named by what that has proven: an answer is kept for nobody else.
  const repeatable = idempotency({ store, scopeOf: callerName, ownerOf: callerOwner });
  const sameMode = requireSameMode({
    networks,
    networkOf: projects.networkOf,
    webhook: webhooks.get,
    key: keys.get,
  });
  // Behind what repeats an answer: what is had again changes nothing.
  const changes = limitChanges(gateway.changes);
  const limited = scale === false ? [] : [limitWallets({ counters, scale, now })];
  const shared = { behindCaller: [...limited, sameMode, repeatable, changes], turns: createOwnerTurns() };
  const guarded = <Parts>(operations: readonly Operation<Parts>[], its: Parts) =>
    createRoutes(operations, its, callerFor, shared);
  const { requireOwner: ownedProject } = projects;
  const paying = { ownedProject, baseUrl, explorerUrl };
  return {
    authenticated: [
      guarded(KEYS_OPERATIONS, { keys, now }),
      guarded(PROJECTS_OPERATIONS, { projects, suspensions, baseUrl }),
      guarded(OPERATOR_OPERATIONS, { operator, suspensions, quotas: gateway.quotas }),
      guarded(ANALYTICS_OPERATIONS, { analytics, ownedProject, now }),
      guarded(CALL_LIST_OPERATIONS, {
        ...{ analytics, ownedProject, describeToken, baseUrl },
        findProject: gateway.findProject,
      }),
      guarded(SPENDING_OPERATIONS, { report: spendingReports, findProject: gateway.findProject, baseUrl, now }),
      guarded(OWN_RECEIPT_OPERATIONS, {
        ...{ receipts: gateway.receipts, describeToken, baseUrl, explorerUrl, shellFor },
        findProject: gateway.findProject,
      }),
      guarded(PASSES_OPERATIONS, { passes, findProject: gateway.findProject }),
      guarded(WEBHOOKS_OPERATIONS, { webhooks, now }),
      guarded(EVENTS_OPERATIONS, eventsParts({ log: events, tail, callers })),
      payouts === undefined
        ? withoutPayouts()
        : guarded(PAYOUTS_OPERATIONS, { payouts, note: operator.audit.append, now, ...paying }),
    ],
    open: [createRoutes(MARKETPLACE_OPERATIONS, { marketplace: gateway.marketplace, baseUrl, shellFor })],
  };
}
