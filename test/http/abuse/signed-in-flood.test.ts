import { type GatewayFixture, openGatewayFixture, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { BOTH_DATABASES, type OwnDatabase } from '../../helpers/storage/both-databases.js';
import { holdTable } from '../../helpers/storage/write-hold.js';
import { until } from '../../helpers/until.js';

const PER_SECOND = 25;
const start = Date.now();
/** The clock stands, so that a second lasts as long as its test wants. */
const fixture = useGatewayFixture(BOTH_DATABASES[0], { limits: {}, clock: () => start });
beforeEach(() => fixture().advance(61_000));

test('a wallet has 25 requests a second by all its tokens and keys together, and another wallet its own', async () => {
  const { client, payer, asOwner } = fixture();
  const asPayer = await client.signIn(payer);
  const scopes = ['keys:read'];
  const keys = [await client.key(asPayer, { scopes }), await client.key(asPayer, { scopes })];
  fixture().advance(1_001);
  const shown = [asPayer, await client.signIn(payer), ...keys.map(({ headers }) => headers)];
  const ask = (by: (typeof shown)[number]) => client.ask('GET', '/api/v1/keys/key_1', undefined, by);
  for (let n = 0; n < PER_SECOND; n += 1) expect((await ask(shown[n % shown.length]!)).status).toBe(404);
  for (const by of shown) {
    const { status, body, headers } = await ask(by);
    expect([status, body['code'], headers.get('retry-after')]).toEqual([429, 'rate_limited', '1']);
  }
  expect((await ask(asOwner)).status).toBe(404);
  fixture().advance(1_001);
  expect((await ask(asPayer)).status).toBe(404);
});

describe('where the database answers late', () => {
  let database: OwnDatabase;
  let slow: GatewayFixture;
  beforeAll(async () => {
    database = await BOTH_DATABASES[1]![1]();
    slow = await openGatewayFixture(database.url, {}, { limits: {}, clock: () => start });
  });
  afterAll(async () => {
    await slow?.close();
    await database?.stop();
  });

  test.each([
    ['lists of keys', 'GET', (): string => '/api/v1/keys', undefined, 'tollhouse_service_key', 'payer'],
    [
      'bodies that are long to look at',
      'PATCH',
      (): string => `/api/v1/projects/${slow.project.id}`,
      { description: '語'.repeat(400) },
      'tollhouse_project',
      'owner',
    ],
  ] as const)('%s are for two requests of a wallet at once, and no more than eight wait', async (...row) => {
    // A wallet of its own for each: what one has asked for leaves places that rest.
    const [, method, pathOf, body, table, who] = row;
    slow.advance(61_000);
    const asWallet = await slow.client.signIn(slow[who]);
    slow.advance(1_001);
    const release = await holdTable(database.url, table);
    const statuses: number[] = [];
    const asked = Array.from({ length: 20 }, async () => {
      const { status, body: said } = await slow.client.ask(method, pathOf(), body, asWallet);
      if (status !== 200) expect(said['code']).toBe('rate_limited');
      statuses.push(status);
    });
    await until(async () => statuses.length === 10);
    expect(new Set(statuses)).toEqual(new Set([429]));
    await release();
    await Promise.all(asked);
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
  });
});

test('a key whose notes are longer than they may be now is shown, and changed in all but these', async () => {
  const { client, payer, storage } = fixture();
  const asPayer = await client.signIn(payer);
  const { id } = await client.key(asPayer);
  const notes = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`k${n}`, '語'.repeat(500)]));
  const longer = { name: 'test_longer_notes', text: 'update tollhouse_service_key set metadata = $1 where id = $2' };
  await storage.database.query(longer, JSON.stringify(notes), id);
  const change = (body: object) => client.ask('PATCH', `/api/v1/keys/${id}`, body, asPayer);
  expect((await change({ name: 'another' })).body).toMatchObject({ name: 'another', metadata: notes });
  expect((await change({ metadata: { k0: 'x' } })).status).toBe(422);
  const short = Object.fromEntries(Object.keys(notes).map((name) => [name, name === 'k0' ? 'x' : null]));
  expect((await change({ metadata: short })).body).toMatchObject({ metadata: { k0: 'x' } });
});
