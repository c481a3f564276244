import type { Request } from 'express';
import { ipKeyGenerator } from 'express-rate-limit';
import { clientIp } from '../../lib/http/client-ip.js';

/** Names the address of a request, for what nobody has proven: what a client writes itself would give it more shares. */
export function addressOwner(req: Request): string {
  return `address ${ipKeyGenerator(clientIp(req) ?? '')}`;
}
