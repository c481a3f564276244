import { setTimeout } from 'node:timers/promises';
import type { Call } from '../../gateway/calls/call.js';
import type { CallEnd } from '../../gateway/calls/call-records.js';
import type { Gateway } from '../../gateway/gateway.js';
import { recordResponse } from '../../middleware/response/response-recorder.js';
import type { StoredResponse } from '../../middleware/response/response-seal.js';
import type { KeptAnswer } from '../../storage/calls/call-store.js';
import { type NamedCall, namedOf } from './named-call.js';
import { type PassedCall, type PassedOn, passOn } from './pass-on.js';

/** A call that is passed on, and that books itself. */
export interface BookedCall extends Omit<PassedCall, 'charged' | 'outlivesCaller'> {
  /** It is charged: writes that, with its response where that is given. Called once at most. */
  book(end: CallEnd, kept?: KeptAnswer): Promise<void>;
}

/** Longer responses, in bytes, are kept by themselves: many calls go to a database in one statement. */
export const MOST_WITH_CALL = 32 * 1024;
/** What cannot be written must not keep a response back. */
const BEFORE_END_MS = 5_000;

/**
 * Passes a call on that was paid before. Where it has a name its response is kept before the last of it leaves, and taken to its end
 * when its caller has left: he is charged for what he can have again. What cannot be kept, a stream of events or a very long response,
 * ends with its caller, and is charged as it would be without a name.
 */
export async function passOnNamed(gateway: Gateway, call: Call, { book, ...passed }: BookedCall): Promise<PassedOn> {
  const { req, res } = passed;
  const named = await namedOf(req);
  if (named === undefined) return passOn(gateway, call, { ...passed, book });
  let endNow: (() => CallEnd) | undefined;
  let booked: Promise<void> | undefined;
  let ending: Promise<boolean> | undefined;
  const end = async (response: StoredResponse | undefined): Promise<boolean> => {
    if (endNow === undefined || !(await named.isHeld())) return false;
    const kept = await keepAlone(gateway, named, response);
    booked = book(endNow(), kept);
    void booked.then(named.ended, named.ended);
    return Promise.race([booked.then(() => true), setTimeout(BEFORE_END_MS, false, { ref: false })]);
  };
  const recorded = recordResponse(
    res,
    (response) => {
      ending = end(response);
      return ending;
    },
    true,
  );
  try {
    const passedOn = await passOn(gateway, call, {
      ...passed,
      charged(now) {
        endNow = now;
      },
      outlivesCaller: () => !recorded.cannotBeKept,
      // What could be kept is taken to its end, unless he holds it up for too long.
      isCallersLoss: (headSent) => headSent || ending !== undefined || recorded.cannotBeKept,
      async notCharged(it) {
        await named.abandon();
        return passed.notCharged(it);
      },
    });
    await ending?.catch(() => undefined);
    if (!passedOn.charged || booked !== undefined) return { ...passedOn, booked };
    // Whoever has taken it over, while this process stood still, serves it and is charged.
    if (!(await named.isHeld())) {
      await passed.notCharged(passedOn.end);
      return { charged: false, end: passedOn.end };
    }
    // It has not come to its end, or its response could not be kept.
    await named.abandon();
    return { ...passedOn, booked: book(passedOn.end) };
  } catch (error) {
    await named.abandon();
    throw error;
  }
}

/** Keeps a response that cannot be written with its call; answers one that can. What is too long to be kept is nobody's to have again. */
async function keepAlone(
  { calls }: Gateway,
  named: NamedCall,
  response: StoredResponse | undefined,
): Promise<KeptAnswer | undefined> {
  const { store } = named;
  const sealed = response && named.sealed(response);
  if (sealed !== undefined && calls.keepsFor(store) && sealed.answer.length <= MOST_WITH_CALL) {
    return { ...sealed, store };
  }
  if (response === undefined || !(await named.finish(response))) await named.abandon();
  return undefined;
}
