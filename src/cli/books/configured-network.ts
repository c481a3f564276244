import { readConfiguration, type ServerConfiguration } from '../../server/configuration/configuration.js';
import { networkArgument } from '../arguments/network-argument.js';
import { UsageError } from '../command.js';

/** How the option reads in a help text. */
export const NETWORK_HELP = 'of several in SOLANA_NETWORK, the one that is meant; default: the first';

/**
 * The server's configuration as if the network that is named were the first one.
 * @param named - what `--network` says; undefined: the first
 * @throws UsageError for one that the server is not on
 */
export function configuredOn(named: string | undefined): ServerConfiguration {
  const configuration = readConfiguration(process.env);
  if (named === undefined) return configuration;
  const network = networkArgument(named);
  if (configuration.chain?.network === network) return configuration;
  const chain = configuration.otherChains?.find((it) => it.network === network);
  if (chain === undefined) throw new UsageError(`--network ${network}: it is not in SOLANA_NETWORK`);
  // Tokens of the operator are those of the first network.
  return { ...configuration, chain, otherChains: undefined, tokens: [] };
}
