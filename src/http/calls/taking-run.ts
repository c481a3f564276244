import type { Facilitator, KnownPayment } from '../../facilitator/types.js';
import type { IdempotentRequest, Known } from '../../middleware/idempotency/idempotent-request.js';
import { giveBackToPass } from '../../middleware/passes/give-back.js';
import type { TakenAs } from '../../middleware/passes/pass-types.js';

/** What is known of a call under its name; `paid`: a payment has paid it, or may have, and no response was kept under the name. */
export type KnownCall = Known | ({ readonly status: 'paid' } & PaidBy);

/** The payment that has paid a call. */
interface PaidBy {
  readonly payment: KnownPayment;
  /** What the one who has brought it noted with it. */
  readonly note: string;
}

/** Stands, with what else is noted, before the id of a payment in what a run notes, as the name of a pass does before what is taken of that. */
const PAID_BY = 'payment:';

/** A run for which something is taken of a pass, or which a payment pays. */
export interface TakingRun {
  /** What is known under its name. What runs before it had taken is given back by then. */
  known(): Promise<KnownCall | undefined>;
  /** Begins it, unless something is known. */
  begin(takes?: TakenAs): Promise<KnownCall | undefined>;
  /**
   * The same for a payment that is held.
   * @param note - a word for whoever is to serve it for that payment
   */
  beginPaid(paymentId: string, note: string): Promise<KnownCall | undefined>;
  /** Ends it as if it had not begun, and gives back what it has taken. Does not reject. */
  abandon(): Promise<void>;
}

/**
 * Makes a run of a call. Whoever begins it anew gives back what was lost with runs before it; where one of these was paid, it is to be
 * served for that payment, and no other pays it.
 * @param isOwed - whether this very call is owed to a payment, or its response: given back, that may have paid another one since
 */
export function takingRun(
  run: IdempotentRequest,
  facilitator: Facilitator,
  isOwed: (paid: PaidBy, id: string) => Promise<boolean>,
): TakingRun {
  // Its debit may be on its way still, from a process or a connection that was given up.
  const giveBack = ({ passId, requestId }: TakenAs) => facilitator.passes.giveBack(passId, requestId, true);
  let taken: TakenAs | undefined;
  let ending: Promise<void> | undefined;

  async function undo(): Promise<void> {
    const takes = taken;
    if (takes === undefined) return void (await run.abandon());
    // Should it never be given back from here, whoever begins the call anew does that once its lease is over.
    run.ended();
    await giveBackToPass(facilitator, `the pass ${takes.passId}`, async () => {
      await giveBack(takes);
      await run.abandon();
    });
  }

  /** Gives back what was lost, and finds the payment that has paid. */
  async function settle(lost: Iterable<readonly [string, string]>): Promise<PaidBy | undefined> {
    let found: PaidBy | undefined;
    for (const [what, id] of lost) {
      if (!isPayment(what)) await giveBack({ passId: what, requestId: id });
      else found ??= await paidBy(id, what.slice(PAID_BY.length));
    }
    return found;
  }

  async function paidBy(paymentId: string, note: string): Promise<PaidBy | undefined> {
    const payment = await facilitator.knownPayment(paymentId);
    return payment !== undefined && (await isOwed({ payment, note }, paymentId)) ? { payment, note } : undefined;
  }

  /** @param own - the payment that is held for it */
  async function begin(notes?: readonly [string, string], own?: string): Promise<KnownCall | 'own' | undefined> {
    const begun = await run.begin(notes);
    if (begun.status !== 'started') return begun;
    run.hold();
    ending = undefined;
    taken = notes && !isPayment(notes[0]) ? { passId: notes[0], requestId: notes[1] } : undefined;
    const lost = pairsOf(begun.lost);
    try {
      const paid = await settle(lost.filter(([, id]) => id !== own));
      if (paid === undefined) return lost.some(([, id]) => id === own) ? 'own' : undefined;
      await run.release();
      return { status: 'paid', ...paid };
    } catch (error) {
      // Whoever takes it over then knows what was lost, and nobody forgets it here meanwhile.
      ending = run.release().then(() => undefined);
      await ending;
      throw error;
    }
  }

  /** @returns `own` where it has begun, as a run that ended before was begun for the same payment */
  async function known(own?: string): Promise<KnownCall | 'own' | undefined> {
    const found = await run.find();
    if (found?.status !== 'ended') return found;
    const other = await begin(undefined, own);
    if (other === undefined) await run.abandon();
    return other;
  }

  const orBegun = (it: KnownCall | 'own' | undefined): KnownCall | undefined => (it === 'own' ? undefined : it);

  return {
    known: async () => orBegun(await known()),
    begin: async (takes) => orBegun(await begin(takes && [takes.passId, takes.requestId])),
    async beginPaid(paymentId, note) {
      // First: each payment that is refused would be noted else.
      const found = await known(paymentId);
      return orBegun(found ?? (await begin([`${PAID_BY}${note}`, paymentId])));
    },
    abandon(): Promise<void> {
      ending ??= undo();
      return ending;
    },
  };
}

/** Whether what a run has noted is a payment, and no pass. */
function isPayment(what: string): boolean {
  return what.startsWith(PAID_BY);
}

/** @param words - what runs have noted, two words each */
function pairsOf(words: readonly string[]): readonly (readonly [string, string])[] {
  return words.flatMap((what, n) => (n % 2 === 0 ? [[what, words[n + 1] ?? ''] as const] : []));
}
