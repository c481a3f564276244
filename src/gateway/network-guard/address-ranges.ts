import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ReturnType<typeof ipaddr.parse>;

/** A network: its address, and how many leading bits count. */
export type Network = ReturnType<typeof ipaddr.parseCIDR>;

/** Where IANA gives out IPv6 addresses to the public; everything else is special or not given out. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
const CIDR = /^[\da-f.:]+\/\d{1,3}$/i;

/** Whether a text is a network in CIDR notation, IPv4 with all four parts: `10.0.0.0/8`, `::1/128`. */
export function isNetwork(text: string): boolean {
  if (!CIDR.test(text) || !ipaddr.isValidCIDR(text)) return false;
  return text.includes(':') || isIPv4(text.slice(0, text.indexOf('/')));
}

/**
 * Reads a network in CIDR notation.
 * @throws Error when it is not one; see {@link isNetwork}
 */
export function readAddressRange(text: string): Network {
  return ipaddr.parseCIDR(text);
}

/**
 * Whether an address is one of the public internet: unicast, given out, and no other notation or tunnel of an IPv4 address
 * (NAT64, 6to4, Teredo). An IPv4-mapped one counts as the IPv4 address that it is.
 * @param text - an IPv4 or IPv6 address
 */
export function isPublicAddress(text: string): boolean {
  const address = ipaddr.process(text);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || address.match(GLOBAL_UNICAST);
}

/** Whether an address, IPv4-mapped or not, lies in one of some networks. */
export function isInside(text: string, networks: readonly Network[]): boolean {
  const address = ipaddr.process(text);
  return networks.some((network) => lies(address, network));
}

function lies(address: Address, network: Network): boolean {
  return address.kind() === network[0].kind() && address.match(network);
}
