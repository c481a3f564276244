import type { Express, RequestHandler } from 'express';
import { createHoldings } from '../../../src/access/holdings.js';
import { createAuthRouter } from '../../../src/http/auth/auth-router.js';
import { createRouter } from '../../../src/http/create-router.js';
import { createIdentity, type WalletIdentity } from '../../../src/identity/create-identity.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { createRateLimits } from '../../../src/middleware/rate-limit/rate-limit.js';
import { requireTokenBalance } from '../../../src/middleware/wallet/require-token-balance.js';
import { createMemoryCounters } from '../../../src/storage/counters/memory-counters.js';
import { SECRET } from '../../helpers/fixtures/identity-fixture.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { accessTokenFor, type ProofHeaders } from '../../helpers/http/sign-in.js';
import { signInHeader, signInInfo, type WalletKey, walletKey } from '../../helpers/transactions/wallet-key.js';

const done: RequestHandler = (_req, res) => void res.json({});
const GARBAGE: ProofHeaders = { 'sign-in-with-x': 'x' };

describe.each(DAILY_EXPRESSES)('an address whose budget somebody else has used up, %s', (_name, express) => {
  let fixture: TollFixture;
  let identity: WalletIdentity;
  let holder: WalletKey;
  let mint: string;
  let url: string;
  let time: number;

  beforeAll(async () => {
    fixture = await openTollFixture({ slotMs: 0, confirmedAfterSlots: 0 });
    holder = walletKey('holder of an address');
    ({ mint } = fixture.sandbox.createMint({ decimals: 0 }));
    fixture.sandbox.fundToken(holder.address, mint, 1n);
  });
  afterAll(() => fixture.close());
  beforeEach(async () => {
    time = Date.now();
    const { facilitator, payTo } = fixture;
    const now = () => time;
    const counters = createMemoryCounters({ now });
    identity = createIdentity({ network: facilitator.network, jwtSecret: SECRET, now });
    const limits = createRateLimits({ counters, now });
    const holdings = createHoldings({ facilitator, strangerLooksPerSecond: 1_000 });
    const gate = requireTokenBalance({ facilitator, identity, holdings, mint, minBalance: 1 });
    url = await fixture.serve((app: Express) => {
      app.use(createRouter({ facilitator, identity, counters }));
      const own = express.Router();
      own.use('/api/v1/auth/token', ...limits.credentials);
      app.use('/own', own.use(createAuthRouter({ identity })));
      app.get('/club', ...limits.challenges, gate, done);
      app.get('/paid', ...limits.challenges, requirePayment({ facilitator, payTo, price: '$0.01' }), done);
      app.use('/mounted', ...createRateLimits({ counters, identity, now }).challenges, gate, done);
    }, express);
  });

  const status = async (path: string, headers: ProofHeaders = {}) => (await fetch(url + path, { headers })).status;
  const post = async (path: string, body: unknown, headers: ProofHeaders = {}, at = '') => {
    const json = { 'content-type': 'application/json', ...headers };
    return fetch(`${url}${at}/api/v1/auth/${path}`, { method: 'POST', headers: json, body: JSON.stringify(body) });
  };
  /** At limits that have the clock of this test. */
  const exchangeAt = async (body: unknown) => (await post('token', body, {}, '/own')).status;
  const codes = async (times: number, ask: () => Promise<number>) => {
    const seen = new Set<number>();
    for (let n = 0; n < times; n += 1) seen.add(await ask());
    return [...seen];
  };
  async function signed(wallet: WalletKey) {
    const { message, nonce } = await identity.issueChallenge(wallet.address, url);
    return { wallet: wallet.address, nonce, signature: wallet.sign(message) };
  }
  /** Sign-ins for a gate, made before the address is used up. */
  async function signIns(path: string, wallet: WalletKey, times: number): Promise<ProofHeaders[]> {
    const all = Array.from({ length: times }, () =>
      identity.challenge({ url: url + path, method: 'GET', header: () => undefined }),
    );
    return (await Promise.all(all)).map((it) => ({ 'sign-in-with-x': signInHeader(wallet, signInInfo(it)) }));
  }

  test('takes a signed message and a refresh token that are right, and nothing that is wrong', async () => {
    const { refreshToken } = await identity.exchange(await signed(holder));
    const right = await signed(holder);
    const wrong = { ...right, nonce: right.nonce.slice(1) };
    const named = { 'idempotency-key': 'e1f4b1a0-6ad4-4a44-8a8f-0f1ce1a5d0a1' };
    expect(await codes(60, () => status('/supported'))).toEqual([200]);
    expect([await status('/supported'), (await post('challenge', { wallet: holder.address })).status]).toEqual([
      429, 429,
    ]);
    expect((await post('token', wrong, named)).status).toBe(429);
    expect((await post('token', {})).status).toBe(429);
    expect((await post('refresh', { refresh_token: 'x' })).status).toBe(429);
    expect((await post('token', right)).status).toBe(200);
    expect((await post('token', right)).status).toBe(429);
    const refreshed = await post('refresh', { refresh_token: refreshToken });
    expect([refreshed.status, refreshed.headers.get('retry-after')]).toEqual([200, null]);
  });

  test('takes as many more that are right, and counts none that are wrong among them', async () => {
    const rights = await Promise.all(Array.from({ length: 61 }, (_, at) => signed(walletKey(`one of many ${at}`))));
    await codes(60, () => status('/supported'));
    for (const [at, right] of rights.entries()) {
      time += 100;
      expect(await exchangeAt({ ...right, signature: 'x' })).toBe(429);
      expect([at, await exchangeAt(right)]).toEqual([at, at < 60 ? 200 : 429]);
    }
  });

  test('looks at twenty wrong ones a second, and no more', async () => {
    const right = await signed(holder);
    await codes(60, () => status('/supported'));
    expect(await codes(20, () => exchangeAt({}))).toEqual([429]);
    expect(await exchangeAt(right)).toBe(429);
    time += 1_000;
    expect(await exchangeAt(right)).toBe(200);
  });

  test.each(['/club', '/mounted'])('lets who proves a wallet in at the gate at %s, and nobody else', async (path) => {
    const token = await accessTokenFor(holder, identity, url);
    const [good, again] = (await signIns(path, holder, 2)) as [ProofHeaders, ProofHeaders];
    const [strange] = await signIns(path, walletKey('holds nothing of it'), 1);
    await codes(130, () => status(path));
    expect([await status(path), await status(path, GARBAGE)]).toEqual([429, 429]);
    expect([await status(path, token), await status(path, good), await status(path, again)]).toEqual([200, 200, 200]);
    expect([await status(path, good), await status(path, strange)]).toEqual([429, 403]);
    expect([await status(path), await status(path, GARBAGE)]).toEqual([429, 429]);
  });

  test('does not take a sign-in for the proof of a payment', async () => {
    const [good] = await signIns('/club', holder, 1);
    await codes(120, () => status('/paid'));
    expect([await status('/paid', good), await status('/paid', GARBAGE)]).toEqual([429, 429]);
  });

  test('has as many sign-ins of wallets that anybody can make, and no more', async () => {
    const many = (
      await Promise.all(Array.from({ length: 121 }, (_, at) => signIns('/mounted', walletKey(`made ${at}`), 1)))
    ).flat();
    await codes(120, () => status('/club'));
    const statuses: number[] = [];
    for (const proof of many) statuses.push(await status('/mounted', proof));
    expect(statuses).toEqual([...Array(120).fill(403), 429]);
    expect(await status('/mounted', await accessTokenFor(holder, identity, url))).toBe(200);
  });
});
