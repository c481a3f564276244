import type { Keypair } from '@solana/web3.js';
import type { ClientResponse } from '../../helpers/fixtures/gateway-client.js';
import { type GatewayFixture, openGatewayFixture, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';

/** What a wallet makes, where, and how much of it. */
const KINDS = [
  { what: 'projects', path: '/api/v1/projects', most: 20, tries: 100 },
  { what: 'keys', path: '/api/v1/keys/generate', most: 50, tries: 70 },
  { what: 'webhooks', path: '/api/v1/webhooks', most: 20, tries: 60 },
] as const;

describe.each(DAILY_DATABASES)('one fresh wallet, on %s', (name, openDatabase) => {
  const opened = useGatewayFixture([name, openDatabase], { quotas: {} });
  let fixture: GatewayFixture;
  let made = 0;

  beforeAll(async () => {
    fixture = opened();
  });

  async function freshWallet(): Promise<ProofHeaders> {
    const wallet: Keypair = await fixture.sandbox.createWallet({});
    return fixture.client.signIn(wallet);
  }

  function bodyOf(what: string): object {
    made += 1;
    if (what === 'keys') return { name: 'a key' };
    if (what === 'webhooks') return { url: fixture.upstream.url, events: ['*'] };
    const pricing = { amount: '0.01', token: 'USDC' };
    return { slug: `fresh-${made}`, name: 'x', upstream: { url: fixture.upstream.origin }, pricing };
  }

  const make = (what: string, path: string, by: ProofHeaders) => fixture.client.ask('POST', path, bodyOf(what), by);
  const statusOf = ({ status }: ClientResponse) => status;
  const remove = (path: string, by: ProofHeaders) => fixture.client.ask('DELETE', path, undefined, by);

  test.each(KINDS)('has $most $what, however many it asks for at once', async ({ what, path, most, tries }) => {
    const [one, other] = [await freshWallet(), await freshWallet()];
    const answers = await Promise.all(Array.from({ length: tries }, () => make(what, path, one)));
    const kept = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status }) => status !== 201);
    expect([kept.length, refused.length]).toEqual([most, tries - most]);
    for (const { status, body } of refused) {
      expect([status, body['code'], body['param']]).toEqual([409, 'quota_reached', what]);
      expect(body['detail']).toMatch(new RegExp(`may have ${most} .* here: (delete|revoke) one, or ask the operator`));
    }
    const list = path.replace('/generate', '');
    const listed = await fixture.client.ask('GET', `${list}?limit=100`, undefined, one);
    expect(listed.body['data']).toHaveLength(most);

    expect(statusOf(await make(what, path, other))).toBe(201);
    expect(statusOf(await remove(`${list}/${kept[0]?.body['id']}`, one))).toBe(204);
    const again = [await make(what, path, one), await make(what, path, one)];
    expect(again.map(statusOf)).toEqual([201, 409]);
  });
});

test('whoever makes and deletes projects without end is told until when he can make no more', async () => {
  const fixture = await openGatewayFixture('memory:', {}, { quotas: { projects: 2 } });
  const { client, upstream, partner } = fixture;
  const pricing = { amount: '1', token: 'USDC' };
  const make = async (slug: string, by: ProofHeaders) =>
    client.ask('POST', '/api/v1/projects', { slug, name: 'x', upstream: { url: upstream.origin }, pricing }, by);
  const as = await client.signIn(partner);
  for (let at = 0; at < 10; at += 1) {
    const { status, body } = await make('again', as);
    expect(status).toBe(201);
    expect((await client.ask('DELETE', `/api/v1/projects/${body['id']}`, undefined, as)).status).toBe(204);
  }
  const { status, body } = await make('another', as);
  expect([status, body['code'], body['param']]).toEqual([409, 'quota_reached', 'projects']);
  const [, until = ''] =
    /delete 10 projects within 30 days .* from (\S+) on, or ask/.exec(String(body['detail'])) ?? [];
  expect((await make('honest', fixture.asOwner)).status).toBe(201);
  fixture.advance(Date.parse(until) - Date.now());
  expect((await make('another', await client.signIn(partner))).status).toBe(201);
  await fixture.close();
});

test('whoever makes and revokes keys without end is told until when he can make no more, and keeps no notes', async () => {
  const fixture = await openGatewayFixture('memory:', {}, { quotas: { keys: 2 } });
  const { client, partner } = fixture;
  const as = await client.signIn(partner);
  const make = async (by: ProofHeaders) =>
    client.ask('POST', '/api/v1/keys/generate', { name: 'again', metadata: { note: 'x'.repeat(500) } }, by);
  for (let at = 0; at < 10; at += 1) {
    const { status, body } = await make(as);
    expect(status).toBe(201);
    expect((await client.ask('DELETE', `/api/v1/keys/${body['id']}`, undefined, as)).status).toBe(204);
  }
  const { status, body } = await make(as);
  expect([status, body['code'], body['param']]).toEqual([409, 'quota_reached', 'keys']);
  const [, until = ''] =
    /10 service keys .* within 30 days .* from (\S+) on, or ask/.exec(String(body['detail'])) ?? [];
  const listed = await client.ask('GET', '/api/v1/keys', undefined, as);
  const kept = (listed.body['data'] as { name: string; metadata: object }[]).map(({ name, metadata }) => [
    name,
    metadata,
  ]);
  expect(kept).toEqual(Array.from({ length: 10 }, () => ['again', {}]));
  expect((await make(fixture.asOwner)).status).toBe(201);
  fixture.advance(Date.parse(until) - Date.now());
  expect((await make(await client.signIn(partner))).status).toBe(201);
  await fixture.close();
});

test('an operator says how much a wallet may own', async () => {
  const fixture = await openGatewayFixture('memory:', {}, { quotas: { keys: 1, webhooks: 0, projectBytes: 2_000 } });
  const as = await fixture.client.signIn(fixture.partner);
  await fixture.client.key(as);
  const ask = (path: string, body: object) => fixture.client.ask('POST', `/api/v1/${path}`, body, as);
  const project = {
    slug: 'long',
    name: 'Long',
    description: 'x'.repeat(1_000),
    upstream: { url: `${fixture.upstream.origin}/${'x'.repeat(1_000)}` },
    pricing: { amount: '1', token: 'USDC' },
  };
  const answers = [
    await ask('keys/generate', { name: 'another' }),
    await ask('webhooks', { url: fixture.upstream.url, events: ['*'] }),
    await ask('projects', project),
  ];
  expect(answers.map(({ status, body }) => [status, body['param']])).toEqual([
    [409, 'keys'],
    [409, 'webhooks'],
    [409, 'project_bytes'],
  ]);
  expect((await ask('projects', { ...project, description: 'short' })).status).toBe(201);
  await fixture.close();
});
