import type { Keypair } from '@solana/web3.js';
import { decodePaymentRequiredHeader } from '@x402/core/http';
import { createSIWxClientExtension, type SIWxSigner, wrapFetchWithSIWx } from '@x402/extensions/sign-in-with-x';
import { wrapFetchWithPayment } from '@x402/fetch';
import type { Express, RequestHandler } from 'express';
import { createHoldings } from '../../../src/access/holdings.js';
import { createIdentity } from '../../../src/identity/create-identity.js';
import { createEd25519Signer } from '../../../src/lib/ed25519/ed25519.js';
import { anyOf } from '../../../src/middleware/gate/any-of.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { readTier } from '../../../src/middleware/wallet/read-tier.js';
import { requireTokenBalance } from '../../../src/middleware/wallet/require-token-balance.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { clientV2, type Fetch, payingFetch } from '../../helpers/http/official-clients.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const PRICE = 250_000n;
const MEMBERS_PRICE = 1_000n;

const tell: RequestHandler = ({ wallet, tier, payment }, res) =>
  void res.json({ wallet: wallet?.address, tier: tier?.id, payer: payment?.payer });

/** How a client puts signing in and paying together; every one is made of published parts alone. */
type Wrapping = (setup: { readonly wallet: Keypair; readonly rpcUrl: string }) => Promise<Fetch>;

function signerOf({ publicKey, secretKey }: Keypair): SIWxSigner {
  const { sign } = createEd25519Signer(secretKey.subarray(0, 32));
  return { publicKey: publicKey.toBase58(), signMessage: async (message: Uint8Array) => sign(message) };
}

const SIGNING_ONLY: Wrapping = async ({ wallet }) => wrapFetchWithSIWx(fetch, signerOf(wallet));
const PAYMENT_ALONE: Wrapping = payingFetch;
const SIGN_IN_AROUND_PAYMENT: Wrapping = async (setup) =>
  wrapFetchWithSIWx(await payingFetch(setup), signerOf(setup.wallet));
const PAYMENT_AROUND_SIGN_IN: Wrapping = async (setup) =>
  payingFetch(setup, wrapFetchWithSIWx(fetch, signerOf(setup.wallet)));
const PAYMENT_WITH_EXTENSION: Wrapping = async (setup) => {
  const extension = createSIWxClientExtension({ signers: [signerOf(setup.wallet)] });
  return wrapFetchWithPayment(fetch, (await clientV2(setup)).registerExtension(extension));
};

describe.each(DAILY_EXPRESSES)('the official clients, %s', (_name, express) => {
  let fixture: TollFixture;
  let url: string;
  let clubToken: string;
  let served: number;

  beforeAll(async () => {
    fixture = await openTollFixture({ maxBlockhashAgeBlocks: 5_000 });
    const { facilitator, payTo, sandbox } = fixture;
    clubToken = sandbox.createMint({ decimals: 0 }).mint;
    const identity = createIdentity({ network: facilitator.network });
    const common = { facilitator, identity, holdings: createHoldings({ facilitator, staleMs: 0 }) };
    const holders = requireTokenBalance({ ...common, mint: clubToken, minBalance: 1 });
    const pay = requirePayment({ facilitator, payTo, price: '$0.25' });
    const tiers = { mint: clubToken, levels: [{ id: 'member', minBalance: 1 }] };
    const byTier = requirePayment({ facilitator, payTo, price: (req) => (req.tier ? '$0.001' : '$0.25') });
    url = await fixture.serve((app: Express) => {
      app.use((_req, res, next) => {
        res.once('finish', () => {
          if (res.statusCode === 200) served += 1;
        });
        next();
      });
      app.all('/club', holders, tell);
      app.get('/either', anyOf(holders, pay), tell);
      app.get('/row', holders, pay, tell);
      app.get('/paid-row', pay, holders, tell);
      const anywhere = requireTokenBalance({ ...common, mint: clubToken, minBalance: 1, scope: 'site' });
      app.get('/site', anywhere, tell);
      app.get('/site-first', anywhere, holders, tell);
      app.get('/site-before-either', anywhere, anyOf(holders, pay), tell);
      app.get('/site-before-tier', anywhere, readTier({ ...common, tiers }), tell);
      app.use('/mounted', holders);
      app.get('/mounted', pay, tell);
      app.get('/by-tier', readTier({ ...common, tiers }), byTier, tell);
      app.get('/fixed', readTier({ ...common, tiers }), pay, tell);
    }, express);
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    served = 0;
  });

  async function wallet(tokens: bigint): Promise<Keypair> {
    const made = await fixture.sandbox.createWallet({ usdc: '10' });
    if (tokens > 0n) fixture.sandbox.fundToken(made.publicKey.toBase58(), clubToken, tokens);
    return made;
  }

  /** What a client gets at a path, and what its wallet has paid. */
  async function visit(wrapping: Wrapping, path: string, holder: Keypair) {
    const client = await wrapping({ wallet: holder, rpcUrl: fixture.sandbox.rpcUrl });
    const before = fixture.sandbox.tokenBalance(fixture.payTo, USDC);
    const answer = await client(`${url}${path}`);
    const body = (await answer.json()) as Record<string, unknown>;
    return { status: answer.status, body, paid: fixture.sandbox.tokenBalance(fixture.payTo, USDC) - before };
  }

  const WRAPPINGS: readonly (readonly [string, Wrapping])[] = [
    ['sign-in around payment', SIGN_IN_AROUND_PAYMENT],
    ['payment around sign-in', PAYMENT_AROUND_SIGN_IN],
  ];

  test.each([
    ['sign-in alone', SIGNING_ONLY],
    ['payment around sign-in', PAYMENT_AROUND_SIGN_IN],
    ['payment with the sign-in extension', PAYMENT_WITH_EXTENSION],
  ])('%s comes in at a gate for wallets, and pays nothing', async (_what, wrapping) => {
    const holder = await wallet(1n);

    expect(await visit(wrapping, '/club', holder)).toEqual({
      status: 200,
      body: { wallet: holder.publicKey.toBase58() },
      paid: 0n,
    });
    expect(await visit(wrapping, '/club', await wallet(0n))).toMatchObject({ status: 403, paid: 0n });
    expect(served).toBe(1);
  });

  test.each([
    ['sign-in alone', SIGNING_ONLY],
    ['payment around sign-in', PAYMENT_AROUND_SIGN_IN],
    ['payment with the sign-in extension', PAYMENT_WITH_EXTENSION],
  ])('%s lets a holder in for nothing where others pay', async (_what, wrapping) => {
    const holder = await wallet(1n);

    expect(await visit(wrapping, '/either', holder)).toEqual({
      status: 200,
      body: { wallet: holder.publicKey.toBase58() },
      paid: 0n,
    });
  });

  test.each(['/site', '/site-first', '/site-before-either', '/site-before-tier'])(
    'sign-in alone comes in at %s, where the first gate takes sign-ins for the site',
    async (path) => {
      const holder = await wallet(1n);
      const body = { wallet: holder.publicKey.toBase58() };
      expect(await visit(SIGNING_ONLY, path, holder)).toMatchObject({ status: 200, body, paid: 0n });
      expect(await visit(PAYMENT_WITH_EXTENSION, path, holder)).toMatchObject({ status: 200, body, paid: 0n });
    },
  );

  test.each([
    ['payment alone', PAYMENT_ALONE],
    ['sign-in around payment', SIGN_IN_AROUND_PAYMENT],
  ])('%s throws at a gate for wallets, where nothing is for sale, and pays nothing', async (_what, wrapping) => {
    const holder = await wallet(1n);
    const client = await wrapping({ wallet: holder, rpcUrl: fixture.sandbox.rpcUrl });

    await expect(client(`${url}/club`)).rejects.toThrow(/Failed to create payment payload/);
    expect(fixture.sandbox.tokenBalance(holder.publicKey.toBase58(), USDC)).toBe(10_000_000n);
    expect(served).toBe(0);
  });

  test.each(['/either', '/by-tier'])('sign-in around payment pays at %s what a stranger pays', async (path) => {
    const holder = await wallet(1n);
    expect(await visit(SIGN_IN_AROUND_PAYMENT, path, holder)).toEqual({
      status: 200,
      body: { payer: holder.publicKey.toBase58() },
      paid: PRICE,
    });
  });

  test('who holds nothing pays where holders come in for nothing', async () => {
    const stranger = await wallet(0n);
    const body = { payer: stranger.publicKey.toBase58() };
    for (const [, wrapping] of WRAPPINGS) {
      expect(await visit(wrapping, '/either', stranger)).toEqual({ status: 200, body, paid: PRICE });
    }
  });

  describe.each(WRAPPINGS)('%s', (_what, wrapping) => {
    test.each(['/row', '/paid-row'])('signs in and pays once at gates in a row, at %s', async (path) => {
      const holder = await wallet(1n);
      const address = holder.publicKey.toBase58();

      expect(await visit(wrapping, path, holder)).toEqual({
        status: 200,
        body: { wallet: address, payer: address },
        paid: PRICE,
      });
      expect(served).toBe(1);
    });

    test.each(['/row', '/paid-row'])('pays nothing at %s where its wallet holds too little', async (path) => {
      expect(await visit(wrapping, path, await wallet(0n))).toMatchObject({ status: 403, paid: 0n });
      expect(served).toBe(0);
    });
  });

  test('payment with the sign-in extension signs in and pays once at gates in a row', async () => {
    const holder = await wallet(1n);
    const address = holder.publicKey.toBase58();

    expect(await visit(PAYMENT_WITH_EXTENSION, '/row', holder)).toEqual({
      status: 200,
      body: { wallet: address, payer: address },
      paid: PRICE,
    });
    expect(await visit(PAYMENT_WITH_EXTENSION, '/row', await wallet(0n))).toMatchObject({ status: 403, paid: 0n });
    expect(served).toBe(1);
  });

  test('payment around sign-in gets in where the gate for wallets is mounted before the route', async () => {
    expect(await visit(PAYMENT_AROUND_SIGN_IN, '/mounted', await wallet(1n))).toMatchObject({
      status: 200,
      paid: PRICE,
    });
  });

  test('payment around sign-in pays a member’s price by tier, and a stranger’s where there is no tier', async () => {
    const [member, stranger] = [await wallet(1n), await wallet(0n)];

    expect(await visit(PAYMENT_AROUND_SIGN_IN, '/by-tier', member)).toMatchObject({
      status: 200,
      body: { tier: 'member' },
      paid: MEMBERS_PRICE,
    });
    expect(await visit(PAYMENT_AROUND_SIGN_IN, '/by-tier', stranger)).toMatchObject({ status: 200, paid: PRICE });
  });

  test.each([
    ['payment around sign-in', PAYMENT_AROUND_SIGN_IN],
    ['payment with the sign-in extension', PAYMENT_WITH_EXTENSION],
  ])('%s tells the handler who pays, and of which tier, where all pay the same', async (_what, wrapping) => {
    const [member, stranger] = [await wallet(1n), await wallet(0n)];
    for (const [who, tier] of [
      [member, 'member'],
      [stranger, undefined],
    ] as const) {
      const address = who.publicKey.toBase58();
      const { status, body, paid } = await visit(wrapping, '/fixed', who);
      expect([status, paid]).toEqual([200, PRICE]);
      if (tier !== undefined) expect(body).toEqual({ wallet: address, tier, payer: address });
    }
  });

  test('payment with the sign-in extension, which pays the first 402, takes no stranger’s price from a member', async () => {
    const [member, stranger] = [await wallet(1n), await wallet(0n)];
    const refused = await visit(PAYMENT_WITH_EXTENSION, '/by-tier', member);

    expect(refused).toMatchObject({ status: 402, paid: 0n, body: { code: 'no_matching_requirements' } });
    expect(refused.body).toMatchObject({ accepts: [{ maxAmountRequired: String(MEMBERS_PRICE) }] });
    expect(served).toBe(0);
    expect(await visit(PAYMENT_WITH_EXTENSION, '/by-tier', stranger)).toMatchObject({ status: 200, paid: PRICE });
  });

  test('a program that shows nothing gets 402 with a fresh challenge each time, a browser 401', async () => {
    const [one, other] = [await fetch(`${url}/club`), await fetch(`${url}/club`)];
    const [first, second] = [one, other].map((it) =>
      decodePaymentRequiredHeader(it.headers.get('payment-required') ?? ''),
    );
    const nonceOf = (it: typeof first) =>
      JSON.stringify(it?.extensions?.['sign-in-with-x']).match(/"nonce":"(\w+)"/)?.[1];
    const browser = await fetch(`${url}/club`, { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } });

    expect([one.status, other.status, browser.status]).toEqual([402, 402, 401]);
    expect(first?.accepts).toMatchObject([{ scheme: 'sign-in-with-x', amount: '0', payTo: 'none' }]);
    expect(nonceOf(first)).toMatch(/^\w{40,}$/);
    expect(nonceOf(first)).not.toBe(nonceOf(second));
    expect(await one.json()).toMatchObject({ code: 'sign_in_required', extensions: { 'sign-in-with-x': {} } });
    expect(browser.headers.get('www-authenticate')).toContain('SIWX');
    expect(await browser.text()).toMatch(/<h1>This page is for members<\/h1>.*"signIn":\{"info":\{"domain"/s);
  });
});
