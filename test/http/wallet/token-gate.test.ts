import { createHoldings } from '../../../src/access/holdings.js';
import type { TiersOptions } from '../../../src/access/tiers.js';
import { createNetworks } from '../../../src/facilitator/networks/networks.js';
import type { Facilitator } from '../../../src/facilitator/types.js';
import { createRoutes } from '../../../src/http/framework/routes.js';
import {
  TOKEN_GATE_OPERATIONS,
  type TokenGateOptions,
  tokenGateParts,
} from '../../../src/http/token-gate/operations.js';
import { PROGRAMS } from '../../../src/solana/transaction/programs.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { walletKey } from '../../helpers/transactions/wallet-key.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const SOL = 'So11111111111111111111111111111111111111112';

/** A body as the tests look at it. */
interface Body {
  readonly errors: readonly { readonly pointer: string; readonly code: string }[];
  readonly tokens: readonly { readonly symbol: string; readonly mint: string }[];
  readonly tiers: readonly unknown[];
}
const bodyOf = async (answer: Response | Promise<Response>) => (await (await answer).json()) as Body;

/** These tests look more often than strangers may. */
const publicLooksPerSecond = 1_000;
const tokenGateRouter = ({
  facilitator,
  ...more
}: Omit<TokenGateOptions, 'networks'> & { facilitator: Facilitator }) => {
  const networks = createNetworks('test', [facilitator]);
  const holdings = createHoldings({ facilitator, publicLooksPerSecond });
  return createRoutes(TOKEN_GATE_OPERATIONS, tokenGateParts({ networks, holdings, ...more })).router;
};

let names = 0;
const fresh = (): string => walletKey(`token gate ${names++}`).address;

describe.each(DAILY_EXPRESSES)('the token gate, %s', (_name, express) => {
  let fixture: TollFixture;
  let url: string;
  let points: string;
  let tiered: string;

  beforeAll(async () => {
    fixture = await openTollFixture();
    const { facilitator, sandbox } = fixture;
    points = sandbox.createMint({ decimals: 2 }).mint;
    const tiers: TiersOptions = {
      mint: points,
      levels: [
        { id: 'member', minBalance: '0.5', features: ['forum'] },
        { id: 'patron', name: 'Patron of the arts', minBalance: 20, features: ['studio'] },
      ],
    };
    url = await fixture.serve((app) => app.use(tokenGateRouter({ facilitator })), express);
    tiered = await fixture.serve((app) => app.use(tokenGateRouter({ facilitator, tiers })), express);
  });
  afterAll(() => fixture.close());

  const checkAccess = (body: unknown) =>
    fetch(`${url}/token-gate/check-access`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const getTier = async (base: string, wallet: string) =>
    (await fetch(`${base}/token-gate/get-tier?wallet=${wallet}`)).json();

  describe('POST /token-gate/check-access', () => {
    test.each([
      [99, true],
      [100.25, true],
      [100.250001, false],
      ['100.25', true],
      [0, true],
    ])('says of 100.25 USDC against %s: %s', async (min_balance, has_access) => {
      const wallet = fresh();
      fixture.sandbox.fundToken(wallet, USDC, 100_250_000n);
      const answer = await checkAccess({ wallet, token: USDC, min_balance });

      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
      expect(await answer.json()).toEqual({
        has_access,
        balance: 100.25,
        min_balance: Number(min_balance),
        wallet,
        token: USDC,
        balance_atomic: '100250000',
        decimals: 6,
      });
    });

    test('compares beyond what a number can tell apart', async () => {
      const { mint } = fixture.sandbox.createMint({ decimals: 0 });
      const wallet = fresh();
      fixture.sandbox.fundToken(wallet, mint, 2n ** 53n);
      const above = await (await checkAccess({ wallet, token: mint, min_balance: '9007199254740993' })).json();
      const equal = await (await checkAccess({ wallet, token: mint, min_balance: '9007199254740992' })).json();

      expect(above).toMatchObject({ has_access: false, balance_atomic: '9007199254740992' });
      expect(equal).toMatchObject({ has_access: true, balance: 2 ** 53 });
    });

    test.each([['SOL'], ['sol'], [SOL], [PROGRAMS.system]])('knows SOL as %s', async (token) => {
      const wallet = fresh();
      fixture.sandbox.airdrop(wallet, 2_500_000_000n);

      expect(await (await checkAccess({ wallet, token, min_balance: 2.5 })).json()).toMatchObject({
        has_access: true,
        balance: 2.5,
        token: SOL,
      });
    });

    test('reads Token-2022, and a wallet that holds nothing', async () => {
      const { mint } = fixture.sandbox.createMint({ extensions: { nonTransferable: true }, decimals: 3 });
      const wallet = fresh();
      fixture.sandbox.fundToken(wallet, mint, 7n);

      expect(await (await checkAccess({ wallet, token: mint, min_balance: 1 })).json()).toMatchObject({
        has_access: false,
        balance: 0.007,
      });
      expect(await (await checkAccess({ wallet: fresh(), token: mint, min_balance: 1 })).json()).toMatchObject({
        has_access: false,
        balance: 0,
      });
    });

    const GOOD = { wallet: walletKey('somebody').address, token: USDC, min_balance: 1 };
    test.each<[string, unknown, string, string]>([
      ['no wallet', { ...GOOD, wallet: undefined }, '/wallet', 'invalid_wallet'],
      ['a wallet that is no address', { ...GOOD, wallet: '0xabc' }, '/wallet', 'invalid_wallet'],
      ['a wallet of another type', { ...GOOD, wallet: [GOOD.wallet] }, '/wallet', 'invalid_wallet'],
      ['no token', { ...GOOD, token: undefined }, '/token', 'invalid_token'],
      ['an unknown symbol', { ...GOOD, token: 'USCD' }, '/token', 'invalid_token'],
      ['an address without mint', { ...GOOD, token: walletKey('no mint').address }, '/token', 'invalid_token'],
      ['no balance', { ...GOOD, min_balance: undefined }, '/min_balance', 'invalid_amount'],
      ['a negative balance', { ...GOOD, min_balance: -1 }, '/min_balance', 'invalid_amount'],
      ['a balance that is no number', { ...GOOD, min_balance: 'lots' }, '/min_balance', 'invalid_amount'],
      ['a balance of another type', { ...GOOD, min_balance: null }, '/min_balance', 'invalid_amount'],
      ['more decimals than the token has', { ...GOOD, min_balance: 0.0000001 }, '/min_balance', 'invalid_amount'],
      ['more than can be held', { ...GOOD, min_balance: 1e15 }, '/min_balance', 'invalid_amount'],
      ['a body that is no object', '[]', '', 'invalid_request'],
    ])('%s is 400 and named', async (_fault, body, pointer, code) => {
      const answer = await checkAccess(body);
      const problem = await bodyOf(answer);

      expect(answer.status).toBe(400);
      expect(answer.headers.get('content-type')).toBe('application/problem+json');
      expect(problem).toMatchObject({ status: 400, code, retryable: false });
      expect(problem.errors[0]?.pointer).toBe(pointer);
    });

    test('names every field at fault', async () => {
      const { errors } = await bodyOf(checkAccess({}));
      expect(errors.map(({ pointer, code }) => [pointer, code])).toEqual([
        ['/wallet', 'required'],
        ['/token', 'required'],
        ['/min_balance', 'required'],
      ]);
    });

    test.each([
      ['broken JSON', '{', 'application/json', 400, 'invalid_json'],
      ['another type', 'wallet=x', 'application/x-www-form-urlencoded', 415, 'unsupported_media_type'],
      ['a huge body', JSON.stringify({ wallet: 'x'.repeat(200_000) }), 'application/json', 413, 'body_too_large'],
    ])('%s is refused', async (_fault, body, type, status, code) => {
      const answer = await fetch(`${url}/token-gate/check-access`, {
        method: 'POST',
        headers: { 'content-type': type },
        body,
      });

      expect(answer.status).toBe(status);
      expect(await answer.json()).toMatchObject({ code });
    });
  });

  describe('GET /token-gate/tiers', () => {
    test('lists the tiers from the lowest, each with the features of those below it', async () => {
      const answer = await fetch(`${url}/token-gate/tiers`);

      expect(answer.status).toBe(200);
      expect((await bodyOf(answer)).tiers).toEqual([
        { id: 'bronze', name: 'Bronze', min_balance: 100, features: ['basic_access'] },
        { id: 'silver', name: 'Silver', min_balance: 1_000, features: ['basic_access', 'premium_content'] },
        { id: 'gold', name: 'Gold', min_balance: 10_000, features: ['basic_access', 'premium_content', 'api_access'] },
      ]);
    });

    test('lists those that were configured', async () => {
      expect(await (await fetch(`${tiered}/token-gate/tiers`)).json()).toEqual({
        mint: points,
        tiers: [
          { id: 'member', name: 'Member', min_balance: 0.5, features: ['forum'] },
          { id: 'patron', name: 'Patron of the arts', min_balance: 20, features: ['forum', 'studio'] },
        ],
      });
    });
  });

  describe('GET /token-gate/get-tier', () => {
    const MEMBER = { id: 'member', name: 'Member', min_balance: 0.5, features: ['forum'] };
    const PATRON = { id: 'patron', name: 'Patron of the arts', min_balance: 20, features: ['forum', 'studio'] };

    test.each([
      [0n, { tier: null, balance: 0, next_tier: MEMBER, missing: 0.5 }],
      [49n, { tier: null, balance: 0.49, next_tier: MEMBER, missing: 0.01 }],
      [50n, { tier: MEMBER, balance: 0.5, next_tier: PATRON, missing: 19.5 }],
      [1_999n, { tier: MEMBER, balance: 19.99, next_tier: PATRON, missing: 0.01 }],
      [2_000n, { tier: PATRON, balance: 20, next_tier: null, missing: 0 }],
    ])('of %s hundredths', async (amount, standing) => {
      const wallet = fresh();
      fixture.sandbox.fundToken(wallet, points, amount);

      expect(await getTier(tiered, wallet)).toEqual({ wallet, token: points, ...standing });
    });

    test('counts every account of the wallet', async () => {
      const wallet = fresh();
      fixture.sandbox.fundToken(wallet, USDC, 100_000_000n);
      expect(await getTier(url, wallet)).toMatchObject({ tier: { id: 'bronze' }, balance: 100, missing: 900 });
    });

    test.each(['', '?wallet=', '?wallet=nobody', `?wallet=${USDC}&wallet=${USDC}`, '?Wallet=x'])(
      'without one good wallet it is 400: "%s"',
      async (query) => {
        const answer = await fetch(`${url}/token-gate/get-tier${query}`);

        expect(answer.status).toBe(400);
        expect(await answer.json()).toMatchObject({ code: 'invalid_wallet', errors: [{ pointer: '/wallet' }] });
      },
    );
  });

  test('GET /token-gate/accepted-tokens lists what can be named by symbol', async () => {
    const { tokens } = await bodyOf(fetch(`${url}/token-gate/accepted-tokens`));

    expect(tokens.map(({ symbol }) => symbol)).toEqual(expect.arrayContaining(['SOL', 'USDC', 'USDT']));
    expect(tokens).toContainEqual({
      symbol: 'USDC',
      mint: USDC,
      decimals: 6,
      network: 'solana-devnet',
      program: PROGRAMS.token,
    });
    for (const { mint } of tokens) {
      const answer = await checkAccess({ wallet: walletKey('somebody').address, token: mint, min_balance: 1 });
      expect(answer.status).toBe(200);
    }
  });

  test.each([
    ['GET', 'check-access', 'POST'],
    ['POST', 'get-tier', 'GET, HEAD'],
    ['DELETE', 'tiers', 'GET, HEAD'],
    ['PUT', 'accepted-tokens', 'GET, HEAD'],
  ])('%s /token-gate/%s is 405', async (method, path, allow) => {
    const answer = await fetch(`${url}/token-gate/${path}`, { method });

    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow]);
  });

  test('without the chain it is 503, and a retry is worth it', async () => {
    fixture.sandbox.faults.add({ kind: 'error' });
    const answers = await Promise.all([
      checkAccess({ wallet: fresh(), token: USDC, min_balance: 1 }),
      fetch(`${url}/token-gate/get-tier?wallet=${fresh()}`),
    ]);
    fixture.sandbox.faults.clear();

    for (const answer of answers) {
      expect(answer.status).toBe(503);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await answer.json()).toMatchObject({ code: 'chain_unavailable', retryable: true });
    }
  });
});

test('wrong tiers are refused before the first request', async () => {
  const fixture = await openTollFixture();
  const { facilitator } = fixture;
  expect(() => tokenGateRouter({ facilitator, tiers: { levels: [] } })).toThrow(/at least one tier/);
  await fixture.close();
});
