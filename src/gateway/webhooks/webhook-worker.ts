import { randomUUID } from 'node:crypto';
import { createWorkLoop } from '../../lib/work/work-loop.js';
import type { DeliveryStore } from '../../storage/webhooks/deliveries.js';
import { type AttemptParts, attemptDelivery } from './webhook-attempt.js';
import type { WebhookSender } from './webhook-sender.js';

/** What {@link createWebhookWorker} works with. */
export interface WebhookWorkerParts extends Pick<AttemptParts, 'webhooks' | 'onAttempt'> {
  readonly deliveries: DeliveryStore;
  readonly sender: WebhookSender;
  /** Clock, milliseconds since the epoch. Default: the system's. */
  readonly now?: () => number;
  /** Numbers from 0 to 1, for the jitter. Default `Math.random`. */
  readonly random?: () => number;
  /** Told of what went wrong with the store; the work goes on. Default: nobody is told. */
  readonly onError?: (error: unknown) => void;
}

/** Delivers events to webhooks. Any number of workers share the deliveries of one database. */
export interface WebhookWorker {
  /** Looks for work from now on: when it is woken, and every few seconds. Keeps no process alive. */
  start(): void;
  /** There is something to deliver: looks at once. */
  wake(): void;
  /** An event was written: looks within a tenth of a second, however many there are. */
  nudge(): void;
  /** Attempts everything that is due, and waits for the outcomes; answers how many attempts were made. */
  runDue(): Promise<number>;
  /** Takes nothing any more, waits for what is under way (15 s at most), and closes the sender. */
  stop(): Promise<void>;
}

/** Attempts under way to one address of an owner, by all workers together. */
const AT_ONCE = 4;
/**
 * Places for attempts under way in this process. Everybody takes turns in the common ones; when those are taken, the kept
 * ones are for webhooks that are prompt: receivers that are silent or slow, however many, leave these soon, and
 * cannot come back.
 */
const PLACES = { common: 192, kept: 64 };
/** Of so many places what one owner may have under way, by all workers together: fewer where most of them are taken. */
const OF_OWNER = { usually: 8, whenHalfFull: 2, whenNearlyFull: 1 };
/** How long a receiver is waited for, at most, where half of the places that it shares are taken. */
const CROWDED_TIMEOUT_MS = 5_000;
/** How many webhooks are looked at for one step. */
const WEBHOOKS_A_STEP = 256;
/** Several times as long as an attempt may take. */
const LEASE_MS = 60_000;
const EVENTS_A_STEP = 100;

/** Makes a worker. It does nothing before it is started. */
export function createWebhookWorker(parts: WebhookWorkerParts): WebhookWorker {
  const { deliveries, sender, onError = () => {} } = parts;
  const setup: AttemptParts = { ...parts, now: parts.now ?? Date.now, random: parts.random ?? Math.random };
  const common: Places = { size: PLACES.common, promptOnly: false, underWay: new Set() };
  const kept: Places = { size: PLACES.kept, promptOnly: true, underWay: new Set() };
  let stopping = false;

  /** Begins attempts as long as there is room; answers how many, and whether there are more new events. */
  async function begin() {
    const isMore = (await deliveries.fanOut(EVENTS_A_STEP)) === EVENTS_A_STEP;
    const begun = await fill(common);
    return { begun: isFull(common) ? begun + (await fill(kept)) : begun, isMore };
  }

  async function fill(places: Places): Promise<number> {
    if (isFull(places)) return 0;
    const bounds = { ofOwner: ofOwner(places), promptOnly: places.promptOnly };
    let begun = 0;
    for (const webhook of await deliveries.due(AT_ONCE, WEBHOOKS_A_STEP, bounds)) {
      if (stopping || isFull(places)) break;
      const atOnce = Math.min(AT_ONCE, places.size - places.underWay.size);
      const room = { leaseMs: LEASE_MS, atOnce, ofOwner: ofOwner(places) };
      const taken = await deliveries.take(webhook.id, { lease: randomUUID(), ...room });
      for (const delivery of taken) {
        const patience = shareTaken(places) < 0.5 ? {} : { timeoutMs: CROWDED_TIMEOUT_MS };
        track(attemptDelivery(webhook, delivery, { ...setup, ...patience }), places);
      }
      begun += taken.length;
    }
    return begun;
  }

  const ended = () => Promise.all([...common.underWay, ...kept.underWay]);

  async function look(): Promise<number> {
    const { begun, isMore } = await begin();
    if (isMore) loop.wake();
    return begun;
  }

  function track(attempt: Promise<void>, { underWay }: Places): void {
    const tracked = attempt.catch(onError).finally(() => {
      underWay.delete(tracked);
      loop.wake();
    });
    underWay.add(tracked);
  }

  const loop = createWorkLoop(look, onError);

  return {
    start: loop.start,
    wake: loop.wake,
    nudge: loop.nudge,
    async runDue() {
      for (let made = 0; ; ) {
        const { begun, isMore } = await begin();
        await ended();
        if (begun === 0 && !isMore) return made;
        made += begun;
      }
    },
    async stop() {
      stopping = true;
      await loop.stop();
      await ended();
      await sender.close();
    },
  };
}

/** Places that attempts share. */
interface Places {
  readonly size: number;
  readonly promptOnly: boolean;
  readonly underWay: Set<Promise<void>>;
}

function shareTaken({ underWay, size }: Places): number {
  return underWay.size / size;
}

function isFull(places: Places): boolean {
  return shareTaken(places) >= 1;
}

function ofOwner(places: Places): number {
  const share = shareTaken(places);
  if (share < 0.5) return OF_OWNER.usually;
  return share < 0.75 ? OF_OWNER.whenHalfFull : OF_OWNER.whenNearlyFull;
}
