import express, { type NextFunction, type Request, type RequestHandler, type Response, Router } from 'express';
import {
  type AllowanceOption,
  anyOf,
  type CrossOriginOptions,
  createMemoryCounters,
  createMemoryIdempotencyStore,
  createRateLimits,
  crossOrigin,
  type Facilitator,
  type FailedPayment,
  type Gate,
  type HolderOffer,
  type IdempotencyOptions,
  idempotency,
  type KeyGateway,
  type Middleware,
  type PaywallRoute,
  type PaywallRoutes,
  type PerNetwork,
  type Price,
  type ProvenWallet,
  type passOf,
  paymentOf,
  paywall,
  type RateLimitOptions,
  type RateLimits,
  type ReadTierOptions,
  type RequestNames,
  type RequestPass,
  type RequestPayment,
  type RequestProperties,
  type RequestServiceKey,
  type RequirePaymentOptions,
  type RequireTierOptions,
  type RequireTokenBalanceOptions,
  type RoutePayTo,
  type RoutePrice,
  readTier,
  requirePayment,
  requireTier,
  requireTokenBalance,
  type ServiceKeyAuthOptions,
  serviceKeyAuth,
  serviceKeyOf,
  type Tier,
  tierOf,
  type WalletGateOptions,
  walletOf,
} from 'tollhouse';
import { holds, type Same } from './exact.mjs';

export function mapOf(facilitator: Facilitator): Middleware {
  const payTo = { toBase58: () => '2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4' };
  const onFailed = ({ refusal, findings }: FailedPayment): void => {
    holds<Same<typeof refusal.reason extends string ? true : false, true>>();
    for (const { code, fix } of findings) console.warn(code, fix);
  };
  const files: PaywallRoute = { price: '$0.05', settle: 'before', onFailed };
  const routes: PaywallRoutes = { 'GET /report': '$0.01', '/files/*': files, '/by/:id': () => '$0.02' };
  // @ts-expect-error a route has a price, and no number
  paywall({ 'GET /report': 0.01 }, { facilitator, payTo });
  return paywall(routes, { facilitator, payTo });
}

export function gatesOnNetworks(live: Facilitator, test: Facilitator): Middleware {
  const wallet = '2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4';
  const payTo: PerNetwork<RoutePayTo> = { solana: wallet, 'solana-devnet': () => wallet };
  const price: PerNetwork<RoutePrice> = { solana: '$0.10', 'solana-devnet': ['$0.01', '0.01 PYUSD'] };
  // @ts-expect-error it is no network
  requirePayment({ facilitator: [live, test], price: { devnet: '$1' }, payTo });
  return requirePayment({ facilitator: [live, test], price, payTo });
}

export function gatesOf(facilitator: Facilitator, gateway: KeyGateway): readonly Middleware[] {
  const payTo = '2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4';
  const price: Price = ['$0.01', { amount: 1n, asset: { toBase58: () => payTo } }];
  const paid: RequirePaymentOptions = { facilitator, price, payTo, requestNames: { payment: 'x402' } };
  const asked: WalletGateOptions = { facilitator, requestNames: { wallet: false } };
  const balance: RequireTokenBalanceOptions = { ...asked, mint: { toBase58: () => payTo }, minBalance: 1 };
  const tier: RequireTierOptions = { facilitator, tier: 'gold', requestNames: { wallet: 'holder', tier: false } };
  const read: ReadTierOptions = { facilitator };
  const key: ServiceKeyAuthOptions = { gateway, scopes: ['call'], requestNames: { serviceKey: false } };
  const once: IdempotencyOptions = {
    store: createMemoryIdempotencyStore(),
    scopeOf: (req: Request<{ account: string }>) => req.params.account,
  };
  const counted: RateLimitOptions = { counters: createMemoryCounters(), scale: 2 };
  const limits: RateLimits = createRateLimits(counted);
  const pages: CrossOriginOptions = { origins: ['https://shop.example'], credentials: true };
  // @ts-expect-error origins are a list, or '*'
  crossOrigin({ origins: 'https://shop.example' });
  const holders = anyOf(requireTier(tier), requireTokenBalance(balance), serviceKeyAuth(key));
  // @ts-expect-error middleware that decides nothing is no gate
  anyOf(holders, limits.requests[0] as Middleware);
  const names: RequestNames<'wallet' | 'tier'> = { wallet: 'holder' };
  const ofPayments: RequestNames<'payment'> = { payment: 'x402' };
  // @ts-expect-error a gate names only what it learns
  requireTokenBalance({ ...balance, requestNames: ofPayments });
  const allowance: AllowanceOption = { uses: 1_000, per: '30d', group: 'api' };
  const members: readonly HolderOffer[] = [
    { tier: 'gold', price: ['$0.001', { price: '$0.10', pass: { for: '30d', renew: { grace: '3d' } } }] },
    { mint: 'USDC', minBalance: 100, heldFor: '24h', allowance },
    { collection: { creator: payTo }, free: true },
  ];
  requirePayment({ facilitator, price, payTo, holders: members, requestNames: names });
  // @ts-expect-error what holders pay is no function of the request
  requirePayment({ facilitator, price, payTo, holders: [{ tier: 'gold', price: () => '$0.001' }] });
  // @ts-expect-error a price is not optional: the types are there and are not any
  requirePayment({ facilitator, payTo });
  requirePayment({
    facilitator,
    price: async (req: Request<{ id: string }>) => (req.params.id === '1' ? '$0.01' : '$0.02'),
    payTo: (req) => (req.path === '/' ? payTo : { toBase58: () => payTo }),
    memo: (req) => req.get('x-order'),
  });
  const before = [crossOrigin(pages), ...limits.requests, ...limits.challenges, ...limits.credentials];
  return [...before, requirePayment(paid), readTier(read), holders, idempotency(once)];
}

const SHOWN = express.json();

/** What handlers behind a gate see is what they would see without it. */
export function routesBehind(app: express.Express, gate: Gate, gates: Gate[]): void {
  app.get('/b/:id', gate, (req, res) => {
    holds<Same<typeof req.params, { id: string }>>();
    res.json(req.params.id.toUpperCase());
  });
  app.get('/b/:id', gate, gate, ...gates, (req) => holds<Same<typeof req.params.id, string>>());
  app.route('/b/:id').get(gate, (req) => holds<Same<typeof req.params.id, string>>());
  app.route('/b/:id').get(gate, gate, (req) => holds<Same<typeof req.params.id, string>>());
  // Express itself does not infer a handler beside a list; one that says its types is taken.
  app.get('/b/:id', [gate, ...gates], (req: Request<{ id: string }>) => holds<Same<typeof req.params.id, string>>());
  app.get('/b/:id', [gate, SHOWN, shows]);
  app.put('/b/:id', gate, shows);
  app.use(gate);
  app.use(gate, SHOWN, gate);
  app.use('/c/:id', gate, ...gates, (req, _res, next) => {
    holds<Same<typeof req.payment, RequestPayment | undefined>>();
    next();
  });
  app.all('/d', gate, (req: Request, res: Response, next: NextFunction) => gate(req, res, next));

  interface Shelf {
    shelf: string;
  }
  const router = Router();
  router.post<{ id: string }, { sold: boolean }, { copies: number }, { gift?: string }, Shelf & Record<string, string>>(
    '/:id',
    gate,
    (req, res) => {
      holds<Same<typeof req.params, { id: string }>>();
      holds<Same<typeof req.body, { copies: number }>>();
      holds<Same<typeof req.query, { gift?: string }>>();
      holds<Same<typeof res.locals.shelf, string>>();
      res.json({ sold: true });
      // @ts-expect-error the type of the response is kept
      res.json({ sold: 'yes' });
    },
  );
  app.use('/books', router);

  const plain: RequestHandler = gate;
  const typed: RequestHandler<{ id: string }, string, { copies: number }> = gate;
  app.use(plain).post('/b/:id', typed);
}

const shows: RequestHandler<{ id: string }, string> = (req, res) => void res.json(req.params.id);

export function learned(req: Request): void {
  holds<Same<typeof req.payment, RequestPayment | undefined>>();
  holds<Same<typeof req.wallet, ProvenWallet | undefined>>();
  holds<Same<typeof req.tier, Tier | undefined>>();
  holds<Same<typeof req.serviceKey, RequestServiceKey | undefined>>();
  holds<Same<ReturnType<typeof paymentOf>, RequestPayment | undefined>>();
  holds<Same<ReturnType<typeof walletOf>, ProvenWallet | undefined>>();
  holds<Same<ReturnType<typeof tierOf>, Tier | undefined>>();
  holds<Same<ReturnType<typeof serviceKeyOf>, RequestServiceKey | undefined>>();
  holds<Same<typeof req.pass, RequestPass | undefined>>();
  holds<Same<ReturnType<typeof passOf>, RequestPass | undefined>>();
  holds<Same<keyof RequestProperties, 'payment' | 'pass' | 'wallet' | 'tier' | 'serviceKey'>>();
  const amount: bigint | undefined = paymentOf(req)?.terms.amount;
  // @ts-expect-error
  const text: string | undefined = paymentOf(req)?.terms.amount;
  void [amount, text, walletOf(req)?.address, tierOf(req)?.id, serviceKeyOf(req)?.owner];
}
