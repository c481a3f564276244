import { createGateway } from '../../../src/gateway/create-gateway.js';
import { createRouter } from '../../../src/http/create-router.js';
import { createIdentity } from '../../../src/identity/create-identity.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { newName, type Sent } from '../../helpers/fixtures/calls-on-credit.js';
import { connectGateway, type GatewayClient } from '../../helpers/fixtures/gateway-client.js';
import { SECRET } from '../../helpers/fixtures/identity-fixture.js';
import { openTollFixture, QUICK, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { type Receiver, startReceiver } from '../../helpers/http/webhook-receiver.js';
import { testFolder } from '../../helpers/processes/test-folder.js';
import { createGate, signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const PRICE = 12_347n;

describe('two instances on one database', () => {
  const folder = testFolder();
  const closers: (() => Promise<void>)[] = [];
  let toll: TollFixture;
  let upstream: Receiver;
  let aheadMs = 0;
  let served = 0;
  const now = () => Date.now() + aheadMs;

  beforeAll(async () => {
    toll = await openTollFixture({ maxBlockhashAgeBlocks: 5_000 });
    upstream = await startReceiver((res) => {
      served += 1;
      res.end(`job ${served}`);
    });
  });
  afterAll(async () => {
    for (const close of closers.reverse()) await close();
    await upstream.close();
    await toll.close();
  });

  /**
   * @param standsUntil - where it stands still as it is about to send a payment: it says so, and nothing of it is heard until then;
   * `noted` is waited for when the payment is noted as sent, and before anything else of it is done
   */
  async function instance(
    url: string,
    standsUntil?: { readonly opened: Promise<void>; stands(): void; noted(): Promise<unknown> },
  ) {
    const storage = await openStorage(url, { now });
    const { ledger, idempotency } = storage;
    if (standsUntil !== undefined) {
      const { opened, stands, noted } = standsUntil;
      const later = <T>(run: () => Promise<T>) => opened.then(run);
      const [recordBroadcast, extend] = [ledger.recordBroadcast.bind(ledger), ledger.extend.bind(ledger)];
      const extendRun = idempotency.extend!.bind(idempotency);
      jest.spyOn(ledger, 'extend').mockImplementation((...what) => later(() => extend(...what)));
      jest
        .spyOn(idempotency as Required<typeof idempotency>, 'extend')
        .mockImplementation((...what) => later(() => extendRun(...what)));
      jest.spyOn(ledger, 'recordBroadcast').mockImplementation((...what) => {
        stands();
        return later(async () => {
          const isNoted = await recordBroadcast(...what);
          await noted();
          return isNoted;
        });
      });
    }
    const facilitator = toll.facilitatorWith({ storage, now }, QUICK);
    const gateway = createGateway({ facilitator, storage, allowPrivateNetworks: ['127.0.0.0/8'], now });
    const { counters } = storage;
    const identity = createIdentity({ network: 'solana-devnet', jwtSecret: SECRET, counters, now, audience: 'shop' });
    const router = createRouter({ facilitator, gateway, identity, counters, limits: false });
    closers.push(
      () => storage.close(),
      () => gateway.close(),
    );
    const client = await connectGateway(await toll.serve((app) => app.use(router)));
    return { ...client, recover: () => facilitator.recover() };
  }

  test('charge one call once under its key, though one of them stands still before it sends the payment', async () => {
    const url = `sqlite:${folder.newPath('db')}`;
    const gate = createGate();
    let isStanding = false;
    const stands = () => {
      isStanding = true;
    };
    const other = await instance(url);
    // The other looks for what was left behind just when that may be found.
    const still = await instance(url, { opened: gate.opened, stands, noted: other.recover });
    const [owner, payer] = await Promise.all(['0', '10'].map((usdc) => toll.sandbox.createWallet({ usdc })));
    const { slug } = await other.project(await other.signIn(owner!), {
      slug: 'jobs',
      upstream: { url: upstream.origin },
    });
    const key = await other.key(await other.signIn(payer!));
    const balance = () => toll.sandbox.tokenBalance(payer!.publicKey.toBase58(), toll.sandbox.tokens[0]!.mint);
    const init = { method: 'POST', headers: key.headers };
    const pay = async () =>
      (await signPayment({ sandbox: toll.sandbox, payer: payer! }, `${other.url}/v1/${slug}/job`, { init })).v2;
    const call = async (at: GatewayClient, sent: Sent) => {
      const { status, text, body } = await at.call(`${slug}/job`, {
        method: 'POST',
        headers: { ...key.headers, ...sent },
      });
      return status < 400 ? text : [status, body['code']];
    };
    const [name, before, one, two] = [newName(), balance(), await pay(), await pay()];

    const late = call(still, { ...one, ...name });
    await until(() => isStanding);
    expect(await call(other, { ...two, ...name })).toEqual([409, 'idempotency_in_progress']);
    // Longer than a payment is held, and than a run.
    aheadMs = 100_000;
    expect(await call(other, { ...two, ...name })).toBe('job 1');
    gate.open();
    expect(await late).toEqual([409, 'payment_in_progress']);
    expect([await call(other, { ...one, ...name }), await call(still, name)]).toEqual(['job 1', 'job 1']);
    expect([before - balance(), served]).toEqual([PRICE, 1]);
  });
});
