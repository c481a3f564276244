import type { Commitment } from '../../protocol/types.js';
import type { RpcError, SignatureState } from '../rpc/rpc.js';
import type { Landing, SentDelivery } from './confirmation.js';

/** Intervals of `createTransactionDelivery`, in milliseconds. */
export interface DeliveryTiming {
  /** Between status look-ups where no push can be relied on. Default 400, about a slot. */
  readonly pollMs: number;
  /** Until the first look-up where a push is expected; a normal payment is over by then. Default 2,500. */
  readonly latePollMs: number;
  /** Until the block height is asked for, and between two times. Default 2,000. */
  readonly heightMs: number;
  /** Between two sends of a transaction that is not seen. Default 2,000. */
  readonly rebroadcastMs: number;
}

/** What is waited for. */
export interface Awaited extends SentDelivery {
  /** It was sent before, nobody knows how long ago. */
  readonly sentBefore: boolean;
}

/** What a node said of a transaction that it refused. */
export interface SendRefusal {
  /** The wait ends with it where the chain cannot be looked at, and where the node did not simulate. */
  readonly error: RpcError;
  /** How the wait ends where the chain does not know the transaction. */
  readonly rejected?: Extract<Landing, { readonly status: 'rejected' }>;
}

/** So many looks in a row, a slot apart, have to miss a transaction before a node's refusal of it is believed. */
const LOOKS_FOR_REFUSED = 4;
/** So many looks for it may fail before its sender is told that nothing is known. */
const FAILED_LOOKS_FOR_REFUSED = 2;
/** What there is to say of a transaction that was refused, and that the chain knows. */
const KNOWN: Landing = { status: 'rejected', err: 'AlreadyProcessed', logs: [] };

const LEVEL: Readonly<Record<Commitment, number>> = { processed: 0, confirmed: 1, finalized: 2 };

/** One signature that is waited for, and what is known about it. It has no timer of its own. */
export class PendingConfirmation {
  /** How it ended. Rejects only by {@link fail}. */
  readonly landing: Promise<Landing>;
  readonly startedAt: number;
  readonly deadline: number;
  /** What the last look-up said: whether the cluster knows it. Undefined before the first. */
  seen: boolean | undefined;
  /** A look-up is under way. */
  looking = false;
  /** The endpoint has taken the push subscription. */
  live = false;
  over = false;
  /** A node has taken it, after a simulation where one was asked for. */
  taken = false;
  nextLookAt: number;
  /** When to send it again unless it is seen; never while a send is under way. */
  nextSendAt: number;
  lastValidBlockHeight: number | undefined;
  /** The node has not answered to the first send yet. */
  #unsent: boolean;
  /** What was seen on the chain meanwhile. */
  #early: Landing | undefined;
  #refusal: SendRefusal | undefined;
  #looksForRefused = LOOKS_FOR_REFUSED;
  #failedLooks = 0;
  #resolve: (landing: Landing) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;
  readonly #onEnd: () => void;

  constructor(
    readonly wanted: Awaited,
    times: { readonly now: number; readonly firstLookAt: number },
    onEnd: () => void,
  ) {
    this.startedAt = times.now;
    this.deadline = times.now + wanted.timeoutMs;
    this.nextLookAt = times.firstLookAt;
    this.#unsent = !wanted.sentBefore;
    this.nextSendAt = wanted.sentBefore ? times.now : Number.POSITIVE_INFINITY;
    this.lastValidBlockHeight = wanted.lastValidBlockHeight;
    this.#onEnd = onEnd;
    this.landing = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** The first send is over, and it may have arrived. */
  sent(): void {
    this.#unsent = false;
    if (this.#early !== undefined) this.end(this.#early);
  }

  /** A node has refused the first send. Whether that is true is seen by the looks that follow. */
  refused(refusal: SendRefusal): void {
    this.#refusal = refusal;
    if (this.#early !== undefined || this.seen === true) this.end(KNOWN);
  }

  /** A look-up has failed. */
  learnNothing(): void {
    if (this.#refusal === undefined) return;
    this.#failedLooks += 1;
    if (this.#failedLooks >= FAILED_LOOKS_FOR_REFUSED) this.fail(this.#refusal.error);
  }

  /** It was refused, and is being looked for. */
  get isDoubted(): boolean {
    return this.#refusal !== undefined && !this.over;
  }

  /**
   * Ends the wait; only the first end counts. Returns whether this was it. What is on the chain before the node has answered
   * to the first send is believed after it only: it may have landed long ago, and then the node says so.
   */
  end(landing: Landing): boolean {
    if (landing.status === 'landed' && this.#refusal !== undefined) return this.end(KNOWN);
    if (this.#unsent && landing.status === 'landed') {
      this.#early = landing;
      return false;
    }
    const first = this.#isFirstEnd();
    if (first) this.#resolve(landing);
    return first;
  }

  /** Ends the wait with an error; only the first end counts. */
  fail(error: unknown): void {
    if (this.#isFirstEnd()) this.#reject(error);
  }

  /** Takes in what a look-up told. Returns whether that ended the wait. */
  learn(state: SignatureState | null): boolean {
    this.seen = state !== null;
    if (this.isDoubted) return this.#learnOfRefused();
    if (state === null || LEVEL[state.commitment] < LEVEL[this.wanted.commitment]) return false;
    return this.end({ status: 'landed', slot: state.slot, err: state.err });
  }

  /** Whether a look must go into the history. */
  get searchHistory(): boolean {
    return this.wanted.sentBefore && this.seen === undefined;
  }

  /** Whether it is time to ask if its blockhash is dead. */
  mayBeExpired(now: number, timing: DeliveryTiming): boolean {
    if (this.seen === true) return false;
    return this.wanted.sentBefore || now - this.startedAt >= timing.heightMs;
  }

  /** Pause until the next look, in milliseconds. `pushed`: a push is expected, so looking is the second line only. */
  lookAgainMs(pushed: boolean, timing: DeliveryTiming): number {
    if (!pushed || this.isDoubted) return timing.pollMs;
    return this.seen === true ? timing.latePollMs : timing.latePollMs / 2;
  }

  /** Never an end that a push should have told. */
  #learnOfRefused(): false {
    this.#looksForRefused -= 1;
    if (this.seen === true) this.end(KNOWN);
    else if (this.#looksForRefused <= 0) this.#believe();
    return false;
  }

  #believe(): void {
    if (this.#refusal?.rejected !== undefined) this.end(this.#refusal.rejected);
    else this.fail(this.#refusal?.error);
  }

  #isFirstEnd(): boolean {
    if (this.over) return false;
    this.over = true;
    this.#onEnd();
    return true;
  }
}
