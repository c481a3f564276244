import type { Request, Response as ServerAnswer } from 'express';
import { createRouter } from '../../../src/http/create-router.js';
import { createIdentity, type WalletIdentity } from '../../../src/identity/create-identity.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { createRateLimits } from '../../../src/middleware/rate-limit/rate-limit.js';
import { requireTokenBalance } from '../../../src/middleware/wallet/require-token-balance.js';
import { createMemoryCounters } from '../../../src/storage/counters/memory-counters.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { askTerms, carry, type PaymentHeaders, signTerms } from '../../helpers/transactions/payments.js';
import { signInHeader, signInInfo, type WalletKey, walletKey } from '../../helpers/transactions/wallet-key.js';

/** A tenth of the limits: twelve challenges, six requests a minute. */
const SCALE = 0.1;
const CHALLENGES = 12;
const REQUESTS = 6;
const FLOOD = 30;
const FLOODER = '203.0.113.66';
const NEIGHBOUR = '203.0.113.7';
const MINUTE_MS = 60_000;

describe.each(DAILY_EXPRESSES)('floods, %s', (_name, express) => {
  let fixture: TollFixture;
  let identity: WalletIdentity;
  let url: string;
  let time = Date.now();
  let runs = 0;

  const serve = (_req: Request, res: ServerAnswer): void => {
    runs += 1;
    res.send('served');
  };

  beforeAll(async () => {
    fixture = await openTollFixture({ maxBlockhashAgeBlocks: 5_000 });
    const { facilitator, payTo } = fixture;
    const now = () => time;
    const counters = createMemoryCounters({ now });
    const { challenges } = createRateLimits({ counters, scale: SCALE, now });
    identity = createIdentity({ network: facilitator.network });
    const club = { facilitator, identity, mint: 'USDC' };
    url = await fixture.serve((app) => {
      app.set('trust proxy', 1);
      app.get('/report', challenges, requirePayment({ facilitator, payTo, price: '$0.01' }), serve);
      app.get('/club', challenges, requireTokenBalance({ ...club, minBalance: 0 }), serve);
      app.get('/rich', challenges, requireTokenBalance({ ...club, minBalance: 1_000_000 }), serve);
      app.use(createRouter({ facilitator, counters, limits: { scale: SCALE } }));
    }, express);
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    // A new minute for everybody.
    time += 2 * MINUTE_MS;
    runs = 0;
    fixture.sandbox.resetCalls();
  });

  async function ask(path: string, headers: PaymentHeaders = {}, address = FLOODER, init: RequestInit = {}) {
    const answer = await fetch(url + path, { ...init, headers: { 'x-forwarded-for': address, ...headers } });
    return { status: answer.status, retryAfter: answer.headers.get('retry-after'), body: await answer.text() };
  }

  /** What so many at once were answered, each in its own way; the refused ones must say when to come back. */
  async function flood(
    path: string,
    headersOf: (index: number) => PaymentHeaders = () => ({}),
    init: RequestInit = {},
  ) {
    const answers = await Promise.all(
      Array.from({ length: FLOOD }, (_, index) => ask(path, headersOf(index), FLOODER, init)),
    );
    for (const { status, retryAfter, body } of answers) {
      if (status !== 429) continue;
      expect([Number(retryAfter) > 0, JSON.parse(body)]).toMatchObject([
        true,
        { code: 'rate_limited', retryable: true },
      ]);
    }
    return (wanted: number): number => answers.filter(({ status }) => status === wanted).length;
  }

  const terms = async () => {
    const { accepts } = await askTerms(`${url}/report`, { headers: { 'x-forwarded-for': '198.51.100.1' } });
    return accepts[0]!;
  };

  const signIn = async (wallet: WalletKey, path: string): Promise<PaymentHeaders> => {
    const challenge = await identity.challenge({ url: url + path, method: 'GET', header: () => undefined });
    return { 'sign-in-with-x': signInHeader(wallet, signInInfo(challenge)) };
  };

  test('of requests without payment: the flooder is told to wait, others pay and are served', async () => {
    const count = await flood('/report');
    const { v2 } = await signTerms(fixture, await terms());

    expect([count(402), count(429), runs]).toEqual([CHALLENGES, FLOOD - CHALLENGES, 0]);
    expect((await ask('/report', {}, NEIGHBOUR)).status).toBe(402);
    expect([(await ask('/report', v2, NEIGHBOUR)).status, runs]).toEqual([200, 1]);
    time += MINUTE_MS + 1;
    expect((await ask('/report')).status).toBe(402);
  });

  test('of payments with broken signatures: they cost the chain nothing', async () => {
    const { transaction, accepted } = await signTerms(fixture, await terms());
    const broken = carry(
      transaction.map((byte, index) => (index === 70 ? byte ^ 1 : byte)),
      accepted,
    );
    const { v2 } = await signTerms(fixture, accepted);
    fixture.sandbox.resetCalls();
    const count = await flood('/report', (index) => (index % 2 === 0 ? broken.v2 : broken.v1));

    expect([count(402), count(429), runs]).toEqual([CHALLENGES, FLOOD - CHALLENGES, 0]);
    expect(fixture.sandbox.calls.total).toBe(0);
    expect((await ask('/report', v2, NEIGHBOUR)).status).toBe(200);
  });

  test('of payments that are signed well by a wallet without money: the chain is asked no more often than the limit', async () => {
    const accepted = await terms();
    const poor = { ...fixture, payer: await fixture.sandbox.createWallet({ usdc: '0' }) };
    const signed = await Promise.all(Array.from({ length: FLOOD }, () => signTerms(poor, accepted)));
    const { v2 } = await signTerms(fixture, accepted);
    fixture.sandbox.resetCalls();
    const count = await flood('/report', (index) => signed[index]?.v2 ?? {});

    expect([count(402), count(429), runs]).toEqual([CHALLENGES, FLOOD - CHALLENGES, 0]);
    expect(fixture.sandbox.calls.simulateTransaction).toBeLessThanOrEqual(CHALLENGES);
    expect((await ask('/report', v2, NEIGHBOUR)).status).toBe(200);
  });

  test('of good payments are no flood: all are served, and more than there may be challenges', async () => {
    const accepted = await terms();
    const paid = await Promise.all(Array.from({ length: CHALLENGES + 3 }, () => signTerms(fixture, accepted)));
    const statuses: number[] = [];
    for (const { v2 } of paid) statuses.push((await ask('/report', v2)).status);

    expect([statuses.filter((status) => status === 200).length, runs]).toEqual([paid.length, paid.length]);
  });

  test.each([
    ['/rich', 403],
    ['/club', 200],
  ])('of good sign-ins by one wallet at %s: each is remembered, so they are limited too', async (path, status) => {
    const wallet = walletKey('signs all day');
    const proofs = await Promise.all(Array.from({ length: FLOOD }, () => signIn(wallet, path)));
    const count = await flood(path, (index) => proofs[index] ?? {});

    // As often again as the address may, for what is right.
    expect([count(status), count(429)]).toEqual([2 * CHALLENGES, FLOOD - 2 * CHALLENGES]);
    expect((await ask('/club', await signIn(walletKey('another'), '/club'), NEIGHBOUR)).status).toBe(200);
    // Whoever was not looked at has not been used up.
    expect((await ask(path, await signIn(wallet, path), NEIGHBOUR)).status).toBe(status);
  });

  test.each(['/settle', '/verify', '/create-payment', '/token-gate/check-access', '/nonsense-of-payments'])(
    'of calls of %s: the flooder waits, others are served',
    async (path) => {
      const init = { method: 'POST', body: '{}' };
      const json = { 'content-type': 'application/json' };
      const open = path === '/nonsense-of-payments' ? '/payments/nonsense' : path;
      const count = await flood(open, () => json, open === path ? init : {});

      expect(count(429)).toBe(FLOOD - REQUESTS);
      const other = await ask(open, json, NEIGHBOUR, open === path ? init : {});
      expect([400, 404]).toContain(other.status);
    },
  );
});
