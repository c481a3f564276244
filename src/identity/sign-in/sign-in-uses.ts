import { createHash } from 'node:crypto';
import { TollhouseError } from '../../errors/errors.js';
import { type MaybePromise, whenKnown } from '../../lib/maybe-promise.js';
import type { WindowCount } from '../../storage/counters/counters.js';
import { NONCE_MARGIN_MS, SIGN_IN_MS, type SignInSetup } from '../sign-in-options.js';

/** A sign-in that was found good. */
export interface GoodSignIn {
  readonly nonce: string;
  /** Whose it is, base58. */
  readonly wallet: string;
}

/** Which sign-ins were used. A wallet has a bound of its own on those, so that it fills nothing that others need. */
export interface SignInUses {
  /** Whether a sign-in was used, and not given back. Nothing is written. */
  isUsed(nonce: string): MaybePromise<boolean>;
  /**
   * Uses a sign-in. True for exactly one caller until it is given back.
   * @throws TollhouseError `rate_limited` when the wallet has used too many, `store_unavailable`
   */
  take(signIn: GoodSignIn): Promise<boolean>;
  /**
   * Gives a sign-in back that its caller has taken: the request was let in and got nothing, since it was asked to pay.
   * @param place - where that was; a request there may name the sign-in by its nonce alone
   */
  giveBack(signIn: GoodSignIn, place: string): Promise<void>;
  /** The same for a sign-in under a nonce that nobody has signed: of the challenge that its caller is asked with now. */
  passOn(signIn: GoodSignIn, place: string): Promise<void>;
  /** Whose sign-in was given back at a place; undefined when none was, or it was used since. */
  find(nonce: string, place: string): MaybePromise<GoodSignIn | undefined>;
}

/** How many sign-ins a wallet may use in five minutes; who needs more takes an access token. */
const MAX_USES = 600;
const KEPT_MS = SIGN_IN_MS + NONCE_MARGIN_MS;
const FREE = 'free';
const TAKEN = 'taken';

/**
 * Keeps uses in counters: a mark for each nonce, which never goes, and beside it a value where the use was given back. Should a store
 * forget the value, the sign-in counts as used.
 * @param space - what is signed in for; the same nonce is another in each
 */
export function createSignInUses(space: string, { counters, now }: Pick<SignInSetup, 'counters' | 'now'>): SignInUses {
  const markOf = (nonce: string) => `${space}:${nonce}`;
  const backOf = (nonce: string) => `${space}-back:${nonce}`;

  /** Limits may be counted elsewhere than marks are kept: while they cannot be, they let pass. */
  async function counted(wallet: string): Promise<WindowCount> {
    try {
      return await counters.increment(`${space}-uses:${wallet}`, SIGN_IN_MS);
    } catch {
      return { count: 0, resetsAt: now() };
    }
  }

  async function countUse(wallet: string): Promise<void> {
    const { count, resetsAt } = await counted(wallet);
    if (count <= MAX_USES) return;
    const detail = `The wallet ${wallet} has signed in more than ${MAX_USES} times in five minutes; take an access token, which is good for many requests.`;
    throw new TollhouseError('rate_limited', detail, {
      retryAfterSeconds: Math.max(1, Math.ceil((resetsAt - now()) / 1_000)),
    });
  }

  function giveBack({ nonce, wallet }: GoodSignIn, place: string): Promise<void> {
    return counters.put(backOf(nonce), `${FREE} ${wallet} ${hashOf(place)}`, KEPT_MS);
  }

  return {
    isUsed: (nonce) =>
      whenKnown(counters.anyTaken([markOf(nonce)]), (isMarked) =>
        isMarked ? whenKnown(counters.get(backOf(nonce)), (back) => !isFree(back)) : false,
      ),
    async take({ nonce, wallet }) {
      await countUse(wallet);
      if (await counters.takeOnce(markOf(nonce), KEPT_MS)) return true;
      const back = await counters.get(backOf(nonce));
      return isFree(back) && counters.replace(backOf(nonce), back, TAKEN, KEPT_MS);
    },
    giveBack,
    async passOn(signIn, place) {
      await counters.takeOnce(markOf(signIn.nonce), KEPT_MS);
      await giveBack(signIn, place);
    },
    find: (nonce, place) =>
      whenKnown(counters.get(backOf(nonce)), (back) => {
        const [free, wallet = '', where] = back?.split(' ') ?? [];
        return free === FREE && where === hashOf(place) ? { nonce, wallet } : undefined;
      }),
  };
}

function isFree(back: string | undefined): back is string {
  return back?.startsWith(FREE) === true;
}

function hashOf(place: string): string {
  return createHash('sha256').update(place).digest('base64url');
}
