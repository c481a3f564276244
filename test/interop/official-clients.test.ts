import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from '@x402/core/http';
import type { PaymentRequirementsV1 } from '@x402/core/types/v1';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { toCaip2 } from '../../src/protocol/networks/networks.js';
import { EXPRESSES, openTollFixture, type TollFixture } from '../helpers/fixtures/toll-fixture.js';
import { clientV2, payingFetch, payingFetchV1, schemeV1, understood } from '../helpers/http/official-clients.js';

describe('the official clients pay our routes', () => {
  let devnet: TollFixture;
  let mainnet: TollFixture;

  beforeAll(async () => {
    devnet = await openTollFixture();
    mainnet = await openTollFixture({ network: 'solana' });
  });
  afterAll(async () => {
    await devnet.close();
    await mainnet.close();
  });

  const fixtureOn = (network: string) => (network === 'solana' ? mainnet : devnet);
  const setupOf = ({ payer, sandbox }: TollFixture) => ({ wallet: payer, rpcUrl: sandbox.rpcUrl });

  function mintOf({ facilitator }: TollFixture, symbol: string): string {
    const token = facilitator.tokens.find((it) => it.symbol === symbol);
    if (token === undefined) throw new Error(`no token ${symbol}`);
    return token.mint;
  }

  describe('version 2, @x402/fetch with @x402/svm', () => {
    test.each([
      ['solana-devnet', '$0.01', 'USDC', 10_000n],
      ['solana-devnet', '0.000001 USDC', 'USDC', 1n],
      ['solana-devnet', '0.5 PYUSD', 'PYUSD', 500_000n],
      ['solana', '$1', 'USDC', 1_000_000n],
      ['solana', '0.123456 USDT', 'USDT', 123_456n],
      ['solana', '0.02 PYUSD', 'PYUSD', 20_000n],
    ])('on %s a price of %s is paid in %s: %i units move', async (network, price, symbol, amount) => {
      const fixture = fixtureOn(network);
      const { facilitator, payTo, payer, sandbox } = fixture;
      const mint = mintOf(fixture, symbol);
      const before = sandbox.tokenBalance(payTo, mint);
      const url = await fixture.serve((app) => {
        app.get('/report', requirePayment({ facilitator, price, payTo }), (req, res) => {
          res.json({ payer: req.payment?.payer });
        });
      });
      const answer = await (await payingFetch(setupOf(fixture)))(`${url}/report`);
      expect(answer.status).toBe(200);
      expect(await answer.json()).toEqual({ payer: payer.publicKey.toBase58() });
      expect(decodePaymentResponseHeader(answer.headers.get('payment-response') ?? '')).toMatchObject({
        success: true,
        network: toCaip2(facilitator.network),
        payer: payer.publicKey.toBase58(),
        amount: String(amount),
      });
      expect(sandbox.tokenBalance(payTo, mint) - before).toBe(amount);
    });

    test.each(EXPRESSES)('on %s a POST with a body is paid for, and the body arrives', async (_, express) => {
      const { facilitator, payTo } = devnet;
      const url = await devnet.serve((app) => {
        app.post('/echo', requirePayment({ facilitator, price: '$0.01', payTo }), express.json(), (req, res) => {
          res.status(201).json(req.body);
        });
      }, express);
      const body = JSON.stringify({ question: 'what is left?' });
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
      const answer = await (await payingFetch(setupOf(devnet)))(`${url}/echo`, init);
      expect(answer.status).toBe(201);
      expect(await answer.json()).toEqual({ question: 'what is left?' });
    });

    test('of several prices it pays the first that it may pay', async () => {
      const { facilitator, payTo, sandbox } = devnet;
      const [dear, fair] = [mintOf(devnet, 'USDC'), mintOf(devnet, 'PYUSD')];
      const url = await devnet.serve((app) => {
        app.get('/report', requirePayment({ facilitator, price: ['50 USDC', '0.25 PYUSD'], payTo }), (_req, res) => {
          res.send('ok');
        });
      });
      const before = [sandbox.tokenBalance(payTo, dear), sandbox.tokenBalance(payTo, fair)];
      expect((await (await payingFetch(setupOf(devnet)))(`${url}/report`)).status).toBe(200);
      const after = [sandbox.tokenBalance(payTo, dear), sandbox.tokenBalance(payTo, fair)];
      expect(after.map((it, index) => it - (before[index] ?? 0n))).toEqual([0n, 250_000n]);
    });

    test('a memo of ours is carried', async () => {
      const { facilitator, payTo } = devnet;
      const url = await devnet.serve((app) => {
        app.get('/order', requirePayment({ facilitator, price: '$0.01', payTo, memo: 'order 4711' }), (req, res) => {
          res.send(req.payment?.terms.memo);
        });
      });
      expect(await (await (await payingFetch(setupOf(devnet)))(`${url}/order`)).text()).toBe('order 4711');
    });

    test('a free path beside the paid one costs nothing', async () => {
      const { facilitator, payTo, sandbox } = devnet;
      const url = await devnet.serve((app) => {
        app.get(
          '/report',
          requirePayment({ facilitator, price: '$0.01', payTo }),
          (_req, res) => void res.send('paid'),
        );
        app.get('/free', (_req, res) => void res.send('free'));
      });
      const { sendTransaction } = sandbox.calls;
      expect(await (await (await payingFetch(setupOf(devnet)))(`${url}/free`)).text()).toBe('free');
      expect(sandbox.calls.sendTransaction).toBe(sendTransaction);
    });

    test('it understands a 402 after a payment that failed: why, and what to pay', async () => {
      const { facilitator, payTo, sandbox } = devnet;
      const url = await devnet.serve((app) => {
        app.get('/report', requirePayment({ facilitator, price: '$0.01', payTo }), (_req, res) => void res.send('ok'));
      });
      const poor = { wallet: await sandbox.createWallet({ usdc: '0.009999' }), rpcUrl: sandbox.rpcUrl };
      const answer = await (await payingFetch(poor))(`${url}/report`);
      expect(answer.status).toBe(402);
      const required = decodePaymentRequiredHeader(answer.headers.get('payment-required') ?? '');
      expect(required).toMatchObject({ error: 'insufficient_funds', accepts: [{ amount: '10000', payTo }] });
      expect(await understood(await clientV2(poor), answer)).toMatchObject({
        paymentStatus: 'settle_failed',
        header: { success: false, errorReason: 'insufficient_funds', transaction: '' },
      });
      sandbox.fundToken(poor.wallet.publicKey.toBase58(), mintOf(devnet, 'USDC'), 1n);
      expect((await (await payingFetch(poor))(`${url}/report`)).status).toBe(200);
    });

    test('it understands a 402 for a payment that was used before', async () => {
      const { facilitator, payTo } = devnet;
      const sent: string[] = [];
      const url = await devnet.serve((app) => {
        app.use((req, _res, next) => {
          sent.push(req.get('payment-signature') ?? '');
          next();
        });
        app.get('/report', requirePayment({ facilitator, price: '$0.01', payTo }), (_req, res) => void res.send('ok'));
        app.get('/other', requirePayment({ facilitator, price: '$0.01', payTo }), (_req, res) => void res.send('ok'));
      });
      const first = await (await payingFetch(setupOf(devnet)))(`${url}/report`);
      const again = await fetch(`${url}/other`, { headers: { 'payment-signature': sent.at(-1) ?? '' } });
      const { transaction } = decodePaymentResponseHeader(first.headers.get('payment-response') ?? '');
      expect(again.status).toBe(402);
      expect(decodePaymentRequiredHeader(again.headers.get('payment-required') ?? '')).toMatchObject({
        error: 'payment_already_used',
        accepts: [{ amount: '10000' }],
      });
      // The receipt comes first for this client: its payment was settled, though not for this.
      expect(await understood(await clientV2(setupOf(devnet)), again)).toMatchObject({
        paymentStatus: 'settled',
        header: { success: true, transaction },
      });
    });
  });

  describe('version 1, the scheme of @x402/svm/v1', () => {
    test.each([
      ['solana-devnet', '$0.01', 'USDC', 10_000n],
      ['solana', '0.75 USDT', 'USDT', 750_000n],
      ['solana', '0.01 PYUSD', 'PYUSD', 10_000n],
    ])(
      'on %s a price of %s is paid from the body of the 402: %s, %i units move',
      async (network, price, symbol, amount) => {
        const fixture = fixtureOn(network);
        const { facilitator, payTo, payer, sandbox } = fixture;
        const mint = mintOf(fixture, symbol);
        const before = sandbox.tokenBalance(payTo, mint);
        const url = await fixture.serve((app) => {
          app.get('/report', requirePayment({ facilitator, price, payTo }), (_req, res) => void res.send('ok'));
        });
        const answer = await (await payingFetchV1(setupOf(fixture), network))(`${url}/report`);
        expect(answer.status).toBe(200);
        expect(decodePaymentResponseHeader(answer.headers.get('x-payment-response') ?? '')).toMatchObject({
          success: true,
          network,
          payer: payer.publicKey.toBase58(),
        });
        expect(sandbox.tokenBalance(payTo, mint) - before).toBe(amount);
      },
    );

    test('a payload that is sent by hand is paid, and a second time it is not', async () => {
      const { facilitator, payTo, sandbox } = devnet;
      const url = await devnet.serve((app) => {
        app.get('/report', requirePayment({ facilitator, price: '$0.01', payTo }), (_req, res) => void res.send('ok'));
        app.get('/other', requirePayment({ facilitator, price: '$0.01', payTo }), (_req, res) => void res.send('ok'));
      });
      const { accepts } = (await (await fetch(`${url}/report`)).json()) as { accepts: PaymentRequirementsV1[] };
      const [offered] = accepts;
      if (offered === undefined) throw new Error('the body offers nothing');
      expect(offered.resource).toBe(`${url}/report`);
      const scheme = await schemeV1(setupOf(devnet));
      // The official types say version 2 terms here; the scheme reads version 1's.
      const payload = await Reflect.apply(scheme.createPaymentPayload, scheme, [1, offered]);
      const value = Buffer.from(JSON.stringify({ ...payload, scheme: 'exact', network: 'solana-devnet' })).toString(
        'base64',
      );
      const { sendTransaction } = sandbox.calls;
      expect((await fetch(`${url}/report`, { headers: { 'X-PAYMENT': value } })).status).toBe(200);
      expect((await fetch(`${url}/other`, { headers: { 'X-PAYMENT': value } })).status).toBe(402);
      expect(sandbox.calls.sendTransaction).toBe(sendTransaction + 1);
    });

    test('it finds the reason of a failed payment in the body', async () => {
      const { facilitator, payTo, sandbox } = devnet;
      const url = await devnet.serve((app) => {
        app.get('/report', requirePayment({ facilitator, price: '$0.01', payTo }), (_req, res) => void res.send('ok'));
      });
      const poor = { wallet: await sandbox.createWallet({ usdc: '0' }), rpcUrl: sandbox.rpcUrl };
      const answer = await (await payingFetchV1(poor, 'solana-devnet'))(`${url}/report`);
      expect(answer.status).toBe(402);
      expect(await answer.json()).toMatchObject({
        x402Version: 1,
        error: 'insufficient_funds',
        accepts: [{ maxAmountRequired: '10000' }],
      });
    });
  });
});
