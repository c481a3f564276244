import type { Request } from 'express';
import { proofAgain } from '../../middleware/wallet/wallet-auth.js';
import type { ApiCallerParts } from './api-caller.js';

/**
 * Whether a request that was let in would be let in once more: its key was not revoked, its token has not run out. A long
 * answer asks from time to time. Rejects with `store_unavailable` when that cannot be looked up.
 */
export async function isStillLetIn(req: Request, { identity, keys, baseUrl }: ApiCallerParts): Promise<boolean> {
  const [key, secret] = [req.get('x-service-key'), req.get('x-service-secret')];
  if (keys !== undefined && key !== undefined && secret !== undefined) {
    const check = await keys.authenticate({ key, secret, address: req.ip ?? '' });
    return check.ok || check.code === 'rate_limited';
  }
  return (await proofAgain(req, { identity, baseUrl })).status === 'proven';
}
