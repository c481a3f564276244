import type { EventRecord, EventType } from '../events/events.js';
import type { WebhookRecord } from './webhooks.js';

/** `pending` until it was answered with success, or given up. */
export type DeliveryState = 'pending' | 'delivered' | 'failed';

/** An event on its way to a webhook. Times are milliseconds since the epoch. */
export interface DeliveryRecord {
  /** `dlv_` and 22 characters of base58. */
  readonly id: string;
  readonly webhookId: string;
  readonly eventId: string;
  readonly eventType: EventType;
  readonly state: DeliveryState;
  /** How many attempts were made in all. */
  readonly attempts: number;
  /** When the next attempt is due; while one is under way, when it counts as lost. */
  readonly nextAt?: number;
  readonly createdAt: number;
  readonly finishedAt?: number;
}

/** One attempt at a delivery, as it is kept. */
export interface DeliveryAttempt {
  /** From 1. */
  readonly number: number;
  /** When it began, milliseconds since the epoch. */
  readonly at: number;
  readonly durationMs: number;
  /** HTTP status, if there was a response. */
  readonly status?: number;
  /** Why there was no whole response, for programs: `timeout`, `address_refused`, `ECONNREFUSED`. */
  readonly error?: string;
  /** The beginning of the response's body, where the attempt has failed. */
  readonly answer?: string;
}

/** A delivery that one worker holds. */
export interface TakenDelivery {
  readonly id: string;
  readonly webhookId: string;
  readonly lease: string;
  readonly event: EventRecord;
  /** Attempts before this one. */
  readonly attempts: number;
  /** Attempts before this one by the present schedule, which begins anew when it is asked for again. */
  readonly place: number;
}

/** A webhook is prompt while its last attempt succeeded in no more than so many milliseconds. */
export const PROMPT_MS = 2_000;

/** Which webhooks {@link DeliveryStore.due} answers. */
export interface DueBounds {
  /** How many deliveries of one owner may be held. Default: no bound. */
  readonly ofOwner?: number;
  /** Those only that are prompt, see {@link PROMPT_MS}. Default: all. */
  readonly promptOnly?: boolean;
}

/** How deliveries are taken. */
export interface Taking {
  /** Unique for each call. */
  readonly lease: string;
  /** Others may take what is still held after so many milliseconds. */
  readonly leaseMs: number;
  /** How many deliveries to one address of an owner may be held at once, by all workers together. */
  readonly atOnce: number;
  /** The same for everything of an owner. Default: no bound. */
  readonly ofOwner?: number;
}

/** What follows from an attempt: the end, or another one at a time. */
export type AttemptOutcome = { readonly state: 'delivered' | 'failed' } | { readonly nextAt: number };

/** Where a list of deliveries goes on, and how long a page is. */
export interface DeliveryQuery {
  /** Default: all. */
  readonly state?: DeliveryState;
  /** Creation and id of the last one before. */
  readonly after?: Pick<DeliveryRecord, 'createdAt' | 'id'>;
  readonly limit: number;
}

/** The outbox of webhooks, shared by all workers on one database. Everything rejects with `store_unavailable` when that does not answer. */
export interface DeliveryStore {
  /**
   * Makes a delivery of each new event to each webhook that wants it. To a webhook that is disabled it has failed already,
   * so that it can be recovered.
   * @param limit - how many events are looked at
   * @returns how many events there were
   */
  fanOut(limit: number): Promise<number>;
  /**
   * Webhooks with deliveries that are due and fewer than `atOnce` under way to their address, `ofOwner` for their owner. Owners
   * take turns, those first who have the least under way; of one owner those whose receivers answer come first, then by how
   * long they have waited.
   */
  due(atOnce: number, limit: number, bounds?: DueBounds): Promise<readonly WebhookRecord[]>;
  /** Takes deliveries to a webhook that are due, for as long as the lease. */
  take(webhookId: string, taking: Taking): Promise<readonly TakenDelivery[]>;
  /**
   * Records an attempt and what follows from it, and gives the delivery back. False, and nothing changed, when it is held
   * by somebody else by now. Of a webhook so many attempts are kept that have succeeded, and as many that have not: the newest.
   */
  record(delivery: TakenDelivery, attempt: Omit<DeliveryAttempt, 'number'>, outcome: AttemptOutcome): Promise<boolean>;
  /**
   * Writes an event that is nobody's, and its delivery to one webhook.
   * @param place - how many attempts of the schedule are left out
   */
  queue(event: EventRecord, webhookId: string, place: number): Promise<DeliveryRecord>;
  /** The newest first. */
  list(webhookId: string, query: DeliveryQuery): Promise<readonly DeliveryRecord[]>;
  find(webhookId: string, id: string): Promise<DeliveryRecord | undefined>;
  /** The attempts at a delivery that are still kept, the first one first. */
  attempts(id: string): Promise<readonly DeliveryAttempt[]>;
  /** Makes a delivery due now, with a new schedule; false when an attempt is under way. */
  retry(id: string): Promise<boolean>;
  /** The same for what failed and was made at a time or later; answers how many, at most `limit`. */
  recover(webhookId: string, since: number, limit: number): Promise<number>;
  /**
   * Forgets deliveries that ended before a time, with their attempts, the oldest first. Call it until it answers 0.
   * @param before - milliseconds since the epoch
   * @param askedBefore - those of events `payment.created` from before this go too, whether they have ended or not. Default `before`
   * @returns how many went
   */
  prune(before: number, limit: number, askedBefore?: number): Promise<number>;
}
