import { randomUUID } from 'node:crypto';
import { createIdentity } from '../../../src/identity/create-identity.js';
import type { ClientResponse } from '../../helpers/fixtures/gateway-client.js';
import { type GatewayFixture, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { SECRET } from '../../helpers/fixtures/identity-fixture.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';
import { signInHeader, signInInfo, walletKeyOf } from '../../helpers/transactions/wallet-key.js';

const GENERATE = '/api/v1/keys/generate';
const WANTED = { name: 'once' };
const PRICE = { amount: '1', token: 'USDC' };

describe.each(DAILY_DATABASES)('a kept answer is for its proven caller, on %s', (name, openDatabase) => {
  let fixture: GatewayFixture;
  const opened = useGatewayFixture([name, openDatabase]);
  beforeAll(() => {
    fixture = opened();
  });

  const send = (by: ProofHeaders, name: string, path = GENERATE, body: unknown = WANTED): Promise<ClientResponse> =>
    fixture.client.ask('POST', path, body, { ...by, 'idempotency-key': name });
  const refusal = ({ status, body }: ClientResponse) => [status, body['code']];

  function expectSame(again: ClientResponse, first: ClientResponse): void {
    expect(first.status).toBe(201);
    expect([again.status, again.text]).toEqual([first.status, first.text]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
  }

  const keysOf = async (by: ProofHeaders) => {
    const { body } = await fixture.client.ask('GET', '/api/v1/keys', undefined, by);
    return (body['data'] as readonly { readonly name: string }[]).filter(({ name }) => name === WANTED.name).length;
  };

  test('a renewed token of the same wallet finds the answer; no second key is made', async () => {
    const { client, partner } = fixture;
    const name = randomUUID();
    const first = await send(await client.signIn(partner), name);
    const renewed = await client.signIn(partner);
    expectSame(await send(renewed, name), first);
    expect(await keysOf(renewed)).toBe(1);
  });

  test('a revoked token finds 401, another wallet its own answer, and nobody 401', async () => {
    const { client, owner, asOwner } = fixture;
    const name = randomUUID();
    const by = await client.signIn(owner);
    const first = await send(by, name);
    expectSame(await send(by, name), first);
    const stranger = await client.signIn(fixture.payer);
    expect((await send(stranger, name)).body['api_secret']).not.toBe(first.body['api_secret']);
    const token = by['authorization']?.slice('Bearer '.length);
    expect((await client.ask('POST', '/api/v1/auth/revoke', { token })).status).toBeLessThan(300);
    expect(refusal(await send(by, name))).toEqual([401, 'invalid_access_token']);
    expect(refusal(await send({}, name))).toEqual([401, 'unauthenticated']);
    expectSame(await send(asOwner, name), first);
  });

  test('a key that has lost a scope is shown no secret again, and changes nothing; its wallet and who has the scope are', async () => {
    const { client, owner, asOwner, upstream } = fixture;
    const scopes = ['projects:write', 'webhooks:write', 'secrets:read'];
    const { id, headers } = await client.key(asOwner, { scopes });
    const scopesNow = (some: readonly string[]) => client.ask('PATCH', `/api/v1/keys/${id}`, { scopes: some }, asOwner);
    const draft = { slug: `once-${Date.now()}`, name: 'once', upstream: { url: upstream.origin }, pricing: PRICE };
    const project = await send(headers, 'made', '/api/v1/projects', draft);
    const webhook = await send(headers, 'hook', '/api/v1/webhooks', { url: upstream.url, events: ['*'] });
    const asked = [
      ['made', '/api/v1/projects', draft],
      ['turned', `/api/v1/projects/${project.body['id']}/rotate-secret`, {}],
      ['hook-turned', `/api/v1/webhooks/${webhook.body['id']}/rotate`, {}],
    ] as const;
    const all = () => Promise.all(asked.map(([key, path, body]) => send(headers, key, path, body)));
    const first = await all();
    expect(first.map(({ status }) => status)).toEqual([201, 200, 200]);
    for (const { text } of first) expect(text).toMatch(/"(gws|whsec)_/);

    await scopesNow(scopes.slice(0, 2));
    for (const again of await all()) expect(refusal(again)).toEqual([403, 'insufficient_scope']);
    await scopesNow(scopes);
    expect((await all()).map(({ text }) => text)).toEqual(first.map(({ text }) => text));

    const blind = await client.key(await client.signIn(owner), { scopes: ['projects:write'] });
    const path = `/api/v1/projects/${project.body['id']}/pause`;
    const paused = await send(blind.headers, 'paused', path, {});
    expect([paused.status, paused.text.includes('gws_')]).toEqual([200, false]);
    expect((await send(blind.headers, 'paused', path, {})).text).toBe(paused.text);
  });

  test('who signed in by header is found again by a fresh sign-in, and by nobody without one', async () => {
    const { client, partner, storage } = fixture;
    const wallet = walletKeyOf(partner.secretKey.subarray(0, 32));
    const identity = createIdentity({ network: 'solana-devnet', jwtSecret: SECRET, counters: storage.counters });
    const fresh = async (): Promise<ProofHeaders> => {
      const asked = { url: `${client.url}${GENERATE}`, method: 'POST', header: () => undefined };
      return { 'sign-in-with-x': signInHeader(wallet, signInInfo(await identity.challenge(asked))) };
    };
    const name = randomUUID();
    const first = await send(await fresh(), name);
    expect(refusal(await send({}, name))).toEqual([401, 'unauthenticated']);
    expectSame(await send(await fresh(), name), first);
  });

  test('all keys of a wallet take its one share of the room, and see none of each other’s answers; another wallet has its own', async () => {
    const { client, partner, payer, storage } = fixture;
    const path = '/api/v1/webhooks';
    const wanted = { url: fixture.upstream.url, events: ['*'] };
    const owners = { name: 'test_owners', text: 'select distinct owner from tollhouse_answer order by owner' };
    const ownersNow = async () => (await storage.database.query(owners)).map((row) => String(row['owner']));
    const by = await client.signIn(partner);
    const scopes = { scopes: ['webhooks:write'] };
    const shown = [by, (await client.key(by, scopes)).headers, (await client.key(by, scopes)).headers];
    const answers: ClientResponse[] = [];
    for (const headers of shown) answers.push(await send(headers, 'the-same-name-of-all', path, wanted));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(answers.map(({ body }) => body['id'])).size).toBe(3);
    expect((await ownersNow()).filter((it) => /key/.test(it) || it.includes(String(partner.publicKey)))).toEqual([
      `wallet ${partner.publicKey}`,
    ]);
    const other = (await client.key(await client.signIn(payer), scopes)).headers;
    expect((await send(other, 'the-same-name-of-all', path, wanted)).status).toBe(201);
    expect(await ownersNow()).toContain(`wallet ${payer.publicKey}`);
  });

  test('a service key finds the answer after its secret was changed, and 401 after it was revoked', async () => {
    const { client, asOwner, upstream } = fixture;
    const path = '/api/v1/webhooks';
    const wanted = { url: `${upstream.origin}/hook`, events: ['call.succeeded'] };
    const { id, headers } = await client.key(asOwner, { scopes: ['webhooks:write'] });
    const name = randomUUID();
    const first = await send(headers, name, path, wanted);
    const rotated = await client.ask('POST', `/api/v1/keys/${id}/rotate`, {}, asOwner);
    const renewed = { ...headers, 'x-service-secret': String(rotated.body['api_secret']) };
    expectSame(await send(renewed, name, path, wanted), first);
    await client.ask('DELETE', `/api/v1/keys/${id}`, undefined, asOwner);
    for (const by of [headers, renewed]) {
      expect(refusal(await send(by, name, path, wanted))).toEqual([401, 'service_key_revoked']);
    }
  });

  test('a payment that was created with a key is named again to this key alone, and to nobody once it is revoked', async () => {
    const { client, asOwner, owner } = fixture;
    const path = '/create-payment';
    const wanted = { amount: '1', token: 'USDC', recipient: owner.publicKey.toBase58() };
    const { id, headers } = await client.key(asOwner);
    const name = randomUUID();
    const first = await send(headers, name, path, wanted);
    expect((await send(headers, name, path, wanted)).text).toBe(first.text);
    expect((await send({}, name, path, wanted)).body['payment_id']).not.toBe(first.body['payment_id']);
    await client.ask('DELETE', `/api/v1/keys/${id}`, undefined, asOwner);
    expect(refusal(await send(headers, name, path, wanted))).toEqual([401, 'service_key_revoked']);
  });
});
