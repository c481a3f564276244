import { Router } from 'express';
import { type Holdings, holdingsOf } from '../../access/holdings.js';
import { TollhouseError } from '../../errors/errors.js';
import type { HealthFault } from '../../facilitator/setup/health.js';
import type { Facilitator } from '../../facilitator/types.js';
import { VERSION } from '../../lib/version.js';
import { formatAmount } from '../../protocol/money/money.js';
import { handled } from '../framework/handled.js';
import { problemHandler } from '../framework/problem-handler.js';
import { refuseOtherMethods } from '../framework/refuse-other-methods.js';
import type { Answer } from '../framework/response.js';
import { SERVICE } from '../framework/service-info.js';
import type { healthResponse, walletStatusResponse } from '../framework/service-responses.js';

const SOL_DECIMALS = 9;
/** Tokens beside SOL whose balances `GET /wallet-status` tells. */
const WALLET_SYMBOLS = ['USDC', 'USDT'];
const RETRY_SECONDS = 5;

/** `GET /`, `GET /health` and `GET /wallet-status` (interface-specification.md, service.md §2). */
export function createServiceRouter(facilitator: Facilitator): Router {
  const holdings = holdingsOf(facilitator);
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
    .get(handled(async (_req, res) => void res.json(await walletStatus(facilitator, holdings))))
    .all(refuseOtherMethods('GET', 'HEAD'));
  router.use(problemHandler);
  return router;
}

async function healthOf(facilitator: Facilitator): Promise<Answer<typeof healthResponse>> {
  const { status, wallet } = await facilitator.health();
  return {
    status: status === 'active' ? 'healthy' : 'degraded',
    version: VERSION,
    networks: { [facilitator.network]: status },
    facilitation: { status: status === 'down' ? 'disabled' : 'enabled', wallet },
  };
}

/** Asks for nothing that gates do not remember as well, so that this public address costs few calls. */
async function walletStatus(
  facilitator: Facilitator,
  holdings: Holdings,
): Promise<Answer<typeof walletStatusResponse>> {
  const { faults, wallet, lamports } = await facilitator.health();
  if (lamports === undefined) {
    const detail = 'The Solana RPC does not answer, so the balances of the wallet are not known.';
    throw new TollhouseError('chain_unavailable', detail, { retryAfterSeconds: RETRY_SECONDS });
  }
  const tokens = facilitator.tokens.filter(({ symbol }) => WALLET_SYMBOLS.includes(symbol));
  const balances = await Promise.all(
    tokens.map(async ({ symbol, mint, decimals }) => {
      const { amount } = await holdings.readHolding({ wallet, mints: [mint] });
      return [symbol, Number(formatAmount(amount, decimals))] as const;
    }),
  );
  const sol = Number(formatAmount(lamports, SOL_DECIMALS));
  return { wallet, balances: { SOL: sol, ...Object.fromEntries(balances) }, operational: faults.every(isOfOthers) };
}

/** The wallet pays fees, whoever cannot be paid. */
function isOfOthers(fault: HealthFault): boolean {
  return fault === 'recipient_unpayable';
}
