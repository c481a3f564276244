/**
 * Passes in memory are those of all facilitators of a process, any of which tells of their end.
 * @jest-environment node
 */
import type { Keypair } from '@solana/web3.js';
import type { Request, Response } from 'express';
import type { PaymentEvents } from '../../../src/facilitator/events/events.js';
import type { Facilitator } from '../../../src/facilitator/types.js';
import { createGateway } from '../../../src/gateway/create-gateway.js';
import type { Gateway } from '../../../src/gateway/gateway.js';
import { verifyWebhook } from '../../../src/gateway/webhooks/verify-webhook.js';
import { createRouter } from '../../../src/http/create-router.js';
import { createIdentity } from '../../../src/identity/create-identity.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import type { Storage } from '../../../src/storage/storage.js';
import { connectGateway, type GatewayClient } from '../../helpers/fixtures/gateway-client.js';
import { SECRET } from '../../helpers/fixtures/identity-fixture.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { buyPass, passAnswer } from '../../helpers/http/passes.js';
import { type Receiver, startReceiver } from '../../helpers/http/webhook-receiver.js';
import { until } from '../../helpers/until.js';

const DAY_MS = 86_400_000;
const TYPES = ['pass.created', 'pass.used_up', 'pass.expired'] as const;

/** What a facilitator tells of passes in this process: type, pass, what is left. */
function listenTo(facilitator: Pick<Facilitator, 'on'>): string[] {
  const told: string[] = [];
  const note = (type: string) => (event: PaymentEvents['pass.created']) =>
    void told.push(`${type} ${event.pass.id} ${event.pass.left}`);
  for (const type of TYPES) facilitator.on(type, note(type));
  return told;
}

describe('what becomes of a pass', () => {
  let aheadMs = 0;
  const now = () => Date.now() + aheadMs;
  let fixture: TollFixture;
  let storage: Storage;
  let gateway: Gateway;
  let receiver: Receiver;
  let client: GatewayClient;
  let owner: Keypair;
  let secret: string;
  let shop: string;
  let told: readonly string[][];

  beforeAll(async () => {
    fixture = await openTollFixture({ maxBlockhashAgeBlocks: 3_000 });
    storage = await openStorage('memory:', { now });
    owner = await fixture.sandbox.createWallet({ usdc: '0' });
    // Two instances of one shop, which share what they keep.
    const [facilitator, other] = [1, 2].map(() => fixture.facilitatorWith({ storage, now }));
    if (facilitator === undefined || other === undefined) throw new Error('there are two');
    told = [listenTo(facilitator), listenTo(other)];
    gateway = createGateway({ facilitator, allowPrivateNetworks: ['127.0.0.0/8'], now });
    gateway.start();
    const identity = createIdentity({ network: 'solana-devnet', jwtSecret: SECRET, now, audience: 'pass-events' });
    const sold = { facilitator, payTo: owner.publicKey.toBase58(), price: '$0.50' };
    const handler = (req: Request, res: Response) =>
      void (req.query['fail'] === undefined ? res.send('read') : res.status(500).send('failed'));
    shop = await fixture.serve((app) => {
      app.use(createRouter({ facilitator, gateway, identity, limits: false }));
      app.get('/two', requirePayment({ ...sold, pass: { uses: 2 } }), handler);
      app.get('/day', requirePayment({ ...sold, pass: { for: '24h' } }), handler);
    });
    client = await connectGateway(shop);
    receiver = await startReceiver();
    const asOwner = await client.signIn(owner);
    const made = await client.ask('POST', '/api/v1/webhooks', { url: receiver.url, events: [...TYPES] }, asOwner);
    secret = String(made.body['secret']);
  });
  afterAll(async () => {
    await gateway.close();
    await fixture.close();
    await storage.close();
    await receiver.close();
  });

  const inProcess = (id: string) =>
    told
      .flat()
      .filter((it) => it.includes(id))
      .map((it) => it.replace(` ${id}`, ''));
  const hooks = (id: string) =>
    receiver.received
      .map(({ headers, body }) => verifyWebhook({ headers, body }, secret, { now, toleranceSeconds: 2 * DAY_MS }))
      .flatMap((it) => (it.ok ? [it.event] : []))
      .filter(({ data }) => data['pass_id'] === id);
  async function buy(path: string) {
    const bought = await buyPass(fixture, shop + path);
    const [pass] = await storage.passes.list(fixture.payer.publicKey.toBase58());
    if (pass === undefined) throw new Error('no pass was opened');
    return { ...bought, id: pass.id, pass };
  }

  test('is told to the one who is paid: that it was bought, and once that it is used up', async () => {
    const { id, pass, token } = await buy('/two');
    await until(() => hooks(id).length === 1);
    const data = {
      ...{ pass_id: id, payment_id: pass.paymentId, wallet: fixture.payer.publicKey.toBase58(), kind: 'uses' },
      ...{
        site: `${owner.publicKey.toBase58()} solana-devnet`,
        covers: 'GET /two',
        mint: null,
        bought: '2',
        left: '1',
        ends_at: null,
        network: 'solana-devnet',
      },
    };
    expect(hooks(id)).toEqual([
      expect.objectContaining({ type: 'pass.created', project_id: null, mode: 'test', data }),
    ]);

    expect(await passAnswer(await fetch(`${shop}/two`, { headers: token }))).toMatchObject({ status: 200, left: '0' });
    aheadMs += 30_000;
    await until(() => hooks(id).length === 2);
    expect(hooks(id)[1]).toMatchObject({ type: 'pass.used_up', data: { ...data, left: '0' } });
    expect(inProcess(id)).toEqual(['pass.created 1', 'pass.used_up 0']);
  });

  test('is not told as used up where its last use was given back', async () => {
    const { id, token } = await buy('/two');
    expect((await fetch(`${shop}/two?fail=1`, { headers: token })).status).toBe(500);
    await until(async () => (await storage.passes.find(id))?.left === 1n);
    const { id: spent, token: last } = await buy('/two');
    await fetch(`${shop}/two`, { headers: last });
    aheadMs += 30_000;
    await until(() => hooks(spent).length === 2);
    expect([inProcess(id), hooks(id).length]).toEqual([['pass.created 1'], 1]);
  });

  test('is told when its time is over, by one of the instances that share it', async () => {
    const { id, pass } = await buy('/day');
    aheadMs += DAY_MS;
    await until(() => hooks(id).length === 2);
    const ends_at = new Date(pass.endsAt ?? 0).toISOString();
    expect(hooks(id)[1]).toMatchObject({ type: 'pass.expired', data: { kind: 'until', left: null, ends_at } });
    expect(inProcess(id)).toEqual(['pass.created undefined', 'pass.expired undefined']);
    const events = await client.ask('GET', '/api/v1/events?types=pass.expired', undefined, await client.signIn(owner));
    expect(events.body['data']).toEqual([expect.objectContaining({ type: 'pass.expired' })]);
  });
});

test('a facilitator without a storage tells of the passes that it has sold', async () => {
  const fixture = await openTollFixture();
  const told = listenTo(fixture.facilitator);
  const { facilitator, payTo } = fixture;
  const gate = requirePayment({ facilitator, payTo, price: '$0.50', pass: { for: '1s' } });
  const url = await fixture.serve((app) => app.get('/', gate, (_req, res) => void res.send('read')));
  await buyPass(fixture, url);
  await until(() => told.length === 2);
  const [{ id = '' } = {}] = await facilitator.passes.list(fixture.payer.publicKey.toBase58());
  expect(told).toEqual([`pass.created ${id} undefined`, `pass.expired ${id} undefined`]);
  await fixture.close();
});
