import type { AuditEntry } from '../audit/audit-log.js';
import { auditSteps } from '../audit/audit-statements.js';
import { eventSteps } from '../events/event-statements.js';
import { ownerLock, ownerSteps } from '../owners/owner-steps.js';
import { placesOf, valuesOf } from '../sql/columns.js';
import type { SqlDatabase, Statement, Step } from '../sql/sql-database.js';
import { toWebhook, WEBHOOK_COLUMNS, WEBHOOK_NAMES, webhookAddress, webhookToSql } from './webhook-rows.js';
import type { WebhookRecord, WebhookStore } from './webhooks.js';

/** After every webhook. */
const NEWEST = { createdAt: Number.MAX_SAFE_INTEGER, id: '' };

const WEBHOOKS = {
  room: {
    name: 'tollhouse_webhook_room',
    text: 'select 1 as room where (select count(*) from tollhouse_webhook where owner = $1) < $2',
  },
  create: {
    name: 'tollhouse_webhook_create',
    text: `insert into tollhouse_webhook (${WEBHOOK_COLUMNS}) values (${placesOf(WEBHOOK_NAMES)})`,
  },
  list: {
    name: 'tollhouse_webhook_list',
    text: `select ${WEBHOOK_COLUMNS} from tollhouse_webhook
      where owner = $1 and ($2 = '' or project_id = $2) and (created_at, id) < ($3, $4)
      order by created_at desc, id desc limit $5`,
  },
  find: {
    name: 'tollhouse_webhook_find',
    text: `select ${WEBHOOK_COLUMNS} from tollhouse_webhook where owner = $1 and id = $2`,
  },
  change: {
    name: 'tollhouse_webhook_change',
    text: `update tollhouse_webhook set url = $3, events = $4, description = $5, updated_at = $6, address = $7,
        failing_since = case when url = $3 then failing_since else null end, prompt = case when url = $3 then prompt else 0 end
      where owner = $1 and id = $2 returning ${WEBHOOK_COLUMNS}`,
  },
  rotate: {
    name: 'tollhouse_webhook_rotate',
    text: `update tollhouse_webhook
      set previous_secret = secret, previous_until = $4, secret = $3, updated_at = $5
      where owner = $1 and id = $2 returning ${WEBHOOK_COLUMNS}`,
  },
  enable: {
    name: 'tollhouse_webhook_enable',
    text: `update tollhouse_webhook
      set status = 'enabled', disabled_reason = null, failing_since = null, updated_at = $2
      where id = $1 and status = 'disabled' returning id`,
  },
  disable: {
    name: 'tollhouse_webhook_disable',
    text: `update tollhouse_webhook set status = 'disabled', disabled_reason = $2, updated_at = $3
      where id = $1 and status = 'enabled' returning id`,
  },
  remove: {
    name: 'tollhouse_webhook_remove',
    text: 'delete from tollhouse_webhook where owner = $1 and id = $2 returning id',
  },
  /** What is under way keeps its lease, and is recorded when it ends. */
  giveUp: {
    name: 'tollhouse_webhook_give_up',
    text: `update tollhouse_delivery
      set state = 'failed', finished_at = $2, next_at = case when lease is null then null else next_at end
      where webhook_id = $1 and state = 'pending'`,
  },
  forgetAttempts: {
    name: 'tollhouse_webhook_forget_attempts',
    text: 'delete from tollhouse_delivery_attempt where webhook_id = $1',
  },
} as const satisfies Record<string, Statement>;

/** Webhooks on SQLite or Postgres. The database is not closed with it. */
export function createSqlWebhooks(database: SqlDatabase): WebhookStore {
  async function one(...step: Parameters<SqlDatabase['query']>): Promise<WebhookRecord | undefined> {
    const [row] = await database.query(...step);
    return row === undefined ? undefined : toWebhook(row);
  }

  /** The webhook after a change that is written with its audit entries. */
  async function changed(step: Step, audit: readonly AuditEntry[] | undefined): Promise<WebhookRecord | undefined> {
    const [row] = await database.batchIf(step, auditSteps(audit));
    return row === undefined ? undefined : toWebhook(row);
  }

  return {
    async create(webhook, most, audit) {
      const values = valuesOf(WEBHOOK_NAMES, webhookToSql(webhook));
      const room = [WEBHOOKS.room, webhook.owner, most] as const;
      const lock = ownerLock(database, webhook.owner);
      const seen = ownerSteps(webhook.owner, webhook.createdAt);
      const steps = [[WEBHOOKS.create, ...values] as const, ...seen, ...auditSteps(audit)];
      return (await database.batchIf(room, steps, lock)).length > 0;
    },
    list: async (owner, { projectId = '', after = NEWEST, limit }) =>
      (await database.query(WEBHOOKS.list, owner, projectId, after.createdAt, after.id, limit)).map(toWebhook),
    find: (owner, id) => one(WEBHOOKS.find, owner, id),
    change: (owner, id, { url, events, description }, at, audit) =>
      changed(
        [WEBHOOKS.change, owner, id, url, JSON.stringify(events), description ?? null, at, webhookAddress(url)],
        audit,
      ),
    rotate: (owner, id, secret, until, at, audit) => changed([WEBHOOKS.rotate, owner, id, secret, until, at], audit),
    enable: async (id, at, audit) => (await database.batchIf([WEBHOOKS.enable, id, at], auditSteps(audit))).length > 0,
    async disable(id, reason, at, events = [], audit = []) {
      const steps = [[WEBHOOKS.giveUp, id, at] as const, ...eventSteps(events), ...auditSteps(audit)];
      return (await database.batchIf([WEBHOOKS.disable, id, reason, at], steps)).length > 0;
    },
    async remove(owner, id, at, audit) {
      const steps: readonly Step[] = [[WEBHOOKS.giveUp, id, at], [WEBHOOKS.forgetAttempts, id], ...auditSteps(audit)];
      return (await database.batchIf([WEBHOOKS.remove, owner, id], steps)).length > 0;
    },
  };
}
