import { TollhouseError } from '../../errors/errors.js';
import { type MoneyMode, modeOf } from '../../protocol/networks/networks.js';
import type { NetworkId } from '../../protocol/types.js';
import type { ServiceKeyFacts } from '../../storage/keys/service-keys.js';

/**
 * Test keys work with test money only, and live keys with money only. A service that has no mainnet sells nothing for money: there
 * every key is good.
 * @param served - what the best of its networks is
 * @throws TollhouseError `wrong_key_mode`
 */
export function requireKeyMode({ mode }: Pick<ServiceKeyFacts, 'mode'>, network: NetworkId, served: MoneyMode): void {
  if (served === 'test' || mode === modeOf(network)) return;
  const detail = `The service key is a ${mode} key, and this is on ${network}; use a ${modeOf(network)} key.`;
  throw new TollhouseError('wrong_key_mode', detail);
}
