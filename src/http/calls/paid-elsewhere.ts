import { setTimeout as wait } from 'node:timers/promises';
import { TollhouseError } from '../../errors/errors.js';
import type { EmbeddedFacilitator } from '../../facilitator/create-facilitator.js';
import { boundedCache } from '../../lib/bounded-cache.js';
import { defined } from '../../lib/defined.js';
import { REASONS } from '../../protocol/reasons.js';
import type { NetworkId, Refusal } from '../../protocol/types.js';

type Looking = Pick<EmbeddedFacilitator, 'network' | 'lookUp'>;

/** What was found of a signature on the other networks. */
interface Look {
  readonly refusal?: Refusal;
}

/** Why a signature that a network does not know pays nothing there: another one that is served knows it. Undefined where none is known to. */
export type PaidElsewhere = (network: NetworkId, signature: string) => Promise<Refusal | undefined>;

/** Whoever waits for a payment asks every two seconds: the other chains are asked once in this time. */
const BELIEVED_MS = 20_000;
const BELIEVED_MAX = 10_000;
/** Signatures cost nothing to invent, so that no more of them are looked up elsewhere at once. */
const AT_ONCE = 8;
/** An outage of one network is none of another's: who asks later is told what was found then. */
const PATIENCE_MS = 1_000;

/** Makes what looks on the other networks. It is for signatures that their own does not know, so that an honest payment costs no call more. */
export function createPaidElsewhere(all: readonly Looking[]): PaidElsewhere {
  const believed = boundedCache<string, Look>({ max: BELIEVED_MAX, ttl: BELIEVED_MS });
  let asked = 0;

  async function look(network: NetworkId, signature: string, others: readonly Looking[]): Promise<Refusal | undefined> {
    asked += 1;
    try {
      const found = await Promise.all(others.map(async (it) => ((await isKnown(it, signature)) ? [it.network] : [])));
      const refusal = refusalOf(network, found.flat());
      believed.set(`${network} ${signature}`, { ...defined({ refusal }) });
      return refusal;
    } finally {
      asked -= 1;
    }
  }

  return async (network, signature) => {
    const name = `${network} ${signature}`;
    const others = all.filter((it) => it.network !== network);
    const known = believed.get(name);
    if (known !== undefined || others.length === 0 || asked >= AT_ONCE) return known?.refusal;
    believed.set(name, {});
    return Promise.race([look(network, signature, others), waited(PATIENCE_MS)]);
  };
}

function refusalOf(network: NetworkId, [there]: readonly NetworkId[]): Refusal | undefined {
  if (there === undefined) return undefined;
  const reason = 'invalid_exact_svm_network_mismatch';
  return { reason, message: `${REASONS[reason]} It was made on ${there}, and this is paid on ${network}.` };
}

async function waited(timeoutMs: number): Promise<undefined> {
  await wait(timeoutMs, undefined, { ref: false });
}

/** Of a network that cannot be asked nothing is known. */
async function isKnown(facilitator: Looking, signature: string): Promise<boolean> {
  try {
    return (await facilitator.lookUp(signature)).status !== 'not_found';
  } catch (error) {
    if (error instanceof TollhouseError) return false;
    throw error;
  }
}
