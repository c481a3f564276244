import { openPostgres } from '../../src/storage/sql/postgres-database.js';
import { openWebhookFixture, type WebhookFixture } from '../helpers/fixtures/webhook-fixture.js';
import { type Receiver, startReceiver } from '../helpers/http/webhook-receiver.js';
import { anEvent } from '../helpers/http/webhook-samples.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';
import { until } from '../helpers/until.js';

let server: PostgresServer;
let receiver: Receiver;
let instances: [WebhookFixture, WebhookFixture];

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());
beforeEach(async () => {
  const url = await server.newDatabase();
  receiver = await startReceiver();
  instances = [await openWebhookFixture(() => openPostgres(url)), await openWebhookFixture(() => openPostgres(url))];
});
afterEach(async () => {
  await Promise.all(instances.map((it) => it.close()));
  await receiver.close();
});

const idsReceived = () => receiver.received.map(({ headers }) => headers['webhook-id']);

test('two workers on one Postgres share the outbox, send each event once, and four at a time in all', async () => {
  receiver.respond((res) => void setTimeout(() => res.writeHead(204).end(), 5));
  await instances[0].register({ url: receiver.url });
  const events = Array.from({ length: 60 }, () => anEvent());
  for (const { worker } of instances) worker.start();
  for (const [at, event] of events.entries()) {
    await instances[at % 2]?.tell(event);
    for (const { worker } of instances) worker.wake();
  }
  await until(() => receiver.received.length >= events.length);
  await Promise.all(instances.map(({ worker }) => worker.stop()));

  expect(idsReceived().sort()).toEqual(events.map(({ id }) => id).sort());
  expect(receiver.atMost()).toBeLessThanOrEqual(4);
  expect(instances.flatMap(({ errors }) => errors)).toEqual([]);
});

test('what a worker that hangs holds is sent by another one once the lease has run out, and its late word counts no more', async () => {
  const [hanging, other] = instances;
  let goOn = () => {};
  const sender = {
    send: () =>
      new Promise<{ durationMs: number; status: number }>((resolve) => {
        goOn = () => resolve({ durationMs: 1, status: 500 });
      }),
    close: async () => {},
  };
  const webhook = await hanging.register({ url: receiver.url });
  const event = anEvent();
  await hanging.tell(event);
  const worker = hanging.workerWith({ sender });
  const hung = worker.runDue();
  await until(
    async () =>
      (await hanging.deliveries.due(4, 9)).length === 0 &&
      (await hanging.deliveries.list(webhook.id, { limit: 1 })).length === 1,
  );
  expect(await other.worker.runDue()).toBe(0);

  await other.advance(60_000);
  expect(await other.worker.runDue()).toBe(1);
  expect(idsReceived()).toEqual([event.id]);
  goOn();
  await hung;
  expect(await other.deliveries.list(webhook.id, { limit: 9 })).toMatchObject([{ state: 'delivered', attempts: 1 }]);
  expect(await other.attemptsOf(webhook)).toMatchObject([{ number: 1, status: 204 }]);
});
