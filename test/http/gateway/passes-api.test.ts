import { newPass } from '../../contracts/passes.js';
import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';

describe('the passes of a wallet over HTTP', () => {
  const fixture = useGatewayFixture();

  const walletOf = () => fixture().payer.publicKey.toBase58();

  test('are listed for it and nobody else, with what is left of them', async () => {
    const { client, payer, owner } = fixture();
    const pass = await fixture().facilitator.passes.open(newPass({ wallet: walletOf(), bought: 5n, left: 4n }));
    const spent = await fixture().facilitator.passes.open(newPass({ wallet: walletOf(), left: 0n, lastsMs: 60_000 }));

    const { status, body } = await client.ask('GET', '/api/v1/passes', undefined, await client.signIn(payer));
    expect(status).toBe(200);
    expect(body['data']).toContainEqual({
      ...{ id: pass.id, payment_id: pass.paymentId, wallet: walletOf(), site: pass.site, covers: pass.scope },
      ...{ kind: 'uses', mint: null, bought: '5', left: '4' },
      ...{ opened_at: new Date(pass.openedAt).toISOString(), ends_at: null, renewable_until: null, status: 'active' },
      project: null,
    });
    expect(body['data']).toContainEqual(
      expect.objectContaining({ id: spent.id, left: '0', status: 'used_up', ends_at: expect.any(String) }),
    );
    const others = await client.ask('GET', '/api/v1/passes', undefined, await client.signIn(owner));
    expect(others.body).toEqual({ data: [] });
    expect((await client.ask('GET', '/api/v1/passes', undefined, {})).status).toBe(401);
  });

  test('are told with the slug of the project whose calls they cover, as long as there is it', async () => {
    const { client, payer } = fixture();
    const { id, slug } = await fixture().newProject();
    const { passes } = fixture().facilitator;
    const pass = await passes.open(newPass({ wallet: walletOf(), scope: `project ${id}` }));
    const gone = await passes.open(newPass({ wallet: walletOf(), scope: 'project prj_gone' }));
    const { body } = await client.ask('GET', '/api/v1/passes', undefined, await client.signIn(payer));
    expect(body['data']).toContainEqual(expect.objectContaining({ id: pass.id, project: slug }));
    expect(body['data']).toContainEqual(expect.objectContaining({ id: gone.id, project: null }));
  });

  test('have their tokens withdrawn by it, by no other wallet, and by no service key', async () => {
    const { client, payer, owner, key } = fixture();
    const { passes } = fixture().facilitator;
    const { id } = await passes.open(newPass({ wallet: walletOf() }));
    const withdraw = async (headers: Readonly<Record<string, string>>) =>
      (await client.ask('DELETE', `/api/v1/passes/${id}/tokens`, undefined, headers)).status;

    expect([await withdraw(await client.signIn(owner)), await withdraw(key.headers)]).toEqual([404, 403]);
    expect((await passes.find(id))?.serial).toBe(0);
    expect(await withdraw(await client.signIn(payer))).toBe(204);
    expect(await passes.find(id)).toMatchObject({ serial: 1, left: 4n });
  });
});
