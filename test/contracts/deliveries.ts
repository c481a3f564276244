import { newId } from '../../src/lib/ids.js';
import type { EventRecord } from '../../src/storage/events/events.js';
import { createSqlEventLog } from '../../src/storage/events/sql-event-log.js';
import type { SqlDatabase } from '../../src/storage/sql/sql-database.js';
import type { AttemptOutcome, DeliveryStore, TakenDelivery } from '../../src/storage/webhooks/deliveries.js';
import { createSqlDeliveries } from '../../src/storage/webhooks/sql-deliveries.js';
import { createSqlWebhooks } from '../../src/storage/webhooks/sql-webhooks.js';
import type { WebhookRecord } from '../../src/storage/webhooks/webhooks.js';
import { ALICE, anEvent, aWebhook, BOB } from '../helpers/http/webhook-samples.js';
import { testClock } from '../helpers/test-clock.js';

const LEASE_MS = 60_000;

/** What the outbox of webhooks does on every database. */
export function deliveriesContract(name: string, open: () => Promise<SqlDatabase>): void {
  describe(`deliveries on ${name}`, () => {
    let database: SqlDatabase;
    let deliveries: DeliveryStore;
    let clock: ReturnType<typeof testClock>;

    beforeEach(async () => {
      database = await open();
      clock = testClock();
      deliveries = createSqlDeliveries(database, clock.now);
    });
    afterEach(() => database.close());

    async function register(changes: Partial<WebhookRecord> = {}): Promise<WebhookRecord> {
      const webhook = aWebhook(changes);
      await createSqlWebhooks(database).create(webhook, 99);
      return webhook;
    }

    async function tell(...events: readonly EventRecord[]): Promise<void> {
      await createSqlEventLog(database).append(events);
      await deliveries.fanOut(100);
    }

    const take = (webhookId: string, lease: string, atOnce = 4) =>
      deliveries.take(webhookId, { lease, leaseMs: LEASE_MS, atOnce });
    const eventsOf = async (webhook: WebhookRecord) =>
      (await deliveries.list(webhook.id, { limit: 99 })).map(({ eventId }) => eventId);
    const attempt = (changes = {}) => ({ at: clock.now(), durationMs: 12.4, status: 500, answer: 'no', ...changes });

    test('are made for the webhooks of the owner that want the type and the project', async () => {
      const all = await register();
      const some = await register({ events: ['key.created', 'call.failed'] });
      const ofProject = await register({ projectId: 'prj_1' });
      const another = await register({ owner: BOB });
      const [payment, key, call] = [
        anEvent(),
        anEvent({ type: 'key.created' }),
        anEvent({ type: 'call.failed', projectId: 'prj_1' }),
      ];
      await tell(payment, key, call);
      expect((await eventsOf(all)).sort()).toEqual([payment.id, key.id, call.id].sort());
      expect((await eventsOf(some)).sort()).toEqual([key.id, call.id].sort());
      expect(await eventsOf(ofProject)).toEqual([call.id]);
      expect(await eventsOf(another)).toEqual([]);
    });

    test('are made for what happens from the making of the webhook on', async () => {
      const log = createSqlEventLog(database);
      const [before, after] = [anEvent(), anEvent()];
      await log.append([before]);
      const webhook = await register();
      await log.append([after]);
      await deliveries.fanOut(100);
      expect(await eventsOf(webhook)).toEqual([after.id]);
    });

    test('are made once, however many look for new events at once, and in steps', async () => {
      const webhook = await register();
      await createSqlEventLog(database).append(Array.from({ length: 45 }, () => anEvent()));
      await Promise.all([1, 2, 3].map(() => deliveries.fanOut(45)));
      expect(new Set(await eventsOf(webhook)).size).toBe(45);
      expect((await eventsOf(webhook)).length).toBe(45);
      await createSqlEventLog(database).append([anEvent(), anEvent(), anEvent()]);
      expect([await deliveries.fanOut(2), await deliveries.fanOut(2), await deliveries.fanOut(2)]).toEqual([2, 1, 0]);
    });

    test('are made in turns: what came last of one owner comes before the many of another, and each keeps its order', async () => {
      for (let n = 0; n < 3; n += 1) await register({ owner: ALICE });
      const [mine, hers] = [await register({ owner: BOB }), await register({ owner: ALICE })];
      const many = Array.from({ length: 50 }, () => anEvent({ owner: ALICE }));
      const few = [anEvent({ owner: BOB }), anEvent({ owner: BOB })];
      await createSqlEventLog(database).append([...many, ...few]);
      expect(await deliveries.fanOut(4)).toBe(4);
      expect(new Set(await eventsOf(mine))).toEqual(new Set(few.map(({ id }) => id)));
      expect(new Set(await eventsOf(hers))).toEqual(new Set(many.slice(0, 2).map(({ id }) => id)));
      expect(await deliveries.fanOut(100)).toBe(48);
      expect(await eventsOf(hers)).toHaveLength(50);
    });

    test('to a disabled webhook have failed, and can be recovered', async () => {
      const webhook = await register({ disabledReason: 'owner' });
      await tell(anEvent());
      expect(await deliveries.list(webhook.id, { limit: 9 })).toMatchObject([{ state: 'failed', attempts: 0 }]);
      expect(await deliveries.due(4, 9)).toEqual([]);
      await createSqlWebhooks(database).enable(webhook.id, clock.now());
      expect(await deliveries.recover(webhook.id, clock.now() + 1, 9)).toBe(0);
      expect(await deliveries.recover(webhook.id, clock.now(), 9)).toBe(1);
      expect(await take(webhook.id, 'a')).toHaveLength(1);
    });

    test('are taken with their event, by one worker only, until its lease runs out', async () => {
      const webhook = await register();
      const event = anEvent({ projectId: 'prj_1' });
      await tell(event);
      expect(await deliveries.due(4, 9)).toEqual([webhook]);

      const [taken] = await take(webhook.id, 'a');
      expect(taken).toMatchObject({ webhookId: webhook.id, lease: 'a', event, attempts: 0, place: 0 });
      expect([await deliveries.due(4, 9), await take(webhook.id, 'b')]).toEqual([[], []]);
      await clock.advance(LEASE_MS);
      expect(await take(webhook.id, 'b')).toMatchObject([{ id: taken!.id, lease: 'b' }]);
      expect(await deliveries.record(taken!, attempt(), { state: 'delivered' })).toBe(false);
      expect(await deliveries.attempts(taken!.id)).toEqual([]);
    });

    test('are under way at most so many at once to one webhook, whoever takes them', async () => {
      const webhook = await register();
      await tell(...Array.from({ length: 9 }, () => anEvent()));
      const takings = await Promise.all(['a', 'b', 'c'].map((lease) => take(webhook.id, lease)));
      expect(takings.map((it) => it.length).sort()).toEqual([0, 0, 4]);
      expect(await deliveries.due(4, 9)).toEqual([]);

      const [one] = takings.flat();
      await deliveries.record(one!, attempt({ status: 204 }), { state: 'delivered' });
      expect(await deliveries.due(4, 9)).toHaveLength(1);
      expect(await take(webhook.id, 'd')).toHaveLength(1);
    });

    test('are under way at most so many at once to one address of an owner, whatever webhooks it has there', async () => {
      const webhooks: WebhookRecord[] = [];
      for (const path of ['a', 'b', 'c']) webhooks.push(await register({ url: `https://alice.example/${path}` }));
      const elsewhere = await register({ url: 'https://alice.example:8443/' });
      const ofAnother = await register({ owner: BOB, url: 'https://alice.example/hook' });
      await tell(...Array.from({ length: 3 }, () => anEvent()), anEvent({ owner: BOB }));
      const takings = await Promise.all(webhooks.map(({ id }, at) => take(id, `lease ${at}`)));
      expect(takings.flat()).toHaveLength(4);
      const others = await deliveries.due(4, 9);
      expect(others.map(({ id }) => id).sort()).toEqual([elsewhere.id, ofAnother.id].sort());
      expect(await take(elsewhere.id, 'd')).toHaveLength(3);
      expect(await take(ofAnother.id, 'e')).toHaveLength(1);
    });

    test('are under way at most so many at once for one owner, and another one is served all the same', async () => {
      const webhooks: WebhookRecord[] = [];
      for (const host of ['a', 'b', 'c']) webhooks.push(await register({ url: `https://${host}.example/` }));
      const ofAnother = await register({ owner: BOB });
      await tell(...Array.from({ length: 4 }, () => anEvent()), anEvent({ owner: BOB }));
      const bounds = { leaseMs: LEASE_MS, atOnce: 4, ofOwner: 8 };
      const takings = await Promise.all(
        webhooks.map(({ id }, at) => deliveries.take(id, { ...bounds, lease: `lease ${at}` })),
      );
      expect(takings.map((it) => it.length).sort()).toEqual([0, 4, 4]);
      expect((await deliveries.due(4, 9, { ofOwner: 8 })).map(({ id }) => id)).toEqual([ofAnother.id]);
      expect(await take(ofAnother.id, 'of another')).toHaveLength(1);
    });

    test('of owners are due turn by turn, the one with the least under way first', async () => {
      const urls = ['https://a.example', 'https://b.example', 'https://c.example'];
      const alices: WebhookRecord[] = [];
      for (const url of urls) alices.push(await register({ url }));
      await tell(anEvent(), anEvent());
      await clock.advance(1_000);
      const bobs = await register({ owner: BOB });
      await tell(anEvent({ owner: BOB }));
      const owners = async (limit: number) => (await deliveries.due(4, limit)).map(({ owner }) => owner);
      expect(await owners(2)).toEqual([ALICE, BOB]);
      await take(alices[0]!.id, 'a', 1);
      expect(await owners(9)).toEqual([BOB, ALICE, ALICE, ALICE]);
      await take(bobs.id, 'b');
      expect(await owners(9)).toEqual([ALICE, ALICE, ALICE]);
    });

    test('of a receiver that answers come before those of one that does not', async () => {
      const failing = await register({ failingSince: 1 });
      await tell(anEvent());
      await clock.advance(1_000);
      const fine = await register();
      await tell(anEvent());
      expect((await deliveries.due(4, 9)).map(({ id }) => id)).toEqual([fine.id, failing.id]);
      expect((await deliveries.due(4, 1)).map(({ id }) => id)).toEqual([fine.id]);
    });

    test('of prompt receivers are told apart: the last attempt succeeded, within two seconds, at the address of now', async () => {
      const [webhook, silent] = [await register(), await register()];
      const webhooks = createSqlWebhooks(database);
      const attemptOf = async ({ id }: WebhookRecord, durationMs: number, outcome: AttemptOutcome) => {
        await tell(anEvent());
        const [taken] = await take(id, newId('dlv'), 1);
        await deliveries.record(taken!, attempt({ durationMs }), outcome);
        await tell(anEvent());
        return (await deliveries.due(9, 9, { promptOnly: true })).map((it) => it.id);
      };
      const nextAt = clock.now() + 1;
      expect(await attemptOf(silent, 15_000, { nextAt })).toEqual([]);
      expect(await attemptOf(webhook, 2_000, { state: 'delivered' })).toEqual([webhook.id]);
      expect(await attemptOf(webhook, 2_001, { state: 'delivered' })).toEqual([]);
      expect(await attemptOf(webhook, 1, { state: 'delivered' })).toEqual([webhook.id]);
      expect(await attemptOf(webhook, 1, { nextAt })).toEqual([]);
      expect(await attemptOf(webhook, 1, { state: 'delivered' })).toEqual([webhook.id]);
      const { url, events } = webhook;
      await webhooks.change(ALICE, webhook.id, { url, events, description: 'new' }, clock.now());
      expect(await deliveries.due(9, 9, { promptOnly: true })).toHaveLength(1);
      const elsewhere = { url: 'https://new.example/', events, description: undefined };
      await webhooks.change(ALICE, webhook.id, elsewhere, clock.now());
      expect(await deliveries.due(9, 9, { promptOnly: true })).toEqual([]);
      expect(await deliveries.due(9, 9)).toHaveLength(2);
    });

    test('that succeed end with their attempt, and the receiver is fine again', async () => {
      const webhook = await register({ failingSince: 3 });
      await tell(anEvent());
      const [taken] = await take(webhook.id, 'a');
      expect(await deliveries.record(taken!, attempt({ status: 200, answer: 'ok' }), { state: 'delivered' })).toBe(
        true,
      );
      const kept = await deliveries.find(webhook.id, taken!.id);
      expect(kept).toMatchObject({
        state: 'delivered',
        attempts: 1,
        finishedAt: clock.now(),
        eventType: 'payment.settled',
      });
      expect(kept).not.toHaveProperty('nextAt');
      expect(await deliveries.attempts(taken!.id)).toEqual([
        { number: 1, at: clock.now(), durationMs: 12, status: 200, answer: 'ok' },
      ]);
      expect(await createSqlWebhooks(database).find(ALICE, webhook.id)).not.toHaveProperty('failingSince');
      expect(await deliveries.find('whk_other', taken!.id)).toBeUndefined();
    });

    test('keep the newest attempts of each webhook, of those that fail and of those that succeed, until the webhook goes', async () => {
      const [webhook, another] = [await register(), await register()];
      deliveries = createSqlDeliveries(database, clock.now, 2);
      await tell(anEvent());
      const [ofOther] = await take(another.id, 'other');
      await deliveries.record(ofOther!, attempt(), { nextAt: clock.now() });
      const numbers = async (id: string) => (await deliveries.attempts(id)).map(({ number }) => number);
      const make = async (outcome: AttemptOutcome) => {
        await clock.advance(1);
        const [taken] = await take(webhook.id, `lease ${clock.now()}`);
        await deliveries.record(taken!, attempt({ at: clock.now() }), outcome);
        return taken!.id;
      };
      let id = '';
      for (let n = 0; n < 4; n += 1) id = await make({ nextAt: clock.now() });
      expect(await numbers(id)).toEqual([3, 4]);
      for (let n = 0; n < 3; n += 1) {
        await make({ state: 'delivered' });
        await deliveries.retry(id);
      }
      expect(await numbers(id)).toEqual([3, 4, 6, 7]);
      expect(await deliveries.find(webhook.id, id)).toMatchObject({ attempts: 7 });
      await createSqlWebhooks(database).remove(ALICE, webhook.id, clock.now());
      expect([await numbers(id), await numbers(ofOther!.id)]).toEqual([[], [1]]);
    });

    test('keep no more than a twentieth of attempts beyond those that are kept, and begin with none of them', async () => {
      const webhook = await register();
      await tell(anEvent());
      let id = '';
      const make = async (times: number) => {
        for (let n = 0; n < times; n += 1) {
          await clock.advance(1);
          const [taken] = await take(webhook.id, `lease ${clock.now()}`);
          await deliveries.record(taken!, attempt({ at: clock.now() }), { nextAt: clock.now() });
          id = taken!.id;
        }
        return (await deliveries.attempts(id)).length;
      };
      deliveries = createSqlDeliveries(database, clock.now, 40);
      expect(await make(42)).toBe(41);
      expect(await make(1)).toBe(40);
      expect(await make(1)).toBe(41);
      deliveries = createSqlDeliveries(database, clock.now, 40);
      expect(await make(1)).toBe(40);
    });

    test('that fail are due again at their time, and the receiver is failing since the first of them', async () => {
      const webhook = await register();
      await tell(anEvent());
      const start = clock.now();
      for (const place of [0, 1]) {
        const [taken] = await take(webhook.id, `lease ${place}`);
        expect(taken).toMatchObject({ attempts: place, place });
        await deliveries.record(taken!, attempt({ status: undefined, error: 'timeout' }), {
          nextAt: clock.now() + 5_000,
        });
        await clock.advance(4_999);
        expect(await deliveries.due(4, 9)).toEqual([]);
        await clock.advance(1);
      }
      expect(await deliveries.due(4, 9)).toMatchObject([{ failingSince: start }]);
      expect(await deliveries.list(webhook.id, { limit: 9, state: 'pending' })).toMatchObject([
        { attempts: 2, nextAt: clock.now() },
      ]);
    });

    test('that are given up while they are under way stay so, unless they arrive', async () => {
      const webhook = await register();
      await tell(anEvent(), anEvent());
      const [one, other] = (await take(webhook.id, 'a')) as [TakenDelivery, TakenDelivery];
      await createSqlWebhooks(database).disable(webhook.id, 'owner', clock.now());
      await deliveries.record(one, attempt(), { nextAt: clock.now() + 1 });
      await deliveries.record(other, attempt({ status: 200 }), { state: 'delivered' });
      expect((await deliveries.find(webhook.id, one.id))?.state).toBe('failed');
      expect((await deliveries.find(webhook.id, other.id))?.state).toBe('delivered');
    });

    test('are asked for again with a new schedule, but not while they are under way', async () => {
      const webhook = await register();
      await tell(anEvent());
      const [taken] = await take(webhook.id, 'a');
      expect(await deliveries.retry(taken!.id)).toBe(false);
      await deliveries.record(taken!, attempt(), { state: 'failed' });
      expect(await deliveries.retry(taken!.id)).toBe(true);
      expect(await take(webhook.id, 'b')).toMatchObject([{ id: taken!.id, attempts: 1, place: 0 }]);
    });

    test('are recovered from a time on, in steps', async () => {
      const webhook = await register({ disabledReason: 'gone' });
      await tell(anEvent());
      await clock.advance(1_000);
      const since = clock.now();
      await tell(anEvent(), anEvent(), anEvent());
      expect([await deliveries.recover(webhook.id, since, 2), await deliveries.recover(webhook.id, since, 2)]).toEqual([
        2, 1,
      ]);
      expect(await deliveries.list(webhook.id, { state: 'failed', limit: 9 })).toHaveLength(1);
    });

    test('of one webhook are listed the newest first, page by page', async () => {
      const webhook = await register();
      for (let at = 0; at < 5; at += 1) {
        await tell(anEvent());
        await clock.advance(at % 2);
      }
      const first = await deliveries.list(webhook.id, { limit: 3 });
      const rest = await deliveries.list(webhook.id, { limit: 3, after: first.at(-1)! });
      const all = [...first, ...rest];
      expect(new Set(all.map(({ id }) => id)).size).toBe(5);
      expect(all.map((it) => it.createdAt)).toEqual(all.map((it) => it.createdAt).sort((a, b) => b - a));
    });

    test('can be made to one webhook alone, of an event that nobody else is shown', async () => {
      const webhook = await register();
      const another = await register();
      const event = anEvent({ owner: '', at: clock.now() });
      const queued = await deliveries.queue(event, webhook.id, 9);
      await deliveries.fanOut(9);
      expect(await deliveries.find(webhook.id, queued.id)).toEqual(queued);
      expect(await eventsOf(another)).toEqual([]);
      expect(await createSqlEventLog(database).list(ALICE, { limit: 9 })).toEqual([]);
      expect(await take(webhook.id, 'a')).toMatchObject([{ event: { id: event.id }, place: 9 }]);
    });

    test('are forgotten in steps with their attempts, once they have ended', async () => {
      const webhook = await register();
      await tell(anEvent(), anEvent(), anEvent(), anEvent());
      const taken = await take(webhook.id, 'a', 3);
      for (const one of taken) await deliveries.record(one, attempt(), { state: 'failed' });
      await clock.advance(10);
      const before = clock.now() - 5;
      await deliveries.retry((await deliveries.list(webhook.id, { state: 'pending', limit: 9 }))[0]!.id);
      expect([
        await deliveries.prune(before, 2),
        await deliveries.prune(before, 2),
        await deliveries.prune(before, 2),
      ]).toEqual([2, 1, 0]);
      expect(await deliveries.attempts(taken[0]!.id)).toEqual([]);
      expect(await deliveries.list(webhook.id, { limit: 9 })).toHaveLength(1);
    });
  });
}
