import { z } from 'zod';
import { isAddress } from '../../protocol/address.js';
import { address, countSchema, networkId, networkName } from '../framework/fields.js';

const wallet = z.string('must be a text').refine(isAddress, 'must be a wallet address (base58, case counts)');

/** Body of `POST /token-gate/check-access`. Whether the token exists and how it is divided, the chain says. */
export const checkAccessBody = z.object(
  {
    wallet,
    token: z.string('must be the address of a mint (base58)').min(1, 'must not be empty').max(64, 'is too long'),
    min_balance: z.union([z.number(), z.string().max(64, 'is too long')], 'must be a number, or its decimal text'),
    network: networkName,
  },
  'must be a JSON object',
);

/** Query of `GET /token-gate/get-tier`. */
export const getTierQuery = z.object({ wallet, network: networkName });

const balance = z.number().min(0).describe('In whole tokens.');

const tier = z.object({
  id: z.string(),
  name: z.string(),
  min_balance: balance,
  features: z.array(z.string()).describe('Those of the tiers below included.'),
});

/** Response of `POST /token-gate/check-access`. */
export const accessResponse = z.object({
  has_access: z.boolean(),
  balance,
  min_balance: balance,
  wallet: address,
  token: address,
  balance_atomic: z.string(),
  decimals: countSchema,
});

/** Response of `GET /token-gate/tiers`. */
export const tiersResponse = z.object({ tiers: z.array(tier), mint: address });

/** Response of `GET /token-gate/get-tier`. */
export const walletTierResponse = z.object({
  wallet: address,
  tier: tier.nullable(),
  balance,
  next_tier: tier.nullable(),
  missing: balance,
  token: address,
});

/** Response of `GET /token-gate/accepted-tokens`. */
export const tokensResponse = z.object({
  tokens: z.array(
    z.object({ symbol: z.string(), mint: address, decimals: countSchema, network: networkId, program: address }),
  ),
});
