import type { EventLog } from '../../src/storage/events/event-log.js';
import { EVENTS_BEGIN } from '../../src/storage/events/event-log.js';
import { createSqlEventLog } from '../../src/storage/events/sql-event-log.js';
import type { SqlDatabase } from '../../src/storage/sql/sql-database.js';
import { createSqlDeliveries } from '../../src/storage/webhooks/sql-deliveries.js';
import { createSqlWebhooks } from '../../src/storage/webhooks/sql-webhooks.js';
import { ALICE, anEvent, aWebhook, BOB } from '../helpers/http/webhook-samples.js';

const ids = (events: readonly { readonly id: string }[]) => events.map(({ id }) => id);

/** What the event log does on every database. */
export function eventLogContract(name: string, open: () => Promise<SqlDatabase>): void {
  describe(`the event log on ${name}`, () => {
    let database: SqlDatabase;
    let log: EventLog;

    beforeEach(async () => {
      database = await open();
      log = createSqlEventLog(database);
    });
    afterEach(() => database.close());

    test('gives back what was written, to its owner only', async () => {
      const event = anEvent({ projectId: 'prj_1', data: { text: 'ünï "x" 🔑', list: [1, null] } });
      await log.append([event]);
      expect(await log.list(ALICE, { limit: 10 })).toEqual([{ ...event, position: expect.anything() }]);
      expect(await log.find(ALICE, event.id)).toMatchObject(event);
      expect(await log.list(BOB, { limit: 10 })).toEqual([]);
      expect(await log.find(BOB, event.id)).toBeUndefined();
      expect(await log.readAfter(BOB, EVENTS_BEGIN, 10)).toEqual([]);
    });

    test('lists the newest first, page by page, without gap or repetition', async () => {
      const events = Array.from({ length: 7 }, () => anEvent());
      for (const event of events) await log.append([event]);
      const seen: string[] = [];
      for (let page = await log.list(ALICE, { limit: 3 }); page.length > 0; ) {
        seen.push(...ids(page));
        page = await log.list(ALICE, { limit: 3, before: page.at(-1)!.position });
      }
      expect(seen).toEqual(ids(events).reverse());
    });

    test('reads on after an event, the oldest first', async () => {
      const events = Array.from({ length: 5 }, () => anEvent());
      await log.append(events);
      const second = await log.find(ALICE, events[1]!.id);
      expect(ids(await log.readAfter(ALICE, second!.position, 2))).toEqual(ids(events.slice(2, 4)));
      expect(ids(await log.readAfter(ALICE, EVENTS_BEGIN, 10))).toEqual(ids(events));
    });

    test('filters by type and project', async () => {
      const wanted = anEvent({ type: 'spending.limit_reached', projectId: 'prj_1' });
      const others = [
        anEvent({ type: 'call.failed', projectId: 'prj_1' }),
        anEvent({ type: 'spending.limit_reached' }),
      ];
      await log.append([others[0]!, wanted, others[1]!]);
      expect(ids(await log.list(ALICE, { types: ['spending.limit_reached', 'key.created'], limit: 9 }))).toEqual(
        ids([others[1]!, wanted]),
      );
      expect(ids(await log.list(ALICE, { projectId: 'prj_1', limit: 9 }))).toEqual(ids([wanted, others[0]!]));
      expect(ids(await log.list(ALICE, { projectId: 'prj_1', types: ['spending.limit_reached'], limit: 9 }))).toEqual([
        wanted.id,
      ]);
    });

    test('tells whose events are new, step by step', async () => {
      expect(await log.end()).toEqual(EVENTS_BEGIN);
      await log.append([anEvent()]);
      const start = await log.end();
      await log.append([anEvent(), anEvent({ owner: BOB })]);

      const first = await log.newsAfter(start, 1);
      expect(first).toMatchObject({ owners: new Set([ALICE]), more: true });
      const second = await log.newsAfter(first.position, 2);
      expect(second).toEqual({ owners: new Set([BOB]), position: await log.end(), more: false });
      expect((await log.newsAfter(second.position, 2)).owners.size).toBe(0);
    });

    test('forgets old events in steps, but none that is still to be delivered', async () => {
      const kept = anEvent({}, 1_000);
      await createSqlWebhooks(database).create(aWebhook(), 1);
      await log.append([kept]);
      await createSqlDeliveries(database).fanOut(10);
      const old = [1, 2, 3].map((at) => anEvent({}, at));
      const recent = anEvent({}, 5_000);
      await log.append([...old, recent]);

      expect([await log.prune(2_000, 2), await log.prune(2_000, 2), await log.prune(2_000, 2)]).toEqual([2, 1, 0]);
      expect(ids(await log.readAfter(ALICE, EVENTS_BEGIN, 9))).toEqual([kept.id, recent.id]);
    });
  });
}
