import type { ChainTip, SignatureStatuses, SolanaRpc } from '../rpc/rpc.js';
import { MAX_SIGNATURES_PER_CALL } from '../rpc/rpc-client.js';
import { createExpiry } from './expiry.js';
import { type Awaited, type DeliveryTiming, PendingConfirmation, type SendRefusal } from './pending-confirmation.js';
import type { SignatureNotification, SignatureSubscriptions } from './signature-subscriptions.js';

/** What {@link ConfirmationLoop} works with. */
export interface LoopParts {
  readonly rpc: Pick<SolanaRpc, 'getSignatureStatuses' | 'getTip'>;
  readonly push: SignatureSubscriptions | undefined;
  readonly timing: DeliveryTiming;
  readonly now: () => number;
  /** As for {@link createExpiry}. */
  readonly isLifeCertain?: boolean | undefined;
  /** Called when a transaction is due to be sent again. Must not throw. */
  readonly resend: (waiting: PendingConfirmation) => void;
}

/** Shortest pause between two rounds, in milliseconds. */
const SHORTEST_ROUND_MS = 5;

/**
 * One loop for everything that is waited for: a push subscription each, and behind it shared, batched status look-ups,
 * the block height, and deadlines. It runs only while something is waited for.
 */
export class ConfirmationLoop {
  readonly #parts: LoopParts;
  readonly #all = new Set<PendingConfirmation>();
  readonly #isDead: ReturnType<typeof createExpiry>;
  #timer: NodeJS.Timeout | undefined;
  #wakesAt = Number.POSITIVE_INFINITY;
  #nextTipAt = Number.NEGATIVE_INFINITY;
  #tipUnderWay = false;
  /** Lost when a look-up finds what a push should have told, won back by the next push. */
  #pushTrusted = true;

  constructor(parts: LoopParts) {
    this.#parts = parts;
    this.#isDead = createExpiry(parts.isLifeCertain);
  }

  /** Waits for a signature; the push subscription is on its way when this returns. */
  add(wanted: Awaited, firstLookAt: number): PendingConfirmation {
    const { push, now } = this.#parts;
    let unsubscribe: (() => void) | undefined;
    const waiting = new PendingConfirmation(wanted, { now: now(), firstLookAt }, () => {
      unsubscribe?.();
      this.#remove(waiting);
    });
    this.#all.add(waiting);
    unsubscribe = push?.subscribe(wanted.signature, wanted.commitment, {
      onNotification: (notification) => this.#pushed(waiting, notification),
      onLive: (live) => this.#setLive(waiting, live),
    });
    this.#wake(Math.min(firstLookAt, waiting.deadline));
    return waiting;
  }

  /** Looks for a transaction that a node has refused, before the node is believed. */
  doubt(waiting: PendingConfirmation, refusal: SendRefusal): void {
    waiting.refused(refusal);
    if (waiting.isDoubted) this.#lookSoon(waiting, this.#parts.now());
  }

  /** Ends everything that is waited for, with `unknown`. */
  close(): void {
    for (const waiting of this.#all) waiting.end({ status: 'unknown' });
  }

  #remove(waiting: PendingConfirmation): void {
    this.#all.delete(waiting);
    if (this.#all.size > 0) return;
    clearTimeout(this.#timer);
    this.#wakesAt = Number.POSITIVE_INFINITY;
  }

  /** Makes sure that a round runs at the latest at this time. */
  #wake(at: number): void {
    if (this.#all.size === 0 || at >= this.#wakesAt) return;
    clearTimeout(this.#timer);
    this.#wakesAt = at;
    this.#timer = setTimeout(() => this.#round(), Math.max(SHORTEST_ROUND_MS, at - this.#parts.now()));
  }

  #pushed(waiting: PendingConfirmation, { slot, err }: SignatureNotification): void {
    this.#pushTrusted = true;
    waiting.end({ status: 'landed', slot, err });
  }

  #setLive(waiting: PendingConfirmation, live: boolean): void {
    const { now, timing } = this.#parts;
    waiting.live = live;
    if (waiting.isDoubted) return;
    if (!live) this.#lookSoon(waiting, now() + timing.pollMs);
    else if (this.#pushTrusted && waiting.seen === undefined && !waiting.searchHistory) {
      waiting.nextLookAt = waiting.startedAt + timing.latePollMs;
    }
  }

  #lookSoon(waiting: PendingConfirmation, at: number): void {
    waiting.nextLookAt = Math.min(waiting.nextLookAt, at);
    this.#wake(waiting.nextLookAt);
  }

  #round(): void {
    const time = this.#parts.now();
    this.#timer = undefined;
    this.#wakesAt = Number.POSITIVE_INFINITY;
    for (const waiting of this.#all) {
      if (waiting.deadline <= time) waiting.end({ status: 'unknown' });
    }
    this.#lookUpDue(time);
    void this.#findExpired(time);
    for (const waiting of this.#all) {
      if (waiting.nextSendAt <= time && waiting.seen === false) this.#parts.resend(waiting);
    }
    this.#scheduleNext(time);
  }

  #scheduleNext(time: number): void {
    let next = time + this.#parts.timing.pollMs;
    for (const { deadline, looking, nextLookAt } of this.#all) {
      next = Math.min(next, deadline, looking ? next : nextLookAt);
    }
    this.#wake(next);
  }

  /** Those that will be due in a moment come along, so that arrivals one by one still share their calls. */
  #lookUpDue(time: number): void {
    const idle = [...this.#all].filter(({ looking }) => !looking);
    if (!idle.some(({ nextLookAt }) => nextLookAt <= time)) return;
    const due = idle.filter(({ nextLookAt }) => nextLookAt <= time + this.#parts.timing.pollMs / 2);
    for (const searchHistory of [false, true]) {
      const alike = due.filter((waiting) => waiting.searchHistory === searchHistory);
      for (const batch of batches(alike)) void this.#lookUp(batch, searchHistory);
    }
  }

  async #lookUp(batch: readonly PendingConfirmation[], searchHistory: boolean): Promise<void> {
    const { now, timing } = this.#parts;
    for (const waiting of batch) waiting.looking = true;
    const statuses = await this.#ask(batch, searchHistory);
    for (const [index, waiting] of batch.entries()) {
      const state = statuses?.states[index];
      if (state === undefined) waiting.learnNothing();
      const ended = state !== undefined && waiting.learn(state);
      if (ended && waiting.live) this.#missedPush();
      // Nothing can be seen while the look-ups fail, which is no reason not to send again.
      waiting.seen ??= waiting.searchHistory ? undefined : false;
      waiting.looking = false;
      waiting.nextLookAt = now() + waiting.lookAgainMs(waiting.live && this.#pushTrusted, timing);
      this.#wake(waiting.nextLookAt);
    }
  }

  #missedPush(): void {
    if (!this.#pushTrusted) return;
    this.#pushTrusted = false;
    this.#parts.push?.check();
    const soon = this.#parts.now();
    for (const waiting of this.#all) this.#lookSoon(waiting, soon);
  }

  async #findExpired(time: number): Promise<void> {
    const { rpc, timing, now } = this.#parts;
    const suspects = [...this.#all].filter((waiting) => waiting.mayBeExpired(time, timing));
    if (suspects.length === 0 || this.#tipUnderWay || time < this.#nextTipAt) return;
    this.#tipUnderWay = true;
    const tip = await rpc.getTip('confirmed').catch(() => undefined);
    if (tip !== undefined) await this.#endDead(suspects, tip);
    this.#tipUnderWay = false;
    this.#nextTipAt = now() + timing.heightMs;
  }

  /**
   * A dead blockhash alone proves nothing: the transaction may have landed in time. Final is a look-up after that, by a
   * node that is at least as far as the one which told the height.
   */
  async #endDead(suspects: readonly PendingConfirmation[], tip: ChainTip): Promise<void> {
    const dead = suspects.filter((waiting) => !waiting.over && this.#isDead(waiting, tip));
    for (const batch of batches(dead)) {
      const statuses = await this.#ask(batch, true);
      for (const [index, waiting] of batch.entries()) {
        const state = statuses?.states[index];
        if (state === null && (statuses?.slot ?? 0) >= tip.slot) waiting.end({ status: 'expired' });
        else if (state !== undefined) waiting.learn(state);
      }
    }
  }

  /** Look-ups that fail are made again in a later round, so their errors are of no use. */
  #ask(batch: readonly PendingConfirmation[], searchHistory: boolean): Promise<SignatureStatuses | undefined> {
    const signatures = batch.map(({ wanted }) => wanted.signature);
    return this.#parts.rpc.getSignatureStatuses(signatures, { searchHistory }).catch(() => undefined);
  }
}

function batches<T>(items: readonly T[]): readonly (readonly T[])[] {
  const count = Math.ceil(items.length / MAX_SIGNATURES_PER_CALL);
  return Array.from({ length: count }, (_, index) =>
    items.slice(index * MAX_SIGNATURES_PER_CALL, (index + 1) * MAX_SIGNATURES_PER_CALL),
  );
}
