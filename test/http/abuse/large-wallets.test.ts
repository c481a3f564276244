import type { Express, RequestHandler } from 'express';
import { createHoldings, type Holdings } from '../../../src/access/holdings.js';
import { createNetworks } from '../../../src/facilitator/networks/networks.js';
import { createRoutes } from '../../../src/http/framework/routes.js';
import { TOKEN_GATE_OPERATIONS, tokenGateParts } from '../../../src/http/token-gate/operations.js';
import { createIdentity, type WalletIdentity } from '../../../src/identity/create-identity.js';
import { anyOf } from '../../../src/middleware/gate/any-of.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { readTier } from '../../../src/middleware/wallet/read-tier.js';
import { requireTokenBalance } from '../../../src/middleware/wallet/require-token-balance.js';
import { addressBytes } from '../../../src/protocol/address.js';
import { SECRET } from '../../helpers/fixtures/identity-fixture.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { accessTokenFor } from '../../helpers/http/sign-in.js';
import { type LyingNode, startLyingNode } from '../../helpers/nodes/lying-node.js';
import { signPayment } from '../../helpers/transactions/payments.js';
import { type WalletKey, walletKey } from '../../helpers/transactions/wallet-key.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const ONE_USDC = 1_000_000n;
/** A wallet with so many accounts beside the associated one has a thousand times as many for the node: scanning is slow here. */
const LARGE = 2;
const TIMES = 1_000;
const LOOKS_PER_SECOND = 5;
/** At once, twice as many; of an address that is alone half of nine tenths. */
const OF_ALL = 10;
const OF_ADDRESS = 5;

const tell: RequestHandler = ({ wallet, tier }, res) => void res.json({ wallet: wallet?.address, tier: tier?.id });
let fixture: TollFixture;
let node: LyingNode;
let identity: WalletIdentity;
let holdings: Holdings;
let url: string;
let time = 0;
let names = 0;

beforeAll(async () => {
  fixture = await openTollFixture();
  node = await startLyingNode(fixture);
  node.lie = (method, result) => (method === 'getTokenAccountsByOwner' ? grown(result) : result);
  const { facilitator } = node;
  const { payTo } = fixture;
  identity = createIdentity({ network: facilitator.network, jwtSecret: SECRET });
  holdings = createHoldings({ facilitator, now: () => time, publicLooksPerSecond: LOOKS_PER_SECOND });
  const common = { facilitator, identity, holdings };
  const club = requireTokenBalance({ ...common, mint: USDC, minBalance: 100 });
  const pay = requirePayment({ facilitator, payTo, price: '$0.01' });
  url = await fixture.serve((app: Express) => {
    app.set('trust proxy', 1);
    app.use(
      createRoutes(TOKEN_GATE_OPERATIONS, tokenGateParts({ networks: createNetworks('test', [facilitator]), holdings }))
        .router,
    );
    app.get('/club', club, tell);
    app.get('/report', pay, tell);
    app.get('/either', anyOf(club, pay), tell);
    app.get('/priced', readTier(common), tell);
  });
});
afterAll(async () => {
  await node.close();
  await fixture.close();
});
beforeEach(() => {
  time += 60_000;
  fixture.sandbox.resetCalls();
});

const fresh = (): WalletKey => walletKey(`large ${names++}`);

function grown(result: unknown): unknown {
  const { value, ...rest } = result as { readonly value: readonly unknown[] };
  return { ...rest, value: value.length === LARGE ? Array(TIMES).fill(value).flat() : value };
}

/** A wallet with so many accounts of USDC beside the associated one, each with a millionth. */
function crowded(accounts: number): WalletKey {
  const wallet = fresh();
  const { sandbox } = fixture;
  const model = sandbox.account(sandbox.fundToken(fresh().address, USDC, 1n));
  if (model === null) throw new Error('the account is missing');
  const data = Uint8Array.from(model.data);
  data.set(addressBytes(wallet.address), 32);
  for (let made = 0; made < accounts; made += 1) sandbox.setAccount(fresh().address, { ...model, data });
  return wallet;
}

const checkAccess = (wallet: string, token = USDC, address = '192.0.2.1') =>
  fetch(`${url}/token-gate/check-access`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
    body: JSON.stringify({ wallet, token, min_balance: 1 }),
  });
const at = async (path: string, wallet: WalletKey) =>
  fetch(`${url}${path}`, { headers: await accessTokenFor(wallet, identity, url) });

describe('a wallet with more token accounts than are looked at', () => {
  let large: WalletKey;
  beforeAll(() => {
    large = crowded(LARGE);
  });

  test('costs one call, is told so, and is remembered', async () => {
    for (const _time of [1, 2, 3]) {
      const answer = await checkAccess(large.address);
      expect(answer.status).toBe(403);
      expect(await answer.json()).toMatchObject({ code: 'wallet_too_large', retryable: false });
    }
    expect(fixture.sandbox.calls.getTokenAccountsByOwner).toBe(1);
  });

  test('is refused at a gate, may pay where money opens, and pays no stranger’s price unknowingly', async () => {
    const answers = await Promise.all(['/club', '/either', '/priced'].map((path) => at(path, large)));
    expect(answers.map(({ status }) => status)).toEqual([403, 402, 403]);
    expect(await answers[0]?.json()).toMatchObject({ code: 'wallet_too_large' });
  });

  test('comes in all the same by what is in its associated account', async () => {
    const holder = crowded(LARGE - 1);
    fixture.sandbox.fundToken(holder.address, USDC, 100n * ONE_USDC);
    expect((await checkAccess(holder.address)).status).toBe(403);
    expect((await at('/club', holder)).status).toBe(200);
  });

  test('takes no node away from gates and payments', async () => {
    const holder = fresh();
    fixture.sandbox.fundToken(holder.address, USDC, 100n * ONE_USDC);
    const others = Array.from({ length: 3 }, () => crowded(LARGE));
    const strangers = await Promise.all([large, ...others].map(({ address }) => checkAccess(address)));
    const honest = await Promise.all([
      at('/club', holder),
      ...[1, 2, 3].map(async () =>
        fetch(`${url}/report`, { headers: (await signPayment(fixture, `${url}/report`)).v2 }),
      ),
    ]);

    expect(strangers.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    expect(honest.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  test('is not one of some accounts, which are counted to the last', async () => {
    const answer = await checkAccess(crowded(50).address);
    expect(await answer.json()).toMatchObject({ has_access: false, balance_atomic: '50' });
  });
});

describe('looks that anybody may ask for', () => {
  test('are refused first: 429 beyond the budget, while those who prove their wallet come in', async () => {
    const holder = fresh();
    fixture.sandbox.fundToken(holder.address, USDC, 100n * ONE_USDC);
    const statuses: number[] = [];
    for (let asked = 0; asked < 30; asked += 1) statuses.push((await checkAccess(fresh().address)).status);
    const refused = await checkAccess(fresh().address);

    expect(statuses).toEqual([...Array(OF_ADDRESS).fill(200), ...Array(25).fill(429)]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ code: 'rate_limited', retryable: true });
    expect((await at('/club', holder)).status).toBe(200);
    expect(fixture.sandbox.calls.getTokenAccountsByOwner).toBe(OF_ADDRESS);

    time += 2_000;
    expect((await checkAccess(fresh().address)).status).toBe(200);
  });

  test('are shared among addresses: who floods from one keeps nobody out who asks from another', async () => {
    for (let asked = 0; asked < 30; asked += 1) await checkAccess(fresh().address);
    expect((await checkAccess(fresh().address, USDC, '198.51.100.1')).status).toBe(200);
    const tier = (address: string) =>
      fetch(`${url}/token-gate/get-tier?wallet=${fresh().address}`, { headers: { 'x-forwarded-for': address } });
    expect((await tier('203.0.113.1')).status).toBe(200);
    expect((await tier('192.0.2.1')).status).toBe(429);
  });

  test('are no more for many addresses than all together may have', async () => {
    const answers: number[] = [];
    for (let n = 0; n < 30; n += 1) answers.push((await checkAccess(fresh().address, USDC, `10.${n}.0.1`)).status);
    expect(answers.filter((it) => it === 200)).toHaveLength(OF_ALL);
  });

  test('share one budget: about wallets, tiers and mints', async () => {
    for (let asked = 0; asked < OF_ADDRESS; asked += 1) await checkAccess(fresh().address, fresh().address);
    const tier = await fetch(`${url}/token-gate/get-tier?wallet=${fresh().address}`, {
      headers: { 'x-forwarded-for': '192.0.2.1' },
    });
    expect([tier.status, (await checkAccess(fresh().address)).status]).toEqual([429, 429]);
  });

  test('about what is known already are answered, however many come', async () => {
    const { address } = fresh();
    const statuses = [];
    for (let asked = 0; asked < 30; asked += 1) statuses.push((await checkAccess(address)).status);
    expect(statuses).toEqual(Array(30).fill(200));
  });

  test('leave what gates remember alone', async () => {
    const holder = fresh();
    fixture.sandbox.fundToken(holder.address, USDC, 100n * ONE_USDC);
    await at('/club', holder);
    for (let asked = 0; asked < 30; asked += 1) await checkAccess(asked % 2 === 0 ? holder.address : fresh().address);
    fixture.sandbox.resetCalls();
    expect((await at('/club', holder)).status).toBe(200);
    expect(fixture.sandbox.calls.total).toBe(0);
  });

  test('about an account of ten megabytes as a token read its first bytes, and spoil nobody’s batch', async () => {
    const { sandbox } = fixture;
    const huge = [fresh().address, fresh().address];
    const data = new Uint8Array(10 * 1024 * 1024);
    for (const address of huge)
      sandbox.setAccount(address, { lamports: 80n * 10n ** 9n, owner: fresh().address, data, executable: false });
    const { mint } = sandbox.createMint({ decimals: 3 });
    const answers = await Promise.all([...huge, mint].map((token) => checkAccess(fresh().address, token)));
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 200]);
  });
});
