import { TollhouseError } from '../../errors/errors.js';
import type { Suspensions } from '../../storage/owners/suspensions.js';

/** Who may have projects here: everybody, or some wallets, base58. */
export type GatewayOwners = 'open' | readonly string[];

const NOBODY =
  'Nobody may create projects here yet: the operator sets GATEWAY_OWNERS (option "owners" of createGateway) to "open" or to the wallets that may, or names himself in OPERATORS.';
const SOME =
  'This wallet may not create projects here: the operator names those that may in GATEWAY_OWNERS (option "owners" of createGateway).';
const SUSPENDED = 'The operator of this service has suspended what this wallet sells; it creates no projects.';

/**
 * Makes the check of who may create projects. It rejects with `owner_not_allowed`, or `owner_suspended`.
 * @param owners - those who may
 */
export function createAdmission(owners: GatewayOwners, suspensions: Pick<Suspensions, 'find'>) {
  const allowed = owners === 'open' ? undefined : new Set(owners);
  return async (wallet: string): Promise<void> => {
    if (allowed !== undefined && !allowed.has(wallet)) {
      throw new TollhouseError('owner_not_allowed', allowed.size === 0 ? NOBODY : SOME);
    }
    if ((await suspensions.find('owner', wallet)) !== undefined) throw new TollhouseError('owner_suspended', SUSPENDED);
  };
}
