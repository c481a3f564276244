import { setTimeout as pause } from 'node:timers/promises';

/** Before each further try, in milliseconds: a store that restarts is back by then. */
const PAUSES_MS = [250, 1_000, 4_000, 15_000, 60_000];

/**
 * Gives back what a request did not cost, again and again while the store is busy or away, for some 80 s; what then is not given back
 * is warned of. Resolves after the first try.
 * @param whose - what it is given back to, for people
 * @param giveBack - may be done more than once
 */
export async function giveBackToPass(whose: string, giveBack: () => Promise<unknown>): Promise<void> {
  try {
    await giveBack();
  } catch (error) {
    void tryAgain(whose, giveBack, error);
  }
}

async function tryAgain(whose: string, giveBack: () => Promise<unknown>, first: unknown): Promise<void> {
  let failure = first;
  for (const ms of PAUSES_MS) {
    await pause(ms, undefined, { ref: false });
    try {
      return void (await giveBack());
    } catch (error) {
      failure = error;
    }
  }
  const reason = failure instanceof Error ? failure.message : String(failure);
  const detail = `what a request did not cost could not be given back to ${whose}: ${reason}`;
  process.emitWarning(detail, { code: 'TOLLHOUSE_PASS_NOT_GIVEN_BACK' });
}
