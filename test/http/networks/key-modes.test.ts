import { createGateway } from '../../../src/gateway/create-gateway.js';
import { createRouter } from '../../../src/http/create-router.js';
import { createIdentity } from '../../../src/identity/create-identity.js';
import {
  connectGateway,
  type GatewayClient,
  type MadeKey,
  type MadeProject,
} from '../../helpers/fixtures/gateway-client.js';
import { SECRET } from '../../helpers/fixtures/identity-fixture.js';
import { type NetworksFixture, openNetworksFixture, signTransfer } from '../../helpers/fixtures/networks-fixture.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { type Receiver, startReceiver } from '../../helpers/http/webhook-receiver.js';
import { askTerms, signPayment } from '../../helpers/transactions/payments.js';

const SCOPES = ['call', 'projects:read', 'analytics:read', 'spending:read', 'keys:read', 'payouts:read'];
const MODES = ['live', 'test'] as const;
type Mode = (typeof MODES)[number];
type Listed = readonly Readonly<Record<string, unknown>>[];

/** Somebody signed in, and a key of his for each kind of money. */
interface Holder extends Record<Mode, MadeKey> {
  readonly signedIn: ProofHeaders;
}

describe.each([
  ['live', 'test'],
  ['test', 'live'],
] as const)('what was had for %s money, in a service for both kinds', (mode: Mode, other: Mode) => {
  let fixture: NetworksFixture;
  let client: GatewayClient;
  let upstream: Receiver;
  let closeGateway: () => Promise<void>;
  let project: MadeProject;
  let [seller, buyer]: Holder[] = [];

  beforeAll(async () => {
    fixture = await openNetworksFixture();
    const facilitators = [fixture.live.facilitator, fixture.test.facilitator];
    const gateway = createGateway({ facilitators, owners: 'open', allowPrivateNetworks: ['127.0.0.0/8'] });
    closeGateway = () => gateway.close();
    const identity = createIdentity({ facilitator: facilitators[0]!, jwtSecret: SECRET });
    const router = createRouter({ facilitators, gateway, identity, limits: false });
    client = await connectGateway(await fixture.live.serve((app) => app.use(router)));
    upstream = await startReceiver((res) => void res.end('paid for'));
    const owner = await fixture[mode].sandbox.createWallet({ usdc: '0' });
    [seller, buyer] = [await holderOf(await client.signIn(owner)), await holderOf(await client.signIn(payer()))];
    const offers = [{ amount: '0.5', token: 'USDC', pass: { uses: 10 } }];
    const network = mode === 'live' ? 'solana' : 'solana-devnet';
    const pricing = { amount: '0.01', token: 'USDC', network, offers };
    project = await client.project(seller!.signedIn, { slug: 'goods', upstream: { url: upstream.origin }, pricing });
    await buyPass();
    await payForNothing();
  });
  afterAll(async () => {
    await closeGateway();
    await upstream.close();
    await fixture.close();
  });

  const payer = () => fixture[mode].payer;
  async function holderOf(signedIn: ProofHeaders): Promise<Holder> {
    const [live, test] = [
      await client.key(signedIn, { mode: 'live', scopes: SCOPES }),
      await client.key(signedIn, { mode: 'test', scopes: SCOPES }),
    ];
    return { signedIn, live, test };
  }
  async function buyPass(): Promise<void> {
    const init = { headers: buyer![mode].headers };
    const url = `${client.url}/v1/goods`;
    const { accepts } = await askTerms(url, init);
    const { v2 } = await signPayment(fixture[mode], url, { init, choice: accepts.length - 1 });
    expect((await client.call('goods', { headers: { ...init.headers, ...v2 } })).status).toBe(200);
  }
  /** Nobody makes the call that it is for. */
  async function payForNothing(): Promise<void> {
    const asked = { project: 'goods', payer: payer().publicKey.toBase58() };
    const { body } = await client.ask('POST', '/create-payment', asked, buyer![mode].headers);
    const { payment_id } = body;
    const settled = { payment_id, signed_transaction: signTransfer(body, payer()) };
    expect((await client.ask('POST', '/settle', settled)).status).toBe(200);
  }
  const ask = (path: string, by: ProofHeaders) => client.ask('GET', `/api/v1${path}`, undefined, by);
  const listed = async (path: string, by: ProofHeaders, field = 'data') => (await ask(path, by)).body[field] as Listed;

  test('is shown to keys of its kind and to the wallet, and to no key of the other kind', async () => {
    const shown = async (by: ProofHeaders) => {
      const lists = [['/passes'], ['/spending', 'passes'], ['/spending', 'responses'], ['/keys']] as const;
      return Promise.all(lists.map(async ([path, field]) => (await listed(path, by, field)).length));
    };
    expect(await shown(buyer!.signedIn)).toEqual([1, 1, 1, 2]);
    expect(await shown(buyer![mode].headers)).toEqual([1, 1, 1, 1]);
    expect(await shown(buyer![other].headers)).toEqual([0, 0, 0, 1]);
    expect(await listed('/keys', buyer![other].headers)).toMatchObject([{ id: buyer![other].id, mode: other }]);
  });

  test('stands in what its wallet asks for of this money, network, project or key, and in nothing that it asks for of others', async () => {
    const unused = await client.key(buyer!.signedIn, { mode, scopes: SCOPES });
    const shown = async (query: string) => {
      const { body } = await ask(`/spending?${query}`, buyer!.signedIn);
      return ['passes', 'responses'].map((field) => (body[field] as Listed).length);
    };
    const [network, elsewhere] = mode === 'live' ? ['solana', 'solana-devnet'] : ['solana-devnet', 'solana'];
    const own = { mode, network, project: project.id, key: buyer![mode].id };
    for (const [name, value] of Object.entries(own))
      expect([name, await shown(`${name}=${value}`)]).toEqual([name, [1, 1]]);
    expect(await shown(`${new URLSearchParams(own)}`)).toEqual([1, 1]);
    const others = { mode: other, network: elsewhere, project: 'prj_other', key: unused.id };
    for (const [name, value] of Object.entries(others)) {
      expect([name, await shown(`${name}=${value}`)]).toEqual([name, [0, 0]]);
    }
  });

  test('has a receipt for keys of its kind, and none for the other kind', async () => {
    const [pass] = await listed('/passes', buyer!.signedIn);
    const answer = async (by: ProofHeaders) => {
      const { status, body } = await ask(`/payments/${pass?.['payment_id']}/receipt`, by);
      return [status, body['code']];
    };
    for (const by of [seller!.signedIn, seller![mode].headers, buyer!.signedIn, buyer![mode].headers]) {
      expect(await answer(by)).toEqual([200, undefined]);
    }
    expect(await answer(seller![other].headers)).toEqual([403, 'wrong_key_mode']);
    expect(await answer(buyer![other].headers)).toEqual([404, 'payment_not_found']);
  });

  test('stays out of reach for keys of the other kind when its project is deleted', async () => {
    const path = `/projects/${project.id}`;
    const { status } = await client.ask('DELETE', `/api/v1${path}`, undefined, seller!.signedIn);
    expect(status).toBe(204);
    for (const rest of ['/analytics', '/calls', '/payouts']) {
      expect([rest, (await ask(path + rest, seller![mode].headers)).status]).toEqual([rest, 200]);
      const { body } = await ask(path + rest, seller![other].headers);
      expect([rest, body['code']]).toEqual([rest, 'wrong_key_mode']);
    }
  });
});
