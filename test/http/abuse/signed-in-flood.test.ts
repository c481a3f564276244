import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { BOTH_DATABASES } from '../../helpers/storage/both-databases.js';

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

test.each([
  ['lists of keys', 'GET', '/api/v1/keys', undefined],
  ['bodies that are long to look at', 'POST', '/api/v1/projects', { slug: '-', openapi: { x: 'x'.repeat(20_000) } }],
])('%s are for two requests of a wallet at once, and no more than eight wait', async (_what, method, path, body) => {
  const { client, payer } = fixture();
  const asPayer = await client.signIn(payer);
  fixture().advance(1_001);
  const asked = Array.from({ length: 20 }, () => client.ask(method, path, body, asPayer));
  const codes = (await Promise.all(asked)).map((it) => it.body['code'] ?? it.status);
  expect(codes).toContain('rate_limited');
  expect(codes.filter((it) => it !== 'rate_limited').length).toBeGreaterThanOrEqual(10);
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
