import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { startRpcProxy } from '../../helpers/nodes/rpc-proxy.js';
import { testFolder } from '../../helpers/processes/test-folder.js';
import { signPayment, stolenFrom } from '../../helpers/transactions/payments.js';

const FORGET = { name: 'test_forget_payments', text: 'delete from tollhouse_payment' };
const folder = testFolder();

describe.each(['after', 'before'] as const)('a payment that has landed, settled %s its handler,', (settle) => {
  let fixture: TollFixture;
  beforeAll(async () => {
    fixture = await openTollFixture();
  });
  afterAll(() => fixture.close());

  async function open(rpcUrl = fixture.sandbox.rpcUrl) {
    const storage = await openStorage(`sqlite:${folder.newPath('db')}`);
    const facilitator = fixture.facilitatorWith({ storage, rpcUrl });
    const url = await fixture.serve((app) => {
      app.get('/report', requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.01', settle }), (_req, res) =>
        res.send('paid'),
      );
    });
    return { storage, url: `${url}/report` };
  }

  test('buys nothing for whoever shows it once the books have lost it', async () => {
    const { storage, url } = await open();
    const payment = await signPayment(fixture, url);
    const paid = await fetch(url, { headers: payment.v2 });
    const thief = await stolenFrom(payment, url);
    await storage.database.query(FORGET);
    const shown = [await fetch(url, { headers: thief.v2 }), await fetch(url, { headers: thief.v2 })];
    expect([paid.status, ...shown.map(({ status }) => status)]).toEqual([200, 402, 402]);
    await storage.close();
  });

  test('is served to its payer where the node was told twice and says that it knows it', async () => {
    const proxy = await startRpcProxy(fixture.sandbox.rpcUrl);
    const { storage, url } = await open(proxy.url);
    proxy.decide = (call) => {
      if (call.method !== 'sendTransaction') return 'pass';
      const error = { code: -32_002, message: 'x', data: { err: 'AlreadyProcessed', logs: [] } };
      return { status: 200, body: JSON.stringify({ jsonrpc: '2.0', id: call.id, error }) };
    };
    const payment = await signPayment(fixture, url);
    const paid = await fetch(url, { headers: payment.v2 });
    expect(paid.status).toBe(200);
    await storage.close();
    await proxy.close();
  });
});
