import { repeat } from '../../lib/work/work-loop.js';
import type { NetworkId } from '../../protocol/types.js';
import type { Ledger, PaymentRecord } from '../../storage/ledger/ledger.js';
import type { PassStore } from '../../storage/passes/pass-store.js';
import type { Leases } from '../payments/leases.js';
import { paidForRequest } from '../payments/price-credit.js';

/** What {@link createFreeing} works with. */
export interface FreeingParts {
  readonly network: NetworkId;
  readonly ledger: Pick<Ledger, 'newLease' | 'interrupted' | 'claim' | 'extend' | 'keep' | 'runAgain' | 'served'>;
  readonly leases: Pick<Leases, 'leaseMs' | 'holds'>;
  readonly passes: Pick<PassStore, 'findByPayment' | 'taken' | 'giveBack'>;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/** While nothing was left half done, that is one look into an index. */
export const LOOK_EVERY_MS = 3_000;
/** So many are looked after together. */
const BATCH = 100;
/** What later looks find again of the time before the last one, which no clock of another instance is off by. */
const OVERLAP_MS = 600_000;
/** In so much of a lease whoever lives has said so, or has written down what could not be written in an outage of the store. */
const SIGN_OF_LIFE = 1 / 4;

/**
 * Makes the function that looks after payments which have landed and whose process died in the run of their request. What such a run
 * has taken of the pass or the credit of its payment is free again, for the token and the wallet, and not only for the payment
 * itself. It has to be seen twice, a few seconds apart. Everything happens under a lease of the payment, so that it is run by nobody
 * meanwhile. Several instances share the work.
 * @returns rejects with `store_unavailable`; what was not done is found again
 */
export function createFreeing(parts: FreeingParts): () => Promise<void> {
  const { ledger, network, leases, now } = parts;
  const restMs = leases.leaseMs * SIGN_OF_LIFE;
  let lookedAt: number | undefined;
  let seen: ReadonlyMap<string, number> = new Map();
  return async () => {
    const time = now();
    const sinceMs = lookedAt === undefined ? Number.MAX_SAFE_INTEGER : Math.max(time - lookedAt, 0) + OVERLAP_MS;
    const found = await ledger.interrupted({ network, endedWithinMs: sinceMs, limit: BATCH });
    seen = new Map(found.map(({ id }) => [id, seen.get(id) ?? time]));
    const due = found.filter(({ id }) => time - (seen.get(id) ?? time) >= restMs);
    await Promise.all(due.map((it) => letGo(parts, it)));
    // What waits to be seen again, or is behind the first batch, may be from long ago.
    if (due.length === found.length && found.length < BATCH) lookedAt = time;
  };
}

/** Lets a payment go that nobody else has taken. Where this rejects the lease ends by itself, and the payment is found again. */
async function letGo({ ledger, leases, passes }: FreeingParts, left: PaymentRecord): Promise<void> {
  const { id } = left;
  const { leaseMs } = leases;
  // A clock that has jumped ahead ends no run of this process.
  if (leases.holds(id)) return;
  const lease = ledger.newLease();
  const claimed = await ledger.claim({ ...left, lease, leaseMs });
  if (claimed.status !== 'won') return;
  const mayRunAgain = await isFreed({ ledger, leases, passes }, claimed.record, lease);
  await (mayRunAgain ? ledger.keep(id, lease) : ledger.served(id, lease));
}

/** Whether the payment stays good for its request. Once that was run often enough, what it has taken is its token's. */
async function isFreed(
  { ledger, leases, passes }: Pick<FreeingParts, 'ledger' | 'leases' | 'passes'>,
  record: PaymentRecord,
  lease: string,
): Promise<boolean> {
  const { id } = record;
  const pass = await passes.findByPayment(id);
  const taken = pass && (await passes.taken(pass.id, id));
  const paid = paidForRequest(record);
  // What was charged of a stream beyond that stays taken.
  if (pass === undefined || taken === undefined || paid === undefined || taken > paid) return true;
  if (!(await ledger.extend(id, lease, leases.leaseMs))) return true;
  await passes.giveBack(pass.id, id);
  return ledger.runAgain(id, lease);
}

/**
 * Begins that, at once and every few seconds.
 * @param onFault - told of what went wrong; it is tried again. Default: nobody
 * @returns ends it; resolves when nothing of it is under way any more
 */
export function startFreeing(parts: FreeingParts, onFault: (error: unknown) => void = () => {}): () => Promise<void> {
  const free = createFreeing(parts);
  const freeing = repeat(LOOK_EVERY_MS, () => free().catch(onFault));
  freeing.run();
  return () => freeing.stop();
}
