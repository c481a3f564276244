import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { boundedCache } from '../bounded-cache.js';

/** What one may have who has many addresses: a provider's block of IPv4; a site, and all that a provider was given, of IPv6. */
const IPV4_BITS = [24];
const IPV6_BITS = [48, 32];

/** A client comes many times. */
const known = boundedCache<string, readonly string[]>({ max: 1_000 });

/**
 * What names a client and the networks that it is in, the narrowest first.
 * @param client - an IPv4 address, or an IPv6 one or its network, as `clientOfAddress` writes them; anything else is in no network
 */
export function networksOfClient(client: string): readonly string[] {
  const found = known.get(client);
  if (found !== undefined) return found;
  const networks = [client, ...networksAround(client.split('/', 1)[0] ?? '')];
  known.set(client, networks);
  return networks;
}

function networksAround(address: string): readonly string[] {
  if (isIPv4(address)) return IPV4_BITS.map((bits) => named(ipaddr.IPv4, address, bits));
  if (isIPv6(address) && !address.includes('%')) return IPV6_BITS.map((bits) => named(ipaddr.IPv6, address, bits));
  return [];
}

function named(kind: typeof ipaddr.IPv4 | typeof ipaddr.IPv6, address: string, bits: number): string {
  return `${kind.networkAddressFromCIDR(`${address}/${bits}`)}/${bits}`;
}
