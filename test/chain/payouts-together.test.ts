import { openPostgres } from '../../src/storage/sql/postgres-database.js';
import { newProjectId, openPayoutFixture, type PayoutFixture } from '../helpers/fixtures/payout-fixture.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';

let fixture: PayoutFixture;
let server: PostgresServer;

beforeAll(async () => {
  [fixture, server] = await Promise.all([openPayoutFixture(), startPostgres()]);
});
afterAll(async () => {
  await fixture.close();
  await server.stop();
});

test('two instances on one Postgres, both at work all the time, pay everything once', async () => {
  const url = await server.newDatabase();
  const databases = await Promise.all([openPostgres(url), openPostgres(url)]);
  const [one, two] = databases.map((it) => fixture.instance(it, undefined, { maxAgeMs: 0 })) as [Instance, Instance];
  const projects = await Promise.all(
    Array.from({ length: 3 }, async () => ({ id: newProjectId(), recipient: await fixture.newRecipient() })),
  );
  const sent = fixture.sandbox.calls['sendTransaction'] ?? 0;

  for (let round = 0; round < 4; round += 1) {
    await Promise.all(
      projects.flatMap(({ id, recipient }, index) =>
        databases.map((it) => fixture.land(it, id, [{ recipient, amount: BigInt(index + 1) }])),
      ),
    );
    await Promise.all([one.payouts.run(), two.payouts.run(), one.payouts.request(projects[0]!.id), two.payouts.run()]);
  }
  await Promise.all([one.payouts.close(), two.payouts.close()]);
  await one.payouts.run();

  expect(projects.map(({ recipient }) => fixture.held(recipient))).toEqual([8n, 16n, 24n]);
  const paid = (await Promise.all(projects.map(({ id }) => two.payouts.list(id, 100)))).flat();
  expect(new Set(paid.map(({ state }) => state))).toEqual(new Set(['paid']));
  expect((fixture.sandbox.calls['sendTransaction'] ?? 0) - sent).toBe(paid.length);
  await Promise.all(databases.map((it) => it.close()));
});

type Instance = ReturnType<PayoutFixture['instance']>;
