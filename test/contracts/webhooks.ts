import { createSqlEventLog } from '../../src/storage/events/sql-event-log.js';
import type { SqlDatabase } from '../../src/storage/sql/sql-database.js';
import { createSqlDeliveries } from '../../src/storage/webhooks/sql-deliveries.js';
import { createSqlWebhooks } from '../../src/storage/webhooks/sql-webhooks.js';
import type { WebhookStore } from '../../src/storage/webhooks/webhooks.js';
import { ALICE, anEvent, aWebhook, BOB } from '../helpers/http/webhook-samples.js';

/** What the store of webhooks does on every database. */
export function webhooksContract(name: string, open: () => Promise<SqlDatabase>): void {
  describe(`webhooks on ${name}`, () => {
    let database: SqlDatabase;
    let webhooks: WebhookStore;

    beforeEach(async () => {
      database = await open();
      webhooks = createSqlWebhooks(database);
    });
    afterEach(() => database.close());

    test('are kept with every field, and found by their owner only', async () => {
      const plain = aWebhook();
      const full = aWebhook({
        projectId: 'prj_1',
        events: ['payment.settled', 'call.failed'],
        description: 'the shop',
        previousSecret: 'whsec_b2xk',
        previousUntil: 5,
        disabledReason: 'gone',
        failingSince: 4,
      });
      for (const webhook of [plain, full]) expect(await webhooks.create(webhook, 2)).toBe(true);
      expect(await webhooks.find(ALICE, plain.id)).toEqual(plain);
      expect(await webhooks.find(ALICE, full.id)).toEqual(full);
      expect(await webhooks.find(BOB, full.id)).toBeUndefined();
    });

    test('are at most so many of an owner', async () => {
      expect(await webhooks.create(aWebhook(), 2)).toBe(true);
      expect(await webhooks.create(aWebhook(), 2)).toBe(true);
      expect(await webhooks.create(aWebhook(), 2)).toBe(false);
      expect(await webhooks.create(aWebhook({ owner: BOB }), 2)).toBe(true);
    });

    test('are never more of an owner, however many are added at once', async () => {
      const done = await Promise.all(Array.from({ length: 60 }, () => webhooks.create(aWebhook(), 7)));
      expect(done.filter(Boolean)).toHaveLength(7);
      expect(await webhooks.list(ALICE, { limit: 100 })).toHaveLength(7);
    });

    test('are listed the newest first, page by page, also those of one project', async () => {
      const all = [1, 2, 2, 3].map((createdAt, at) =>
        aWebhook({ createdAt, ...(at === 1 ? { projectId: 'prj_1' } : {}) }),
      );
      for (const webhook of all) await webhooks.create(webhook, 9);
      const first = await webhooks.list(ALICE, { limit: 3 });
      const rest = await webhooks.list(ALICE, { limit: 3, after: first.at(-1)! });
      expect(first.map((it) => it.createdAt)).toEqual([3, 2, 2]);
      expect(new Set([...first, ...rest].map((it) => it.id))).toEqual(new Set(all.map((it) => it.id)));
      expect(await webhooks.list(ALICE, { limit: 9, projectId: 'prj_1' })).toEqual([all[1]]);
      expect(await webhooks.list(BOB, { limit: 9 })).toEqual([]);
    });

    test('change by their owner only; another address has not failed yet', async () => {
      const webhook = aWebhook({ failingSince: 7, description: 'old' });
      await webhooks.create(webhook, 9);
      const settings = { url: webhook.url, events: ['key.created'] as const, description: undefined };
      expect(await webhooks.change(BOB, webhook.id, settings, 10)).toBeUndefined();
      const { description: _gone, ...rest } = webhook;
      expect(await webhooks.change(ALICE, webhook.id, settings, 10)).toEqual({
        ...rest,
        events: ['key.created'],
        updatedAt: 10,
      });
      const moved = await webhooks.change(ALICE, webhook.id, { ...settings, url: 'https://new.example/' }, 11);
      expect(moved).not.toHaveProperty('failingSince');
    });

    test('keep the secret before the last one', async () => {
      const webhook = aWebhook();
      await webhooks.create(webhook, 9);
      expect(await webhooks.rotate(BOB, webhook.id, 'whsec_bmV3', 99, 10)).toBeUndefined();
      expect(await webhooks.rotate(ALICE, webhook.id, 'whsec_bmV3', 99, 10)).toEqual({
        ...webhook,
        secret: 'whsec_bmV3',
        previousSecret: webhook.secret,
        previousUntil: 99,
        updatedAt: 10,
      });
    });

    test('are disabled once, with what is told of it and what is given up, and enabled again', async () => {
      const webhook = aWebhook({ failingSince: 7 });
      await webhooks.create(webhook, 9);
      const log = createSqlEventLog(database);
      const deliveries = createSqlDeliveries(database);
      await log.append([anEvent()]);
      await deliveries.fanOut(9);
      const told = anEvent({ type: 'webhook.disabled' });

      const results = await Promise.all([1, 2, 3].map(() => webhooks.disable(webhook.id, 'failing', 10, [told])));
      expect(results.filter(Boolean)).toHaveLength(1);
      expect(await webhooks.find(ALICE, webhook.id)).toEqual({ ...webhook, disabledReason: 'failing', updatedAt: 10 });
      expect((await log.list(ALICE, { types: ['webhook.disabled'], limit: 9 })).map((it) => it.id)).toEqual([told.id]);
      expect(await deliveries.list(webhook.id, { limit: 9 })).toMatchObject([{ state: 'failed', finishedAt: 10 }]);

      expect([await webhooks.enable(webhook.id, 11), await webhooks.enable(webhook.id, 12)]).toEqual([true, false]);
      const { failingSince: _gone, ...rest } = webhook;
      expect(await webhooks.find(ALICE, webhook.id)).toEqual({ ...rest, updatedAt: 11 });
    });

    test('are removed by their owner only', async () => {
      const webhook = aWebhook();
      await webhooks.create(webhook, 9);
      expect(await webhooks.remove(BOB, webhook.id, 10)).toBe(false);
      expect([await webhooks.remove(ALICE, webhook.id, 10), await webhooks.remove(ALICE, webhook.id, 10)]).toEqual([
        true,
        false,
      ]);
      expect(await webhooks.find(ALICE, webhook.id)).toBeUndefined();
    });
  });
}
