import type { Request } from 'express';
import { ipKeyGenerator } from 'express-rate-limit';
import { clientOfAddress } from '../../identity/service-keys/allowed-addresses.js';
import { defined } from '../../lib/defined.js';
import { clientIp } from '../../lib/http/client-ip.js';

/** What names the address that a request comes from, an IPv6 one by its network; nothing where it has none, as on a Unix socket. */
export function clientAddress(req: Request): { readonly client?: string } {
  warnOfProxy(req);
  const ip = clientIp(req);
  return defined({ client: ip === undefined ? undefined : clientOfAddress(ip) });
}

/** What proxies write of whom they forward for. */
const FORWARDED_FOR = ['x-forwarded-for', 'forwarded', 'x-real-ip'] as const;

/**
 * What a request says of whom it is forwarded for, where Express takes its address from the connection: any client can write it, and
 * behind a proxy that is not trusted it is all that tells clients apart. It may narrow who somebody is, and never widen it.
 */
function untrustedForwarding(req: Request): readonly string[] {
  if (req.ip !== req.socket.remoteAddress) return [];
  return FORWARDED_FOR.flatMap((name) => req.headers[name] ?? []);
}

/** Who a request comes from, where nothing but its address tells: who shares the address of a proxy is somebody else. */
export function addressProof(req: Request): string {
  return [ipKeyGenerator(clientIp(req) ?? ''), ...untrustedForwarding(req)].join(' ');
}

const warned = new WeakSet<object>();

/** Warns once for each app when addresses cannot be told apart, or can be made up. */
export function warnOfProxy(req: Request): void {
  const isForwarded = req.headers['x-forwarded-for'] !== undefined || req.headers.forwarded !== undefined;
  if (!isForwarded || warned.has(req.app)) return;
  const trust: unknown = req.app.get('trust proxy');
  const advice = trust === false ? UNSET : trust === true ? PERMISSIVE : undefined;
  if (advice === undefined) return;
  warned.add(req.app);
  process.emitWarning(advice, { code: 'TOLLHOUSE_TRUST_PROXY' });
}

const UNSET =
  'a request came through a proxy, and "trust proxy" is not set: all clients behind the proxy share one rate limit, and one share of the payments under way. Set TRUST_PROXY (or app.set("trust proxy", …)) to the number of proxies; if there are none, somebody sends X-Forwarded-For on their own, and all is well';
const PERMISSIVE =
  '"trust proxy" is true: clients can name any address as theirs and escape the rate limits; set it to the number of proxies';
