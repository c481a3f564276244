import { createGateway } from '../../../src/gateway/create-gateway.js';
import { createRouter } from '../../../src/http/create-router.js';
import { createIdentity } from '../../../src/identity/create-identity.js';
import { serviceKeyAuth } from '../../../src/middleware/service-key/service-key-auth.js';
import { KNOWN_TOKENS } from '../../../src/protocol/networks/tokens.js';
import {
  connectGateway,
  type GatewayClient,
  type MadeKey,
  proofHeader,
} from '../../helpers/fixtures/gateway-client.js';
import { SECRET } from '../../helpers/fixtures/identity-fixture.js';
import {
  type NetworkSide,
  type NetworksFixture,
  openNetworksFixture,
  signTransfer,
} from '../../helpers/fixtures/networks-fixture.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { type Receiver, startReceiver } from '../../helpers/http/webhook-receiver.js';
import { carry, signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const NETWORKS = ['solana', 'solana-devnet'] as const;
type Served = (typeof NETWORKS)[number];
const usdcOf = (network: Served) => KNOWN_TOKENS[network].find(({ symbol }) => symbol === 'USDC')!.mint;

describe('a service on two networks', () => {
  let fixture: NetworksFixture;
  let client: GatewayClient;
  let upstream: Receiver;
  let closeGateway: () => Promise<void>;
  let asOwner: ProofHeaders;
  const keys: Partial<Record<Served, MadeKey>> = {};

  const sideOf = (network: Served): NetworkSide => (network === 'solana' ? fixture.live : fixture.test);
  const keyOf = (network: Served): MadeKey => keys[network]!;

  beforeAll(async () => {
    fixture = await openNetworksFixture();
    const facilitators = [fixture.live.facilitator, fixture.test.facilitator];
    const gateway = createGateway({ facilitators, owners: 'open', allowPrivateNetworks: ['127.0.0.0/8'] });
    closeGateway = () => gateway.close();
    const identity = createIdentity({ facilitator: facilitators[0]!, jwtSecret: SECRET });
    const url = await fixture.live.serve((app) => {
      app.get('/own', serviceKeyAuth({ gateway }), (_req, res) => void res.send('live'));
      app.get('/own-test', serviceKeyAuth({ gateway, mode: 'test' }), (_req, res) => void res.send('test'));
      app.use(createRouter({ facilitators, gateway, identity, limits: false }));
    });
    client = await connectGateway(url);
    upstream = await startReceiver((res) => void res.end('paid for'));
    asOwner = await client.signIn(fixture.live.payer);
    for (const network of NETWORKS) {
      const mode = network === 'solana' ? 'live' : 'test';
      keys[network] = await client.key(await client.signIn(sideOf(network).payer), { mode });
      const split = [sideOf(network).payTo];
      const pricing = { amount: '0.01', token: 'USDC', network };
      const shares = split.map((recipient) => ({ recipient, bps: 10_000 }));
      const listed = { upstream: { url: upstream.origin }, split: shares, visibility: 'listed', pricing };
      await client.project(asOwner, { slug: `goods-${mode}`, ...listed });
    }
  });
  afterAll(async () => {
    await closeGateway();
    await upstream.close();
    await fixture.close();
  });

  /** Pays for a call with a payment request that was made under the key. */
  async function payFor(network: Served, slug: string): Promise<string> {
    const side = sideOf(network);
    const asked = { project: slug, payer: side.payer.publicKey.toBase58() };
    const created = await client.ask('POST', '/create-payment', asked, keyOf(network).headers);
    expect([created.status, created.body['network']]).toEqual([200, network]);
    const settled = await client.ask('POST', '/settle', {
      payment_id: created.body['payment_id'],
      signed_transaction: signTransfer(created.body, side.payer),
    });
    expect(settled.status).toBe(200);
    return String(settled.body['tx_signature']);
  }

  test('shows both as active, and what each supports', async () => {
    const health = await client.ask('GET', '/health');
    expect(health.body).toMatchObject({
      status: 'healthy',
      networks: { solana: 'active', 'solana-devnet': 'active' },
      facilitation: { status: 'enabled', wallet: fixture.live.feePayer.publicKey.toBase58() },
    });
    const { body } = await client.ask('GET', '/supported');
    expect(Object.keys(Object(body['networks']))).toEqual([...NETWORKS]);
    expect(Object(body['kinds']).length).toBe(4);
    const ready = await client.ask('GET', '/readyz');
    expect(ready.body).toMatchObject({ status: 'ready', networks: { solana: 'active', 'solana-devnet': 'active' } });
    expect((await client.ask('GET', '/metrics')).text).toContain('tollhouse_rpc_up{network="solana-devnet"} 1');
  });

  test.each(NETWORKS)('tells the wallet, tokens and balances of %s', async (network) => {
    const side = sideOf(network);
    const status = await client.ask('GET', `/wallet-status?network=${network}`);
    expect(status.body['wallet']).toBe(side.feePayer.publicKey.toBase58());
    const tokens = await client.ask('GET', `/token-gate/accepted-tokens?network=${network}`);
    const known = Object(tokens.body['tokens']) as readonly { readonly network: string }[];
    expect(new Set(known.map((it) => it.network))).toEqual(new Set([network]));
    const wallet = side.payer.publicKey.toBase58();
    const access = await client.ask('POST', '/token-gate/check-access', {
      ...{ wallet, token: usdcOf(network), min_balance: 900, network },
    });
    expect(access.body).toMatchObject({ has_access: true });
    const tier = await client.ask('GET', `/token-gate/get-tier?wallet=${wallet}&network=${network}`);
    expect(tier.body).toMatchObject({ token: usdcOf(network), tier: { id: 'silver' } });
  });

  test('says which networks it serves to who names another one', async () => {
    const answer = await client.ask('GET', '/wallet-status?network=solana-testnet');
    expect([answer.status, answer.body['detail']]).toEqual([
      400,
      expect.stringMatching(/"solana-testnet" is not served here; this service is on "solana" and "solana-devnet"/),
    ]);
  });

  test.each(NETWORKS)('creates, settles, shows and verifies a payment on %s', async (network) => {
    const side = sideOf(network);
    const payer = side.payer.publicKey.toBase58();
    const asked = { amount: 0.5, token: 'USDC', recipient: side.payTo, payer, network };
    const created = await client.ask('POST', '/create-payment', asked);
    expect(created.body).toMatchObject({ network, fee_payer: side.feePayer.publicKey.toBase58() });
    const id = String(created.body['payment_id']);
    const settled = await client.ask('POST', '/settle', {
      payment_id: id,
      signed_transaction: signTransfer(created.body, side.payer),
    });
    expect(settled.status).toBe(200);
    const signature = String(settled.body['tx_signature']);

    expect((await client.ask('GET', `/payments/${id}`)).body).toMatchObject({ status: 'settled', network });
    const mode = network === 'solana' ? 'live' : 'test';
    for (const named of [id, `${signature}?network=${network}`]) {
      expect((await client.ask('GET', `/receipts/${named}`)).body).toMatchObject({ network, mode, status: 'settled' });
    }
    const found = await client.ask('POST', '/verify', { tx_signature: signature, network });
    expect(found.body).toMatchObject({ verified: true, network, amount: 0.5, token: 'USDC' });
    const other = NETWORKS.find((it) => it !== network);
    const elsewhere = await client.ask('POST', '/verify', { tx_signature: signature, network: other });
    expect(elsewhere.body).toMatchObject({ verified: false, status: 'not_found', network: null });
    const unnamed = await client.ask('POST', '/verify', { tx_signature: signature, expected: { token: 'USDC' } });
    expect(unnamed.body).toMatchObject({ verified: network === 'solana' });
    const receipts = [`/receipts/${signature}`, `/receipts/${signature}?network=${other}`];
    const shown = await Promise.all(receipts.map((it) => client.ask('GET', it)));
    expect(shown.map(({ status }) => status)).toEqual([network === 'solana' ? 200 : 404, 404]);
  });

  test.each([
    ['goods-live', 'solana'],
    ['goods-test', 'solana-devnet'],
  ] as const)('sells a call of %s for money of %s, by x402 and by a payment that has landed', async (slug, network) => {
    const url = `${client.url}/v1/${slug}`;
    const { headers } = keyOf(network);
    const { v2 } = await signPayment(sideOf(network), url, { init: { headers } });
    expect((await client.call(slug, { headers: { ...headers, ...v2 } })).status).toBe(200);
    const signature = await payFor(network, slug);
    expect((await client.call(slug, { headers: { ...headers, ...proofHeader(signature) } })).status).toBe(200);
  });

  test('leads to the explorer of the network that has a transaction, or that is named, and names both on its page', async () => {
    const leads = async (path: string) => {
      const answer = await fetch(`${client.url}/explorer/tx/${path}`, { redirect: 'manual' });
      return [answer.status, answer.headers.get('location')?.split('/tx/')[1]];
    };
    for (const network of NETWORKS) {
      const signature = await payFor(network, network === 'solana' ? 'goods-live' : 'goods-test');
      const cluster = network === 'solana' ? '' : '?cluster=devnet';
      expect(await leads(signature)).toEqual([302, `${signature}${cluster}`]);
      expect(await leads(`${signature}?network=solana-devnet`)).toEqual([302, `${signature}?cluster=devnet`]);
      expect(await leads(`${signature}?network=solana`)).toEqual([302, signature]);
      expect((await leads(`${signature}?network=solana-testnet`))[0]).toBe(400);
    }
    const page = await fetch(client.url, { headers: { accept: 'text/html', 'sec-fetch-dest': 'document' } });
    const html = await page.text();
    expect(html).toMatch(/<dd>Solana<\/dd><dd>Solana Devnet<\/dd>/i);
    for (const side of [fixture.live, fixture.test]) expect(html).toContain(side.feePayer.publicKey.toBase58());
  });

  test.each(NETWORKS)(
    'tells of %s what money it is about, in each event of a project, its calls and payments',
    async (network) => {
      const mode = network === 'solana' ? 'live' : 'test';
      const slug = `goods-${mode}`;
      const proof = proofHeader(await payFor(network, slug));
      expect((await client.call(slug, { headers: { ...keyOf(network).headers, ...proof } })).status).toBe(200);
      const events = async () => {
        const { body } = await client.ask('GET', '/api/v1/events?limit=100', undefined, asOwner);
        const told = body['data'] as readonly { readonly type: string; readonly mode: string; readonly data: object }[];
        return told.filter(({ data }) => Reflect.get(data, 'network') === network);
      };
      await until(async () => (await events()).some(({ type }) => type === 'call.succeeded'));
      const told = await events();
      expect(told.map((it) => it.type)).toEqual(expect.arrayContaining(['project.created', 'payment.settled']));
      expect(new Set(told.map((it) => it.mode))).toEqual(new Set([mode]));
      const call = told.find(({ type }) => type === 'call.succeeded');
      expect(call?.data).toMatchObject({ slug, network, asset: usdcOf(network), token: 'USDC' });
    },
  );

  test('a key of one kind of money reads and writes nothing of the other kind', async () => {
    const mine: Record<string, string> = {};
    for (const mode of ['live', 'test']) {
      const { body } = await client.ask('GET', '/api/v1/projects', undefined, asOwner);
      const all = body['data'] as readonly { readonly slug: string; readonly id: string }[];
      mine[mode] = all.find(({ slug }) => slug === `goods-${mode}`)!.id;
    }
    for (const [mode, other] of [
      ['live', 'test'],
      ['test', 'live'],
    ] as const) {
      const scopes = [
        ...['projects:read', 'projects:write', 'analytics:read', 'events:read', 'keys:read', 'keys:write'],
        ...['webhooks:read', 'webhooks:write', 'spending:read', 'payouts:read', 'payouts:write'],
      ];
      const [key, foreign] = [
        await client.key(asOwner, { mode, scopes, limits: { per_second: 100 } }),
        await client.key(asOwner, { mode: other, scopes }),
      ];
      const told = async (method: string, path: string, body?: object) => {
        const answer = await client.ask(method, `/api/v1${path}`, body, key.headers);
        return [answer.status, answer.body['code']];
      };
      const [own, others] = [`/projects/${mine[mode]}`, `/projects/${mine[other]}`];
      for (const path of ['', '/analytics', '/calls']) {
        expect(await told('GET', own + path)).toEqual([200, undefined]);
        expect(await told('GET', others + path)).toEqual([403, 'wrong_key_mode']);
      }
      // Routers read letters and a slash at the end as they like.
      for (const path of [others.replace('/projects', '/PROJECTS'), '/Events', '/events/', '/WEBHOOKS/']) {
        const { status } = await fetch(`${client.url}/api/v1${path}`, { headers: { ...key.headers } });
        expect([path, status]).toEqual([path, 403]);
      }
      expect(await told('PATCH', others, { name: 'mine' })).toEqual([403, 'wrong_key_mode']);
      expect(await told('POST', `${others}/pause`)).toEqual([403, 'wrong_key_mode']);
      expect(await told('DELETE', others)).toEqual([403, 'wrong_key_mode']);
      const listed = await client.ask('GET', '/api/v1/projects', undefined, key.headers);
      expect(listed.body['data']).toMatchObject([{ id: mine[mode] }]);
      const project = { slug: `new-${mode}`, name: 'N', upstream: { url: upstream.origin } };
      const network = other === 'live' ? 'solana' : 'solana-devnet';
      const pricing = { amount: '0.01', token: 'USDC', network };
      expect(await told('POST', '/projects', { ...project, pricing })).toEqual([403, 'wrong_key_mode']);

      for (const path of ['/events', '/webhooks']) {
        expect(await told('GET', path)).toEqual([403, 'wrong_key_mode']);
      }
      expect(await told('GET', `/events?project_id=${mine[other]}`)).toEqual([403, 'wrong_key_mode']);
      expect(await told('GET', `/events?project_id=${mine[mode]}`)).toEqual([200, undefined]);
      const hook = { url: upstream.origin, events: ['call.succeeded'] };
      expect(await told('POST', '/webhooks', hook)).toEqual([403, 'wrong_key_mode']);
      expect(await told('POST', '/webhooks', { ...hook, project_id: mine[other] })).toEqual([403, 'wrong_key_mode']);
      const made = await client.ask('POST', '/api/v1/webhooks', { ...hook, project_id: mine[mode] }, key.headers);
      expect(made.status).toBe(201);
      expect(await told('GET', `/webhooks/${made.body['id']}`)).toEqual([200, undefined]);
      const shared = await client.ask('POST', '/api/v1/webhooks', hook, asOwner);
      expect(await told('DELETE', `/webhooks/${shared.body['id']}`)).toEqual([403, 'wrong_key_mode']);
      expect(await told('DELETE', `/keys/${foreign.id}`)).toEqual([403, 'wrong_key_mode']);
      expect(await told('GET', '/spending')).toEqual([200, undefined]);
      expect(await told('GET', '/projects/prj_none')).toEqual([404, 'project_not_found']);
      expect((await client.ask('DELETE', `/api/v1/webhooks/${shared.body['id']}`, undefined, asOwner)).status).toBe(
        204,
      );
    }
  });

  describe.each([
    ['live goods', 'goods-live', 'solana', 'goods-test', 'solana-devnet'],
    ['test goods', 'goods-test', 'solana-devnet', 'goods-live', 'solana'],
  ] as const)('%s are not had', (_goods, slug, network, elsewhere, other) => {
    test('by a key of the other mode, for a call or for a payment of one', async () => {
      const { headers } = keyOf(other);
      const call = await client.call(slug, { headers });
      const payment = await client.ask('POST', '/create-payment', { project: slug }, headers);
      expect([call, payment].map(({ status, body }) => [status, body['code']])).toEqual([
        [403, 'wrong_key_mode'],
        [403, 'wrong_key_mode'],
      ]);
    });

    test('by a payment on the other network, in whatever terms it comes', async () => {
      const own = { headers: keyOf(network).headers };
      const theirs = await signPayment(sideOf(other), `${client.url}/v1/${elsewhere}`, {
        init: { headers: keyOf(other).headers },
      });
      const here = await signPayment(sideOf(network), `${client.url}/v1/${slug}`, { init: own });
      const plain = await client.call(slug, { headers: { ...own.headers, ...theirs.v2 } });
      const disguised = await client.call(slug, {
        headers: { ...own.headers, ...carry(theirs.transaction, here.accepted).v2 },
      });
      expect([plain, disguised].map(({ status, body }) => [status, body['code']])).toEqual([
        [402, 'no_matching_requirements'],
        [402, 'payment_invalid'],
      ]);
    });

    test('by the signature of a payment that has landed on the other network', async () => {
      const signature = await payFor(other, elsewhere);
      const headers = { ...keyOf(network).headers, ...proofHeader(signature) };
      const answers = [await client.call(slug, { headers }), await client.call(slug, { headers })];
      expect(answers.map(({ status, body }) => [status, body['code'], body['error']])).toEqual(
        answers.map(() => [402, 'payment_invalid', 'invalid_exact_svm_network_mismatch']),
      );
      const there = { ...keyOf(other).headers, ...proofHeader(signature) };
      expect((await client.call(elsewhere, { headers: there })).status).toBe(200);
    });
  });

  test('a route for service keys takes live ones, and test ones where it is for them', async () => {
    const statuses = async (path: string) =>
      Promise.all(
        NETWORKS.map(async (it) => (await fetch(`${client.url}${path}`, { headers: keyOf(it).headers })).status),
      );
    expect([await statuses('/own'), await statuses('/own-test')]).toEqual([
      [200, 403],
      [403, 200],
    ]);
  });

  test('a project stays on its network, and a payment for it is made there', async () => {
    const list = await client.ask('GET', '/api/v1/projects', undefined, asOwner);
    const found = (Object(list.body['data']) as readonly { readonly id: string; readonly slug: string }[]).find(
      ({ slug }) => slug === 'goods-test',
    );
    const changed = await client.ask(
      'PATCH',
      `/api/v1/projects/${found?.id}`,
      { pricing: { token: 'USDC', amount: '0.01', network: 'solana' } },
      asOwner,
    );
    expect([changed.status, changed.body['detail']]).toEqual([422, expect.stringMatching(/what was paid there stays/)]);
    const asked = { project: 'goods-test', network: 'solana' };
    const payment = await client.ask('POST', '/create-payment', asked, keyOf('solana-devnet').headers);
    expect([payment.status, payment.body['param']]).toEqual([400, 'network']);
  });

  test.each([
    ['/api/v1/marketplace', 'data'],
    ['/discovery/resources', 'items'],
  ])('%s shows what is sold for money, and for test money where that is asked for', async (path, field) => {
    const shown = async (query: string) => {
      const { body } = await client.ask('GET', `${path}${query}`);
      return JSON.stringify(body[field]).match(/goods-(?:live|test)(?=")/g);
    };
    const each = await Promise.all(['', '?mode=live', '?mode=test'].map(shown));
    expect(each.map((it) => [...new Set(it)])).toEqual([['goods-live'], ['goods-live'], ['goods-test']]);
  });

  describe('with one chain out of reach', () => {
    beforeAll(async () => {
      await fixture.test.sandbox.close();
    });

    test('serves on with the other one, and says so', async () => {
      const url = `${client.url}/v1/goods-live`;
      const { headers } = keyOf('solana');
      const { v2 } = await signPayment(fixture.live, url, { init: { headers } });
      expect((await client.call('goods-live', { headers: { ...headers, ...v2 } })).status).toBe(200);
      const signature = await payFor('solana', 'goods-live');
      expect((await client.ask('POST', '/verify', { tx_signature: signature })).body).toMatchObject({ verified: true });
      const dead = await client.ask('POST', '/verify', { tx_signature: signature, network: 'solana-devnet' });
      expect([dead.status, dead.body['code']]).toEqual([503, 'chain_unavailable']);
      const healthNow = async () => (await client.ask('GET', '/health')).body;
      await until(async () => (await healthNow())['status'] === 'degraded');
      expect(await healthNow()).toMatchObject({
        networks: { solana: 'active', 'solana-devnet': 'down' },
        facilitation: { status: 'enabled' },
      });
      expect((await client.ask('GET', '/readyz')).status).toBe(200);
    });
  });
});
