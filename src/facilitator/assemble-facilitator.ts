import type { NetworkId, Token } from '../protocol/types.js';
import type { Ledger } from '../storage/ledger.js';
import { createMemoryLedger } from '../storage/memory-ledger.js';
import type { SettlementBackend } from './backend.js';
import type { PaymentEventBus } from './events.js';
import type { FacilitatorHealth } from './health.js';
import type { HoldingsReader } from './holdings.js';
import { createPaymentDesk } from './payment-desk.js';
import type { Facilitator } from './types.js';
import { x402Client } from './x402-client.js';

/** What a facilitator is made of, whoever settles for it. */
export interface FacilitatorParts {
  readonly network: NetworkId;
  readonly tokens: readonly Token[];
  readonly ledger: Ledger;
  readonly backend: SettlementBackend;
  readonly events: PaymentEventBus;
  readonly holdings: HoldingsReader;
  health(): Promise<FacilitatorHealth>;
}

/** Puts a facilitator together: the payment desk over a ledger and a backend, and the doors to it. */
export function assembleFacilitator(parts: FacilitatorParts): Facilitator {
  const { network, tokens, ledger, backend, events, holdings, health } = parts;
  const core = { ...createPaymentDesk({ ledger, backend, events }), supported: () => backend.supported() };
  return Object.freeze({
    ...x402Client(core, network),
    ...core,
    ...holdings,
    network,
    tokens,
    health,
    on: events.on,
    async close() {
      await backend.close();
      await ledger.close();
    },
  });
}

/**
 * The ledger that was given, or one in memory, with a warning in production.
 * @param where - the function to be given a ledger, for the warning
 */
export function ledgerOrMemory(where: string, ledger: Ledger | undefined): Ledger {
  if (ledger !== undefined) return ledger;
  if (process.env.NODE_ENV === 'production') {
    process.emitWarning(
      `payments are remembered in this process only; with several processes, or to keep them over a restart, give ${where} a ledger`,
      { code: 'TOLLHOUSE_MEMORY_LEDGER' },
    );
  }
  return createMemoryLedger();
}
