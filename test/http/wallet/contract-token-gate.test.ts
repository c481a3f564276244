import { Keypair } from '@solana/web3.js';
import { useContractFixture } from '../../helpers/fixtures/contract-fixture.js';

const fixture = useContractFixture();
const holder = Keypair.generate().publicKey.toBase58();
const usdc = () => fixture().sandbox.tokens.find(({ symbol }) => symbol === 'USDC')!.mint;

beforeAll(() => {
  fixture().sandbox.fundToken(holder, usdc(), 1_500_250_000n);
});

const check = (body: object) => fixture().ask('POST', '/token-gate/check-access', body);
const get = (path: string) => fixture().ask('GET', path);

const tier = {
  id: expect.any(String),
  name: expect.any(String),
  min_balance: expect.any(Number),
  features: expect.any(Array),
};

test.each([
  [1_500.25, true],
  [1_500.250001, false],
  [0, true],
])('POST /token-gate/check-access says whether the balance reaches %d: %p', async (min_balance, has_access) => {
  const { status, body } = await check({ wallet: holder, token: usdc(), min_balance });
  expect(status).toBe(200);
  expect(body).toMatchObject({ has_access, balance: 1_500.25, min_balance });
});

test('a wallet without the token has nothing of it', async () => {
  const wallet = Keypair.generate().publicKey.toBase58();
  const { body } = await check({ wallet, token: usdc(), min_balance: 1 });
  expect(body).toMatchObject({ has_access: false, balance: 0, min_balance: 1 });
});

test.each([
  [{ wallet: 'nobody' }, 'invalid_wallet'],
  [{ wallet: undefined }, 'invalid_wallet'],
  [{ token: 'nothing' }, 'invalid_token'],
  [{ token: holder }, 'invalid_token'],
  [{ min_balance: -1 }, 'invalid_amount'],
  [{ min_balance: 'much' }, 'invalid_amount'],
  [{ min_balance: 0.0000001 }, 'invalid_amount'],
])('POST /token-gate/check-access is 400 for %j', async (change, code) => {
  const { status, body } = await check({ wallet: holder, token: usdc(), min_balance: 1, ...change });
  expect([status, body['code']]).toEqual([400, code]);
});

test('GET /token-gate/tiers lists bronze, silver and gold, each with the features of those below it', async () => {
  const { status, body } = await get('/token-gate/tiers');
  expect(status).toBe(200);
  const { tiers } = body as { tiers: { id: string; min_balance: number; features: string[] }[] };
  expect(tiers).toEqual([tier, tier, tier]);
  expect(tiers.map(({ id }) => id)).toEqual(['bronze', 'silver', 'gold']);
  expect(tiers.map((it) => it.min_balance)).toEqual([100, 1_000, 10_000]);
  expect(tiers.map(({ features }) => features)).toEqual([
    ['basic_access'],
    ['basic_access', 'premium_content'],
    ['basic_access', 'premium_content', 'api_access'],
  ]);
});

test('GET /token-gate/get-tier tells the tier of a wallet, and the next', async () => {
  const { status, body } = await get(`/token-gate/get-tier?wallet=${holder}`);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    wallet: holder,
    tier: { ...tier, id: 'silver' },
    balance: 1_500.25,
    next_tier: { ...tier, id: 'gold' },
    missing: 8_499.75,
  });
});

test.each(['', '?wallet=nobody', '?wallet=a&wallet=b'])('GET /token-gate/get-tier%s is 400', async (query) => {
  const { status, body } = await get(`/token-gate/get-tier${query}`);
  expect([status, body['code']]).toEqual([400, 'invalid_wallet']);
});

test('GET /token-gate/accepted-tokens lists what is known by symbol', async () => {
  const { status, body } = await get('/token-gate/accepted-tokens');
  expect(status).toBe(200);
  const { tokens } = body as { tokens: { symbol: string }[] };
  expect(tokens.map(({ symbol }) => symbol)).toEqual(expect.arrayContaining(['SOL', 'USDC', 'USDT']));
  for (const token of tokens) {
    expect(token).toEqual({
      symbol: expect.any(String),
      mint: expect.any(String),
      decimals: expect.any(Number),
      network: 'solana-devnet',
      program: expect.any(String),
    });
  }
});
