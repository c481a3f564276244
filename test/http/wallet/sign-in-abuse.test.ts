import type { Keypair } from '@solana/web3.js';
import type { Express, RequestHandler } from 'express';
import { createHoldings } from '../../../src/access/holdings.js';
import { createAuthRouter } from '../../../src/http/auth/auth-router.js';
import { createIdentity, type WalletIdentity } from '../../../src/identity/create-identity.js';
import type { SignInChallenge } from '../../../src/identity/types.js';
import { anyOf } from '../../../src/middleware/gate/any-of.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { requireTokenBalance } from '../../../src/middleware/wallet/require-token-balance.js';
import type { Counters } from '../../../src/storage/counters/counters.js';
import { createMemoryCounters } from '../../../src/storage/counters/memory-counters.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { SECRET } from '../../helpers/fixtures/identity-fixture.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { payingFetch } from '../../helpers/http/official-clients.js';
import { accessTokenFor, askChallenge, type ProofHeaders, signIn } from '../../helpers/http/sign-in.js';
import { startPostgres } from '../../helpers/storage/postgres.js';
import { encodeHeader, signPayment } from '../../helpers/transactions/payments.js';
import {
  signInHeader,
  signInInfo,
  type WalletKey,
  walletKey,
  walletKeyOf,
} from '../../helpers/transactions/wallet-key.js';
import { until } from '../../helpers/until.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const ACCESS_TOKEN_MS = 15 * 60_000;
/** As full as the spaces of the counters may be here; 50,000 elsewhere. */
const MAX_ENTRIES = 40;
let names = 0;

describe.each(DAILY_EXPRESSES)('sign-ins, %s', (_name, express) => {
  let fixture: TollFixture;
  let clubToken: string;

  beforeAll(async () => {
    fixture = await openTollFixture({ maxBlockhashAgeBlocks: 5_000 });
    clubToken = fixture.sandbox.createMint({ decimals: 0 }).mint;
  });
  afterAll(() => fixture.close());

  function holder(tokens: bigint, wallet = walletKey(`sign-ins ${names++}`)): WalletKey {
    if (tokens > 0n) fixture.sandbox.fundToken(wallet.address, clubToken, tokens);
    return wallet;
  }
  const tell: RequestHandler = ({ wallet, payment }, res) =>
    void res.json({ wallet: wallet?.address, payer: payment?.payer });

  /** A club that holders enter and strangers pay for, and its sign-in. */
  async function openClub(counters: Counters, now = Date.now) {
    const { facilitator, payTo } = fixture;
    const identity = createIdentity({ network: facilitator.network, jwtSecret: SECRET, counters, now });
    const common = { facilitator, identity, holdings: createHoldings({ facilitator, staleMs: 0 }) };
    const holders = requireTokenBalance({ ...common, mint: clubToken, minBalance: 1 });
    const pay = requirePayment({ facilitator, payTo, price: '$0.25' });
    const url = await fixture.serve((app: Express) => {
      app.use(createAuthRouter({ identity }));
      app.get('/club', holders, tell);
      app.get('/either', anyOf(holders, pay), tell);
      app.get('/row', holders, pay, tell);
    }, express);
    const get = (path: string, headers: ProofHeaders = {}) => fetch(`${url}${path}`, { headers });
    const post = async (path: string, body: object) => {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${url}/api/v1/auth${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    };
    return { url, identity, get, post };
  }

  /** What the official client pays on the way, which fetches with these headers. */
  async function officialVisit(wallet: Keypair, address: string, headers: ProofHeaders) {
    const before = fixture.sandbox.tokenBalance(fixture.payTo, USDC);
    const client = await payingFetch({ wallet, rpcUrl: fixture.sandbox.rpcUrl });
    const answer = await client(address, { headers });
    return { answer, paid: fixture.sandbox.tokenBalance(fixture.payTo, USDC) - before };
  }

  describe('a holder whose proof is no good is not charged by the official client', () => {
    let time: number;
    let club: Awaited<ReturnType<typeof openClub>>;
    let wallet: Keypair;
    let key: WalletKey;

    beforeAll(async () => {
      club = await openClub(createMemoryCounters({ now: () => time }), () => time);
    });
    beforeEach(async () => {
      time = Date.now();
      wallet = await fixture.sandbox.createWallet({ usdc: '10' });
      key = holder(1n, walletKeyOf(wallet.secretKey.subarray(0, 32)));
    });

    async function expectRefused(headers: ProofHeaders, code: string): Promise<void> {
      const { answer, paid } = await officialVisit(wallet, `${club.url}/either`, headers);
      expect([answer.status, paid]).toEqual([401, 0n]);
      expect(await answer.json()).toMatchObject({ code, extensions: { 'sign-in-with-x': { info: {} } } });
    }

    test('with an access token of sixteen minutes ago', async () => {
      const token = await accessTokenFor(key, club.identity, club.url);
      expect((await officialVisit(wallet, `${club.url}/either`, token)).paid).toBe(0n);
      time += ACCESS_TOKEN_MS + 60_000;
      await expectRefused(token, 'token_expired');
    });

    test('with a sign-in that is sent again, since its answer was lost', async () => {
      const proof = await signIn(key, `${club.url}/either`);
      expect((await club.get('/either', proof)).status).toBe(200);
      await expectRefused(proof, 'sign_in_replayed');
    });

    test('with a sign-in for another site', async () => {
      const info = signInInfo(await askChallenge(`${club.url}/either`));
      const elsewhere = { ...info, domain: 'evil.example', uri: 'https://evil.example/either' };
      await expectRefused({ 'sign-in-with-x': signInHeader(key, elsewhere) }, 'invalid_sign_in');
    });

    test('and comes in with a payment that is sent along, or as a wallet that holds too little', async () => {
      const old = await accessTokenFor(key, club.identity, club.url);
      time += ACCESS_TOKEN_MS + 60_000;
      const { v2 } = await signPayment(fixture, `${club.url}/either`);
      expect((await club.get('/either', { ...old, ...v2 })).status).toBe(200);

      const poor = await fixture.sandbox.createWallet({ usdc: '10' });
      const proof = await accessTokenFor(walletKeyOf(poor.secretKey.subarray(0, 32)), club.identity, club.url);
      const { answer, paid } = await officialVisit(poor, `${club.url}/either`, proof);
      expect([answer.status, paid]).toEqual([200, 250_000n]);
    });
  });

  test('a sign-in is used up by the request that it lets in, and not by one that is asked to pay', async () => {
    const club = await openClub(createMemoryCounters());
    const proof = await signIn(holder(1n), `${club.url}/row`);
    expect((await club.get('/row', proof)).status).toBe(402);
    const { v2 } = await signPayment(fixture, `${club.url}/row`, { init: { headers: proof } });

    expect((await club.get('/row', { ...proof, ...v2 })).status).toBe(200);
    const other = await signPayment(fixture, `${club.url}/either`);
    const again = await club.get('/row', { ...proof, ...other.v2 });
    expect([again.status, await again.json()]).toEqual([401, expect.objectContaining({ code: 'sign_in_replayed' })]);
  });

  test('a payment that repeats a challenge stands for its sign-in where that was answered and given back, once', async () => {
    const club = await openClub(createMemoryCounters());
    const challenge = await askChallenge(`${club.url}/row`);
    const repeating = async (): Promise<ProofHeaders> => {
      const { v2 } = await signPayment(fixture, `${club.url}/either`);
      const [header = ''] = Object.values(v2);
      const payment = JSON.parse(Buffer.from(header, 'base64').toString()) as object;
      const repeated = { ...payment, extensions: challenge.extensions };
      return { 'payment-signature': Buffer.from(JSON.stringify(repeated)).toString('base64') };
    };
    const outcome = async (path: string, headers: ProofHeaders) => {
      const answer = await club.get(path, headers);
      return [answer.status, ((await answer.json()) as { code?: string }).code];
    };
    const unsigned = [402, 'sign_in_required'];
    expect(await outcome('/row', await repeating())).toEqual(unsigned);

    const proof = { 'sign-in-with-x': signInHeader(holder(1n), signInInfo(challenge)) };
    expect(await outcome('/row', proof)).toEqual([402, 'payment_required']);
    expect(await outcome('/club', await repeating())).toEqual(unsigned);
    expect(await outcome('/row', await repeating())).toEqual([200, undefined]);
    expect(await outcome('/row', await repeating())).toEqual(unsigned);
    expect(await outcome('/row', proof)).toEqual([401, 'sign_in_replayed']);
  });

  test('of one sign-in that was given back and comes many times at once, one request is let in', async () => {
    const club = await openClub(createMemoryCounters());
    const proof = await signIn(holder(1n), `${club.url}/row`);
    await club.get('/row', proof);
    const payments = await Promise.all(Array.from({ length: 8 }, () => signPayment(fixture, `${club.url}/either`, {})));
    const answers = await Promise.all(payments.map(({ v2 }) => club.get('/row', { ...proof, ...v2 })));
    const statuses = answers.map(({ status }) => status);

    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status !== 200)).toEqual(Array(7).fill(401));
  });

  describe('one signature of a holder, shown until ten strangers have each a challenge of a 402', () => {
    /** Pays with money of a stranger's own, repeating a challenge as official clients do. */
    async function repeating(url: string, { extensions }: SignInChallenge): Promise<ProofHeaders> {
      const stranger = await fixture.sandbox.createWallet({ usdc: '1' });
      const { accepted, transaction } = await signPayment({ sandbox: fixture.sandbox, payer: stranger }, url);
      const payload = { transaction: Buffer.from(transaction).toString('base64') };
      return { 'payment-signature': encodeHeader({ x402Version: 2, accepted, payload, extensions }) };
    }

    async function shownTenTimes() {
      const club = await openClub(createMemoryCounters());
      const proof = await signIn(holder(1n), `${club.url}/row`);
      const challenges: SignInChallenge[] = [];
      for (let n = 0; n < 10; n += 1) challenges.push(await askChallenge(`${club.url}/row`, { headers: proof }));
      const payments = await Promise.all(challenges.map((it) => repeating(`${club.url}/either`, it)));
      const spent = fixture.sandbox.tokenBalance(fixture.payTo, USDC);
      const paid = () => fixture.sandbox.tokenBalance(fixture.payTo, USDC) - spent;
      return { club, proof, payments, paid };
    }

    test('lets one of them in, one after the other, and nobody else pays', async () => {
      const { club, proof, payments, paid } = await shownTenTimes();
      const statuses: number[] = [];
      for (const payment of payments) statuses.push((await club.get('/row', payment)).status);
      expect([statuses, paid()]).toEqual([[200, ...Array(9).fill(402)], 250_000n]);
      expect((await club.get('/row', proof)).status).toBe(401);
    });

    test('lets one of them in, all at once, and nobody else pays', async () => {
      const { club, payments, paid } = await shownTenTimes();
      const answers = await Promise.all(payments.map((payment) => club.get('/row', payment)));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(paid()).toBe(250_000n);
    });

    test('lets its holder in, who has asked ten times, by the last challenge or the header itself', async () => {
      const byLast = await shownTenTimes();
      expect((await byLast.club.get('/row', byLast.payments[9])).status).toBe(200);
      const { club, proof } = await shownTenTimes();
      const { v2 } = await signPayment(fixture, `${club.url}/either`);
      expect((await club.get('/row', { ...proof, ...v2 })).status).toBe(200);
    });
  });

  test('sign-ins of a wallet that holds nothing take no room from others, whether their nonces are ours or not', async () => {
    const club = await openClub(createMemoryCounters({ maxEntries: MAX_ENTRIES, maxMarks: MAX_ENTRIES }));
    const worthless = holder(0n);
    for (let n = 0; n < 2 * MAX_ENTRIES; n += 1) {
      const info = signInInfo(await askChallenge(`${club.url}/club`));
      const own = signInHeader(worthless, { ...info, nonce: `owned${n}nonces` });
      expect((await club.get('/club', { 'sign-in-with-x': own })).status).toBe(401);
      expect((await club.get('/club', { 'sign-in-with-x': signInHeader(worthless, info) })).status).toBe(403);
    }

    expect((await club.get('/club', await signIn(holder(1n), `${club.url}/club`))).status).toBe(200);
  });

  test('any number of challenges that nobody signs leaves the one of a victim good', async () => {
    const club = await openClub(createMemoryCounters({ maxEntries: MAX_ENTRIES, maxMarks: MAX_ENTRIES }));
    const victim = holder(1n);
    const { body } = await club.post('/challenge', { wallet: victim.address });
    for (let n = 0; n < 2 * MAX_ENTRIES; n += 1) await club.post('/challenge', { wallet: victim.address });
    const signed = { wallet: victim.address, nonce: body.nonce, signature: victim.sign(String(body.message)) };

    expect((await club.post('/token', signed)).status).toBe(200);
    expect(await club.post('/token', signed)).toMatchObject({ status: 401, body: { code: 'sign_in_replayed' } });
  });

  test('any number of sign-ins of one wallet leaves the sessions of others, and its own last ones', async () => {
    const club = await openClub(createMemoryCounters({ maxEntries: 200, maxMarks: 200 }));
    const victim = await sessionOf(club.identity, holder(1n), club.url);
    const [greedy, sessions] = [holder(0n), [] as string[]];
    for (let n = 0; n < 190; n += 1) sessions.push(await sessionOf(club.identity, greedy, club.url));

    expect((await club.post('/refresh', { refresh_token: victim })).status).toBe(200);
    expect((await club.post('/refresh', { refresh_token: sessions.at(-1) })).status).toBe(200);
    expect((await club.post('/refresh', { refresh_token: sessions[0] })).status).toBe(401);
  });

  test('a wallet that has signed in 600 times in five minutes is told to take a token, and others come in', async () => {
    const club = await openClub(createMemoryCounters());
    const [greedy, other] = [holder(1n), holder(1n)];
    const prove = async (wallet: WalletKey) => {
      const asked = { url: `${club.url}/club`, header: () => undefined };
      const header = signInHeader(wallet, signInInfo(await club.identity.challenge(asked)));
      return club.identity.prove({ ...asked, header: (name) => (name === 'sign-in-with-x' ? header : undefined) });
    };
    for (let n = 0; n < 600; n += 1) expect((await prove(greedy)).status).toBe('proven');
    const refused = await club.get('/club', await signIn(greedy, `${club.url}/club`));

    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await prove(other)).status).toBe('proven');
  });

  test.each(['sqlite', 'postgres'])('an instance takes what another has challenged, through %s', async (kind) => {
    const postgres = kind === 'postgres' ? await startPostgres() : undefined;
    const storage = await openStorage((await postgres?.newDatabase()) ?? 'memory:');
    try {
      const [one, other] = [await openClub(storage.counters), await openClub(storage.counters)];
      const wallet = holder(1n);
      const asked = (header?: string) => ({
        url: `${one.url}/club`,
        header: (name: string) => (name === 'sign-in-with-x' ? header : undefined),
      });
      const header = signInHeader(wallet, signInInfo(await one.identity.challenge(asked())));
      expect((await other.identity.prove(asked(header))).status).toBe('proven');
      expect((await one.identity.prove(asked(header))).status).toBe('refused');

      const { message, nonce } = await one.identity.issueChallenge(wallet.address, one.url);
      const signed = { wallet: wallet.address, nonce, signature: wallet.sign(message) };
      const grant = await other.identity.exchange(signed);
      await expect(one.identity.exchange(signed)).rejects.toMatchObject({ code: 'sign_in_replayed' });
      const tabs = await Promise.all([one, other].map((it) => it.identity.refresh(grant.refreshToken)));
      expect(tabs[0]?.refreshToken).toBe(tabs[1]?.refreshToken);
      const { sessions } = other.identity;
      const keep = async () => (await sessions?.open(wallet.address, asked()))?.token ?? '';
      const kept = await keep();
      expect(await sessions?.read(kept, asked())).toBe(wallet.address);
      await one.identity.revoke(grant.accessToken, { everywhere: true });
      const revokedAt = Date.now();
      expect(await sessions?.read(kept, asked())).toBeUndefined();
      await until(() => Date.now() > revokedAt);
      expect(await sessions?.read(await keep(), asked())).toBe(wallet.address);
      await expect(other.identity.refresh(tabs[0]?.refreshToken ?? '')).rejects.toMatchObject({
        code: 'invalid_refresh_token',
      });
    } finally {
      await storage.close();
      await postgres?.stop();
    }
  });

  test('a wallet signs out everywhere over HTTP', async () => {
    const club = await openClub(createMemoryCounters());
    const [wallet, other] = [holder(1n), holder(1n)];
    const [phone, laptop, others] = [
      await sessionOf(club.identity, wallet, club.url),
      await sessionOf(club.identity, wallet, club.url),
      await sessionOf(club.identity, other, club.url),
    ];
    const out = await fetch(`${club.url}/api/v1/auth/revoke`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: phone, everywhere: true }),
    });

    expect(out.status).toBe(204);
    const refreshed = await Promise.all(
      [phone, laptop, others].map((it) => club.post('/refresh', { refresh_token: it })),
    );
    expect(refreshed.map(({ status }) => status)).toEqual([401, 401, 200]);
    expect((await club.post('/revoke', { token: others, everywhere: 'yes' })).status).toBe(422);
  });
});

async function sessionOf(identity: WalletIdentity, wallet: WalletKey, url: string): Promise<string> {
  const { message, nonce } = await identity.issueChallenge(wallet.address, url);
  const signed = { wallet: wallet.address, nonce, signature: wallet.sign(message) };
  return (await identity.exchange(signed)).refreshToken;
}
