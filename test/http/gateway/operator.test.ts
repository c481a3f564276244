import { Keypair, VersionedTransaction } from '@solana/web3.js';
import { createGateway } from '../../../src/gateway/create-gateway.js';
import { createRouter } from '../../../src/http/create-router.js';
import { createIdentity } from '../../../src/identity/create-identity.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import {
  type ClientResponse,
  connectGateway,
  type GatewayClient,
  type MadeProject,
} from '../../helpers/fixtures/gateway-client.js';
import { type Caller, type GatewayFixture, openGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { SECRET } from '../../helpers/fixtures/identity-fixture.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { testFolder } from '../../helpers/processes/test-folder.js';
import { type PostgresServer, startPostgres } from '../../helpers/storage/postgres.js';

const DAY_MS = 86_400_000;
const HALF_A_MINUTE_MS = 30_000;
const folder = testFolder();
let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

const STORES = [
  ['SQLite', async () => `sqlite:${folder.newPath('db')}`],
  ['Postgres', () => postgres.newDatabase()],
] as const;

const outcome = ({ status, body }: ClientResponse) => [status, body['code']];
const addressOf = ({ publicKey }: Keypair) => publicKey.toBase58();

describe.each(STORES)('an operator, on %s', (_name, newUrl) => {
  const operator = Keypair.generate();
  let fixture: GatewayFixture;
  let client: GatewayClient;
  /** Another instance on the same database. */
  let other: GatewayClient;
  let closeOther: () => Promise<void>;
  let asOperator: ProofHeaders;
  let stranger: Caller;
  let project: MadeProject;

  beforeAll(async () => {
    const url = await newUrl();
    const operators = [addressOf(operator)];
    fixture = await openGatewayFixture(url, {}, { operators });
    client = fixture.client;
    const { facilitator, gateway } = fixture;
    const { now } = gateway;
    const storage = await openStorage(url, { now });
    const second = createGateway({ facilitator, storage, operators, now, allowPrivateNetworks: ['127.0.0.0/8'] });
    const identity = createIdentity({
      network: 'solana-devnet',
      jwtSecret: SECRET,
      counters: storage.counters,
      now,
    });
    const router = createRouter({ facilitator, gateway: second, identity, limits: false });
    other = await connectGateway(await fixture.serve((app) => app.use(router)));
    closeOther = async () => {
      await second.close();
      await storage.close();
    };
    asOperator = await client.signIn(operator);
    stranger = await fixture.newCaller();
  });
  afterAll(async () => {
    await closeOther();
    await fixture.close();
  });
  beforeEach(async () => {
    project = await fixture.newProject({ visibility: 'listed' });
  });

  const ask = (method: string, path: string, body?: unknown, by = asOperator) =>
    client.ask(method, `/api/v1/operator/${path}`, body, by);
  const suspend = (kind: string, target: string, reason?: string) =>
    ask('POST', 'suspend', { kind, target, ...(reason === undefined ? {} : { reason }) });
  const resume = (kind: string, target: string) => ask('POST', 'resume', { kind, target });
  const callAt = (at: GatewayClient, { slug }: MadeProject, { key }: Caller) =>
    at.call(slug, { headers: { ...key.headers } });
  const statusAt = async (at: GatewayClient, called = project, by = stranger) => outcome(await callAt(at, called, by));

  async function all(path: string, query = ''): Promise<Readonly<Record<string, unknown>>[]> {
    const found: Readonly<Record<string, unknown>>[] = [];
    for (let cursor: unknown = ''; cursor !== null; ) {
      const { body } = await ask('GET', `${path}?limit=2${query}${cursor === '' ? '' : `&cursor=${cursor}`}`);
      found.push(...(body['data'] as Readonly<Record<string, unknown>>[]));
      cursor = body['next_cursor'];
    }
    return found;
  }

  test('is a wallet that is named, by its own token; nobody else gets in', async () => {
    const paths: readonly (readonly [string, string, unknown?])[] = [
      ['GET', 'owners'],
      ['GET', `owners/${addressOf(fixture.owner)}`],
      ['PATCH', `owners/${addressOf(fixture.owner)}`, { quotas: { projects: 0 } }],
      ['GET', 'projects'],
      ['GET', 'keys'],
      ['GET', 'suspensions'],
      ['POST', 'suspend', { kind: 'project', target: project.id }],
      ['POST', 'resume', { kind: 'project', target: project.id }],
      ['GET', 'audit'],
    ];
    const scopes = ['projects:read', 'projects:write', 'keys:write', 'secrets:read'];
    const operatorsKey = await client.key(asOperator, { scopes });
    for (const [method, path, body] of paths) {
      expect(outcome(await ask(method, path, body, fixture.asOwner))).toEqual([403, 'not_an_operator']);
      expect(outcome(await ask(method, path, body, {}))).toEqual([401, 'unauthenticated']);
      expect(outcome(await ask(method, path, body, operatorsKey.headers))).toEqual([401, 'unauthenticated']);
    }
    expect(await statusAt(client)).toEqual([402, 'payment_required']);
  });

  test('sees owners, projects and keys, page by page, and no secret of them', async () => {
    const [owner, caller] = [addressOf(fixture.owner), addressOf(stranger.wallet)];
    const owners = await all('owners');
    expect(owners.map(({ wallet }) => wallet)).toEqual(expect.arrayContaining([owner, caller]));
    expect(owners.find(({ wallet }) => wallet === caller)).toMatchObject({ projects: 0, keys: 1, webhooks: 0 });
    const [projects, theirs] = [await all('projects'), await all('projects', `&owner=${caller}`)];
    expect(projects[0]).toMatchObject({ id: project.id, owner, state: 'active', suspended_at: null });
    expect([new Set(projects.map(({ id }) => id)).size, theirs.length]).toEqual([projects.length, 0]);
    const [keys, own] = [await all('keys'), await all('keys', `&owner=${caller}`)];
    expect(keys.length).toBeGreaterThan(1);
    expect(own).toEqual([expect.objectContaining({ id: stranger.key.id, owner: caller, suspended_at: null })]);
    expect(JSON.stringify([owners, projects, keys])).not.toMatch(/gws_|toll_[ps]k_|127\.0\.0\.1/);
    expect(outcome(await ask('GET', 'projects?cursor=x'))).toEqual([422, 'validation_failed']);
    expect(outcome(await ask('GET', `owners/${addressOf(Keypair.generate())}`))).toEqual([404, 'not_found']);
  });

  test('suspends a project: here at once, elsewhere within half a minute, and no other one', async () => {
    const honest = await fixture.newProject({ visibility: 'listed' });
    expect(await statusAt(other)).toEqual([402, 'payment_required']);
    expect(await suspend('project', project.id, 'resells what it stole')).toMatchObject({
      status: 200,
      body: { kind: 'project', target: project.id, operator: addressOf(operator), reason: 'resells what it stole' },
    });
    const refused = await callAt(client, project, stranger);
    expect([...outcome(refused), refused.headers.get('retry-after')]).toEqual([503, 'project_suspended', '60']);
    await expect(fixture.pay({ project, caller: stranger })).rejects.toThrow('project_suspended');
    fixture.advance(HALF_A_MINUTE_MS);
    expect(await statusAt(other)).toEqual([503, 'project_suspended']);
    for (const at of [client, other]) {
      expect(await statusAt(at, honest)).toEqual([402, 'payment_required']);
      expect((await at.ask('GET', `/api/v1/marketplace/${project.slug}`)).status).toBe(404);
      expect((await at.ask('GET', '/api/v1/marketplace')).text).not.toContain(`"${project.slug}"`);
      expect((await at.ask('GET', '/discovery')).text).not.toContain(`/v1/${project.slug}"`);
    }
    const path = `/api/v1/projects/${project.id}`;
    const asOwner = await client.signIn(fixture.owner);
    expect((await client.ask('GET', path, undefined, asOwner)).body['suspended_at']).toEqual(expect.any(String));
    expect((await client.ask('POST', `${path}/resume`, undefined, asOwner)).status).toBe(200);
    expect(await statusAt(client)).toEqual([503, 'project_suspended']);

    asOperator = await client.signIn(operator);
    expect((await resume('project', project.id)).status).toBe(204);
    expect(await statusAt(client)).toEqual([402, 'payment_required']);
    fixture.advance(HALF_A_MINUTE_MS);
    expect(await statusAt(other)).toEqual([402, 'payment_required']);
    const { header } = await fixture.pay({ project, caller: stranger });
    expect((await client.call(project.slug, { headers: { ...stranger.key.headers, ...header } })).status).toBe(200);
  });

  test('takes no money for a request of a project that was suspended since', async () => {
    const wanted = { amount: '0.012347', token: 'USDC', recipient: addressOf(fixture.owner), project: project.slug };
    const { body } = await client.ask('POST', '/create-payment', wanted, stranger.key.headers);
    await suspend('project', project.id);
    const payer = addressOf(stranger.wallet);
    const prepared = await client.ask('POST', `/payments/${body['payment_id']}/transaction`, { payer });
    expect(outcome(prepared)).toEqual([503, 'project_suspended']);
    await resume('project', project.id);
  });

  test('takes no money for a request of a key, or of its wallet, that was suspended since', async () => {
    const wanted = { amount: '0.012347', token: 'USDC', recipient: addressOf(fixture.owner), project: project.slug };
    const payer = addressOf(stranger.wallet);
    const { body } = await client.ask('POST', '/create-payment', { ...wanted, payer }, stranger.key.headers);
    const { serialized } = body['transaction'] as { readonly serialized: string };
    const signed = VersionedTransaction.deserialize(Buffer.from(serialized, 'base64'));
    signed.sign([stranger.wallet]);
    const signed_transaction = Buffer.from(signed.serialize()).toString('base64');
    const settle = () => client.ask('POST', '/settle', { payment_id: body['payment_id'], signed_transaction });
    for (const [kind, target, code] of [
      ['key', stranger.key.id, 'service_key_suspended'],
      ['wallet', payer, 'wallet_suspended'],
    ] as const) {
      await suspend(kind, target);
      expect(outcome(await settle())).toEqual([403, code]);
      await resume(kind, target);
    }
    expect((await settle()).status).toBe(200);
  });

  test('suspends an owner: none of its projects is served, and it makes no other', async () => {
    const seller = await fixture.newCaller();
    const asSeller = await client.signIn(seller.wallet);
    const upstream = { url: fixture.upstream.origin };
    const sold = await client.project(asSeller, { slug: `sold-${project.slug}`, upstream });
    await suspend('owner', addressOf(seller.wallet));
    expect(await statusAt(client, sold)).toEqual([503, 'project_suspended']);
    expect(await statusAt(client)).toEqual([402, 'payment_required']);
    const another = { slug: `more-${project.slug}`, name: 'x', upstream, pricing: { amount: '1', token: 'USDC' } };
    const refused = await client.ask('POST', '/api/v1/projects', another, asSeller);
    expect(outcome(refused)).toEqual([403, 'owner_suspended']);
    // What it does as a buyer is not what was suspended.
    expect(await statusAt(client, project, seller)).toEqual([402, 'payment_required']);
    await resume('owner', addressOf(seller.wallet));
    expect(await statusAt(client, sold)).toEqual([402, 'payment_required']);
    expect((await client.ask('POST', '/api/v1/projects', another, asSeller)).status).toBe(201);
  });

  test('suspends a key: neither calls nor the API take it; another key of the same wallet goes on', async () => {
    const asStranger = await client.signIn(stranger.wallet);
    const scopes = ['call', 'projects:read'];
    const [bad, good] = [await client.key(asStranger, { scopes }), await client.key(asStranger, { scopes })];
    const by = (key: typeof bad): Caller => ({ wallet: stranger.wallet, key });
    await suspend('key', bad.id);
    expect(await statusAt(client, project, by(bad))).toEqual([403, 'service_key_suspended']);
    expect(outcome(await client.ask('GET', '/api/v1/projects', undefined, bad.headers))).toEqual([
      403,
      'service_key_suspended',
    ]);
    expect(await statusAt(client, project, by(good))).toEqual([402, 'payment_required']);
    expect((await all('keys')).find(({ id }) => id === bad.id)).toMatchObject({ suspended_at: expect.any(String) });
    await resume('key', bad.id);
    expect(await statusAt(client, project, by(bad))).toEqual([402, 'payment_required']);
  });

  test('suspends a wallet: it does not sign in, and neither its token nor its keys are taken', async () => {
    const { wallet, key } = await fixture.newCaller();
    const token = await client.signIn(wallet);
    await suspend('wallet', addressOf(wallet));
    const list = () => client.ask('GET', '/api/v1/projects', undefined, token);
    expect(outcome(await list())).toEqual([403, 'wallet_suspended']);
    await expect(client.signIn(wallet)).rejects.toThrow('wallet_suspended');
    expect(await statusAt(client, project, { wallet, key })).toEqual([403, 'wallet_suspended']);
    expect(await statusAt(client)).toEqual([402, 'payment_required']);
    fixture.advance(HALF_A_MINUTE_MS);
    expect(await statusAt(other, project, { wallet, key })).toEqual([403, 'wallet_suspended']);
    expect((await ask('GET', 'suspensions')).body['data']).toEqual([
      expect.objectContaining({ kind: 'wallet', target: addressOf(wallet) }),
    ]);
    await resume('wallet', addressOf(wallet));
    expect((await list()).status).toBe(200);
  });

  test('suspends nothing that there is not, and no operator', async () => {
    expect(outcome(await suspend('project', 'prj_none'))).toEqual([404, 'project_not_found']);
    expect(outcome(await suspend('key', 'key_none'))).toEqual([404, 'not_found']);
    for (const target of ['me', addressOf(operator)]) {
      expect(outcome(await suspend('wallet', target))).toEqual([422, 'validation_failed']);
    }
    expect(outcome(await suspend('planet', addressOf(operator)))).toEqual([422, 'validation_failed']);
  });

  test('says how much a wallet may own, and takes that back', async () => {
    const { wallet } = await fixture.newCaller();
    const token = await client.signIn(wallet);
    const path = `owners/${addressOf(wallet)}`;
    expect((await ask('PATCH', path, { quotas: { keys: 2 } })).body).toMatchObject({
      quotas: { keys: 2, projects: 1_000 },
    });
    const make = async () => outcome(await client.ask('POST', '/api/v1/keys/generate', { name: 'k' }, token));
    expect([await make(), await make()]).toEqual([
      [201, undefined],
      [409, 'quota_reached'],
    ]);
    await ask('PATCH', path, { quotas: { keys: null } });
    expect(await make()).toEqual([201, undefined]);
    expect(outcome(await ask('PATCH', path, { quotas: { keys: -1 } }))).toEqual([422, 'validation_failed']);
  });

  test('reads who changed what, when and from where, for 400 days', async () => {
    const [owner, seller] = [addressOf(fixture.owner), await fixture.newCaller()];
    const asSeller = await client.signIn(seller.wallet);
    const wallet = addressOf(seller.wallet);
    const upstream = { url: fixture.upstream.origin };
    const made = await client.project(asSeller, { slug: `told-${project.slug}`, upstream });
    const writer = await client.key(asSeller, { scopes: ['projects:write', 'payouts:write'] });
    const change = (body: object, by: ProofHeaders) =>
      client.ask('PATCH', `/api/v1/projects/${made.id}`, body, { ...by, 'x-request-id': 'the-change' });
    await change({ split: [{ recipient: owner, bps: 10_000 }] }, writer.headers);
    await client.ask('DELETE', `/api/v1/keys/${writer.id}`, undefined, asSeller);
    const hook = await client.ask('POST', '/api/v1/webhooks', { url: fixture.upstream.url, events: ['*'] }, asSeller);
    await client.ask('POST', `/api/v1/webhooks/${hook.body['id']}/rotate`, undefined, asSeller);
    await client.ask('DELETE', `/api/v1/webhooks/${hook.body['id']}`, undefined, asSeller);
    await client.ask('POST', `/api/v1/projects/${made.id}/payouts`, undefined, asSeller);
    await suspend('project', made.id, 'spam');
    await resume('project', made.id);

    const log = await all('audit', `&owner=${wallet}`);
    expect(log.map(({ action }) => action).reverse()).toEqual([
      ...['key.created', 'project.created', 'key.created', 'project.updated', 'key.revoked'],
      ...['webhook.created', 'webhook.rotated', 'webhook.deleted', 'payout.requested'],
      ...['project.suspended', 'project.resumed'],
    ]);
    const [changed] = await all('audit', `&target=${made.id}&action=project.updated`);
    expect(changed).toMatchObject({
      actor: { wallet, key_id: writer.id, address: expect.stringMatching(/127\.0\.0\.1$/), request_id: 'the-change' },
      details: {
        changed: ['split'],
        split: [{ recipient: owner, bps: 10_000 }],
        split_before: [{ recipient: wallet, bps: 10_000 }],
      },
    });
    const [suspended] = await all('audit', `&actor=${addressOf(operator)}&action=project.suspended&target=${made.id}`);
    expect(suspended).toMatchObject({ owner: wallet, details: { reason: 'spam' } });
    expect(JSON.stringify(log)).not.toMatch(/gws_|whsec_|toll_sk_/);
    expect(await all('audit', '&owner=nobody')).toEqual([]);

    const { prune } = fixture.storage.gateway;
    const now = fixture.gateway.now();
    await prune(0, 1_000, now - 400 * DAY_MS);
    expect(await all('audit', `&owner=${wallet}`)).toHaveLength(log.length);
    await prune(0, 1_000, now + 1);
    expect(await all('audit', `&owner=${wallet}`)).toEqual([]);
  });
});

describe('who may create projects', () => {
  const draft = (slug: string) => ({
    ...{ slug, name: 'x', upstream: { url: 'https://1.1.1.1/' } },
    pricing: { amount: '1', token: 'USDC' },
  });

  /** What two wallets are told, the first of which is an operator. */
  async function tried(owners: 'open' | 'operators' | 'nobody') {
    const fixture = await openGatewayFixture();
    const [first, second] = [fixture.partner, fixture.payer];
    const operators = [addressOf(first)];
    const allowed = { open: 'open', operators, nobody: [] } as const;
    const { facilitator, storage } = fixture;
    const gateway = createGateway({ facilitator, storage, operators, owners: allowed[owners] });
    const identity = createIdentity({ network: 'solana-devnet', jwtSecret: SECRET, counters: storage.counters });
    const router = createRouter({ facilitator, gateway, identity, limits: false });
    const client = await connectGateway(await fixture.serve((app) => app.use(router)));
    const answers: ClientResponse[] = [];
    for (const [at, wallet] of [first, second].entries()) {
      answers.push(await client.ask('POST', '/api/v1/projects', draft(`slug-${at}`), await client.signIn(wallet)));
    }
    const asOwner = await client.signIn(fixture.owner);
    const kept = await client.ask('POST', `/api/v1/projects/${fixture.project.id}/pause`, undefined, asOwner);
    await gateway.close();
    await fixture.close();
    return { outcomes: answers.map(outcome), detail: answers[1]?.body['detail'], kept: kept.status };
  }

  const refused = [403, 'owner_not_allowed'];
  const made = [201, undefined];

  test('is everybody, some wallets or nobody, who is told what to set; who has one keeps it', async () => {
    expect(await tried('open')).toMatchObject({ outcomes: [made, made], kept: 200 });
    const some = await tried('operators');
    expect(some).toMatchObject({ outcomes: [made, refused], kept: 200 });
    expect(some.detail).toMatch(/GATEWAY_OWNERS/);
    const nobody = await tried('nobody');
    expect(nobody).toMatchObject({ outcomes: [refused, refused], kept: 200 });
    expect(nobody.detail).toMatch(/Nobody.*GATEWAY_OWNERS.*"open".*OPERATORS/);
  });

  test('is said with a list of wallets, or "open"', async () => {
    const fixture = await openGatewayFixture();
    const { facilitator, storage } = fixture;
    for (const wrong of [{ owners: 'closed' as 'open' }, { operators: ['me'] }]) {
      expect(() => createGateway({ facilitator, storage, ...wrong })).toThrow(/option "(owners|operators).*" must be/);
    }
    await fixture.close();
  });
});
