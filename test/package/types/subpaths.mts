// Imports by subpath: the same names as those of the main entry, for who needs no more.
import { createFacilitator, createRouter } from 'tollhouse';
import {
  createGateway,
  type Gateway,
  type GatewayOptions,
  type GatewaySettings,
  type KeyGateway,
  type ServiceKeyAuthOptions,
  serviceKeyAuth,
} from 'tollhouse/gateway';
import {
  type BegunRun,
  type Counters,
  createMemoryCounters,
  createMemoryIdempotencyStore,
  createMemoryLedger,
  type EndedRun,
  type HeldTimes,
  type IdempotencyBounds,
  type IdempotencyStore,
  type IdempotentRun,
  type KnownResponse,
  type Ledger,
  type MemoryCountersOptions,
  type MemoryLedgerOptions,
  openStorage,
  type Sighting,
  type Storage,
  type StorageOptions,
  type WindowCount,
} from 'tollhouse/storage';
import {
  type EventMessage,
  type GatewayFault,
  type GatewayRequest,
  type GatewayVerification,
  type ReceivedWebhook,
  type VerifiedCall,
  type VerifyGatewayOptions,
  type VerifyWebhookOptions,
  verifyGateway,
  verifyWebhook,
  type WebhookFault,
  type WebhookVerification,
} from 'tollhouse/webhooks';

export async function mount(): Promise<void> {
  const given: StorageOptions = {};
  const storage: Storage = await openStorage('memory:', given);
  const facilitator = createFacilitator({ network: 'solana', keypair: '', storage });
  const settings: GatewaySettings = { limitScale: 2 };
  const options: GatewayOptions = { ...settings, facilitator };
  const gateway: Gateway = createGateway(options);
  const keys: KeyGateway = gateway;
  const auth: ServiceKeyAuthOptions = { gateway: keys, scopes: ['call'] };
  createRouter({ facilitator, gateway }).use(serviceKeyAuth(auth));
}

export async function own(run: IdempotentRun): Promise<WindowCount | undefined> {
  const forLedger: MemoryLedgerOptions = {};
  const forCounters: MemoryCountersOptions = {};
  const bounds: IdempotencyBounds = { maxBytes: 1_000_000 };
  const ledger: Ledger = createMemoryLedger(forLedger);
  const counters: Counters = createMemoryCounters(forCounters);
  const times: HeldTimes = {
    seen: async ({ at }: Sighting) => at,
    lost: async () => {},
    takeDue: async () => [],
    prune: async () => 0,
  };
  void times;
  const idempotency: IdempotencyStore = createMemoryIdempotencyStore(bounds);
  const known: KnownResponse | EndedRun | undefined = await idempotency.find(run.id, run.fingerprint);
  const begun: KnownResponse | BegunRun = await idempotency.begin(run);
  void begun;
  createFacilitator({ network: 'solana', keypair: '', ledger, counters, idempotency });
  return known?.status === 'replay' ? undefined : counters.increment('calls', 1_000);
}

export function hear(webhook: ReceivedWebhook, options: VerifyWebhookOptions): EventMessage | WebhookFault {
  const verification: WebhookVerification = verifyWebhook(webhook, process.env['WEBHOOK_SECRET'], options);
  return 'reason' in verification ? verification.reason : verification.event;
}

export function judge(request: GatewayRequest, options: VerifyGatewayOptions): VerifiedCall | GatewayFault {
  const verification: GatewayVerification = verifyGateway(request, process.env['GATEWAY_SECRET'], options);
  return 'reason' in verification ? verification.reason : verification;
}
