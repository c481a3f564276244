import { z } from 'zod';
import { address, countSchema, networkId } from '../framework/response.js';

const balance = z.number().min(0).describe('In whole tokens.');

const tier = z.object({
  id: z.string(),
  name: z.string(),
  min_balance: balance,
  features: z.array(z.string()).describe('Those of the tiers below included.'),
});

/** Answer of `POST /token-gate/check-access`. */
export const accessResponse = z.object({
  has_access: z.boolean(),
  balance,
  min_balance: balance,
  wallet: address,
  token: address,
  balance_atomic: z.string(),
  decimals: countSchema,
});

/** Answer of `GET /token-gate/tiers`. */
export const tiersResponse = z.object({ tiers: z.array(tier), mint: address });

/** Answer of `GET /token-gate/get-tier`. */
export const walletTierResponse = z.object({
  wallet: address,
  tier: tier.nullable(),
  balance,
  next_tier: tier.nullable(),
  missing: balance,
  token: address,
});

/** Answer of `GET /token-gate/accepted-tokens`. */
export const tokensResponse = z.object({
  tokens: z.array(
    z.object({ symbol: z.string(), mint: address, decimals: countSchema, network: networkId, program: address }),
  ),
});
