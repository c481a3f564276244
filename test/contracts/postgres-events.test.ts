import pg from 'pg';
import { EVENTS_BEGIN } from '../../src/storage/events/event-log.js';
import { createSqlEventLog } from '../../src/storage/events/sql-event-log.js';
import { openPostgres } from '../../src/storage/sql/postgres-database.js';
import { createSqlDeliveries } from '../../src/storage/webhooks/sql-deliveries.js';
import { createSqlWebhooks } from '../../src/storage/webhooks/sql-webhooks.js';
import { ALICE, anEvent, aWebhook } from '../helpers/http/webhook-samples.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';
import { deliveriesContract } from './deliveries.js';
import { eventLogContract } from './event-log.js';
import { webhooksContract } from './webhooks.js';

let server: PostgresServer;
let url: string;

beforeAll(async () => {
  server = await startPostgres();
  url = await server.newDatabase();
});
afterAll(() => server.stop());

async function open() {
  const database = await openPostgres(url);
  await server.query(url, 'truncate tollhouse_event, tollhouse_webhook, tollhouse_delivery cascade');
  return database;
}

eventLogContract('Postgres', open);
webhooksContract('Postgres', open);
deliveriesContract('Postgres', open);

test('an event that is committed late is not passed by: what came after it waits for it', async () => {
  const database = await open();
  const log = createSqlEventLog(database);
  const slow = new pg.Client({ connectionString: url });
  await slow.connect();
  const late = anEvent();
  const insert = 'insert into tollhouse_event (id, type, at, owner, data) values ($1, $2, $3, $4, $5)';
  await slow.query('begin');
  await slow.query(insert, [late.id, late.type, late.at, ALICE, JSON.stringify(late.data)]);
  const quick = anEvent();
  await log.append([quick]);

  expect(await log.readAfter(ALICE, EVENTS_BEGIN, 9)).toEqual([]);
  expect(await log.end()).toEqual(EVENTS_BEGIN);
  await slow.query('commit');
  await slow.end();
  expect((await log.readAfter(ALICE, EVENTS_BEGIN, 9)).map(({ id }) => id)).toEqual([late.id, quick.id]);
  await database.close();
});

test('workers of several instances share the outbox: each delivery goes to one of them', async () => {
  const instances = await Promise.all([open(), openPostgres(url), openPostgres(url)]);
  const [database] = instances;
  const webhooks = Array.from({ length: 5 }, () => aWebhook());
  for (const webhook of webhooks) await createSqlWebhooks(database!).create(webhook, 9);
  await createSqlEventLog(database!).append(Array.from({ length: 30 }, () => anEvent()));
  const stores = instances.map((it) => createSqlDeliveries(it));
  const taken: string[] = [];

  async function work(store: (typeof stores)[number], worker: number): Promise<void> {
    await store.fanOut(100);
    for (let turn = 0; ; turn += 1) {
      const due = await store.due(4, 9);
      if (due.length === 0) return;
      for (const { id } of due) {
        const some = await store.take(id, { lease: `${worker}.${turn}.${id}`, leaseMs: 60_000, atOnce: 4 });
        taken.push(...some.map((it) => it.id));
        for (const one of some) await store.record(one, { at: 1, durationMs: 1, status: 200 }, { state: 'delivered' });
      }
    }
  }

  await Promise.all(stores.map(work));
  await Promise.all(stores.map(work));
  expect(taken).toHaveLength(150);
  expect(new Set(taken).size).toBe(150);
  await Promise.all(instances.map((it) => it.close()));
});
