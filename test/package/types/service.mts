import express, { type Express, type Router } from 'express';
import {
  type AuthRouterOptions,
  type BalanceInput,
  type BegunRun,
  type Counters,
  createAuthRouter,
  createFacilitator,
  createGateway,
  createIdentity,
  createMemoryCounters,
  createMemoryIdempotencyStore,
  createMemoryLedger,
  createRouter,
  type DiscoveryOptions,
  type EndedRun,
  type EventMessage,
  type Gateway,
  type GatewayFault,
  type GatewayOptions,
  type GatewayRequest,
  type GatewaySettings,
  type GatewayVerification,
  type IdempotencyBounds,
  type IdempotencyStore,
  type IdempotentRun,
  type Identity,
  type IdentityOptions,
  type IdentityRequest,
  type InspectedProof,
  type KnownResponse,
  type Ledger,
  type MemoryCountersOptions,
  type MemoryLedgerOptions,
  type Metrics,
  openStorage,
  type Proof,
  type ProofScope,
  type ProvenWallet,
  type ReceivedWebhook,
  type RouterOptions,
  type RouterSettings,
  requirePayment,
  type SignInChallenge,
  type SignInUse,
  type Storage,
  type StorageOptions,
  type TierOptions,
  type TiersOptions,
  type VerifiedCall,
  type VerifyGatewayOptions,
  type VerifyWebhookOptions,
  verifyGateway,
  verifyWebhook,
  type WalletIdentity,
  type WebhookFault,
  type WebhookVerification,
  type WindowCount,
} from 'tollhouse';
import { holds, type Same } from './exact.mjs';

export async function serve(app: Express, metrics: Metrics): Promise<Gateway> {
  const kept: StorageOptions = { now: Date.now };
  const storage: Storage = await openStorage('memory:', kept);
  const { ledger, counters, idempotency } = storage;
  const facilitator = createFacilitator({ network: 'solana', keypair: '', ledger, counters, idempotency });
  const signIn: IdentityOptions = { network: 'solana', domain: 'shop.example', jwtSecret: 'secret', sessionMs: 1 };
  const identity: WalletIdentity = createIdentity(signIn);
  holds<Same<GatewayOptions['secretsKey'], string | readonly string[] | undefined>>();
  const sells: GatewayOptions = {
    facilitator,
    storage,
    secretsKey: ['new', 'old'],
    onFault: (error) => holds<Same<typeof error, unknown>>(),
  };
  const gateway = createGateway(sells);
  const minBalance: BalanceInput = '0.5';
  const level: TierOptions = { id: 'gold', minBalance, features: ['api'] };
  const tiers: TiersOptions = { mint: 'USDC', levels: [level] };
  const options: RouterOptions = {
    facilitator,
    identity,
    gateway,
    tiers,
    metrics,
    limits: { scale: 2 },
    page: { name: 'Shop' },
  };
  const auth: AuthRouterOptions = { identity };
  const routers: Router[] = [createRouter(options), createAuthRouter(auth), createRouter({ facilitator, page: false })];
  app.use(metrics.count, ...routers);
  const discovery: DiscoveryOptions = { path: '/report', tags: ['news'] };
  app.get('/b/:id', metrics.count, requirePayment({ facilitator, price: '$1', payTo: '', discovery }), (req) => {
    holds<Same<typeof req.params.id, string>>();
  });
  const settings: RouterSettings & GatewaySettings = {};
  const facilitators = [facilitator];
  routers.push(createRouter({ ...settings, facilitators, gateway: createGateway({ facilitators }) }));
  // @ts-expect-error one or several, not both
  createRouter({ facilitator, facilitators });
  // @ts-expect-error a router needs a facilitator
  createRouter({ identity });
  return gateway;
}

export async function sold({ keys, receipts, marketplace, projects }: Gateway, wallet: string): Promise<void> {
  const [mine] = await keys.list({ wallet }, { limit: 1 });
  if (mine === undefined) return;
  const changed = await keys.update({ wallet }, mine.id, ({ name, scopes }) => ({ name: `${name} 2`, scopes }));
  holds<Same<typeof changed, typeof mine>>();
  // @ts-expect-error a change is made of the key as it is
  await keys.update({ wallet }, mine.id, { name: 'other' });
  const paid = await receipts.find('pay_1');
  if (paid !== undefined) holds<Same<typeof paid.requestId, string | undefined>>();
  const { items } = await marketplace.search({ text: 'weather', sort: 'price', minPrice: '1', limit: 1 });
  for (const { project, rank } of items) {
    holds<Same<typeof rank, string | number>>();
    for (const { path, price } of project.routes ?? []) {
      holds<Same<typeof path, string>>();
      if (price !== undefined) holds<Same<typeof price.amount, bigint>>();
    }
  }
  const { project } = await projects.get({ owner: wallet, id: 'prj_1' });
  holds<Same<typeof project.slug, string>>();
}

export async function memories(): Promise<WindowCount> {
  const ledgerOptions: MemoryLedgerOptions = { maxOpen: 1, retentionMs: 1 };
  const ledger: Ledger = createMemoryLedger(ledgerOptions);
  const counting: MemoryCountersOptions = { maxEntries: 1 };
  const counters: Counters = createMemoryCounters(counting);
  const bounds: IdempotencyBounds = { maxBytes: 1, retentionMs: 1 };
  const store: IdempotencyStore = createMemoryIdempotencyStore(bounds);
  const run: IdempotentRun = { id: '', fingerprint: '', lease: ledger.newLease(), leaseMs: 1 };
  const known: KnownResponse | EndedRun | undefined = await store.find(run.id, run.fingerprint);
  const begun: KnownResponse | BegunRun = await store.begin(run);
  void begun;
  if (known?.status === 'replay') holds<Same<typeof known.response, Uint8Array>>();
  return counters.increment('key', 1_000);
}

export async function whose(identity: Identity, request: IdentityRequest): Promise<ProvenWallet | SignInChallenge> {
  const proof: Proof = await identity.prove(request);
  if (proof.status !== 'proven') return identity.challenge(request);
  holds<Same<typeof proof.wallet.by, 'jwt' | 'siwx'>>();
  return proof.wallet;
}

export async function useOnce(identity: Identity, request: IdentityRequest): Promise<boolean> {
  const scope: ProofScope | undefined = request.scope;
  if (scope === 'site') return false;
  const found: InspectedProof | undefined = await identity.inspect?.(request);
  const use: SignInUse | undefined = found?.use;
  return (await use?.take()) === undefined;
}

export function upstream(app: Express): void {
  const options: VerifyGatewayOptions = { toleranceSeconds: 60 };
  app.use(express.raw(), (req, res, next) => {
    const request: GatewayRequest = req;
    const found: GatewayVerification = verifyGateway(request, process.env['GATEWAY_SECRET'], options);
    if (found.ok === true) return admit(found, next);
    holds<Same<typeof found.reason, GatewayFault>>();
    res.status(403).end();
  });
}

function admit(call: VerifiedCall, next: () => void): void {
  holds<Same<typeof call.payer, string | undefined>>();
  next();
}

export function hook(app: Express): void {
  const options: VerifyWebhookOptions = { toleranceSeconds: 60 };
  app.post('/hook', express.raw(), (req, res) => {
    const received: ReceivedWebhook = req;
    const check: WebhookVerification = verifyWebhook(received, process.env['WEBHOOK_SECRET'], options);
    if (check.ok === false) {
      holds<Same<typeof check.reason, WebhookFault>>();
      return void res.status(400).end();
    }
    const event: EventMessage = check.event;
    res.json({ id: event.id, isSettled: event.type === 'payment.settled' });
  });
}
