import type { Holdings } from '../../access/holdings.js';
import { TollhouseError } from '../../errors/errors.js';
import type { Networks } from '../../facilitator/networks/networks.js';
import type { HealthFault } from '../../facilitator/setup/health.js';
import type { Facilitator } from '../../facilitator/types.js';
import { VERSION } from '../../lib/version.js';
import { formatAmount } from '../../protocol/money/money.js';
import type { ResponseBody } from '../framework/fields.js';
import type { healthResponse, walletStatusResponse } from './schemas.js';

const SOL_DECIMALS = 9;
/** Tokens beside SOL whose balances `GET /wallet-status` tells. */
const WALLET_SYMBOLS = ['USDC', 'USDT'];
const RETRY_SECONDS = 5;

/** How the networks and the facilitation are, which goes on while one network is left. */
export async function healthView({ all, first }: Networks): Promise<ResponseBody<typeof healthResponse>> {
  const states = await Promise.all(all.map(async (it) => ({ network: it.network, ...(await it.health()) })));
  const own = states.find(({ network }) => network === first.network);
  return {
    status: states.every(({ status }) => status === 'active') ? 'healthy' : 'degraded',
    version: VERSION,
    networks: Object.fromEntries(states.map(({ network, status }) => [network, status])),
    facilitation: {
      status: states.every(({ status }) => status === 'down') ? 'disabled' : 'enabled',
      wallet: own?.wallet ?? '',
    },
  };
}

/**
 * What the facilitation wallet holds. Asks for nothing that gates do not remember as well, so that this public address costs
 * few calls. Rejects with `chain_unavailable` while the balances are not known.
 */
export async function walletStatusView(
  facilitator: Facilitator,
  holdings: Holdings,
): Promise<ResponseBody<typeof walletStatusResponse>> {
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

/** The wallet pays fees, whoever cannot be paid, and whichever of several nodes is asked. */
function isOfOthers(fault: HealthFault): boolean {
  return fault === 'recipient_unpayable' || fault === 'rpc_behind';
}
