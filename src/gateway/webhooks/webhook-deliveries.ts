import { TollhouseError } from '../../errors/errors.js';
import { defined } from '../../lib/defined.js';
import { EVENT_TYPES, type EventType, newEvent } from '../../storage/events/events.js';
import type {
  DeliveryAttempt,
  DeliveryQuery,
  DeliveryRecord,
  DeliveryStore,
} from '../../storage/webhooks/deliveries.js';
import type { WebhookEvents, WebhookRecord } from '../../storage/webhooks/webhooks.js';
import type { WebhookCaller } from './webhook-rules.js';
import { PAUSES_MS } from './webhook-schedule.js';

/** A delivery and the log of it. */
export interface LoggedDelivery {
  readonly delivery: DeliveryRecord;
  readonly attempts: readonly DeliveryAttempt[];
}

/** What owners see of deliveries, and do about them. */
export interface WebhookDeliveries {
  /**
   * Sends an event of a type, by default the first that it is told, with `data: {test: true}`, once. It is nobody's event:
   * neither lists nor streams show it. Rejects with `webhook_disabled`.
   */
  test(caller: WebhookCaller, id: string, type?: EventType): Promise<DeliveryRecord>;
  /** The newest first. */
  deliveries(caller: WebhookCaller, id: string, page: DeliveryQuery): Promise<readonly DeliveryRecord[]>;
  /** A delivery with the attempts at it that are still kept. */
  delivery(caller: WebhookCaller, id: string, deliveryId: string): Promise<LoggedDelivery>;
  /** Delivers once more, now and by a new schedule; what is under way stays as it is. Rejects with `webhook_disabled`. */
  retry(caller: WebhookCaller, id: string, deliveryId: string): Promise<DeliveryRecord>;
  /**
   * The same for everything that failed and was to be delivered since a time, also while the webhook was disabled.
   * Rejects with `webhook_disabled`.
   * @param since - milliseconds since the epoch
   * @returns how many deliveries
   */
  recover(caller: WebhookCaller, id: string, since: number): Promise<number>;
}

/** What {@link createWebhookDeliveries} works with. */
export interface WebhookDeliveriesParts {
  readonly deliveries: DeliveryStore;
  /** Told that there is something to deliver; a worker's `wake`. */
  readonly wake: () => void;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
  /** A caller's webhook; rejects with `not_found`. */
  readonly webhookOf: (caller: WebhookCaller, id: string) => Promise<WebhookRecord>;
}

const RECOVERED_A_STEP = 1_000;

/** Makes the deliveries of a gateway's webhooks, as their owners see them. */
export function createWebhookDeliveries(parts: WebhookDeliveriesParts): WebhookDeliveries {
  const { deliveries, wake, now, webhookOf } = parts;

  async function enabled(caller: WebhookCaller, id: string): Promise<WebhookRecord> {
    const webhook = await webhookOf(caller, id);
    if (webhook.disabledReason === undefined) return webhook;
    throw new TollhouseError('webhook_disabled', 'The webhook is disabled; change it with {"enabled": true} first.');
  }

  async function find(webhookId: string, id: string): Promise<DeliveryRecord> {
    const found = await deliveries.find(webhookId, id);
    if (found === undefined) throw new TollhouseError('not_found', 'The webhook has no delivery with this id.');
    return found;
  }

  return {
    async test(caller, id, type) {
      const { events, projectId } = await enabled(caller, id);
      const about = defined({ projectId });
      const event = newEvent({ type: type ?? firstOf(events), owner: '', ...about, data: { test: true } }, now());
      const queued = await deliveries.queue(event, id, PAUSES_MS.length);
      wake();
      return queued;
    },
    async deliveries(caller, id, page) {
      await webhookOf(caller, id);
      return deliveries.list(id, page);
    },
    async delivery(caller, id, deliveryId) {
      await webhookOf(caller, id);
      return { delivery: await find(id, deliveryId), attempts: await deliveries.attempts(deliveryId) };
    },
    async retry(caller, id, deliveryId) {
      await enabled(caller, id);
      await find(id, deliveryId);
      await deliveries.retry(deliveryId);
      wake();
      return find(id, deliveryId);
    },
    async recover(caller, id, since) {
      await enabled(caller, id);
      for (let recovered = 0; ; ) {
        const some = await deliveries.recover(id, since, RECOVERED_A_STEP);
        recovered += some;
        wake();
        if (some < RECOVERED_A_STEP) return recovered;
      }
    },
  };
}

function firstOf([first]: WebhookEvents): EventType {
  return first === undefined || first === '*' ? EVENT_TYPES[0] : first;
}
