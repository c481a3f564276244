import type { Express, RequestHandler } from 'express';
import { createAuthRouter } from '../../../src/http/auth/auth-router.js';
import type { WalletIdentity } from '../../../src/identity/create-identity.js';
import { sendProblem } from '../../../src/middleware/gate/respond.js';
import { createRateLimits } from '../../../src/middleware/rate-limit/rate-limit.js';
import { serviceKeyAuth } from '../../../src/middleware/service-key/service-key-auth.js';
import { requireTokenBalance } from '../../../src/middleware/wallet/require-token-balance.js';
import { createMemoryCounters } from '../../../src/storage/counters/memory-counters.js';
import { type KeysFixture, keyHeaders, openKeysFixture } from '../../helpers/fixtures/keys-fixture.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { accessTokenFor, type ProofHeaders, signIn } from '../../helpers/http/sign-in.js';
import { testFolder } from '../../helpers/processes/test-folder.js';
import { type WalletKey, walletKey } from '../../helpers/transactions/wallet-key.js';

const folder = testFolder();
const done: RequestHandler = (_req, res) => void res.json({});

/** Ten failures, such as a page of somebody else can have its visitor's browser send. */
const GARBAGE: readonly (readonly [string, ProofHeaders])[] = [
  ['access tokens', { authorization: 'Bearer garbage' }],
  ['sign-ins', { 'sign-in-with-x': 'garbage' }],
  ['service keys', { 'x-service-key': 'garbage', 'x-service-secret': 'garbage' }],
];

describe.each(DAILY_EXPRESSES)('an address that has failed ten times, %s', (_name, express) => {
  let fixture: TollFixture;
  let keys: KeysFixture;
  let identity: WalletIdentity;
  let url: string;
  let holder: WalletKey;

  beforeAll(async () => {
    fixture = await openTollFixture();
    holder = walletKey('locked out');
  });
  afterAll(() => fixture.close());
  beforeEach(async () => {
    const { facilitator, sandbox } = fixture;
    keys = await openKeysFixture(folder.newPath('db'));
    identity = keys.fixture.identity;
    const { mint } = sandbox.createMint({ decimals: 0 });
    sandbox.fundToken(holder.address, mint, 1n);
    const gateway = { keys: keys.keys };
    // express-rate-limit compares the end of a window with the clock of the machine.
    const time = Date.now();
    const now = () => time;
    const limits = createRateLimits({ counters: createMemoryCounters({ now }), gateway, identity, now });
    url = await fixture.serve((app: Express) => {
      app.use('/api/v1/auth', ...limits.signIns);
      app.use(createAuthRouter({ identity }));
      app.use('/club', ...limits.challenges, requireTokenBalance({ facilitator, identity, mint, minBalance: 1 }), done);
      app.use('/paid', ...limits.challenges, (_req, res) => sendProblem(res, 'payment_required', 'Pay.'));
      app.use('/call', ...limits.requests, serviceKeyAuth({ gateway }), done);
    }, express);
  });
  afterEach(() => keys.close());

  const status = async (path: string, headers: ProofHeaders) => (await fetch(url + path, { headers })).status;
  async function refresh(refreshToken: string): Promise<number> {
    const body = JSON.stringify({ refresh_token: refreshToken });
    const headers = { 'content-type': 'application/json' };
    return (await fetch(`${url}/api/v1/auth/refresh`, { method: 'POST', headers, body })).status;
  }

  test.each(GARBAGE)(
    'with %s still comes in with what is right, and with nothing that is wrong',
    async (_what, garbage) => {
      const made = await keys.make(holder.address);
      const path = 'x-service-key' in garbage ? '/call' : '/club';
      const statuses = [];
      for (let n = 0; n < 11; n += 1) statuses.push(await status(path, garbage));
      expect(statuses).toEqual([...Array(10).fill(401), 429]);

      const { message, nonce } = await identity.issueChallenge(holder.address, url);
      const { refreshToken } = await identity.exchange({
        wallet: holder.address,
        nonce,
        signature: holder.sign(message),
      });
      expect(await status('/club', await accessTokenFor(holder, identity, url))).toBe(200);
      expect(await status('/club', await signIn(holder, `${url}/club`))).toBe(200);
      expect(await status('/call', keyHeaders(made))).toBe(200);
      expect(await refresh(refreshToken)).toBe(200);
      expect(await status(path, garbage)).toBe(429);
    },
  );

  test('and has used up its challenges still lets in who has a good access token, as often as that holds', async () => {
    const good = await accessTokenFor(holder, identity, url);
    const stranger = await accessTokenFor(walletKey('holds nothing'), identity, url);
    const garbage = { authorization: 'Bearer garbage' };
    for (let n = 0; n < 120; n += 1) await status('/club', n < 10 ? garbage : {});
    expect([await status('/club', {}), await status('/club', garbage)]).toEqual([429, 429]);
    for (let n = 0; n < 130; n += 1) expect(await status('/club', good)).toBe(200);
    expect(await status('/club', stranger)).toBe(403);
    expect([await status('/club', {}), await status('/club', garbage)]).toEqual([429, 429]);
  });

  test('and has used up its challenges gives a wallet with an access token as many more', async () => {
    const good = await accessTokenFor(holder, identity, url);
    for (let n = 0; n < 120; n += 1) await status('/paid', {});
    const statuses = [];
    for (let n = 0; n < 121; n += 1) statuses.push(await status('/paid', good));
    expect(statuses).toEqual([...Array(120).fill(402), 429]);
    expect(await status('/club', good)).toBe(429);
    const another = await accessTokenFor(walletKey('another'), identity, url);
    expect(await status('/paid', another)).toBe(402);
  });
});
