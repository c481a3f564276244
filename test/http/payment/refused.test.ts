import { Keypair } from '@solana/web3.js';
import type { Request } from 'express';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import type { Refusal } from '../../../src/protocol/types.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { carry, receiptOf, type SignedPayment, signPayment } from '../../helpers/transactions/payments.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';

describe.each(DAILY_EXPRESSES)('a payment that is not good for the route, %s', (_name, express) => {
  let fixture: TollFixture;
  let url: string;
  let served = 0;
  let failures: Refusal[] = [];

  beforeAll(async () => {
    fixture = await openTollFixture();
    const facilitator = fixture.facilitatorWith({ blockhashHints: false });
    const onFailed = ({ refusal }: { req: Request; refusal: Refusal }) => failures.push(refusal);
    const options = { facilitator, payTo: fixture.payTo, onFailed };
    url = await fixture.serve((app) => {
      const handler = (): void => {
        served += 1;
      };
      app.get('/report', requirePayment({ ...options, price: '$0.01' }), handler);
      app.get('/two', requirePayment({ ...options, price: ['$0.01', '0.01 USDT'] }), handler);
      const payTo = fixture.payer.publicKey.toBase58();
      app.get('/own', requirePayment({ ...options, payTo, price: '$0.01' }), handler);
    }, express);
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    failures = [];
    fixture.sandbox.resetCalls();
  });
  afterEach(() => {
    expect(served).toBe(0);
    expect(fixture.sandbox.calls.sendTransaction).toBe(0);
  });

  const send = ({ v2 }: SignedPayment, path = '/report') => fetch(`${url}${path}`, { headers: v2 });

  test.each([
    ['a lower amount', { amount: '9999' }],
    ['a higher amount', { amount: '10001' }],
    ['another recipient', { payTo: Keypair.generate().publicKey.toBase58() }],
    ['another token', { asset: 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB' }],
    ['another network', { network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' as const }],
    ['another chain', { network: 'eip155:8453' as const }],
    ['another scheme', { scheme: 'upto' }],
    ['another time-out', { maxTimeoutSeconds: 3600 }],
    ['another fee payer', { extra: { feePayer: Keypair.generate().publicKey.toBase58() } }],
  ])('%s is 402 no_matching_requirements with fresh terms, and costs no call', async (_what, change) => {
    const payment = await signPayment(fixture, `${url}/report`, {});
    const claimed = carry(payment.transaction, { ...payment.accepted, ...change });
    fixture.sandbox.resetCalls();
    const answer = await send(claimed);
    const body = await answer.json();

    expect(answer.status).toBe(402);
    expect(body).toMatchObject({ code: 'no_matching_requirements', error: 'no_matching_requirements' });
    expect(body).toHaveProperty('accepts');
    expect(answer.headers.get('payment-required')).not.toBeNull();
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(fixture.sandbox.calls.total).toBe(0);
  });

  test('terms with more in extra than was offered are taken for the offered ones', async () => {
    const payment = await signPayment(fixture, `${url}/report`);
    const extra = { ...payment.accepted.extra, note: 'hello', lastValidBlockHeight: '1' };
    const answer = await send(withSignatureBroken(carry(payment.transaction, { ...payment.accepted, extra })));

    expect(await answer.json()).toMatchObject({ error: 'invalid_exact_svm_payload_signature_invalid' });
  });

  test('a seller who tries a route of his own with the wallet that it pays is told to take another one', async () => {
    const answer = await send(await signPayment(fixture, `${url}/own`), '/own');
    expect([answer.status, await answer.json()]).toEqual([
      402,
      expect.objectContaining({
        error: 'invalid_exact_svm_payload_recipient_mismatch',
        detail: 'Payer and recipient are the same wallet; pay with another one.',
      }),
    ]);
  });

  test('a transaction that pays less than it says is refused with the reason and fresh terms', async () => {
    const cheap = await signPayment(fixture, `${url}/report`, { change: { amount: '1' } });
    fixture.sandbox.resetCalls();
    const answer = await send(carry(cheap.transaction, { ...cheap.accepted, amount: '10000' }));
    const body = await answer.json();
    const reason = 'invalid_exact_svm_payload_amount_mismatch';

    expect(answer.status).toBe(402);
    expect(body).toMatchObject({ code: 'payment_invalid', error: reason, x402Version: 1 });
    expect(receiptOf(answer)).toMatchObject({ success: false, errorReason: reason, transaction: '' });
    expect(answer.headers.get('x-payment-response')).not.toBeNull();
    expect(failures).toMatchObject([{ reason, payer: fixture.payer.publicKey.toBase58() }]);
    expect(fixture.sandbox.calls.total).toBe(0);
  });

  test('a broken signature of the payer costs no call', async () => {
    const payment = await signPayment(fixture, `${url}/report`);
    fixture.sandbox.resetCalls();
    const answer = await send(withSignatureBroken(payment));

    expect(answer.status).toBe(402);
    expect(receiptOf(answer)).toMatchObject({ errorReason: 'invalid_exact_svm_payload_signature_invalid' });
    expect(fixture.sandbox.calls.total).toBe(0);
  });

  test('a payer who has too little is told so, in both versions', async () => {
    const poor = await fixture.sandbox.createWallet({ usdc: '0.009999' });
    const { v1, v2 } = await signPayment({ ...fixture, payer: poor }, `${url}/report`);
    for (const headers of [v1, v2]) {
      const answer = await fetch(`${url}/report`, { headers });
      expect(answer.status).toBe(402);
      expect(await answer.json()).toMatchObject({ code: 'payment_invalid', error: 'insufficient_funds' });
    }
  });

  test('a browser is shown why on the page, and nothing of that before it has paid', async () => {
    const poor = await fixture.sandbox.createWallet({ usdc: '0.009999' });
    const { v2 } = await signPayment({ ...fixture, payer: poor }, `${url}/report`);
    const pageOf = async (headers: object) =>
      (await fetch(`${url}/report`, { headers: { accept: 'text/html', ...headers } })).text();
    const why = 'The wallet does not hold the amount. Top it up, and pay again.';
    expect(await pageOf(v2)).toContain(`<p class="problem">${why}</p>`);
    expect(await pageOf({})).not.toContain('class="problem"');
  });

  test('with several prices, version 1 hears what is wrong with the one it meant', async () => {
    const poor = await fixture.sandbox.createWallet({ usdc: '0', usdt: '0' });
    for (const choice of [0, 1]) {
      const { v1 } = await signPayment({ ...fixture, payer: poor }, `${url}/two`, { choice });
      const answer = await fetch(`${url}/two`, { headers: v1 });
      expect(await answer.json()).toMatchObject({ error: 'insufficient_funds' });
    }
  });

  test.each([0, 1])(
    'with several prices, version 1 hears that it pays too little of the token it pays in (%s)',
    async (choice) => {
      const { v1 } = await signPayment(fixture, `${url}/two`, { choice, change: { amount: '9999' } });
      const answer = await fetch(`${url}/two`, { headers: v1 });
      expect(await answer.json()).toMatchObject({ error: 'invalid_exact_svm_payload_amount_mismatch' });
    },
  );

  test('an expired blockhash has a reason of its own, and the payer keeps the money', async () => {
    const before = fixture.sandbox.tokenBalance(fixture.payer.publicKey.toBase58(), USDC);
    const payment = await signPayment(fixture, `${url}/report`);
    fixture.sandbox.expireBlockhashes();
    const answer = await send(payment);

    expect(answer.status).toBe(402);
    expect(await answer.json()).toMatchObject({ error: 'invalid_exact_svm_blockhash_expired' });
    expect(fixture.sandbox.tokenBalance(fixture.payer.publicKey.toBase58(), USDC)).toBe(before);
  });

  test('a refused payment is not held: it can come again and is judged anew', async () => {
    const late = await fixture.sandbox.createWallet({ usdc: '0' });
    const payment = await signPayment({ ...fixture, payer: late }, `${url}/two`);
    const first = await send(payment, '/two');
    const second = await send(payment, '/two');

    expect([first.status, second.status]).toEqual([402, 402]);
    for (const answer of [first, second]) expect(await answer.json()).toMatchObject({ error: 'insufficient_funds' });
  });
});

/** Changes a bit of the payer's signature, which follows the fee payer's. */
function withSignatureBroken({ transaction, accepted }: SignedPayment): SignedPayment {
  const broken = Uint8Array.from(transaction);
  broken[1 + 64 + 10] = (broken[1 + 64 + 10] ?? 0) ^ 1;
  return carry(broken, accepted);
}
