import { TollhouseError } from '../../errors/errors.js';
import type { Debit, DebitResult, PassStore } from '../../storage/passes/pass-store.js';
import type { Memory } from '../payments/lost-period.js';
import type { LostRefunds } from './lost-refunds.js';

type Search = Pick<LostRefunds, 'isFound'>;

interface Held {
  readonly passes: PassStore;
  /** Of all facilitators of this process that pay refunds of these passes. */
  readonly searches: Set<Search>;
}

const RETRY_SECONDS = 2;
const HELD =
  'The books of this service were restored, and whether this credit was paid back meanwhile is being looked up on the chain. Nothing was taken; send the same request again in a moment.';

/** Passes in one store are the same whoever of this process takes from them. */
const known = new WeakMap<PassStore, Held>();

/** Passes as a facilitator uses them. */
export interface PassesInUse {
  readonly passes: PassStore;
  /** Its search holds them no longer: it searches no more. */
  release(): void;
}

/**
 * Passes of books that were restored: of those from before, nothing is taken while refunds are looked for that the books have lost. Of
 * books that were not restored, the passes themselves.
 * @param search - of the facilitator that uses them. Default: it pays no refunds, and holds nothing by itself
 */
export function passesInUse(
  passes: PassStore,
  { remembersSince, remembersUntil }: Memory,
  { isFound }: Partial<Search>,
): PassesInUse {
  if (remembersSince === undefined || remembersUntil === undefined) return { passes, release: () => {} };
  const held = known.get(passes) ?? holdPasses(passes, remembersSince);
  known.set(passes, held);
  const search = { isFound: isFound ?? (() => true) };
  held.searches.add(search);
  return { passes: held.passes, release: () => void held.searches.delete(search) };
}

function holdPasses(passes: PassStore, restoredAt: number): Held {
  const searches = new Set<Search>();

  async function debitNew(debit: Debit): Promise<DebitResult> {
    const pass = await passes.find(debit.passId);
    if (pass === undefined || pass.openedAt > restoredAt) return passes.debit(debit);
    throw new TollhouseError('payment_backend_unavailable', HELD, { retryAfterSeconds: RETRY_SECONDS });
  }

  const isHeld = () => [...searches].some((it) => !it.isFound());
  return { searches, passes: { ...passes, debit: (debit) => (isHeld() ? debitNew(debit) : passes.debit(debit)) } };
}
