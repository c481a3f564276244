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
/** Attempts under way in this process, to all webhooks together. */
const MAX_UNDER_WAY = 256;
/** The same for one owner, by all workers together, and fewer where most of this process's places are taken. */
const OF_OWNER = { usually: 8, whenHalfFull: 2, whenNearlyFull: 1 };
/** Several times as long as an attempt may take. */
const LEASE_MS = 60_000;
const EVENTS_A_STEP = 100;

/** Makes a worker. It does nothing before it is started. */
export function createWebhookWorker(parts: WebhookWorkerParts): WebhookWorker {
  const { deliveries, sender, onError = () => {} } = parts;
  const setup: AttemptParts = { ...parts, now: parts.now ?? Date.now, random: parts.random ?? Math.random };
  const underWay = new Set<Promise<void>>();
  let stopping = false;

  /** Begins attempts as long as there is room; answers how many, and whether there are more new events. */
  async function begin() {
    const isMore = (await deliveries.fanOut(EVENTS_A_STEP)) === EVENTS_A_STEP;
    const due = await deliveries.due(AT_ONCE, MAX_UNDER_WAY, ofOwner(underWay.size));
    let begun = 0;
    for (const webhook of due) {
      const atOnce = Math.min(AT_ONCE, MAX_UNDER_WAY - underWay.size);
      if (stopping || atOnce <= 0) break;
      const room = { leaseMs: LEASE_MS, atOnce, ofOwner: ofOwner(underWay.size) };
      const taken = await deliveries.take(webhook.id, { lease: randomUUID(), ...room });
      for (const delivery of taken) track(attemptDelivery(webhook, delivery, setup));
      begun += taken.length;
    }
    return { begun, isMore };
  }

  async function look(): Promise<number> {
    const { begun, isMore } = await begin();
    if (isMore) loop.wake();
    return begun;
  }

  function track(attempt: Promise<void>): void {
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
        await Promise.all(underWay);
        if (begun === 0 && !isMore) return made;
        made += begun;
      }
    },
    async stop() {
      stopping = true;
      await loop.stop();
      await Promise.all(underWay);
      await sender.close();
    },
  };
}

/** However many owners have receivers that are slow, there is a place for the next one. */
function ofOwner(taken: number): number {
  const share = taken / MAX_UNDER_WAY;
  if (share < 0.5) return OF_OWNER.usually;
  return share < 0.75 ? OF_OWNER.whenHalfFull : OF_OWNER.whenNearlyFull;
}
