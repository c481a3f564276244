import type { AuditEntry } from '../audit/audit-log.js';
import type { EventRecord, EventType } from '../events/events.js';

/** What a webhook is told: types of events, or everything. */
export type WebhookEvents = readonly EventType[] | readonly ['*'];

/** Why a webhook is told nothing: its owner's wish, a response of 410, or five days without any success. */
export type DisabledReason = 'owner' | 'gone' | 'failing';

/** An address that is told of events. Times are milliseconds since the epoch. */
export interface WebhookRecord {
  /** `whk_` and base58 of 16 random bytes. */
  readonly id: string;
  /** Wallet, base58. */
  readonly owner: string;
  /** The only project whose events it is told; none: all of the owner's. */
  readonly projectId?: string;
  readonly url: string;
  readonly events: WebhookEvents;
  readonly description?: string;
  /** Signs what is sent: `whsec_` and base64. */
  readonly secret: string;
  /** The one before the last rotation, until the receiver has learnt the new one. */
  readonly previousSecret?: string;
  /** When the previous secret ends. */
  readonly previousUntil?: number;
  /** Set while it is told nothing. */
  readonly disabledReason?: DisabledReason;
  /** When the first attempt failed since the last success. */
  readonly failingSince?: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What an owner may change. */
export type WebhookSettings = Pick<WebhookRecord, 'url' | 'events'> & { readonly description: string | undefined };

/** Where a list of webhooks goes on, and how long a page is. */
export interface WebhookQuery {
  /** Default: those of every project, and of none. */
  readonly projectId?: string;
  /** Creation and id of the last one before. */
  readonly after?: Pick<WebhookRecord, 'createdAt' | 'id'>;
  readonly limit: number;
}

/**
 * Webhooks. What is changed is written together with its audit entries. Everything rejects with `store_unavailable` when the
 * database does not answer.
 */
export interface WebhookStore {
  /** Adds one; false, and nothing changed, when its owner has `most` already, however many are added at once. */
  create(webhook: WebhookRecord, most: number, audit?: Audit): Promise<boolean>;
  /** An owner's, the newest first. */
  list(owner: string, query: WebhookQuery): Promise<readonly WebhookRecord[]>;
  find(owner: string, id: string): Promise<WebhookRecord | undefined>;
  /** Changes its settings; undefined when there is none. */
  change(
    owner: string,
    id: string,
    settings: WebhookSettings,
    at: number,
    audit?: Audit,
  ): Promise<WebhookRecord | undefined>;
  /** Puts a new secret in place; the one before stays good until a time. */
  rotate(
    owner: string,
    id: string,
    secret: string,
    until: number,
    at: number,
    audit?: Audit,
  ): Promise<WebhookRecord | undefined>;
  /** Tells it everything from now on. False when it is not disabled. */
  enable(id: string, at: number, audit?: Audit): Promise<boolean>;
  /**
   * Tells it nothing from now on, gives up what is to be delivered to it, and writes events of that. False when it was
   * disabled already.
   */
  disable(
    id: string,
    reason: DisabledReason,
    at: number,
    events?: readonly EventRecord[],
    audit?: Audit,
  ): Promise<boolean>;
  /** Forgets it, and how it has answered, and gives up what is to be delivered to it; false when there is none. */
  remove(owner: string, id: string, at: number, audit?: Audit): Promise<boolean>;
}

type Audit = readonly AuditEntry[];
