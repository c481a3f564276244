import type { Express } from 'express';
import { createGateway } from '../../../src/gateway/create-gateway.js';
import type { Gateway } from '../../../src/gateway/gateway.js';
import { createAuthRouter } from '../../../src/http/auth/auth-router.js';
import { createRouter } from '../../../src/http/create-router.js';
import { createIdentity, type WalletIdentity } from '../../../src/identity/create-identity.js';
import { requireTokenBalance } from '../../../src/middleware/wallet/require-token-balance.js';
import type { Counters } from '../../../src/storage/counters/counters.js';
import { createMemoryCounters } from '../../../src/storage/counters/memory-counters.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { SECRET } from '../../helpers/fixtures/identity-fixture.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { accessTokenFor, type ProofHeaders, signIn } from '../../helpers/http/sign-in.js';
import { type WalletKey, walletKey } from '../../helpers/transactions/wallet-key.js';

const KEEP = { 'keep-sign-in': 'cookie' };

describe('a sign-in that a browser keeps by a cookie', () => {
  let fixture: TollFixture;
  let token: string;
  let wallet: WalletKey;

  beforeAll(async () => {
    fixture = await openTollFixture();
    token = fixture.sandbox.createMint({ decimals: 0 }).mint;
    wallet = walletKey('a reader');
    fixture.sandbox.fundToken(wallet.address, token, 1n);
  });
  afterAll(() => fixture.close());

  /** A club for holders. */
  async function openClub(counters: Counters = createMemoryCounters(), now = Date.now, gateway?: Gateway) {
    const { facilitator } = fixture;
    const identity = createIdentity({ facilitator, jwtSecret: SECRET, counters, now });
    const url = await fixture.serve((app: Express) => {
      app.use(
        gateway === undefined ? createAuthRouter({ identity }) : createRouter({ facilitator, gateway, identity }),
      );
      app.get('/club', requireTokenBalance({ facilitator, identity, mint: token, minBalance: 1 }), (_req, res) => {
        res.send('come in');
      });
    });
    const status = async (headers: ProofHeaders) => (await fetch(`${url}/club`, { headers })).status;
    return { identity, url, status, kept: (proof: ProofHeaders) => keptAt(`${url}/club`, proof) };
  }

  test('is given for a sign-in, and lets its wallet in from then on', async () => {
    const { url, kept, status } = await openClub();
    const cookie = await kept(await signIn(wallet, `${url}/club`));
    expect(cookie).toMatchObject({ cookie: expect.stringContaining('access-wallet=') });
    expect(await status(cookie)).toBe(200);
  });

  test.each(['x', '', ' '])('is given for no access token, with %j beside it', async (beside) => {
    const { identity, url, kept } = await openClub();
    const bearer = await accessTokenFor(wallet, identity, `${url}/club`);
    expect(await kept({ ...bearer, 'sign-in-with-x': beside })).toEqual({});
  });

  test.each(['x', '', ' '])('is not prolonged by itself, with %j beside it', async (beside) => {
    const { url, kept } = await openClub();
    const cookie = await kept(await signIn(wallet, `${url}/club`));
    expect(await kept({ ...cookie, 'sign-in-with-x': beside })).toEqual({});
  });

  test('is over when its wallet ends all, at a moment ago of another clock as well', async () => {
    const counters = createMemoryCounters();
    const ahead = await openClub(counters, () => Date.now() + 9_000);
    const here = await openClub(counters);
    const cookie = await ahead.kept(await signIn(wallet, `${ahead.url}/club`));
    await endAll(here.identity, here.url);
    expect([await ahead.status(cookie), await here.status(cookie)]).toEqual([402, 402]);
    const anew = await ahead.kept(await signIn(wallet, `${ahead.url}/club`));
    expect(await ahead.status(anew)).toBe(200);
  });

  test('stays over, however many others sign in and out after it', async () => {
    const club = await openClub(createMemoryCounters({ maxEntries: 20 }));
    const cookie = await club.kept(await signIn(wallet, `${club.url}/club`));
    await endAll(club.identity, club.url);
    for (let count = 0; count < 60; count += 1) await endAll(club.identity, club.url, walletKey(`stranger ${count}`));
    expect(await club.status(cookie)).toBe(402);
  });

  test('opens gates, and not the API of its wallet, nor that of operators', async () => {
    const storage = await openStorage('memory:');
    const { facilitator } = fixture;
    const gateway = createGateway({ facilitator, storage, operators: [wallet.address] });
    try {
      const { identity, url, kept, status } = await openClub(storage.counters, Date.now, gateway);
      const bearer = await accessTokenFor(wallet, identity, url);
      const cookie = {
        ...(await kept(await signIn(wallet, `${url}/club`))),
        origin: url,
        'sec-fetch-site': 'same-origin',
      };
      const ask = async (path: string, proof: ProofHeaders) => (await fetch(url + path, { headers: proof })).status;
      expect(await status(cookie)).toBe(200);
      for (const path of ['/api/v1/keys', '/api/v1/operator/owners']) {
        expect([path, await ask(path, cookie), await ask(path, bearer)]).toEqual([path, 401, 200]);
      }
    } finally {
      await gateway.close();
      await storage.close();
    }
  });

  async function endAll(identity: WalletIdentity, url: string, whose = wallet): Promise<void> {
    const { message, nonce } = await identity.issueChallenge(whose.address, `${url}/club`);
    const grant = await identity.exchange({ wallet: whose.address, nonce, signature: whose.sign(message) });
    await identity.revoke(grant.refreshToken, { everywhere: true });
  }
});

/** The cookie that a sign-in is kept by; no header where it is not. */
async function keptAt(address: string, proof: ProofHeaders): Promise<ProofHeaders> {
  const answer = await fetch(address, { headers: { ...KEEP, ...proof } });
  const [cookie] = answer.headers.getSetCookie();
  return cookie === undefined ? {} : { cookie: cookie.split(';')[0] ?? '' };
}
