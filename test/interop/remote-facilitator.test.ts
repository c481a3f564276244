import { decodePaymentResponseHeader } from '@x402/core/http';
import type { RequestHandler } from 'express';
import { remoteFacilitator } from '../../src/facilitator/remote/remote-facilitator.js';
import type { Facilitator } from '../../src/facilitator/types.js';
import { createRouter } from '../../src/http/create-router.js';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { toCaip2 } from '../../src/protocol/networks/networks.js';
import { openStorage } from '../../src/storage/open-storage.js';
import type { Storage } from '../../src/storage/storage.js';
import { openTollFixture, type TollFixture } from '../helpers/fixtures/toll-fixture.js';
import { payingFetch, payingFetchV1 } from '../helpers/http/official-clients.js';
import { referenceFacilitator } from '../helpers/http/official-servers.js';
import { passAnswer } from '../helpers/http/passes.js';
import { signPayment } from '../helpers/transactions/payments.js';

/** Whose HTTP API settles for the gate. */
const REMOTES: readonly [string, (fixture: TollFixture) => Promise<string>][] = [
  [
    'our own router',
    (fixture) => fixture.serve((app) => app.use(createRouter({ facilitator: fixture.facilitator, limits: false }))),
  ],
  [
    'the reference facilitator',
    async (fixture) => {
      const { feePayer, sandbox } = fixture;
      const reference = await referenceFacilitator(feePayer, sandbox.rpcUrl, toCaip2('solana-devnet'));
      return fixture.serve((app) => app.use(reference));
    },
  ],
];

describe.each(REMOTES)('requirePayment settles through %s, over HTTP', (_name, open) => {
  let fixture: TollFixture;
  let facilitator: Facilitator;
  let storage: Storage;
  let url: string;
  let count = 0;
  let fails = true;

  beforeAll(async () => {
    fixture = await openTollFixture();
    const { network, tokens } = fixture.facilitator;
    storage = await openStorage('memory:');
    facilitator = remoteFacilitator({ url: await open(fixture), network, tokens, storage });
    const { payTo } = fixture;
    const failing: RequestHandler = (_req, res) => void res.status(fails ? 503 : 200).send('it');
    url = await fixture.serve((app) => {
      app.get('/report', requirePayment({ facilitator, price: '$0.01', payTo }), (_req, res) => {
        count += 1;
        res.send('paid');
      });
      app.get('/first', requirePayment({ facilitator, price: '0.25 PYUSD', payTo, settle: 'before' }), (_req, res) => {
        res.send('paid first');
      });
      const first = { facilitator, price: '$0.01', payTo, settle: 'before' } as const;
      app.get('/failing', requirePayment(first), failing);
      app.get('/failing-pack', requirePayment({ ...first, pass: { uses: 2 } }), failing);
    });
  });
  afterAll(async () => {
    await facilitator.close();
    await fixture.close();
    await storage.close();
  });
  beforeEach(() => {
    fails = true;
  });

  const balance = (symbol: string) =>
    fixture.sandbox.tokenBalance(fixture.payTo, facilitator.tokens.find((it) => it.symbol === symbol)?.mint ?? '');
  const setup = () => ({ wallet: fixture.payer, rpcUrl: fixture.sandbox.rpcUrl });

  test('the official version 2 client pays, and the receipt names the transaction', async () => {
    const before = balance('USDC');
    const answer = await (await payingFetch(setup()))(`${url}/report`);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe('paid');
    const receipt = decodePaymentResponseHeader(answer.headers.get('payment-response') ?? '');
    expect(receipt).toMatchObject({ success: true, payer: fixture.payer.publicKey.toBase58(), amount: '10000' });
    expect(receipt.transaction).toMatch(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/);
    expect(balance('USDC') - before).toBe(10_000n);
  });

  test('the official version 1 client pays, though the facilitator is asked in version 2', async () => {
    const before = balance('USDC');
    const answer = await (await payingFetchV1(setup(), 'solana-devnet'))(`${url}/report`);
    expect(answer.status).toBe(200);
    expect(balance('USDC') - before).toBe(10_000n);
  });

  test('the money first, in a Token-2022 token', async () => {
    const before = balance('PYUSD');
    const answer = await (await payingFetch(setup()))(`${url}/first`);
    expect(await answer.text()).toBe('paid first');
    expect(balance('PYUSD') - before).toBe(250_000n);
  });

  test('twenty copies of one payment run the handler once', async () => {
    const before = { money: balance('USDC'), count };
    const sent: string[] = [];
    const holding: typeof fetch = (input, init) => {
      const header = input instanceof Request ? input.headers.get('payment-signature') : null;
      if (header === null) return fetch(input, init);
      sent.push(header);
      return Promise.resolve(new Response(null, { status: 204 }));
    };
    await (await payingFetch(setup(), holding))(`${url}/report`);
    const headers = { 'payment-signature': sent[0] ?? '' };
    const answers = await Promise.all(Array.from({ length: 20 }, () => fetch(`${url}/report`, { headers })));
    for (const { status } of answers) expect([200, 409]).toContain(status);
    expect(answers.filter((it) => it.ok && !it.headers.has('idempotency-replayed'))).toHaveLength(1);
    expect(count - before.count).toBe(1);
    expect(balance('USDC') - before.money).toBe(10_000n);
  });

  test('a payer without money is refused before the handler runs', async () => {
    const before = count;
    const poor = { wallet: await fixture.sandbox.createWallet({ usdc: '0' }), rpcUrl: fixture.sandbox.rpcUrl };
    const answer = await (await payingFetch(poor))(`${url}/report`);
    expect(answer.status).toBe(402);
    expect(answer.headers.get('payment-required')).not.toBeNull();
    expect(count).toBe(before);
  });

  const get = (path: string, headers: Readonly<Record<string, string>>) => fetch(url + path, { headers });

  /** Pays for a request that fails. */
  async function failed(path: string) {
    const { v2 } = await signPayment(fixture, url + path);
    const answer = await get(path, v2);
    expect(answer.status).toBe(503);
    const [left] = await storage.passes.list(fixture.payer.publicKey.toBase58());
    const token = { 'access-pass': answer.headers.get('access-pass') ?? '' };
    return { v2, token, answer, paymentId: left?.paymentId ?? '' };
  }

  test('a request that fails once it was paid leaves credit, for its token and for the same payment', async () => {
    const before = balance('USDC');
    const first = await failed('/failing');
    expect(first.answer.headers.get('access-credit')).toContain('0.01 USDC was not charged');
    expect(await passAnswer(await get('/failing', first.token))).toEqual({ status: 503, left: '0.01 USDC' });
    expect(await passAnswer(await get('/failing', first.v2))).toEqual({ status: 503, left: '0.01 USDC' });
    const second = await failed('/failing');
    fails = false;
    expect(await passAnswer(await get('/failing', first.token))).toEqual({ status: 200, left: '0 USDC' });
    expect(await passAnswer(await get('/failing', second.v2))).toEqual({ status: 200, left: '0 USDC' });
    for (const { token } of [first, second]) {
      expect(await passAnswer(await get('/failing', token))).toMatchObject({ status: 402, code: 'pass_used_up' });
    }
    expect(balance('USDC') - before).toBe(20_000n);
  });

  test('a pack whose paid request fails keeps all of its uses', async () => {
    const { v2, token } = await failed('/failing-pack');
    fails = false;
    expect(await passAnswer(await get('/failing-pack', v2))).toMatchObject({ status: 200, left: '1' });
    expect(await passAnswer(await get('/failing-pack', token))).toMatchObject({ status: 200, left: '0' });
  });

  test('what is left is paid back by a facilitator of the seller’s own over the same storage, and by no other', async () => {
    const { token, paymentId } = await failed('/failing');
    const toOwn = expect.stringContaining('a createFacilitator with the same storage the option "refunds"');
    await expect(facilitator.refund(paymentId)).rejects.toMatchObject({ code: 'not_configured', message: toOwn });
    const asked = { url, network: facilitator.network, refunds: {} };
    expect(() => remoteFacilitator(asked)).toThrow('option "refunds" must be left out: give a createFacilitator');
    const keypair = await fixture.sandbox.createWallet({ usdc: '1' });
    const elsewhere = fixture.facilitatorWith({ storage: await openStorage('memory:'), refunds: { keypair } });
    await expect(elsewhere.refund(paymentId)).rejects.toMatchObject({ code: 'payment_not_found' });
    const held = () =>
      fixture.sandbox.tokenBalance(fixture.payer.publicKey.toBase58(), fixture.facilitator.tokens[0]!.mint);
    const before = held();
    const own = fixture.facilitatorWith({ storage, refunds: { keypair } });
    expect(await own.refund(paymentId)).toMatchObject({ state: 'paid', amount: 10_000n });
    expect(held() - before).toBe(10_000n);
    fails = false;
    expect(await passAnswer(await get('/failing', token))).toMatchObject({ status: 402, code: 'pass_used_up' });
  });
});
