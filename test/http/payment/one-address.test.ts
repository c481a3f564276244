import type { Keypair } from '@solana/web3.js';
import type { EmbeddedFacilitator } from '../../../src/facilitator/create-facilitator.js';
import { createRouter } from '../../../src/http/create-router.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openTollFixture, QUICK, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { type Passage, type RpcProxy, startRpcProxy } from '../../helpers/nodes/rpc-proxy.js';
import { type SignedPayment, signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const PLACES = 10;
const HOSTILE = '203.0.113.7';
const HONEST = '198.51.100.20';

describe('one address that floods with many wallets', () => {
  let fixture: TollFixture;
  let proxy: RpcProxy;
  let facilitator: EmbeddedFacilitator;
  let url: string;
  let wallets: readonly Keypair[];
  let letGo: () => void;

  beforeAll(async () => {
    fixture = await openTollFixture();
    proxy = await startRpcProxy(fixture.sandbox.rpcUrl);
    const bounds = { maxPaymentsInFlight: PLACES, rpcTimeoutMs: 30_000 };
    facilitator = fixture.facilitatorWith({ ...bounds, rpcUrl: proxy.url }, QUICK);
    wallets = await Promise.all(Array.from({ length: PLACES + 1 }, () => fixture.sandbox.createWallet({ usdc: '10' })));
    const sold = requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.01' });
    url = await fixture.serve((app) => {
      app.set('trust proxy', 1);
      app.use(createRouter({ facilitator, limits: false }));
      app.get('/data', sold, (_req, res) => void res.send('delivered'));
    });
  });
  afterAll(async () => {
    await proxy.close();
    await fixture.close();
  });
  beforeEach(() => {
    const opened = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    proxy.decide = async ({ method }): Promise<Passage> => {
      if (method === 'simulateTransaction') await opened;
      return 'pass';
    };
  });
  afterEach(async () => {
    letGo();
    proxy.decide = () => 'pass';
    await until(() => facilitator.load().paymentsInFlight === 0);
  });

  const sign = (payer: Keypair) => signPayment({ sandbox: fixture.sandbox, payer }, `${url}/data`);
  const bring = ({ v2 }: SignedPayment, from: string) =>
    fetch(`${url}/data`, { headers: { ...v2, 'x-forwarded-for': from } });
  const verify = ({ accepted, transaction }: SignedPayment, path: string, from: string) => {
    const payload = { transaction: Buffer.from(transaction).toString('base64') };
    const paymentPayload = { x402Version: 2, accepted, payload };
    return fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': from },
      body: JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements: accepted }),
    });
  };

  test.each([
    ['IPv4', () => HOSTILE, HONEST],
    ['a network of IPv6', (at: number) => `2001:db8:7:${at}::${at}`, '2001:db8:8::1'],
  ])('leaves places for who comes from elsewhere, and is told to come again: %s', async (_name, from, elsewhere) => {
    const payments = await Promise.all(wallets.map(sign));
    const before = facilitator.load().turnedAway;
    const flood = payments.slice(1).map((it, at) => bring(it, from(at)));
    const settled: Response[] = [];
    for (const it of flood) it.then((answer) => settled.push(answer)).catch(() => {});
    await until(() => settled.length === PLACES / 2 && facilitator.load().paymentsInFlight === PLACES / 2);
    for (const answer of settled) {
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2']);
      expect(await answer.json()).toMatchObject({ code: 'too_many_payments', detail: /from this address/ });
    }
    const [honest] = payments;
    expect((await verify(honest!, '/verify', from(1))).status).toBe(503);
    expect((await verify(honest!, '/settle', from(1))).status).toBe(503);
    const served = bring(honest!, elsewhere);
    await until(() => facilitator.load().paymentsInFlight === PLACES / 2 + 1);
    letGo();
    expect(await (await served).text()).toBe('delivered');
    expect(facilitator.load().turnedAway).toBe(before + PLACES / 2 + 2);
    await Promise.all(flood);
    expect((await Promise.all(flood)).filter(({ status }) => status === 200)).toHaveLength(PLACES / 2);
  });
});
