import { isIP, isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { boundedCache } from '../../lib/bounded-cache.js';

/** How much of an IPv6 address names its client: networks of this size are what one customer has. */
const CLIENT_BITS = 56;
const UNKNOWN_CLIENT = 'unknown';
/** Where the IPv4 addresses among the IPv6 ones begin (`::ffff:0:0/96`). */
const MAPPED_BITS = 96;

/**
 * An address or a network as it is kept: the network without its host bits, IPv4 where it is one in IPv6's clothes.
 * @returns undefined when it is neither
 */
export function readAllowedAddress(text: string): string | undefined {
  const [address = '', bits, ...rest] = text.split('/');
  if (rest.length > 0 || !(isIPv4(address) || isIPv6(address)) || address.includes('%')) return undefined;
  if (bits === undefined) return ipaddr.process(address).toString();
  const length = isIPv4(address) ? 32 : 128;
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > length) return undefined;
  const ip = ipaddr.process(address);
  const isMapped = length === 128 && ip.kind() === 'ipv4';
  // A network of more than all mapped addresses has IPv6 ones as well.
  if (isMapped && Number(bits) < MAPPED_BITS) return undefined;
  const prefix = Number(bits) - (isMapped ? MAPPED_BITS : 0);
  const kind = ip.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  return `${kind.networkAddressFromCIDR(`${ip}/${prefix}`)}/${prefix}`;
}

/**
 * Whether a client's address is one of those allowed, or lies in one of the networks.
 * @param allowed - made by {@link readAllowedAddress}; empty: every address is
 */
export function isAllowedAddress(address: string, allowed: readonly string[]): boolean {
  if (allowed.length === 0) return true;
  if (!isPlain(address)) return false;
  const ip = ipaddr.process(address);
  return allowed.some((entry) => {
    const [base, bits] = entry.includes('/') ? ipaddr.parseCIDR(entry) : [ipaddr.parse(entry), undefined];
    return base.kind() === ip.kind() && ip.match(base, bits ?? base.toByteArray().length * 8);
  });
}

/** A client sends many requests. */
const clients = boundedCache<string, string>({ max: 1_000 });

/** What names the client behind an address where failures are counted: the address, or the network of an IPv6 one. */
export function clientOfAddress(address: string): string {
  const known = clients.get(address);
  if (known !== undefined) return known;
  const client = readClient(address);
  if (client === undefined) return UNKNOWN_CLIENT;
  clients.set(address, client);
  return client;
}

/** Undefined for what is no address: that may be of any length, and is not remembered. */
function readClient(address: string): string | undefined {
  if (!isPlain(address)) return undefined;
  const ip = ipaddr.process(address);
  if (ip.kind() === 'ipv4') return ip.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${ip}/${CLIENT_BITS}`)}/${CLIENT_BITS}`;
}

/** Whether an address is written as sockets and proxies write it: no octal, hexadecimal or single number. */
function isPlain(address: string): boolean {
  return isIP(address) !== 0 && ipaddr.isValid(address);
}
