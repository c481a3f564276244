import type { Express, NextFunction, RequestHandler } from 'express';
import { createHoldings } from '../../../src/access/holdings.js';
import { createIdentity, type WalletIdentity } from '../../../src/identity/create-identity.js';
import { requireTier } from '../../../src/middleware/wallet/require-tier.js';
import { requireTokenBalance } from '../../../src/middleware/wallet/require-token-balance.js';
import type { RuntimeAccount } from '../../../src/sandbox/runtime/runtime.js';
import { associatedTokenAddress } from '../../../src/solana/transaction/associated-token.js';
import { PROGRAMS } from '../../../src/solana/transaction/programs.js';
import { SECRET } from '../../helpers/fixtures/identity-fixture.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { accessTokenFor, askChallenge, type ProofHeaders, signIn } from '../../helpers/http/sign-in.js';
import { signInHeader, signInInfo, type WalletKey, walletKey } from '../../helpers/transactions/wallet-key.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const ONE_USDC = 1_000_000n;
const STALE_MS = 15_000;

const SILVER = { id: 'silver', name: 'Silver', min_balance: 1_000, features: ['basic_access', 'premium_content'] };

/** What a served route says. */
interface Seen {
  readonly wallet?: { readonly address: string; readonly by: string };
  readonly tier?: { readonly id: string; readonly features: readonly string[] };
}

const tell: RequestHandler = ({ wallet, tier }, res) => void res.json({ wallet, tier });
let names = 0;

describe.each(DAILY_EXPRESSES)('gates by wallet, %s', (_name, express) => {
  let fixture: TollFixture;
  let identity: WalletIdentity;
  let url: string;
  let time = 0;
  let collection: string[];
  let served = 0;

  beforeAll(async () => {
    fixture = await openTollFixture();
    const { facilitator, sandbox } = fixture;
    identity = createIdentity({ network: facilitator.network, jwtSecret: SECRET });
    collection = [0, 1, 2].map(() => sandbox.createMint({ decimals: 0 }).mint);
    const common = { facilitator, identity, holdings: createHoldings({ facilitator, now: () => time }) };
    url = await fixture.serve((app: Express) => {
      app.use(['/club', '/gold', '/silver', '/member', '/art'], (_req, res, next) => {
        res.once('finish', () => {
          if (res.statusCode < 300) served += 1;
        });
        next();
      });
      app.all('/club', requireTokenBalance({ ...common, mint: USDC, minBalance: 100 }), tell);
      app.get('/gold', requireTier({ ...common, tier: 'gold' }), tell);
      app.get('/silver', requireTier({ ...common, tier: 'silver' }), tell);
      app.get('/member', requireTier(common), tell);
      app.get('/art', requireTokenBalance({ ...common, collection }), tell);
      app.get('/both', requireTokenBalance({ ...common, mint: 'USDC', minBalance: '0.5' }), requireTier(common), tell);
      app.get('/lost', requireTokenBalance({ ...common, mint: walletKey('lost').address, minBalance: 1 }), tell);
      app.get('/public', requireTokenBalance({ ...common, mint: USDC, minBalance: 0 }), (_req, res) => {
        res.set('Cache-Control', 'public, max-age=60').send('ok');
      });
      app.get('/default', requireTokenBalance({ facilitator, mint: USDC, minBalance: 1 }), tell);
      app.get('/proxied', requireTier({ ...common, baseUrl: 'https://club.example' }), tell);
    }, express);
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    served = 0;
    time += STALE_MS;
    fixture.sandbox.resetCalls();
  });

  /** A wallet with so many USDC. */
  function holder(usdc: bigint): WalletKey {
    const wallet = walletKey(`gates ${names++}`);
    if (usdc > 0n) fixture.sandbox.fundToken(wallet.address, USDC, usdc * ONE_USDC);
    return wallet;
  }
  const token = (wallet: WalletKey) => accessTokenFor(wallet, identity, url);
  const get = (path: string, headers: ProofHeaders = {}) => fetch(`${url}${path}`, { headers });
  const seenBy = async (answer: Response) => (await answer.json()) as Seen;

  describe('a stranger', () => {
    test.each(['/club', '/gold', '/art', '/default'])(
      'gets 402 with a challenge at %s, and the chain is not asked',
      async (path) => {
        const answer = await get(path);
        const body = await answer.json();

        expect(answer.status).toBe(402);
        expect(answer.headers.get('content-type')).toBe('application/problem+json');
        expect(answer.headers.get('cache-control')).toBe('no-store');
        expect(answer.headers.get('www-authenticate')).toBe(
          'Bearer realm="tollhouse", SIWX realm="tollhouse", header="SIGN-IN-WITH-X"',
        );
        expect(body).toMatchObject({
          code: 'sign_in_required',
          status: 402,
          extensions: {
            'sign-in-with-x': {
              info: { domain: new URL(url).host, uri: `${url}${path}` },
              supportedChains: [{ chainId: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', type: 'ed25519' }],
            },
          },
        });
        expect([served, fixture.sandbox.calls.total]).toEqual([0, 0]);
      },
    );

    test('opens nothing by naming a wallet that holds enough', async () => {
      const { address } = holder(1_000n);
      const named = await Promise.all([
        get(`/club?wallet=${address}&address=${address}`),
        get('/club', { wallet: address, 'x-wallet': address, cookie: `wallet=${address}` }),
        get('/club', { authorization: address }),
        get('/club', { authorization: `Bearer ${address}` }),
        get('/club', { 'sign-in-with-x': address }),
        fetch(`${url}/club`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ wallet: address }),
        }),
      ]);

      expect(named.map(({ status }) => status)).toEqual([402, 402, 402, 401, 401, 402]);
      expect([served, fixture.sandbox.calls.total]).toEqual([0, 0]);
    });

    test.each(['HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'])(
      'is asked with %s as well; a CORS preflight is not, and opens nothing',
      async (method) => {
        const headers = { origin: 'https://shop.example', 'access-control-request-method': method };
        expect((await fetch(`${url}/club`, { method })).status).toBe(402);
        const preflight = await fetch(`${url}/club`, { method: 'OPTIONS', headers });
        expect([preflight.status, await preflight.text()]).toEqual([204, '']);
      },
    );
  });

  describe('a proof', () => {
    test('by signing the challenge opens once', async () => {
      const wallet = holder(100n);
      const proof = await signIn(wallet, `${url}/club`);
      const [first, again] = [await get('/club', proof), await get('/club', proof)];

      expect(first.status).toBe(200);
      expect(await seenBy(first)).toEqual({ wallet: { address: wallet.address, by: 'siwx', scopes: [] } });
      expect(again.status).toBe(401);
      expect(await again.json()).toMatchObject({ code: 'sign_in_replayed', extensions: { 'sign-in-with-x': {} } });
    });

    test('by access token opens as often as it is sent', async () => {
      const wallet = holder(100n);
      const proof = await token(wallet);
      for (const _time of [1, 2, 3]) {
        const answer = await get('/club', proof);
        expect(answer.status).toBe(200);
        expect(await seenBy(answer)).toMatchObject({ wallet: { address: wallet.address, by: 'jwt' } });
      }
    });

    test('of another wallet than signed, for another path or another site is refused', async () => {
      const rich = holder(1_000n);
      const info = signInInfo(await askChallenge(`${url}/club`));
      const forged = signInHeader(holder(0n), info, { address: rich.address });
      const elsewhere = signInHeader(rich, { ...info, domain: 'evil.example', uri: 'https://evil.example/club' });
      const otherPath = await signIn(rich, `${url}/art`);

      for (const header of [forged, elsewhere, otherPath['sign-in-with-x'] ?? '']) {
        const answer = await get('/club', { 'sign-in-with-x': header });
        expect(answer.status).toBe(401);
        expect(await answer.json()).toMatchObject({ code: 'invalid_sign_in' });
      }
      expect(served).toBe(0);
    });

    test('by a token that is no good is 401, named as RFC 6750 does', async () => {
      const answer = await get('/club', { authorization: 'Bearer eyJhbGciOiJub25lIn0.e30.' });

      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toContain('Bearer realm="tollhouse", error="invalid_token"');
      expect(await answer.json()).toMatchObject({ code: 'invalid_access_token' });
    });

    test('is read once for all gates of a route', async () => {
      const wallet = holder(1_000n);
      const answer = await get('/both', await signIn(wallet, `${url}/both`));

      expect(answer.status).toBe(200);
      expect(await seenBy(answer)).toMatchObject({ wallet: { address: wallet.address }, tier: { id: 'silver' } });
    });

    test('without an identity of one’s own is taken from the header', async () => {
      const wallet = holder(1n);
      expect((await get('/default', await signIn(wallet, `${url}/default`))).status).toBe(200);
      expect((await get('/default', await token(wallet))).status).toBe(401);
    });

    test('names the address under which clients reach the server', async () => {
      const { info } = (await askChallenge(`${url}/proxied`)).extensions['sign-in-with-x'] as { info: object };
      expect(info).toMatchObject({ domain: 'club.example', uri: 'https://club.example/proxied' });
    });
  });

  describe('what is held', () => {
    test.each([
      [99n, 403],
      [100n, 200],
      [101n, 200],
    ])('%s USDC against 100 is %s', async (usdc, status) => {
      expect((await get('/club', await token(holder(usdc)))).status).toBe(status);
    });

    test('too little is 403 and says what is missing', async () => {
      const wallet = holder(40n);
      const answer = await get('/club', await token(wallet));

      expect(answer.status).toBe(403);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(await answer.json()).toMatchObject({
        code: 'insufficient_balance',
        detail: `The wallet ${wallet.address} holds 40 of the 100 USDC that it takes to get in.`,
        balance: 40,
        min_balance: 100,
        mint: USDC,
      });
    });

    test('too low a tier is 403 and says which is next', async () => {
      const answer = await get('/gold', await token(holder(150n)));

      expect(answer.status).toBe(403);
      expect(await answer.json()).toMatchObject({
        code: 'insufficient_tier',
        detail: expect.stringContaining('holds 150; the tier "gold" begins at 10000 USDC.'),
        mint: USDC,
        balance: 150,
        min_balance: 10_000,
        missing: 9_850,
        tier: { id: 'bronze' },
        next_tier: SILVER,
        required_tier: { id: 'gold' },
      });
    });

    test('a tier opens what the tiers below it open, with their features', async () => {
      const proof = await token(holder(10_000n));
      for (const path of ['/member', '/silver', '/gold']) {
        const answer = await get(path, proof);
        expect(answer.status).toBe(200);
        expect((await seenBy(answer)).tier).toMatchObject({
          id: 'gold',
          features: expect.arrayContaining(['api_access', 'basic_access']),
        });
      }
    });

    test('any NFT of a collection opens, and none does not', async () => {
      const wallet = holder(0n);
      const proof = await token(wallet);
      const refused = await get('/art', proof);
      expect(refused.status).toBe(403);
      expect(await refused.json()).toMatchObject({ balance: 0, min_balance: 1, mints: collection });

      fixture.sandbox.fundToken(wallet.address, collection[1] ?? '', 1n);
      time += STALE_MS;
      expect((await get('/art', proof)).status).toBe(200);
    });

    test('a wallet that loses its tokens loses access within the stated staleness', async () => {
      const wallet = holder(100n);
      const proof = await token(wallet);
      expect((await get('/club', proof)).status).toBe(200);

      const empty = fixture.sandbox.account(fixture.sandbox.fundToken(holder(0n).address, USDC, 0n)) as RuntimeAccount;
      fixture.sandbox.setAccount(associatedTokenAddress(wallet.address, USDC, PROGRAMS.token), empty);
      time += STALE_MS - 1;
      expect((await get('/club', proof)).status).toBe(200);
      time += 1;
      expect((await get('/club', proof)).status).toBe(403);
    });
  });

  test('an answer behind a gate is for its caller only', async () => {
    const answer = await get('/public', await token(holder(0n)));

    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('private, max-age=60');
    expect(answer.headers.get('vary')).toMatch(/Authorization, SIGN-IN-WITH-X/i);
  });

  test('without the chain it is 503, for those who have proven a wallet', async () => {
    const proof = await token(holder(100n));
    fixture.sandbox.faults.add({ kind: 'error' });
    const [stranger, known] = await Promise.all([get('/club'), get('/club', proof)]);
    fixture.sandbox.faults.clear();

    expect([stranger.status, known.status]).toEqual([402, 503]);
    expect(Number(known.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await known.json()).toMatchObject({ code: 'chain_unavailable', retryable: true });
    expect((await get('/club', proof)).status).toBe(200);
  });

  test('a mint that does not exist is a fault of the set-up, not of the caller', async () => {
    expect((await get('/lost', await token(holder(1n)))).status).toBe(500);
  });

  test('1,000 requests of 100 wallets at once cost at most two RPC calls, in each window', async () => {
    const { mint } = fixture.sandbox.createMint();
    const gate = requireTokenBalance({
      facilitator: fixture.facilitator,
      identity,
      holdings: createHoldings({ facilitator: fixture.facilitator, now: () => time }),
      mint,
      minBalance: 1,
    });
    const base = await fixture.serve((app: Express) => app.get('/club', together(1_000), gate, tell), express);
    const wallets = Array.from({ length: 100 }, () => holder(0n));
    for (const { address } of wallets) fixture.sandbox.fundToken(address, mint, ONE_USDC);
    const proofs = await Promise.all(wallets.map((wallet) => accessTokenFor(wallet, identity, base)));

    for (const _window of [1, 2]) {
      fixture.sandbox.resetCalls();
      const statuses = await Promise.all(
        Array.from({ length: 1_000 }, async (_, index) => {
          const answer = await fetch(`${base}/club`, { headers: proofs[index % 100] ?? {} });
          await answer.arrayBuffer();
          return answer.status;
        }),
      );
      expect(statuses.every((status) => status === 200)).toBe(true);
      expect(fixture.sandbox.calls.total).toBeLessThanOrEqual(2);
      time += STALE_MS;
    }
  });
});

/** Lets requests on when so many are there, so that they are at the gate at once however slow the machine is. */
function together(count: number): RequestHandler {
  const waiting: NextFunction[] = [];
  return (_req, _res, next) => {
    waiting.push(next);
    if (waiting.length === count) for (const goOn of waiting.splice(0)) goOn();
  };
}

describe('options', () => {
  let fixture: TollFixture;
  beforeAll(async () => {
    fixture = await openTollFixture();
  });
  afterAll(() => fixture.close());

  test.each<[string, object, RegExp]>([
    ['a typing error', { mint: USDC, minBalence: 1 }, /unknown option "minBalence"; did you mean "minBalance"\?/],
    ['no token', { minBalance: 1 }, /either option "mint" or option "collection"/],
    ['token and collection', { mint: USDC, collection: [USDC] }, /either option "mint" or option "collection"/],
    ['no minimum', { mint: USDC }, /option "minBalance" is missing/],
    ['a negative minimum', { mint: USDC, minBalance: -1 }, /option "minBalance" must be a decimal amount/],
    ['too many decimals', { mint: USDC, minBalance: '0.0000001' }, /more decimal places than the token, which has 6/],
    ['an unknown symbol', { mint: 'USCD', minBalance: 1 }, /did you mean "USDC"\?/],
    ['an empty collection', { collection: [] }, /at least one mint/],
    ['a collection of anything', { collection: ['punk'] }, /the address of a mint/],
    ['half an NFT', { collection: [USDC], minBalance: 0.5 }, /a whole number of NFTs/],
    ['no facilitator', { facilitator: undefined, mint: USDC, minBalance: 1 }, /option "facilitator" is missing/],
    ['no identity', { identity: {}, mint: USDC, minBalance: 1 }, /option "identity" must be an identity/],
  ])('of requireTokenBalance: %s is refused at once', (_name, options, message) => {
    expect(() => requireTokenBalance({ facilitator: fixture.facilitator, ...options })).toThrow(message);
  });

  test.each<[string, object, RegExp]>([
    ['an unknown tier', { tier: 'glod' }, /there is no tier "glod"; did you mean "gold"\?/],
    ['a typing error', { teir: 'gold' }, /unknown option "teir"; did you mean "tier"\?/],
    ['wrong tiers', { tiers: { levels: [{ id: 'a', minBalence: 1 }] } }, /did you mean "minBalance"\?/],
  ])('of requireTier: %s is refused at once', (_name, options, message) => {
    expect(() => requireTier({ facilitator: fixture.facilitator, ...options })).toThrow(message);
  });
});
