import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { openTollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { startRpcProxy } from '../../helpers/nodes/rpc-proxy.js';
import { signPayment } from '../../helpers/transactions/payments.js';

/** Longer than any test lasts: a payment that is waited for does not answer. */
const SETTLE_MS = 600_000;

test.each([1, 2])(
  'a payment that none of %i nodes takes is told at once that nothing was sent, and is good afterwards',
  async (nodes) => {
    const fixture = await openTollFixture();
    const storage = await openStorage('memory:');
    const { ledger } = storage;
    const proxies = await Promise.all(Array.from({ length: nodes }, () => startRpcProxy(fixture.sandbox.rpcUrl)));
    const rpcUrl = proxies.map((it) => it.url);
    const losing = fixture.facilitatorWith({ rpcUrl, ledger, settleTimeoutMs: SETTLE_MS });
    const well = fixture.facilitatorWith({ ledger });
    const serve = (facilitator: typeof well, meanwhile: () => Promise<unknown>) =>
      fixture.serve((app) => {
        const gate = requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.01' });
        app.get('/goods', gate, async (_req, res) => {
          await meanwhile();
          res.send('goods');
        });
      });
    const [lost, found] = [
      // Connections are refused from here on, before the transaction is sent.
      await serve(losing, () => Promise.all(proxies.map((it) => it.close()))),
      await serve(well, async () => undefined),
    ];
    const { v2 } = await signPayment(fixture, `${lost}/goods`);
    const refused = await fetch(`${lost}/goods`, { headers: v2 });
    const problem = (await refused.json()) as { readonly code: string; readonly detail: string };
    expect([refused.status, problem.code]).toEqual([503, 'payment_backend_unavailable']);
    expect(problem.detail).toContain('nothing was charged');
    const again = await fetch(`${found}/goods`, { headers: v2 });
    expect([again.status, await again.text()]).toEqual([200, 'goods']);
    await fixture.close();
    await storage.close();
  },
);
