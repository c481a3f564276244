import { Router } from 'express';
import type { Facilitator } from '../facilitator/types.js';
import { formatAmount } from '../protocol/money.js';
import type { Token } from '../protocol/types.js';
import { handled } from './handled.js';
import { refuseOtherMethods } from './refuse-other-methods.js';
import { VERSION } from './version.js';

/** What the service says of itself at `GET /` (interface-specification.md). */
export const SERVICE = {
  service: 'Tollhouse',
  version: VERSION,
  features: ['multi-token', 'zero-fee', 'token-gated', 'x402', 'solana-pay'],
  endpoints: {
    core: ['/', '/health', '/supported', '/discovery'],
    facilitation: ['/create-payment', '/settle', '/verify', '/wallet-status'],
    token_gateway: [
      '/token-gate/check-access',
      '/token-gate/get-tier',
      '/token-gate/accepted-tokens',
      '/token-gate/tiers',
    ],
  },
} as const;

/** Balances that `GET /wallet-status` tells. */
const WALLET_SYMBOLS = ['SOL', 'USDC', 'USDT'];

/** `GET /`, `GET /health` and `GET /wallet-status` (interface-specification.md, service.md §2). */
export function createServiceRouter(facilitator: Facilitator): Router {
  const router = Router();
  router
    .route('/')
    .get((_req, res) => void res.json(SERVICE))
    .all(refuseOtherMethods('GET', 'HEAD'));
  router
    .route('/health')
    .get(handled(async (_req, res) => void res.json(await healthOf(facilitator))))
    .all(refuseOtherMethods('GET', 'HEAD'));
  router
    .route('/wallet-status')
    .get(handled(async (_req, res) => void res.json(await walletStatus(facilitator))))
    .all(refuseOtherMethods('GET', 'HEAD'));
  return router;
}

async function healthOf(facilitator: Facilitator): Promise<object> {
  const { status, wallet } = await facilitator.health();
  return {
    status: status === 'active' ? 'healthy' : 'degraded',
    version: VERSION,
    networks: { [facilitator.network]: status },
    facilitation: { status: status === 'down' ? 'disabled' : 'enabled', wallet },
  };
}

async function walletStatus(facilitator: Facilitator): Promise<object> {
  const { status, wallet, lamports } = await facilitator.health();
  const tokens = WALLET_SYMBOLS.flatMap((symbol) => facilitator.tokens.find((it) => it.symbol === symbol) ?? []);
  const balances = await Promise.all(
    tokens.map(async (token) => [token.symbol, await balanceOf(facilitator, wallet, token)]),
  );
  const sol = lamports === undefined ? {} : { SOL: Number(formatAmount(lamports, 9)) };
  return { wallet, balances: { ...Object.fromEntries(balances), ...sol }, operational: status === 'active' };
}

async function balanceOf(facilitator: Facilitator, wallet: string, { mint, decimals }: Token): Promise<number> {
  const { amount } = await facilitator.readHolding({ wallet, mints: [mint] });
  return Number(formatAmount(amount, decimals));
}
