import { idFrom, newIdAt } from '../../lib/ids.js';
import type { Actor } from '../audit/audit-log.js';

/**
 * Everything that is kept, and told to webhooks and the event stream. What listeners in the process are told is `PaymentEvents` of
 * `facilitator/events/events.ts`: some of it under the same names, with other contents.
 */
export const EVENT_TYPES = [
  'payment.created',
  'payment.settled',
  'payment.failed',
  'payment.expired',
  'payment.overpaid',
  'payment.unmatched',
  'payment.refunded',
  'pass.created',
  'pass.used_up',
  'pass.expired',
  'call.succeeded',
  'call.failed',
  'key.created',
  'key.updated',
  'key.rotated',
  'key.revoked',
  'project.created',
  'project.updated',
  'project.paused',
  'project.deleted',
  'project.upstream_down',
  'project.upstream_up',
  'payout.created',
  'payout.paid',
  'payout.failed',
  'spending.threshold_reached',
  'spending.limit_reached',
  'wallet.low_balance',
  'wallet.fee_limit_reached',
  'webhook.disabled',
] as const;

/** One of {@link EVENT_TYPES}. */
export type EventType = (typeof EVENT_TYPES)[number];

/** What an event may carry: plain JSON, amounts as text. */
export type EventData = Readonly<Record<string, unknown>>;

/** Something that happened, written in the same transaction as what it tells. */
export interface EventRecord {
  /** `evt_` and 22 characters of base58; the `webhook-id` of every delivery. */
  readonly id: string;
  readonly type: EventType;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Wallet that may read it, base58: the project's owner, or who is paid. */
  readonly owner: string;
  /** The project it belongs to, if any. */
  readonly projectId?: string;
  readonly data: EventData;
  /** Who has caused it, where somebody did: written into the audit log with it, and told to nobody else. */
  readonly cause?: EventCause;
}

/** What the audit log keeps of an event. */
export interface EventCause {
  readonly actor: Actor;
  /** Id of what was changed. */
  readonly target: string;
  /** Particulars. Default: none. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/**
 * Makes an event that may be found out several times and is told once: of the same type and parts it has the same id, for
 * `EventLog.appendOnce`.
 * @param parts - what it tells of
 */
export function eventOnce(event: Omit<EventRecord, 'id' | 'at'>, at: number, parts: readonly string[]): EventRecord {
  return { id: idFrom('evt', [event.type, ...parts]), at, ...event };
}

/** Makes an event that happens now. */
export function newEvent(event: Omit<EventRecord, 'id' | 'at'>, at: number): EventRecord {
  return { id: newIdAt('evt', at), at, ...event };
}
