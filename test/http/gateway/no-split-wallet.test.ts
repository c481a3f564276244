import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';

const fixture = useGatewayFixture(undefined, { hasSplitWallet: false });

test('a call whose price goes to several says why x402 offers nothing, and what pays it', async () => {
  const { client, project, key } = fixture();
  const unpaid = await client.call(project.slug, { headers: key.headers });
  expect(unpaid).toMatchObject({ status: 402, body: { code: 'payment_required', accepts: [] } });
  expect(unpaid.body['detail']).toMatch(
    /several recipients.* \(its operator sets SPLIT_KEYPAIR, option "splitKeypair"\): make a payment with POST \/create-payment \{.*\} and your service key/,
  );
});

test('one that is sold in packs alone says that nobody can buy it', async () => {
  const { client, project, key, newProject } = fixture();
  const split = project.split.map(({ recipient, bps }) => ({ recipient, bps }));
  const offers = [{ amount: '0.05', token: 'USDC', pass: { uses: 10 } }];
  const packs = await newProject({ split, pricing: { offers } });
  const unpaid = await client.call(packs.slug, { headers: key.headers });
  expect(unpaid).toMatchObject({ status: 402, body: { accepts: [] } });
  expect(unpaid.body['detail']).toMatch(
    /SPLIT_KEYPAIR, option "splitKeypair"\), so that nobody can buy it at the moment\.$/,
  );
});

test('whoever looks for payouts there is told why there are none', async () => {
  const { client, asOwner, project } = fixture();
  for (const path of ['', '/owed', '/pyo_1', '/pyo_1/resolve']) {
    const answer = await fetch(`${client.url}/api/v1/projects/${project.id}/payouts${path}`, { headers: asOwner });
    const body = (await answer.json()) as { readonly detail?: unknown };
    expect({ status: answer.status, body }).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(body.detail).toMatch(/pays nothing out: .*SPLIT_KEYPAIR, option "splitKeypair"/);
  }
});
