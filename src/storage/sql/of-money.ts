import type { MoneyMode } from '../../protocol/networks/networks.js';
import type { NetworkId } from '../../protocol/types.js';

/** Which money is asked for. Default: all. */
export interface OfMoney {
  /** Only money of this network, or of networks of this kind. */
  readonly network?: NetworkId;
  readonly mode?: MoneyMode;
}

/** Whether the network of the table `p` is the one that is asked for, and of the kind that is asked for; empty texts ask for all. */
export function isOfMoney(network: string, mode: string): string {
  return `(${network} = '' or p.network = ${network})
  and (${mode} = '' or (case when p.network = 'solana' then 'live' when p.network <> '' then 'test' end) = ${mode})`;
}
