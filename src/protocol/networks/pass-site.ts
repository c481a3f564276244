import { NETWORK_IDS, type NetworkId } from '../types.js';
import { modeOf } from './networks.js';

/**
 * The site of a gate: scheme and host, where they are configured, the wallet that is paid, and the network where that is one of test
 * money. A pass is one seller's, though others sell at the same host, and what test money has bought is good for test money's goods.
 */
export function siteOfGate(baseUrl: string | undefined, payTo: string, network: NetworkId): string {
  const seller = baseUrl === undefined ? payTo : `${new URL(baseUrl).origin} ${payTo}`;
  return modeOf(network) === 'live' ? seller : `${seller} ${network}`;
}

/** The network of a {@link siteOfGate}. */
export function networkOfSite(site: string): NetworkId {
  return NETWORK_IDS.find((network) => modeOf(network) === 'test' && site.endsWith(` ${network}`)) ?? 'solana';
}

/**
 * What a {@link siteOfGate} was before there was a network in it: passes that were sold then have the new one, but not the tokens and
 * cookies that were given out with them.
 */
export function formerSite(site: string): string {
  const network = networkOfSite(site);
  return modeOf(network) === 'live' ? site : site.slice(0, -` ${network}`.length);
}
