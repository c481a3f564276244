import type { WebhookRequest } from '../../src/gateway/webhooks/webhook-sender.js';
import { openStorage } from '../../src/storage/open-storage.js';
import { webhookTurns } from '../../src/storage/sql/migrations/0014-webhook-turns.js';
import { openPostgres } from '../../src/storage/sql/postgres-database.js';
import type { SqlDatabase } from '../../src/storage/sql/sql-database.js';
import { openSqlite } from '../../src/storage/sql/sqlite/sqlite-database.js';
import { openWebhookFixture, senderWith, type WebhookFixture } from '../helpers/fixtures/webhook-fixture.js';
import { type Receiver, startReceiver } from '../helpers/http/webhook-receiver.js';
import { anEvent } from '../helpers/http/webhook-samples.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';
import { connectTo, insertRow } from '../helpers/storage/schema-connection.js';
import { walletKey } from '../helpers/transactions/wallet-key.js';
import { until } from '../helpers/until.js';

const folder = testFolder();
let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

const HOSTILE = ['mallory', 'mallet', 'trudy'].map((name) => walletKey(name).address);
const HONEST = walletKey('honest').address;
const WEBHOOKS = 20;

const KINDS: readonly {
  readonly name: string;
  readonly workers: number;
  open(): Promise<() => Promise<SqlDatabase>>;
}[] = [
  { name: 'one worker on SQLite', workers: 1, open: async () => () => openSqlite(':memory:') },
  {
    name: 'two workers on one Postgres',
    workers: 2,
    async open() {
      const url = await server.newDatabase();
      return () => openPostgres(url);
    },
  },
];

describe.each(KINDS)('webhooks of several owners, $name', ({ workers, open }) => {
  let instances: WebhookFixture[];
  /** Two for each hostile owner: they take what is sent, and do not answer. */
  let slow: Receiver[];
  let quick: Receiver;

  beforeEach(async () => {
    const openDatabase = await open();
    instances = [];
    for (let n = 0; n < workers; n += 1) instances.push(await openWebhookFixture(openDatabase));
    slow = await Promise.all(HOSTILE.flatMap(() => [startReceiver(() => {}), startReceiver(() => {})]));
    quick = await startReceiver();
  });
  afterEach(async () => {
    await Promise.all([...slow, quick].map((it) => it.close()));
    await Promise.all(instances.map((it) => it.close()));
  });

  async function openHostile(one: WebhookFixture): Promise<void> {
    for (const [at, owner] of HOSTILE.entries()) {
      for (let n = 0; n < WEBHOOKS; n += 1) {
        const { origin } = slow[2 * at + (n % 2)]!;
        await one.register({ owner, url: `${origin}/${n}` });
      }
    }
  }

  const tellHostile = (one: WebhookFixture) =>
    one.tell(...HOSTILE.flatMap((owner) => Array.from({ length: 10 }, () => anEvent({ owner }))));

  test('three owners with twenty slow ones each hold up nobody, and have eight attempts under way, four to an address', async () => {
    const [one] = instances;
    await openHostile(one!);
    await one!.register({ owner: HONEST, url: quick.url });
    await tellHostile(one!);
    for (const { worker } of instances) worker.start();
    await until(() => slow.every(({ received }) => received.length === 4));

    const events = Array.from({ length: 5 }, () => anEvent({ owner: HONEST }));
    for (const event of events) {
      await tellHostile(one!);
      await one!.tell(event);
      one!.worker.nudge();
      await until(() => quick.received.some(({ headers }) => headers['webhook-id'] === event.id));
    }
    expect(quick.received).toHaveLength(events.length);
    expect(slow.map((it) => it.atMost())).toEqual(slow.map(() => 4));
    expect(instances.flatMap(({ errors }) => errors)).toEqual([]);
  });

  test('an owner who is alone has all that is sent, to quick receivers, without waiting for slow ones', async () => {
    const [one] = instances;
    const [dead] = slow;
    await one!.register({ owner: HONEST, url: quick.url });
    await one!.register({ owner: HONEST, url: dead!.url });
    const events = Array.from({ length: 30 }, () => anEvent({ owner: HONEST }));
    await one!.tell(...events);
    for (const { worker } of instances) worker.start();
    await until(() => quick.received.length === events.length);
    expect(new Set(quick.received.map(({ headers }) => headers['webhook-id'])).size).toBe(events.length);
    expect(dead!.atMost()).toBe(4);
  });
});

describe('silent receivers of more owners than there are places', () => {
  let fixture: WebhookFixture;
  let quick: Receiver;
  /** What was sent to the silent ones, and how it ends. */
  let held: { readonly request: WebhookRequest; end(): void }[];

  beforeEach(async () => {
    fixture = await openWebhookFixture();
    quick = await startReceiver();
    held = [];
  });
  afterEach(async () => {
    const stopped = fixture.close();
    for (const { end } of held) end();
    await stopped;
    await quick.close();
  });

  function workerOfSilence() {
    const real = senderWith();
    return fixture.workerWith({
      sender: {
        send: (request) =>
          request.url.startsWith(quick.origin)
            ? real.send(request)
            : new Promise((resolve) => {
                held.push({ request, end: () => resolve({ durationMs: 5_000, error: 'timeout' }) });
              }),
        close: real.close,
      },
    });
  }

  async function tellSilent(): Promise<void> {
    const owners = Array.from({ length: 300 }, (_, n) => `owner ${n}`);
    for (const owner of owners) await fixture.register({ owner, url: 'https://silent.example/' });
    await fixture.tell(...owners.map((owner) => anEvent({ owner })));
  }

  test('hold up no webhook that is prompt, and are waited for shorter', async () => {
    const worker = workerOfSilence();
    await fixture.register({ owner: HONEST, url: quick.url });
    await fixture.tell(anEvent({ owner: HONEST }));
    await worker.runDue();
    expect(quick.received).toHaveLength(1);

    await tellSilent();
    worker.start();
    await until(() => held.length >= 192);
    for (let n = 2; n < 5; n += 1) {
      await fixture.tell(anEvent({ owner: HONEST }));
      worker.nudge();
      await until(() => quick.received.length === n);
    }
    expect(held).toHaveLength(192);
    expect(held.filter(({ request }) => request.timeoutMs === 5_000)).toHaveLength(96);
    expect(fixture.errors).toEqual([]);
  });
});

describe.each([
  ['sqlite', async () => `sqlite:${folder.newPath('db')}`],
  ['postgres', () => server.newDatabase()],
] as const)('webhooks from before there were turns, on %s', (dialect, newUrl) => {
  test('are of the address that they are sent to', async () => {
    const url = await newUrl();
    await (await openStorage(url)).close();
    const db = await connectTo(url);
    const row = { owner: HONEST, events: '["*"]', secret: 's', status: 'enabled', created_at: 0, updated_at: 0 };
    const urls = ['https://a.example/hook?to=https://b.example/', 'http://127.0.0.1:8080/', 'https://c.example'];
    for (const [at, to] of urls.entries()) {
      await insertRow(db, 'tollhouse_webhook', { ...row, id: `whk_${at}`, url: to, address: null });
    }
    const fill = webhookTurns(dialect).find((statement) => statement.startsWith('update'));
    await db.run(fill!);
    const rows = await db.run('select address from tollhouse_webhook order by id');
    expect(rows.map(({ address }) => address)).toEqual(['a.example', '127.0.0.1:8080', 'c.example']);
    await db.close();
  });
});
