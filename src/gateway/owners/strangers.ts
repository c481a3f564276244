import type { Counters } from '../../storage/counters/counters.js';
import type { GatewayStores } from '../../storage/gateway-stores.js';
import type { Quotas } from '../../storage/owners/quotas.js';
import type { Suspensions } from '../../storage/owners/suspensions.js';
import { createAdmission, type GatewayOwners } from './admission.js';
import { type ChangeLimit, createChangeLimit } from './change-limit.js';
import { createOperator, type Operator } from './operator.js';
import { createRequestLimit, type RequestLimit } from './request-limit.js';

/** What {@link createStrangers} works with. */
export interface StrangersParts {
  readonly stores: Pick<GatewayStores, 'owners' | 'suspensions' | 'projects' | 'keys' | 'audit'>;
  readonly counters: Pick<Counters, 'increment' | 'decrement' | 'takeOnce'>;
  /** Where changes are counted. */
  readonly dailyCounters: Pick<Counters, 'increment' | 'decrement'>;
  /** What one wallet may own that has no quotas of its own. */
  readonly quotas: Quotas;
  /** Wallets of the operators, base58. */
  readonly operators: readonly string[];
  readonly owners: GatewayOwners;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/** What wallets that nobody knows may do, and who says so. */
export interface Strangers {
  readonly operator: Operator;
  readonly suspensions: Suspensions;
  /** What a wallet may own. */
  readonly quotas: (owner: string) => Promise<Quotas>;
  readonly changes: ChangeLimit;
  readonly requests: RequestLimit;
  /** Rejects with `owner_not_allowed` or `owner_suspended` for a wallet that may not create projects. */
  readonly admit: (owner: string) => Promise<void>;
}

/** Makes what bounds the strangers on a gateway. */
export function createStrangers(given: StrangersParts): Strangers {
  const { stores, counters, dailyCounters, operators, owners, now, ...parts } = given;
  const { suspensions } = stores;
  const operator = createOperator({ ...stores, operators, now });
  const quotas = async (owner: string) => ({ ...parts.quotas, ...(await stores.owners.quotasOf(owner)) });
  const { isOperator } = operator;
  return {
    operator,
    suspensions,
    quotas,
    changes: createChangeLimit({ counters: dailyCounters, usual: parts.quotas.dailyChanges, quotas, isOperator, now }),
    requests: createRequestLimit({
      counters,
      usual: parts.quotas.unpaidRequests,
      mostOf: async (wallet) => (await quotas(wallet)).unpaidRequests,
      isOperator,
      now,
    }),
    admit: createAdmission(owners, suspensions),
  };
}
