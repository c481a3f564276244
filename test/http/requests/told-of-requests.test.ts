import type { ClientResponse } from '../../helpers/fixtures/gateway-client.js';
import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';
import { until } from '../../helpers/until.js';

describe.each(DAILY_DATABASES)('who is paid, on %s', (...database) => {
  const fixture = useGatewayFixture(database);

  const wallet = () => fixture().owner.publicKey.toBase58();
  const money = () => ({ amount: 1, token: 'USDC', recipient: wallet() });
  const sold = () => ({ project: fixture().project.slug });
  const ask = (body: object, by?: ProofHeaders) => fixture().client.ask('POST', '/create-payment', body, by);
  const idOf = ({ status, body }: ClientResponse) => [status, body['payment_id']];

  test('is told of what he asks for himself and of what is paid, and of nothing that strangers ask for', async () => {
    const { client, upstream, asOwner, project, key, pay } = fixture();
    const hook = { url: `${upstream.origin}/hook`, events: ['*'] };
    expect((await client.ask('POST', '/api/v1/webhooks', hook, asOwner)).status).toBe(201);

    const strangers = [];
    for (const by of [undefined, key.headers]) {
      for (const body of [money(), sold(), { ...money(), metadata: { note: 'x'.repeat(500) } }]) {
        strangers.push((await ask(body, by)).status);
      }
    }
    expect(strangers).toEqual(Array(6).fill(200));
    const paid = await pay();
    const own = await client.key(asOwner);
    const made = [await ask(money(), own.headers), await ask(sold(), own.headers)].map(idOf);

    const told = [
      ['payment.settled', paid.id],
      ['payment.created', made[0]?.[1]],
      ['payment.created', made[1]?.[1]],
    ];
    const types = 'payment.created,payment.settled';
    const listed = async () =>
      (await client.ask('GET', `/api/v1/events?types=${types}`, undefined, asOwner)).body['data'];
    // On Postgres an event is listed once everything is written that was begun before it.
    await until(async () => Reflect.get(Object(await listed()), 'length') === told.length);
    const events = await listed();
    expect(events).toMatchObject(
      [...told]
        .reverse()
        .map(([type, id]) => ({ type, data: type === 'payment.created' ? { payment_id: id } : { resource: id } })),
    );
    expect(events).toMatchObject([{ project_id: project.id }, { project_id: null }, { project_id: project.id }]);
    const posted = () =>
      upstream.received.map(({ body }) => JSON.parse(body).type).filter((it) => it.startsWith('payment.'));
    await until(() => posted().length >= told.length);
    expect(posted().sort()).toEqual(told.map(([type]) => type).sort());
  });
});
