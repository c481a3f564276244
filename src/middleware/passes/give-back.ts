import { wholeError } from '../../lib/error-text.js';
import { type TryingOwner, tryAgain } from '../../lib/work/try-again.js';

/**
 * Gives back what a request did not cost, again and again while the store is busy or away; what then is not given back is warned of.
 * Resolves after the first try.
 * @param whose - what it is given back to, for people
 * @param giveBack - may be done more than once
 */
export async function giveBackToPass(
  facilitator: TryingOwner,
  whose: string,
  giveBack: () => Promise<unknown>,
): Promise<void> {
  try {
    await giveBack();
  } catch (error) {
    void giveBackLater(facilitator, whose, giveBack, error);
  }
}

async function giveBackLater(
  facilitator: TryingOwner,
  whose: string,
  giveBack: () => Promise<unknown>,
  first: unknown,
): Promise<void> {
  const failure = await tryAgain(facilitator, giveBack, first);
  if (failure === undefined) return;
  const detail = `what a request did not cost could not be given back to ${whose}: ${wholeError(failure)}`;
  process.emitWarning(detail, { code: 'TOLLHOUSE_PASS_NOT_GIVEN_BACK' });
}
