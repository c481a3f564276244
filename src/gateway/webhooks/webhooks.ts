import { TollhouseError } from '../../errors/errors.js';
import { defined } from '../../lib/defined.js';
import { newId } from '../../lib/ids.js';
import { endOfOldSecret } from '../../lib/secret-overlap.js';
import { type AuditEntry, actorOf, newAuditEntry } from '../../storage/audit/audit-log.js';
import { DEFAULT_QUOTAS, quotaReached } from '../../storage/owners/quotas.js';
import type { WebhookQuery, WebhookRecord, WebhookStore } from '../../storage/webhooks/webhooks.js';
import { createWebhookDeliveries, type WebhookDeliveries, type WebhookDeliveriesParts } from './webhook-deliveries.js';
import { checkWebhook, type WebhookCaller, type WebhookDraft, type WebhookRules } from './webhook-rules.js';
import { newWebhookSecret } from './webhook-signature.js';

/** What {@link createWebhooks} works with. */
export interface WebhooksParts extends WebhookRules, Pick<WebhookDeliveriesParts, 'deliveries' | 'wake'> {
  readonly store: WebhookStore;
  /** How many webhooks a wallet may have. Default: 20. */
  readonly webhookQuota?: ((owner: string) => Promise<number>) | undefined;
  /** Clock, milliseconds since the epoch. Default: the system's. */
  readonly now?: () => number;
}

/** What of a webhook an owner changes; what is left out stays. */
export interface WebhookChange extends Partial<Pick<WebhookDraft, 'url' | 'events'>> {
  /** Null takes it away. */
  readonly description?: string | null;
  /** False: it is told nothing any more, and what is still to be delivered is given up. */
  readonly enabled?: boolean;
}

/** Webhooks and their owners. What is somebody else's is not there: `not_found`. */
export interface Webhooks extends WebhookDeliveries {
  /** Rejects with `validation_failed`, or `quota_reached` when its owner has as many as it may. */
  create(caller: WebhookCaller, draft: WebhookDraft): Promise<WebhookRecord>;
  /** The newest first. */
  list(caller: WebhookCaller, page: Omit<WebhookQuery, 'projectId'>): Promise<readonly WebhookRecord[]>;
  get(caller: WebhookCaller, id: string): Promise<WebhookRecord>;
  /** Rejects with `validation_failed`. */
  change(caller: WebhookCaller, id: string, change: WebhookChange): Promise<WebhookRecord>;
  remove(caller: WebhookCaller, id: string): Promise<void>;
  /**
   * A new secret.
   * @param overlapMs - how much longer messages are signed with the one before as well, in milliseconds; default a day
   */
  rotate(caller: WebhookCaller, id: string, overlapMs?: number): Promise<WebhookRecord>;
}

/** Makes the webhooks of a gateway. */
export function createWebhooks(parts: WebhooksParts): Webhooks {
  const { store, webhookQuota = async () => DEFAULT_QUOTAS.webhooks, now = Date.now } = parts;

  function note(caller: WebhookCaller, action: string, target: string, details = {}): readonly AuditEntry[] {
    return [newAuditEntry({ actor: actorOf(caller), action, target, owner: caller.wallet, details }, now())];
  }

  async function get({ wallet, projectId }: WebhookCaller, id: string): Promise<WebhookRecord> {
    const webhook = await store.find(wallet, id);
    const isHidden = projectId !== undefined && webhook?.projectId !== projectId;
    return found(isHidden ? undefined : webhook);
  }

  async function change(caller: WebhookCaller, id: string, wanted: WebhookChange): Promise<WebhookRecord> {
    const before = await get(caller, id);
    const { url = before.url, events = before.events, description = before.description } = wanted;
    if (url !== before.url) await checkWebhook({ url, events }, caller, parts);
    const audit = note(caller, 'webhook.updated', id, { changed: Object.keys(defined(wanted)) });
    await store.change(caller.wallet, id, { url, events, description: description ?? undefined }, now(), audit);
    if (wanted.enabled === true) await store.enable(id, now());
    if (wanted.enabled === false) await store.disable(id, 'owner', now());
    return get(caller, id);
  }

  return {
    ...createWebhookDeliveries({ ...parts, now, webhookOf: get }),
    get,
    change,
    async create(caller, draft) {
      const wanted = { ...draft, projectId: draft.projectId ?? caller.projectId };
      await checkWebhook(wanted, caller, parts);
      const webhook = newWebhook(caller.wallet, wanted, now());
      const most = await webhookQuota(caller.wallet);
      const audit = note(caller, 'webhook.created', webhook.id, { events: webhook.events });
      if (await store.create(webhook, most, audit)) return webhook;
      throw quotaReached('webhooks', most);
    },
    list: ({ wallet, projectId }, page) => store.list(wallet, projectId === undefined ? page : { ...page, projectId }),
    async remove(caller, id) {
      await get(caller, id);
      await store.remove(caller.wallet, id, now(), note(caller, 'webhook.deleted', id));
    },
    async rotate(caller, id, overlapMs) {
      await get(caller, id);
      const time = now();
      const until = endOfOldSecret(time, overlapMs);
      const audit = note(caller, 'webhook.rotated', id);
      return found(await store.rotate(caller.wallet, id, newWebhookSecret(), until, time, audit));
    },
  };
}

function newWebhook(owner: string, { url, events, projectId, description }: WebhookDraft, at: number): WebhookRecord {
  return {
    id: newId('whk'),
    owner,
    url,
    events,
    secret: newWebhookSecret(),
    createdAt: at,
    updatedAt: at,
    ...defined({ projectId, description }),
  };
}

function found(webhook: WebhookRecord | undefined): WebhookRecord {
  if (webhook !== undefined) return webhook;
  throw new TollhouseError('not_found', 'You have no webhook with this id.');
}
