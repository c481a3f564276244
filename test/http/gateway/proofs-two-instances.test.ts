import type { Keypair } from '@solana/web3.js';
import { createGateway } from '../../../src/gateway/create-gateway.js';
import { createRouter } from '../../../src/http/create-router.js';
import { createIdentity } from '../../../src/identity/create-identity.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { CALL_PRICE, connectGateway, type MadeKey, proofHeader } from '../../helpers/fixtures/gateway-client.js';
import { SECRET } from '../../helpers/fixtures/identity-fixture.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { type Receiver, startReceiver } from '../../helpers/http/webhook-receiver.js';
import { testFolder } from '../../helpers/processes/test-folder.js';
import { transferDirectly } from '../../helpers/transactions/direct-transfer.js';

const PRICE_TEXT = '0.012347';
const folder = testFolder();
const closers: (() => Promise<void>)[] = [];
let toll: TollFixture;
let upstream: Receiver;
let owner: Keypair;
let caller: Keypair;

beforeAll(async () => {
  toll = await openTollFixture();
  upstream = await startReceiver((res) => void res.end('paid for'));
  owner = await toll.sandbox.createWallet({ usdc: '0' });
  caller = await toll.sandbox.createWallet({ usdc: '100', sol: '1' });
});
afterAll(async () => {
  for (const close of closers.reverse()) await close();
  await upstream.close();
  await toll.close();
});

/** An instance of the service on a database that others may share. */
async function instance(url: string) {
  const storage = await openStorage(url);
  const { ledger, idempotency, counters } = storage;
  const facilitator = toll.facilitatorWith({ ledger, idempotency });
  const gateway = createGateway({ facilitator, storage, allowPrivateNetworks: ['127.0.0.0/8'] });
  const identity = createIdentity({ network: 'solana-devnet', jwtSecret: SECRET, counters });
  const router = createRouter({ facilitator, gateway, identity, counters, limits: false });
  closers.push(
    () => storage.close(),
    () => gateway.close(),
  );
  return connectGateway(await toll.serve((app) => app.use(router)));
}

type Instance = Awaited<ReturnType<typeof instance>>;

async function shopAt(client: Instance) {
  const project = await client.project(await client.signIn(owner), {
    slug: 'weather',
    upstream: { url: upstream.origin },
    split: [{ recipient: owner.publicKey.toBase58(), bps: 10_000 }],
  });
  return { project, key: await client.key(await client.signIn(caller)) };
}

function payFor({ id }: MadeKey): Promise<string> {
  const legs = [{ recipient: owner.publicKey.toBase58(), amount: CALL_PRICE }];
  return transferDirectly(toll.sandbox, { wallet: caller, legs, memos: [`tollhouse:weather:${id}`] });
}

const show = (client: Instance, { headers }: MadeKey, signature: string, rest: string) =>
  client.call(`weather${rest}`, { headers: { ...headers, ...proofHeader(signature) } });

test('of two instances on one database one serves a signature, however it was paid', async () => {
  const url = `sqlite:${folder.newPath('db')}`;
  const [one, other] = [await instance(url), await instance(url)];
  const { project, key } = await shopAt(one);
  const requested = (await one.pay({ project, payer: caller, key })).signature;
  for (const signature of [await payFor(key), requested]) {
    const before = upstream.received.length;
    const answers = await Promise.all([show(one, key, signature, '/a'), show(other, key, signature, '/b')]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const late = [await show(one, key, signature, '/c'), await show(other, key, signature, '/d')];
    expect(late.map(({ body }) => body['code'])).toEqual(['payment_already_used', 'payment_already_used']);
    expect(upstream.received.length).toBe(before + 1);
  }
});

test('what paid one service pays nothing at another one with books of its own, though name, price and wallets are the same', async () => {
  const services = await Promise.all([1, 2].map(() => instance(`sqlite:${folder.newPath('db')}`)));
  const [here, there] = await Promise.all(services.map(async (it) => ({ client: it, ...(await shopAt(it)) })));
  const requested = (await here!.client.pay({ project: here!.project, payer: caller, key: here!.key })).signature;
  const before = upstream.received.length;
  for (const signature of [await payFor(here!.key), requested]) {
    const refused = await show(there!.client, there!.key, signature, '');
    expect([refused.status, refused.body['error']]).toEqual([402, 'invalid_proof_unaddressed']);
    expect((await show(here!.client, here!.key, signature, '')).status).toBe(200);
  }
  expect(upstream.received.length).toBe(before + 2);
});

test('one transfer that names the requests of two services pays one of them', async () => {
  const services = await Promise.all([1, 2].map(() => instance(`sqlite:${folder.newPath('db')}`)));
  const [here, there] = await Promise.all(services.map(async (it) => ({ client: it, ...(await shopAt(it)) })));
  const requests = await Promise.all([here!, there!].map(requestAt));
  const legs = [{ recipient: owner.publicKey.toBase58(), amount: CALL_PRICE }];
  const names = requests.map(({ reference }) => reference);
  const signature = await transferDirectly(toll.sandbox, { wallet: caller, legs, names });

  const refused = await show(here!.client, here!.key, signature, '');
  expect([refused.status, refused.body['error']]).toEqual([402, 'invalid_transfer_reference_misplaced']);
  const { body } = await here!.client.ask('GET', `/payments/${requests[0]!.id}`);
  expect(body['status']).toBe('created');
  expect((await show(there!.client, there!.key, signature, '')).status).toBe(200);
});

async function requestAt({ client, project, key }: { readonly client: Instance } & Awaited<ReturnType<typeof shopAt>>) {
  const wanted = { amount: PRICE_TEXT, token: 'USDC', recipient: owner.publicKey.toBase58(), project: project.slug };
  const { status, body } = await client.ask('POST', '/create-payment', wanted, key.headers);
  expect(status).toBe(200);
  return { id: String(body['payment_id']), reference: String(body['reference']) };
}
