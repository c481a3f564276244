import { defined } from '../../lib/defined.js';
import type { NetworkId } from '../../protocol/types.js';
import { UsageError } from '../command.js';
import { networkArgument } from './network-argument.js';

/** Flags that say on which network calls are paid, and which responses are charged; for `readArguments`. */
export const CHARGING_FLAGS = {
  network: { type: 'string' },
  'charge-on': { type: 'string' },
} as const;

/** What was given for {@link CHARGING_FLAGS}. */
export interface ChargingFlags {
  readonly network?: string | undefined;
  readonly 'charge-on'?: string | undefined;
}

/** What they say of the price of a project, beside what a call costs. */
export interface ChargingArgument {
  readonly network?: NetworkId;
  readonly charge_on?: readonly (number | string)[];
}

/** What of {@link CHARGING_FLAGS} stands in the help. */
export const CHARGING_HELP = `  --network <name>     create, import: where calls are paid, such as solana-devnet, for ever (default: the server's first)
  --charge-on <list>   statuses that are charged beside 2xx and 3xx: 404,5xx; "none" takes them away`;

const NONE = 'none';

/** Those that were not given are missing. */
export function readChargingFlags({ network, 'charge-on': statuses }: ChargingFlags): ChargingArgument {
  return defined({
    network: network === undefined ? undefined : networkArgument(network),
    charge_on: statuses === undefined ? undefined : readStatuses(statuses),
  });
}

function readStatuses(text: string): readonly (number | string)[] {
  if (text === NONE) return [];
  return text.split(',').map((part) => {
    const status = part.trim();
    if (/^[45]xx$/.test(status)) return status;
    if (/^[45]\d{2}$/.test(status)) return Number(status);
    throw new UsageError(`--charge-on must be statuses of 400 to 599 such as 404,5xx, or "${NONE}", not "${text}"`);
  });
}
