import { z } from 'zod';
import { isAddress } from '../../protocol/address.js';
import type { GatewayOwners } from './admission.js';

const WALLETS = 'a list of wallets, base58';
const OWNERS = '"open", or a list of the wallets that may create projects, base58';

/** Schema of the option `operators` of `createGateway`. */
export const operatorsOption = z.array(z.string(WALLETS).refine(isAddress, WALLETS), WALLETS).readonly();

/** Schema of the option `owners` of `createGateway`. */
export const ownersOption = z.custom<GatewayOwners>(
  (it) => it === 'open' || operatorsOption.safeParse(it).success,
  OWNERS,
);
