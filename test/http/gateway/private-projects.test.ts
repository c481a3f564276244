import { VersionedTransaction } from '@solana/web3.js';
import type { ClientResponse, MadeProject } from '../../helpers/fixtures/gateway-client.js';
import { type Caller, type GatewayFixture, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';

const NOWHERE = 'no-such-slug';
const PRICE = '0.012347';
/** What two requests differ in, whatever they are about: an id is a letter longer or shorter. */
const OF_THE_REQUEST = ['date', 'x-request-id', 'keep-alive', 'content-length'];

describe.each(DAILY_DATABASES)('a private project, on %s', (name, openDatabase) => {
  const opened = useGatewayFixture([name, openDatabase]);
  let fixture: GatewayFixture;
  let project: MadeProject;
  let friend: Caller;
  let stranger: Caller;

  beforeAll(async () => {
    fixture = opened();
    [friend, stranger] = [await fixture.newCaller(), await fixture.newCaller()];
  });
  beforeEach(async () => {
    const allowed = [friend.wallet.publicKey.toBase58()];
    project = await fixture.newProject({ visibility: 'private', allowed });
  });

  const change = (body: object) => fixture.client.ask('PATCH', `/api/v1/projects/${project.id}`, body, fixture.asOwner);
  const call = (slug: string, headers: ProofHeaders, method = 'GET') =>
    fixture.client.call(slug, { method, headers: { ...headers } });
  const statusFor = async ({ key }: Caller) => (await call(project.slug, key.headers)).status;

  function ask(payee: MadeProject, by: ProofHeaders, name = payee.slug): Promise<ClientResponse> {
    const wanted = { amount: PRICE, token: 'USDC', recipient: payee.split[0]?.recipient, project: name };
    return fixture.client.ask('POST', '/create-payment', wanted, by);
  }

  /** All that a client sees of a response, but for what is of this request alone. */
  function seen({ status, headers, body }: ClientResponse) {
    const kept = [...headers]
      .filter(([name]) => !OF_THE_REQUEST.includes(name))
      .map(([name, value]) => [name, name === 'ratelimit' ? 'counted' : value]);
    const { request_id: _id, ...rest } = body;
    return { status, headers: Object.fromEntries(kept), body: rest };
  }

  const ways: readonly (readonly [string, () => ProofHeaders])[] = [
    ['nobody', () => ({})],
    ['a stranger', () => stranger.key.headers],
    ['a stranger with a payment', () => ({ ...stranger.key.headers, 'x-service-payment': 'AAAA' })],
    ['a stranger with one of x402', () => ({ ...stranger.key.headers, 'payment-signature': 'e30=' })],
    ['half a key', () => ({ 'x-service-key': String(stranger.key.headers['x-service-key']) })],
    [
      'a key of a friend with another secret',
      () => ({ ...friend.key.headers, 'x-service-secret': stranger.key.secret }),
    ],
  ];

  test.each(ways)('is for %s as a slug that is not there', async (_who, headers) => {
    for (const method of ['GET', 'POST', 'OPTIONS']) {
      const [hidden, missing] = [await call(project.slug, headers(), method), await call(NOWHERE, headers(), method)];
      expect(seen(hidden)).toEqual(seen(missing));
      if (method !== 'OPTIONS') expect([hidden.status, hidden.body['code']]).toEqual([404, 'project_not_found']);
    }
  });

  test('is not there for strangers who pay, paused or not; nothing of it is counted', async () => {
    const before = fixture.hits();
    for (const state of ['pause', 'resume']) {
      await fixture.client.ask('POST', `/api/v1/projects/${project.id}/${state}`, undefined, fixture.asOwner);
      for (const headers of [{}, stranger.key.headers]) {
        for (const name of [project.slug, project.id]) {
          const [hidden, missing] = [await ask(project, headers, name), await ask(project, headers, NOWHERE)];
          expect(seen(hidden)).toEqual(seen(missing));
          expect([hidden.status, hidden.body['code']]).toEqual([404, 'project_not_found']);
        }
        expect((await call(project.slug, headers)).status).toBe(404);
      }
    }
    const figures = `/api/v1/projects/${project.id}/analytics`;
    expect((await fixture.client.ask('GET', figures, undefined, fixture.asOwner)).body['totals']).toMatchObject({
      refused: 0,
    });
    expect(fixture.hits()).toBe(before);
  });

  test('is in no list that everybody sees', async () => {
    for (const path of ['/api/v1/marketplace', '/discovery', '/discovery/resources', '/.well-known/x402']) {
      expect((await fixture.client.ask('GET', path)).text).not.toContain(project.slug);
    }
    const [hidden, missing] = await Promise.all(
      [project.slug, NOWHERE].map((slug) => fixture.client.ask('GET', `/api/v1/marketplace/${slug}`)),
    );
    expect(seen(hidden as ClientResponse)).toEqual(seen(missing as ClientResponse));
  });

  test('serves its owner, the wallets that it names, and the keys that it names', async () => {
    const named = await fixture.newCaller();
    const other = { wallet: named.wallet, key: await fixture.client.key(await fixture.client.signIn(named.wallet)) };
    await change({ allowed: [friend.wallet.publicKey.toBase58(), named.key.id] });
    const own = { wallet: fixture.owner, key: await fixture.client.key(fixture.asOwner) };
    expect(await Promise.all([own, friend, named, other].map(statusFor))).toEqual([402, 402, 402, 404]);
    for (const caller of [friend, named]) {
      const { header } = await fixture.pay({ project, caller });
      const answer = await call(project.slug, { ...caller.key.headers, ...header });
      expect([answer.status, answer.text]).toEqual([200, 'paid for']);
    }
    expect((await call(project.slug, friend.key.headers)).headers.has('ratelimit')).toBe(true);
  });

  test('tells those whom it lets in what is wrong with their key', async () => {
    const asFriend = await fixture.client.signIn(friend.wallet);
    const { id, headers } = await fixture.client.key(asFriend);
    await fixture.client.ask('DELETE', `/api/v1/keys/${id}`, undefined, asFriend);
    expect((await call(project.slug, headers)).body['code']).toBe('service_key_revoked');
  });

  test('takes no money for a request of one who is let in no more', async () => {
    const created = await ask(project, friend.key.headers);
    const prepare = () =>
      fixture.client.ask('POST', `/payments/${created.body['payment_id']}/transaction`, {
        payer: friend.wallet.publicKey.toBase58(),
      });
    const prepared = await prepare();
    expect([created.status, prepared.status]).toEqual([200, 200]);
    await change({ allowed: [] });
    const { serialized } = prepared.body['transaction'] as { readonly serialized: string };
    const transaction = VersionedTransaction.deserialize(Buffer.from(serialized, 'base64'));
    transaction.sign([friend.wallet]);
    const settle = () =>
      fixture.client.ask('POST', '/settle', {
        payment_id: created.body['payment_id'],
        signed_transaction: Buffer.from(transaction.serialize()).toString('base64'),
      });
    for (const { status, body } of [await prepare(), await settle()]) {
      expect([status, body['code']]).toEqual([404, 'project_not_found']);
    }
    await change({ allowed: [friend.key.id] });
    expect((await settle()).status).toBe(200);
  });

  test('that is made unlisted is called by strangers, and listed ones are found by them', async () => {
    expect(await statusFor(stranger)).toBe(404);
    await change({ visibility: 'unlisted' });
    expect(await statusFor(stranger)).toBe(402);
    expect((await fixture.client.ask('GET', '/api/v1/marketplace')).text).not.toContain(project.slug);
    await change({ visibility: 'listed' });
    expect((await fixture.client.ask('GET', '/api/v1/marketplace')).text).toContain(`"${project.slug}"`);
    await change({ visibility: 'private' });
    expect(await statusFor(stranger)).toBe(404);
    expect(await statusFor(friend)).toBe(402);
  });
});
