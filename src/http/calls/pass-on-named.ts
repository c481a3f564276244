import type { Call } from '../../gateway/calls/call.js';
import type { CallEnd } from '../../gateway/calls/call-records.js';
import { writtenInTime } from '../../gateway/calls/until-written.js';
import type { Gateway } from '../../gateway/gateway.js';
import { recordResponse } from '../../middleware/response/response-recorder.js';
import type { StoredResponse } from '../../middleware/response/response-seal.js';
import type { KeptAnswer } from '../../storage/calls/call-store.js';
import { type NamedCall, namedOf } from './named-call.js';
import { type PassedCall, type PassedOn, passOn } from './pass-on.js';

/** A call that is passed on, and that books itself. */
export interface BookedCall extends Omit<PassedCall, 'book' | 'charged' | 'outlivesCaller'> {
  readonly payment: PassedCall['payment'] & { readonly payer: string };
  /** Nobody pays for it: its response is kept by itself, and goes first where there is no room. Default: somebody does. */
  readonly isFree?: true;
  /**
   * It is charged: writes that, with its response where that is given. Called once at most. False where it is not to be charged: somebody
   * else is at the run that the response ends, or what was to pay it is gone.
   */
  book(end: CallEnd, kept?: KeptAnswer): Promise<boolean>;
}

/**
 * Passes a call on that was paid before, or that is free. Where it has a name its response is kept before the last of it leaves, and taken to its end
 * when its caller has left: he is charged for what he can have again. What cannot be kept, a stream of events or a very long response,
 * ends with its caller, and is charged as it would be without a name.
 */
export async function passOnNamed(
  gateway: Gateway,
  call: Call,
  { book, isFree, ...passed }: BookedCall,
): Promise<PassedOn> {
  const { req, res } = passed;
  const named = await namedOf(req);
  /** @param kept - its response, to be written with it; or false, where whoever has taken it over serves it and is charged */
  const bookAs = async (end: CallEnd, kept: KeptAnswer | boolean): Promise<void> => {
    const isCharged = kept !== false && (await book(end, kept === true ? undefined : kept));
    if (!isCharged) await passed.notCharged(end);
  };
  if (named === undefined) return passOn(gateway, call, { book: (end) => bookAs(end, true), ...passed });
  let endNow: (() => CallEnd) | undefined;
  let booked: Promise<void> | undefined;
  let ending: Promise<boolean> | undefined;
  const end = async (response: StoredResponse | undefined): Promise<boolean> => {
    if (endNow === undefined) return false;
    const callEnd = endNow();
    const kept = isFree
      ? await keepUnpaid(named, response)
      : await keepAlone(gateway, named, { response, payer: passed.payment.payer });
    booked = bookAs(callEnd, kept);
    void booked.then(named.ended, named.ended);
    return writtenInTime(booked.then(() => true));
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
      outlivesCaller: () => !recorded.cannotBeKept(),
      // What could be kept is taken to its end, unless he holds it up for too long.
      isCallersLoss: (headSent) => headSent || ending !== undefined || recorded.cannotBeKept(),
      async notCharged(it) {
        const headers = await passed.notCharged(it);
        await named.abandon();
        return headers;
      },
    });
    await ending?.catch(() => undefined);
    if (!passedOn.charged || booked !== undefined) return { ...passedOn, booked };
    // It has not come to its end.
    return { ...passedOn, booked: bookAs(passedOn.end, await named.letGo()) };
  } catch (error) {
    await (call.isBooked ? named.letGo() : named.abandon());
    throw error;
  }
}

/**
 * Keeps a response that cannot be written with its call; answers one that can. What is too long to be kept is nobody's to have again.
 * False where somebody else has taken the call over, as where this process stood still for too long.
 */
async function keepAlone(
  { calls }: Gateway,
  named: NamedCall,
  { response, payer }: { readonly response: StoredResponse | undefined; readonly payer: string },
): Promise<KeptAnswer | boolean> {
  const { store } = named;
  const sealed = response && named.sealed(response, payer);
  if (sealed !== undefined && calls.keepsFor(store)) return { store, ...sealed };
  return (response !== undefined && (await named.finish(response, payer))) || named.letGo();
}

/** Keeps a response that nobody has paid for. */
async function keepUnpaid(named: NamedCall, response: StoredResponse | undefined): Promise<boolean> {
  return (response !== undefined && (await named.finish(response))) || named.letGo();
}
