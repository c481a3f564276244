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

/** The one use of a sign-in, in the hands of its caller. */
export interface TakenSignIn {
  /**
   * Gives it back: the request was let in and got nothing, since it was asked to pay.
   * @param place - where that was; a request there may name the sign-in by its nonce alone
   * @param next - another name for it there: the nonce of the challenge that its caller is asked with now, which nobody has signed
   */
  giveBack(place: string, next?: string): Promise<void>;
}

/**
 * Which sign-ins were used. Each has one use, under however many names it was given back. A wallet has a bound of its own on uses, so
 * that it fills nothing that others need.
 */
export interface SignInUses {
  /** Whether a sign-in was used, and not given back. Nothing is written. */
  isUsed(nonce: string): MaybePromise<boolean>;
  /**
   * Takes the use of a sign-in, for exactly one caller until it is given back; undefined for all others.
   * @throws TollhouseError `rate_limited` when the wallet has used too many, `store_unavailable`
   */
  take(signIn: GoodSignIn): Promise<TakenSignIn | undefined>;
  /** The same for one that was found by a name. */
  takeAgain(signIn: GoodSignIn): Promise<TakenSignIn | undefined>;
  /**
   * The sign-in that was given back at a place, by its nonce or by another name of it; undefined when none was, it was used since, or
   * its time is over.
   */
  find(name: string, place: string): MaybePromise<GoodSignIn | undefined>;
}

type UsesSetup = Pick<SignInSetup, 'counters' | 'now'>;

/** How many sign-ins a wallet may use in five minutes; who needs more takes an access token. */
const MAX_USES = 600;
const KEPT_MS = SIGN_IN_MS + NONCE_MARGIN_MS;
const FREE = 'free';
const TAKEN = 'taken';
const NAME = 'name-of';

/** A use that was given back. */
interface Free {
  readonly wallet: string;
  /** Until when it may be taken without its signature, by the clock: giving it back again does not move this. */
  readonly endsAt: number;
}

/**
 * Keeps uses in counters: a mark for each nonce, which never goes, and beside it a value where the use was given back. Should a store
 * forget the value, the sign-in counts as used. The value of another name says of which nonce it is one, so that all stand or fall with
 * the value of that.
 * @param space - what is signed in for; the same nonce is another in each
 */
export function createSignInUses(space: string, { counters, now }: UsesSetup): SignInUses {
  const markOf = (nonce: string) => `${space}:${nonce}`;
  const backOf = (nonce: string) => `${space}-back:${nonce}`;
  const countUse = createUseCount(space, { counters, now });

  const restOf = (endsAt: number): number => Math.max(1, endsAt - now());

  function taken({ nonce, wallet }: GoodSignIn, endsAt: number): TakenSignIn {
    return {
      async giveBack(place, next) {
        const where = hashOf(place);
        await counters.put(backOf(nonce), `${FREE} ${wallet} ${where} ${endsAt}`, restOf(endsAt));
        if (next === undefined) return;
        await counters.takeOnce(markOf(next), KEPT_MS);
        await counters.put(backOf(next), `${NAME} ${nonce} ${where} ${wallet}`, restOf(endsAt));
      },
    };
  }

  /** Whoever takes by whichever name puts this in the place of the same value, which one of them finds. */
  async function takeBack(signIn: GoodSignIn, back: string | undefined, endsAt: number) {
    const isTaken = await counters.replace(backOf(signIn.nonce), back, TAKEN, KEPT_MS);
    return isTaken ? taken(signIn, endsAt) : undefined;
  }

  return {
    isUsed: (nonce) =>
      whenKnown(counters.anyTaken([markOf(nonce)]), (isMarked) =>
        isMarked
          ? whenKnown(counters.get(backOf(nonce)), (back) => !isName(back) && freeIn(back) === undefined)
          : false,
      ),
    async take(signIn) {
      await countUse(signIn.wallet);
      const endsAt = now() + KEPT_MS;
      if (await counters.takeOnce(markOf(signIn.nonce), KEPT_MS)) return taken(signIn, endsAt);
      const back = await counters.get(backOf(signIn.nonce));
      // Whoever has signed what was another name of an earlier sign-in has a use of his own, and the name is gone.
      if (isName(back)) return takeBack(signIn, back, endsAt);
      const free = freeIn(back);
      return free && takeBack(signIn, back, free.endsAt);
    },
    async takeAgain(signIn) {
      await countUse(signIn.wallet);
      const back = await counters.get(backOf(signIn.nonce));
      const free = freeIn(back);
      return free && now() < free.endsAt ? takeBack(signIn, back, free.endsAt) : undefined;
    },
    find(name, place) {
      const open = (nonce: string, back: string | undefined, owner?: string): GoodSignIn | undefined => {
        const { wallet = '', endsAt = 0 } = freeIn(back) ?? {};
        return now() < endsAt && wallet === (owner ?? wallet) ? { nonce, wallet } : undefined;
      };
      return whenKnown(counters.get(backOf(name)), (back) => {
        const [, nonce = '', where, owner] = back?.split(' ') ?? [];
        if (where !== hashOf(place)) return undefined;
        return isName(back)
          ? whenKnown(counters.get(backOf(nonce)), (own) => open(nonce, own, owner))
          : open(name, back);
      });
    },
  };
}

/** Counts the uses of each wallet; the one that is too many rejects with `rate_limited`. */
function createUseCount(space: string, { counters, now }: UsesSetup): (wallet: string) => Promise<void> {
  /** Limits may be counted elsewhere than marks are kept: while they cannot be, they let pass. */
  async function counted(wallet: string): Promise<WindowCount> {
    try {
      return await counters.increment(`${space}-uses:${wallet}`, SIGN_IN_MS);
    } catch {
      return { count: 0, resetsAt: now() };
    }
  }

  return async (wallet) => {
    const { count, resetsAt } = await counted(wallet);
    if (count <= MAX_USES) return;
    const detail = `The wallet ${wallet} has signed in more than ${MAX_USES} times in five minutes; take an access token, which is good for many requests.`;
    throw new TollhouseError('rate_limited', detail, {
      retryAfterSeconds: Math.max(1, Math.ceil((resetsAt - now()) / 1_000)),
    });
  };
}

function isName(back: string | undefined): boolean {
  return back?.startsWith(`${NAME} `) === true;
}

function freeIn(back: string | undefined): Free | undefined {
  const [state, wallet = '', _place, endsAt] = back?.split(' ') ?? [];
  return state === FREE && endsAt !== undefined ? { wallet, endsAt: Number(endsAt) } : undefined;
}

function hashOf(place: string): string {
  return createHash('sha256').update(place).digest('base64url');
}
