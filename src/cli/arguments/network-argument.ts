import { networkWanted } from '../../protocol/networks/network-name.js';
import { NETWORK_IDS, type NetworkId } from '../../protocol/types.js';
import { UsageError } from '../command.js';

/** The network that `--network <name>` names. */
export function networkArgument(text: string): NetworkId {
  const network = NETWORK_IDS.find((it) => it === text);
  if (network === undefined) throw new UsageError(`--network must be ${networkWanted(text)}`);
  return network;
}
