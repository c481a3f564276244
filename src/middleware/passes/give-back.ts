import { setTimeout as pause } from 'node:timers/promises';
import type { Facilitator } from '../../facilitator/types.js';
import { defined } from '../../lib/defined.js';

type Closing = Pick<Facilitator, 'closing' | 'awaitAtClose'>;

/** Before each further try, in milliseconds: a store that restarts is back by then. */
const PAUSES_MS = [250, 1_000, 4_000, 15_000, 60_000];
/** Once the facilitator is being closed, which waits for no longer. */
const LAST_TRIES = 16;
const LAST_PAUSE_MS = 250;

/**
 * Gives back what a request did not cost, again and again while the store is busy or away, for some 80 s, or for 4 s from when its
 * facilitator is closed, which waits for that; what then is not given back is warned of. Resolves after the first try.
 * @param whose - what it is given back to, for people
 * @param giveBack - may be done more than once
 */
export async function giveBackToPass(
  facilitator: Closing,
  whose: string,
  giveBack: () => Promise<unknown>,
): Promise<void> {
  try {
    await giveBack();
  } catch (error) {
    const trying = tryAgain(facilitator, whose, giveBack, error);
    facilitator.awaitAtClose?.(trying);
  }
}

async function tryAgain(
  { closing }: Closing,
  whose: string,
  giveBack: () => Promise<unknown>,
  first: unknown,
): Promise<void> {
  let failure = first;
  const [pauses, lastPauses] = [[...PAUSES_MS], Array<number>(LAST_TRIES).fill(LAST_PAUSE_MS)];
  for (;;) {
    const isLast = closing?.aborted ?? false;
    const ms = (isLast ? lastPauses : pauses).shift();
    if (ms === undefined) break;
    // The end of it all cuts a pause short.
    await pause(ms, undefined, { ref: isLast, ...(isLast ? {} : defined({ signal: closing })) }).catch(() => {});
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
