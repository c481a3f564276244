import { decodePaymentRequiredHeader, decodePaymentResponseHeader, HTTPFacilitatorClient } from '@x402/core/http';
import type { FacilitatorClient } from '@x402/core/server';
import { createRouter } from '../../src/http/create-router.js';
import { toCaip2 } from '../../src/protocol/networks/networks.js';
import { EXPRESSES, openTollFixture, type TollFixture } from '../helpers/fixtures/toll-fixture.js';
import { payingFetch } from '../helpers/http/official-clients.js';
import { officialGate } from '../helpers/http/official-servers.js';

const NETWORK = toCaip2('solana-devnet');

describe('the official server, @x402/express, settles through our facilitator', () => {
  let fixture: TollFixture;
  let routerUrl: string;

  beforeAll(async () => {
    fixture = await openTollFixture();
    routerUrl = await fixture.serve((app) =>
      app.use('/x402', createRouter({ facilitator: fixture.facilitator, limits: false })),
    );
  });
  afterAll(() => fixture.close());

  const WAYS: readonly [string, () => FacilitatorClient][] = [
    ['in process', () => fixture.facilitator.x402Client],
    ['over HTTP', () => new HTTPFacilitatorClient({ url: `${routerUrl}/x402` })],
  ];
  const CASES = WAYS.flatMap(([way, client]) =>
    EXPRESSES.map(([name, express]) => [way, name, client, express] as const),
  );

  describe.each(CASES)('%s, on %s', (_way, _name, client, express) => {
    /** `GET /report` behind the official gate; counts how often its handler ran. */
    async function sell(price: string) {
      const served = { url: '', count: 0 };
      served.url = await fixture.serve((app) => {
        app.use(officialGate(client(), { network: NETWORK, price, payTo: fixture.payTo }));
        app.get('/report', (_req, res) => {
          served.count += 1;
          res.json({ report: 'paid' });
        });
      }, express);
      return served;
    }

    test('the official client pays it: the amount moves, to the atomic unit, and the receipt names it', async () => {
      const { sandbox, payTo, payer, feePayer, facilitator } = fixture;
      const [usdc] = facilitator.tokens;
      const mint = usdc?.mint ?? '';
      const before = sandbox.tokenBalance(payTo, mint);
      const spent = sandbox.tokenBalance(payer.publicKey.toBase58(), mint);
      const { url } = await sell('$0.012345');
      const answer = await (await payingFetch({ wallet: payer, rpcUrl: sandbox.rpcUrl }))(`${url}/report`);
      expect(answer.status).toBe(200);
      expect(await answer.json()).toEqual({ report: 'paid' });
      const receipt = decodePaymentResponseHeader(answer.headers.get('payment-response') ?? '');
      expect(receipt).toMatchObject({ success: true, network: NETWORK, payer: payer.publicKey.toBase58() });
      expect(receipt.transaction).toMatch(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/);
      expect(sandbox.tokenBalance(payTo, mint) - before).toBe(12_345n);
      expect(spent - sandbox.tokenBalance(payer.publicKey.toBase58(), mint)).toBe(12_345n);
      expect(sandbox.balance(feePayer.publicKey.toBase58())).toBeLessThan(10_000_000_000n);
    });

    test('its 402 offers our fee payer', async () => {
      const { url } = await sell('$0.01');
      const answer = await fetch(`${url}/report`);
      expect(answer.status).toBe(402);
      expect(decodePaymentRequiredHeader(answer.headers.get('payment-required') ?? '').accepts).toEqual([
        expect.objectContaining({
          extra: expect.objectContaining({ feePayer: fixture.feePayer.publicKey.toBase58() }),
        }),
      ]);
    });

    test('a payer without money is refused with our reason, and its handler does not run', async () => {
      const served = await sell('$0.01');
      const poor = await fixture.sandbox.createWallet({ usdc: '0' });
      const answer = await (await payingFetch({ wallet: poor, rpcUrl: fixture.sandbox.rpcUrl }))(
        `${served.url}/report`,
      );
      expect(answer.status).toBe(402);
      expect(decodePaymentRequiredHeader(answer.headers.get('payment-required') ?? '').error).toBe(
        'insufficient_funds',
      );
      expect(served.count).toBe(0);
    });

    test('one payment sent twice is charged once and answered once', async () => {
      const { sandbox, payTo, payer, facilitator } = fixture;
      const served = await sell('$0.01');
      const sent: string[] = [];
      const recording: typeof fetch = (input, init) => {
        const header = input instanceof Request ? input.headers.get('payment-signature') : null;
        if (header !== null) sent.push(header);
        return fetch(input, init);
      };
      const pay = await payingFetch({ wallet: payer, rpcUrl: sandbox.rpcUrl }, recording);
      expect((await pay(`${served.url}/report`)).status).toBe(200);
      const before = sandbox.tokenBalance(payTo, facilitator.tokens[0]?.mint ?? '');
      const again = await fetch(`${served.url}/report`, { headers: { 'payment-signature': sent[0] ?? '' } });
      expect(again.status).toBe(402);
      expect(sandbox.tokenBalance(payTo, facilitator.tokens[0]?.mint ?? '')).toBe(before);
      expect(served.count).toBe(1);
    });
  });
});
