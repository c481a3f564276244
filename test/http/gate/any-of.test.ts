import { Keypair } from '@solana/web3.js';
import { decodePaymentRequiredHeader } from '@x402/core/http';
import { wrapFetchWithSIWx } from '@x402/extensions/sign-in-with-x';
import type { Express, RequestHandler } from 'express';
import { createHoldings } from '../../../src/access/holdings.js';
import { createIdentity, type WalletIdentity } from '../../../src/identity/create-identity.js';
import { createEd25519Signer } from '../../../src/lib/ed25519/ed25519.js';
import { anyOf } from '../../../src/middleware/gate/any-of.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { readTier } from '../../../src/middleware/wallet/read-tier.js';
import { requireTier } from '../../../src/middleware/wallet/require-tier.js';
import { requireTokenBalance } from '../../../src/middleware/wallet/require-token-balance.js';
import { SECRET } from '../../helpers/fixtures/identity-fixture.js';
import { EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { accessTokenFor, type ProofHeaders, signIn } from '../../helpers/http/sign-in.js';
import { askTerms, receiptOf, signPayment } from '../../helpers/transactions/payments.js';
import { type WalletKey, walletKey } from '../../helpers/transactions/wallet-key.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const PYUSD = 'CXk2AMBfi3TwaEL2468s6zP8xq9NxTXjp9gjMgzeUynM';
const tell: RequestHandler = ({ wallet, tier, payment }, res) =>
  void res.json({ wallet: wallet?.address, tier: tier?.id, payer: payment?.payer });
let names = 0;

describe.each(EXPRESSES)('gates together, %s', (_name, express) => {
  let fixture: TollFixture;
  let identity: WalletIdentity;
  let url: string;

  beforeAll(async () => {
    fixture = await openTollFixture();
    const { facilitator, payTo } = fixture;
    identity = createIdentity({ network: facilitator.network, jwtSecret: SECRET });
    const common = { facilitator, identity, holdings: createHoldings({ facilitator, staleMs: 0 }) };
    const gold = requireTier({ ...common, tier: 'gold' });
    const pay = requirePayment({ facilitator, payTo, price: '$0.01' });
    url = await fixture.serve((app: Express) => {
      app.get('/holders-first', anyOf(gold, pay), tell);
      app.get('/payers-first', anyOf(pay, gold), tell);
      app.get('/streamed', anyOf(gold, requirePayment({ facilitator, payTo, price: '$0.01', settle: 'before' })), tell);
      app.get('/nested', anyOf(anyOf(requireTokenBalance({ ...common, mint: PYUSD, minBalance: 5 }), gold), pay), tell);
      app.get('/wallets', anyOf(gold, requireTokenBalance({ ...common, mint: PYUSD, minBalance: 5 })), tell);
      app.get('/both', gold, pay, tell);
      app.get(
        '/by-tier',
        readTier(common),
        requirePayment({ facilitator, payTo, price: (req) => (req.tier?.id === 'gold' ? '$0.001' : '$0.1') }),
        tell,
      );
      app.get('/told', readTier(common), tell);
    }, express);
  });
  afterAll(() => fixture.close());
  beforeEach(() => fixture.sandbox.faults.clear());

  function holder(usdc: bigint): WalletKey {
    const wallet = walletKey(`any of ${names++}`);
    if (usdc > 0n) fixture.sandbox.fundToken(wallet.address, USDC, usdc * 1_000_000n);
    return wallet;
  }
  const token = (wallet: WalletKey) => accessTokenFor(wallet, identity, url);
  const get = (path: string, headers: ProofHeaders = {}) => fetch(`${url}${path}`, { headers });
  const paidFor = async (path: string, headers: ProofHeaders = {}) =>
    (await signPayment(fixture, `${url}${path}`, { init: { headers } })).v2;
  const sellerHas = () => fixture.sandbox.tokenBalance(fixture.payTo, USDC);

  describe.each(['/holders-first', '/payers-first', '/streamed', '/nested'])('anyOf at %s', (path) => {
    test('asks a stranger to pay, and tells how a holder signs in', async () => {
      const answer = await get(path);
      const required = decodePaymentRequiredHeader(answer.headers.get('payment-required') ?? '');

      expect(answer.status).toBe(402);
      expect(required.accepts).toMatchObject([{ amount: '10000', asset: USDC, payTo: fixture.payTo }]);
      expect(required.extensions).toMatchObject({
        'sign-in-with-x': {
          info: { uri: `${url}${path}` },
          supportedChains: [{ chainId: required.accepts[0]?.network, type: 'ed25519' }],
        },
      });
    });

    test('lets a holder in and takes no money', async () => {
      const wallet = holder(10_000n);
      const before = sellerHas();
      const answer = await get(path, await signIn(wallet, `${url}${path}`));

      expect(answer.status).toBe(200);
      expect(await answer.json()).toEqual({ wallet: wallet.address, tier: 'gold' });
      expect(answer.headers.get('payment-response')).toBeNull();
      expect(sellerHas()).toBe(before);
    });

    test('lets a payer in, once for one payment', async () => {
      const before = sellerHas();
      const payment = await paidFor(path);
      const [first, again] = [await get(path, payment), await get(path, payment)];

      expect(first.status).toBe(200);
      expect(await first.json()).toEqual({ payer: fixture.payer.publicKey.toBase58() });
      expect(receiptOf(first)).toMatchObject({ success: true });
      expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
      expect(await again.json()).toEqual({ payer: fixture.payer.publicKey.toBase58() });
      expect(sellerHas() - before).toBe(10_000n);
    });

    test('asks a wallet that holds too little to pay, and lets it in when it does', async () => {
      const proof = await token(holder(9_999n));
      const refused = await get(path, proof);
      expect(refused.status).toBe(402);
      const { extensions } = decodePaymentRequiredHeader(refused.headers.get('payment-required') ?? '');
      expect(extensions).not.toHaveProperty('sign-in-with-x');

      expect((await get(path, { ...proof, ...(await paidFor(path, proof)) })).status).toBe(200);
    });

    test('says what is wrong with a payment', async () => {
      const cheap = await signPayment(fixture, `${url}${path}`, { change: { amount: '1' } });
      const answers = [await get(path, cheap.v2), await get(path, { 'payment-signature': '%' })];

      expect(answers.map(({ status }) => status)).toEqual([402, 400]);
      expect(await answers[0]?.json()).toMatchObject({ code: 'no_matching_requirements' });
      expect(await answers[1]?.json()).toMatchObject({ code: 'invalid_payment_header' });
    });

    test('asks nobody to pay for what a holder has while the chain cannot be asked', async () => {
      const proof = await token(holder(10_000n));
      fixture.sandbox.faults.add({ kind: 'error', method: 'getMultipleAccounts' });
      const answer = await get(path, proof);

      expect(answer.status).toBe(503);
      expect(await answer.json()).toMatchObject({ code: 'chain_unavailable' });
      fixture.sandbox.faults.clear();
      expect((await get(path, proof)).status).toBe(200);
    });

    test('says what is wrong with what should be a payment while the chain cannot be asked', async () => {
      const proof = await token(holder(10_000n));
      fixture.sandbox.faults.add({ kind: 'error', method: 'getMultipleAccounts' });
      const answer = await get(path, { ...proof, 'payment-signature': 'garbage' });

      expect([answer.status, await answer.json()]).toMatchObject([400, { code: 'invalid_payment_header' }]);
    });

    test('the official sign-in client gets in', async () => {
      const wallet = Keypair.generate();
      fixture.sandbox.fundToken(wallet.publicKey.toBase58(), USDC, 10_000_000_000n);
      const { sign } = createEd25519Signer(wallet.secretKey.subarray(0, 32));
      const signMessage = async (message: Uint8Array) => sign(message);
      const signer = { publicKey: wallet.publicKey.toBase58(), signMessage };
      const answer = await wrapFetchWithSIWx(fetch, signer)(`${url}${path}`);

      expect(answer.status).toBe(200);
      expect(await answer.json()).toEqual({ wallet: wallet.publicKey.toBase58(), tier: 'gold' });
    });
  });

  test('a payment is not taken from a holder who sends one, where holders come first', async () => {
    const proof = await token(holder(10_000n));
    const before = sellerHas();
    const answer = await get('/holders-first', { ...proof, ...(await paidFor('/holders-first')) });

    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ tier: 'gold' });
    expect(sellerHas()).toBe(before);
  });

  test('of wallet gates only, the last one answers', async () => {
    const wallet = holder(0n);
    const [stranger, poor] = [await get('/wallets'), await get('/wallets', await token(wallet))];
    expect([stranger.status, poor.status]).toEqual([402, 403]);
    expect(await poor.json()).toMatchObject({ code: 'insufficient_balance', mint: PYUSD });

    fixture.sandbox.fundToken(wallet.address, PYUSD, 5_000_000n);
    expect((await get('/wallets', await signIn(wallet, `${url}/wallets`))).status).toBe(200);
  });

  test('one gate behind another asks for both', async () => {
    const proof = await token(holder(10_000n));
    const codeAt = async (headers?: ProofHeaders) => (await (await get('/both', headers)).json()) as { code: string };
    expect(await codeAt()).toMatchObject({ status: 402, code: 'sign_in_required' });
    expect(await codeAt(proof)).toMatchObject({ status: 402, code: 'payment_required' });
    const payment = await paidFor('/both', proof);
    expect(await codeAt(payment)).toMatchObject({ status: 402, code: 'sign_in_required' });
    const answer = await get('/both', { ...proof, ...payment });

    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ tier: 'gold', payer: fixture.payer.publicKey.toBase58() });
    expect(answer.headers.get('cache-control')).toBe('private');
  });

  describe('a price by tier', () => {
    const priceFor = async (headers: ProofHeaders = {}) =>
      (await askTerms(`${url}/by-tier`, { headers })).accepts[0]?.amount;

    test('is that of the proven tier, and a stranger is told how to sign in', async () => {
      expect(await priceFor(await token(holder(10_000n)))).toBe('1000');
      expect(await priceFor(await token(holder(9_999n)))).toBe('100000');
      expect(await priceFor(await token(holder(0n)))).toBe('100000');
      const { accepts, extensions } = await askTerms(`${url}/by-tier`);
      expect([accepts[0]?.amount, extensions]).toMatchObject(['100000', { 'sign-in-with-x': {} }]);
    });

    test('is paid with the proof, and is too little without it', async () => {
      const proof = await token(holder(10_000n));
      const payment = await paidFor('/by-tier', proof);

      expect((await get('/by-tier', payment)).status).toBe(402);
      const answer = await get('/by-tier', { ...proof, ...payment });
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({ tier: 'gold' });
    });

    test('is not a stranger’s for somebody whose proof is no good, or while the chain cannot be asked', async () => {
      const proof = await token(holder(10_000n));
      expect((await get('/by-tier', { authorization: 'Bearer nonsense' })).status).toBe(401);
      fixture.sandbox.faults.add({ kind: 'error', method: 'getMultipleAccounts' });
      expect((await get('/by-tier', proof)).status).toBe(503);
    });
  });

  test('readTier lets everybody pass', async () => {
    const wallet = holder(150n);
    const [stranger, known] = [await get('/told'), await get('/told', await token(wallet))];

    expect([await stranger.json(), await known.json()]).toEqual([{}, { wallet: wallet.address, tier: 'bronze' }]);
    expect(stranger.headers.get('vary')).toMatch(/SIGN-IN-WITH-X/i);
    expect(known.headers.get('cache-control')).toBe('private');
  });
});

test.each<[string, readonly unknown[], RegExp]>([
  ['nothing', [], /at least one gate/],
  ['any other middleware', [(_req: unknown, _res: unknown, next: () => void) => next()], /argument 1 is not a gate/],
])('anyOf of %s is refused at once', (_name, gates, message) => {
  expect(() => Reflect.apply(anyOf, undefined, gates)).toThrow(message);
});
