import { setMaxListeners } from 'node:events';
import { defined } from '../lib/defined.js';
import { endInTurn, endTogether } from '../lib/work/ends.js';
import { loadAhead } from '../lib/work/load-later.js';
import { isBuiltIn } from '../protocol/networks/tokens.js';
import type { Supported } from '../protocol/supported.js';
import type { NetworkId, Terms, Token } from '../protocol/types.js';
import { createMemoryHeldTimes } from '../storage/held/memory-held-times.js';
import type { IdempotencyStore } from '../storage/idempotency/idempotency-store.js';
import type { Ledger } from '../storage/ledger/ledger.js';
import { createMemoryLedger } from '../storage/ledger/memory-ledger.js';
import { createMemoryPassStore } from '../storage/passes/memory-pass-store.js';
import type { PassStore } from '../storage/passes/pass-store.js';
import type { Storage } from '../storage/storage.js';
import { createObserved, type Observed } from '../telemetry/observed.js';
import { loadTracing } from '../telemetry/trace.js';
import type { SettlementBackend } from './backend/backend.js';
import type { PaymentEventBus } from './events/events.js';
import { tellPassEnds } from './events/pass-ends.js';
import type { HoldingsReader } from './holdings/holding.js';
import type { Leases } from './payments/leases.js';
import type { PaymentServiceParts } from './payments/payment-life.js';
import { createPaymentService } from './payments/payment-service.js';
import type { PaymentsInFlight } from './payments/payments-in-flight.js';
import { createUnsignedPayments } from './payments/unsigned-payment.js';
import { x402Client } from './payments/x402-client.js';
import { startFreeing } from './recovery/interrupted.js';
import { passesInUse } from './refunds/held-passes.js';
import type { Refunds } from './refunds/refunds.js';
import { type FacilitatorHealth, withSetup } from './setup/health.js';
import { type SetupFinding, setupCheck } from './setup/setup-finding.js';
import { type PaymentNeed, readTarget } from './setup/setup-target.js';
import { createSetupWatch } from './setup/setup-watch.js';
import { followFailures, followStore } from './setup-check/follow-failures.js';
import type { Facilitator } from './types.js';

/** What a facilitator is made of, whoever settles for it. */
export interface FacilitatorParts extends Pick<PaymentServiceParts, 'follow' | 'refusedSends'> {
  readonly network: NetworkId;
  readonly tokens: readonly Token[];
  readonly ledger: Ledger;
  readonly passes: PassStore;
  /** What it was given, for the parts that work with it. */
  readonly storage: Storage | undefined;
  readonly idempotency: IdempotencyStore;
  readonly backend: SettlementBackend;
  readonly leases: Leases;
  readonly inFlight: PaymentsInFlight;
  readonly events: PaymentEventBus;
  /** Where its gates and nodes are told of. Default: a new one. */
  readonly observed?: Observed;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
  /** Told of what went wrong in the background; it is tried again. Default: nobody. */
  readonly onFault?: (error: unknown) => void;
  readonly holdings: HoldingsReader;
  /** Pays back what payers are left with, and tells whether what restored books have lost of that is found. */
  readonly refunds: Pick<Refunds, 'refund'> & Partial<Pick<Refunds, 'isFound'>>;
  health(): Promise<FacilitatorHealth>;
  /** What is wrong with its set-up, and with what is to be paid. */
  checkSetup(needs: readonly PaymentNeed[], signal?: AbortSignal): Promise<readonly SetupFinding[]>;
  /** Whether that is looked at unasked as well. */
  readonly watched: boolean;
}

/** Puts a facilitator together: the payment service over a ledger and a backend, and the ways to it. */
export function assembleFacilitator(parts: FacilitatorParts): Facilitator {
  const { network, tokens, storage, idempotency, ledger, refunds, events, holdings, health, checkSetup } = parts;
  const { passes, release } = passesInUse(parts.passes, ledger, refunds);
  const setup = createSetupWatch({ network, enabled: parts.watched, check: lookWhereDown(parts), now: parts.now });
  const onOutage = (): void => {
    setup.again();
    void health();
  };
  const backend = followFailures(parts.backend, { onRecipient: setup.again, onOutage });
  const closing = new AbortController();
  // Each that is tried again in an outage listens to it, and they may be many at once.
  setMaxListeners(0, closing.signal);
  const payments = followStore(createPaymentService({ ...parts, backend }), onOutage);
  const core = { ...payments, supported: supportedBy(backend, closing.signal) };
  const unfinished = new Set<Promise<void>>();
  const stopBackground = startBackground(parts);
  return Object.freeze({
    closing: closing.signal,
    awaitAtClose(work: Promise<void>) {
      unfinished.add(work);
      void work.then(() => unfinished.delete(work));
    },
    x402Client: x402Client(core, network),
    ...core,
    ...holdings,
    ...withConfirmedTokens(core, holdings, tokens),
    unsignedPayment: createUnsignedPayments({ backend, holdings, tokens }),
    network,
    tokens,
    idempotency,
    heldTimes: storage?.heldTimes ?? createMemoryHeldTimes(),
    passes,
    ...defined({ storage }),
    health: async () => withSetup(await health(), setup.known()),
    async check(target = {}) {
      const { needs, findings } = readTarget(target, tokens);
      return setupCheck([...findings, ...(await checkSetup(needs))]);
    },
    setup,
    refund: refunds.refund,
    load: parts.inFlight.load,
    observed: parts.observed ?? createObserved(),
    on: events.on,
    async close() {
      closing.abort();
      await Promise.all(unfinished);
      setup.close();
      release();
      await endInTurn(
        stopBackground,
        () => parts.leases.close(),
        () => backend.close(),
        () => ledger.close(),
      );
    },
  });
}

/** @returns ends what it has begun */
function startBackground(parts: FacilitatorParts): () => Promise<void> {
  loadTracing();
  const stopTelling = tellPassEnds(parts, parts.storage !== undefined);
  const stopFreeing = parts.storage && startFreeing(parts, parts.onFault);
  const stopLoading = loadAhead();
  return () => endTogether(stopTelling(), stopFreeing?.(), stopLoading());
}

type Core = Pick<Facilitator, 'verify' | 'openPayment' | 'settle'>;

/**
 * No payment is taken in a token that the chain knows otherwise than `tokens` does: its price would be off by a power of ten. What
 * everybody knows needs no asking.
 */
function withConfirmedTokens(core: Core, { readMint, declaredFault }: HoldingsReader, tokens: readonly Token[]): Core {
  const declared = new Set(tokens.filter((token) => !isBuiltIn(token)).map(({ mint }) => mint));
  if (declaredFault === undefined || declared.size === 0) return core;
  async function confirm({ asset }: Terms): Promise<void> {
    if (declared.has(asset)) await readMint(asset);
  }
  return {
    verify: async (payment, terms, client) => confirm(terms).then(() => core.verify(payment, terms, client)),
    openPayment: async (payment, terms, use) => confirm(terms).then(() => core.openPayment(payment, terms, use)),
    settle: async (payment, terms, options) => confirm(terms).then(() => core.settle(payment, terms, options)),
  };
}

let warned = false;
const shared = new Map<string, Ledger>();

/**
 * The ledger in memory of all facilitators of a kind on a network in this process, so that a payment which one of them has
 * served is served by none of the others. It lives as long as the process: what was served by a facilitator that is closed
 * must not be served again by the one that is made after it.
 */
function sharedMemory(where: string, network: NetworkId): Ledger {
  const key = `${where} ${network}`;
  const ledger = shared.get(key) ?? Object.assign(createMemoryLedger(), { close: async () => undefined });
  shared.set(key, ledger);
  return ledger;
}

/** What a facilitator keeps of payments. */
export type PaymentBooks = Pick<FacilitatorParts, 'ledger' | 'passes'>;

/**
 * The ledger that was given and the passes of its storage, or those in memory that facilitators on a network share. In
 * production a ledger that is forgotten at exit is warned of, once.
 * @param where - the function to be given a ledger: what it makes shares one
 */
export function booksOrMemory(
  where: string,
  { network, storage, ledger = storage?.ledger ?? sharedMemory(where, network) }: GivenBooks,
): PaymentBooks {
  const isInMemory = ledger.remembersSince !== undefined && ledger.remembersUntil === undefined;
  if (isInMemory && process.env.NODE_ENV === 'production' && !warned) {
    warned = true;
    process.emitWarning(
      'payments are remembered in this process only; with several processes, or to keep them over a restart, give ' +
        `${where} a storage, of openStorage("sqlite:…") or openStorage("postgres://…"). ` +
        'Where that is intended, node --disable-warning=TOLLHOUSE_MEMORY_LEDGER says so',
      { code: 'TOLLHOUSE_MEMORY_LEDGER' },
    );
  }
  return { ledger, passes: storage?.passes ?? passesInMemory(network) };
}

interface GivenBooks {
  readonly network: NetworkId;
  readonly storage?: Pick<Storage, 'ledger' | 'passes'> | undefined;
  readonly ledger?: Ledger | undefined;
}

const sharedPasses = new Map<NetworkId, PassStore>();

/** The passes in memory of all facilitators on a network in this process, as long as it lives: they outlast one that is closed. */
function passesInMemory(network: NetworkId): PassStore {
  const passes = sharedPasses.get(network) ?? createMemoryPassStore();
  sharedPasses.set(network, passes);
  return passes;
}

/** Nothing is offered once it is being closed; whoever was offered something before is told what becomes of it. */
function supportedBy(backend: SettlementBackend, closing: AbortSignal): Facilitator['supported'] {
  const unlessClosing = (it: Supported): Supported => (closing.aborted ? { ...it, kinds: [] } : it);
  return Object.assign(async () => unlessClosing(await backend.supported()), {
    now: () => backend.supportedNow && unlessClosing(backend.supportedNow()),
  });
}

/** A check of the set-up that has the health known where the chain is out of reach: nothing is offered then. */
function lookWhereDown({ checkSetup, health }: FacilitatorParts): FacilitatorParts['checkSetup'] {
  return async (needs, signal) => {
    const found = await checkSetup(needs, signal);
    if (found.some(({ code }) => code === 'rpc_unreachable')) void health();
    return found;
  };
}
