import { openPostgres } from '../../src/storage/sql/postgres-database.js';
import { newProjectId, openPayoutStand, type PayoutStand } from '../helpers/payout-stand.js';
import { type PostgresServer, startPostgres } from '../helpers/postgres.js';

let stand: PayoutStand;
let server: PostgresServer;

beforeAll(async () => {
  [stand, server] = await Promise.all([openPayoutStand(), startPostgres()]);
});
afterAll(async () => {
  await stand.close();
  await server.stop();
});

test('two instances on one Postgres, both at work all the time, pay everything once', async () => {
  const url = await server.newDatabase();
  const databases = await Promise.all([openPostgres(url), openPostgres(url)]);
  const [one, two] = databases.map((it) => stand.instance(it, undefined, { maxAgeMs: 0 })) as [Instance, Instance];
  const projects = await Promise.all(
    Array.from({ length: 3 }, async () => ({ id: newProjectId(), recipient: await stand.newRecipient() })),
  );
  const sent = stand.sandbox.calls['sendTransaction'] ?? 0;

  for (let round = 0; round < 4; round += 1) {
    await Promise.all(
      projects.flatMap(({ id, recipient }, index) =>
        databases.map((it) => stand.land(it, id, [{ recipient, amount: BigInt(index + 1) }])),
      ),
    );
    await Promise.all([one.payouts.run(), two.payouts.run(), one.payouts.request(projects[0]!.id), two.payouts.run()]);
  }
  await Promise.all([one.payouts.close(), two.payouts.close()]);
  await one.payouts.run();

  expect(projects.map(({ recipient }) => stand.held(recipient))).toEqual([8n, 16n, 24n]);
  const paid = (await Promise.all(projects.map(({ id }) => two.payouts.list(id, 100)))).flat();
  expect(new Set(paid.map(({ state }) => state))).toEqual(new Set(['paid']));
  expect((stand.sandbox.calls['sendTransaction'] ?? 0) - sent).toBe(paid.length);
  await Promise.all(databases.map((it) => it.close()));
});

type Instance = ReturnType<PayoutStand['instance']>;
