import type { Request } from 'express';
import { clientOfAddress } from '../../identity/service-keys/allowed-addresses.js';
import { defined } from '../../lib/defined.js';
import { clientIp } from '../../lib/http/client-ip.js';

/** What names the address that a request comes from, an IPv6 one by its network; nothing where it has none, as on a Unix socket. */
export function clientAddress(req: Request): { readonly client?: string } {
  const ip = clientIp(req);
  return defined({ client: ip === undefined ? undefined : clientOfAddress(ip) });
}
