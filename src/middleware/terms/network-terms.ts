import { badOption } from '../../errors/errors.js';
import { joinFacilitators, membersOf } from '../../facilitator/networks/joined-facilitator.js';
import { resolveOptions } from '../../lib/options.js';
import { NETWORK_IDS, type NetworkId } from '../../protocol/types.js';
import { hasOffers } from './offers.js';
import {
  type FilledPaymentOptions,
  type PerNetwork,
  type ResolvedPaymentOptions,
  requirePaymentOptions,
} from './payment-options.js';

const ONE_NETWORK =
  'is sold, and held, on one network: give one facilitator here, and a route of its own for the other networks';

/**
 * Checks the options of a gate, and reads the price and the recipient of each of its networks.
 * @param where - the function that they were given to, for messages
 * @throws TollhouseError `bad_option` when an option is wrong
 */
export function resolvePaymentOptions(where: string, options: unknown): ResolvedPaymentOptions {
  const filled = resolveOptions(where, requirePaymentOptions, options);
  const facilitator = joinFacilitators(where, [filled.facilitator].flat());
  const terms = membersOf(facilitator).map((it) => ({
    facilitator: it,
    price: valueOn(where, 'price', filled.price, it.network),
    payTo: valueOn(where, 'payTo', filled.payTo, it.network),
  }));
  refuseOthers(
    where,
    filled,
    facilitator.network,
    terms.map((it) => it.facilitator.network),
  );
  const [first, ...others] = terms;
  if (first === undefined) throw new Error('unreachable: there is a facilitator');
  if (others.length === 0) return Object.freeze({ ...filled, ...first });
  const sold = [filled.pass, terms.find(({ price }) => typeof price !== 'function' && hasOffers(price))];
  if (sold.some((it) => it !== undefined)) throw badOption(where, `a pass ${ONE_NETWORK}`, 'pass');
  if (filled.holders.length > 0) throw badOption(where, `what option "holders" names ${ONE_NETWORK}`, 'holders');
  // What is left of a payment would have to be good in the tokens of all of them.
  const shared = { facilitator, compensate: false, perNetwork: Object.freeze(terms) };
  return Object.freeze({ ...filled, ...first, ...shared });
}

/** The options of a gate on each of its networks. */
export function onEachNetwork(options: ResolvedPaymentOptions): readonly ResolvedPaymentOptions[] {
  if (options.perNetwork === undefined) return [options];
  const { perNetwork, ...shared } = options;
  return perNetwork.map((it) => Object.freeze({ ...shared, ...it }));
}

/** Whether a request decides who is paid: it may be whoever pays. */
export function paysAnybody({ perNetwork, payTo }: Pick<ResolvedPaymentOptions, 'perNetwork' | 'payTo'>): boolean {
  return (perNetwork ?? [{ payTo }]).some((it) => typeof it.payTo === 'function');
}

function valueOn<Value>(where: string, name: string, given: Value | PerNetwork<Value>, network: NetworkId): Value {
  if (!isPerNetwork(given)) return given as Value;
  const value = given[network];
  if (value !== undefined) return value;
  throw badOption(where, `option "${name}" says nothing for ${network}: add it, or leave the network out`, name);
}

/** What nobody is on would be taken for granted and asked of nobody. */
function refuseOthers(
  where: string,
  { price, payTo }: FilledPaymentOptions,
  first: NetworkId,
  served: readonly NetworkId[],
): void {
  for (const [name, given] of Object.entries({ price, payTo })) {
    const stray = isPerNetwork(given) && NETWORK_IDS.find((id) => given[id] !== undefined && !served.includes(id));
    if (!stray) continue;
    const detail = `option "${name}" names ${stray}, which no facilitator of this gate is on; give facilitator: [${first}, ${stray}]`;
    throw badOption(where, detail, name);
  }
}

function isPerNetwork<Value>(given: Value | PerNetwork<Value>): given is PerNetwork<Value> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return false;
  const names: readonly string[] = Object.keys(given);
  return names.length > 0 && names.every((name) => NETWORK_IDS.some((id) => id === name));
}
