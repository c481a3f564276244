import { Keypair } from '@solana/web3.js';
import type { Request } from 'express';
import type { RequestPayment } from '../../../src/middleware/gate/request-properties.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import type { Price } from '../../../src/middleware/terms/payment-options.js';
import type { Commitment } from '../../../src/protocol/types.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { askTerms, receiptOf, signPayment } from '../../helpers/transactions/payments.js';

const MINTS = {
  USDC: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
  USDT: 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB',
  PYUSD: 'CXk2AMBfi3TwaEL2468s6zP8xq9NxTXjp9gjMgzeUynM',
};

describe('prices, recipients, memos, commitments', () => {
  let fixture: TollFixture;
  let url: string;
  let other: string;
  let seen: RequestPayment | undefined;

  beforeAll(async () => {
    fixture = await openTollFixture({ finalizedAfterSlots: 8 });
    const { facilitator, payTo, sandbox } = fixture;
    other = (await sandbox.createWallet({ usdc: '0' })).publicKey.toBase58();
    const byQuery = async (req: Request): Promise<Price> => `$0.0${Number(req.query['pages'] ?? 1)}`;
    url = await fixture.serve((app) => {
      const options = { facilitator, payTo, price: '$0.01' };
      const gates = {
        fixed: requirePayment(options),
        query: requirePayment({ ...options, price: byQuery }),
        list: requirePayment({ ...options, price: ['$0.01', '0.02 USDT', '0.03 PYUSD'] }),
        atomic: requirePayment({ ...options, price: { amount: 7n, asset: MINTS.USDT } }),
        tenants: requirePayment({ ...options, payTo: async (req) => (req.query['tenant'] === 'b' ? other : payTo) }),
        memo: requirePayment({ ...options, memo: 'order 7 – ü' }),
        memos: requirePayment({ ...options, memo: (req) => req.query['order']?.toString() }),
        broken: requirePayment({ ...options, price: () => 'much' }),
        failing: requirePayment({
          ...options,
          price() {
            throw new Error('the price list is away');
          },
        }),
        ...Object.fromEntries(
          (['processed', 'confirmed', 'finalized'] as const).map((commitment) => [
            commitment,
            requirePayment({ ...options, commitment }),
          ]),
        ),
      };
      app.set('env', 'test');
      for (const [name, gate] of Object.entries(gates)) {
        app.get(`/${name}`, gate, (req, res) => {
          seen = req.payment;
          res.send('paid');
        });
      }
    });
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    seen = undefined;
  });

  const balance = (mint: string, owner = fixture.payTo): bigint => fixture.sandbox.tokenBalance(owner, mint);

  test('req.payment tells the handler who pays what', async () => {
    const { v2 } = await signPayment(fixture, `${url}/fixed`);
    await fetch(`${url}/fixed`, { headers: v2 });

    expect(seen).toEqual({
      payer: fixture.payer.publicKey.toBase58(),
      terms: {
        scheme: 'exact',
        network: 'solana-devnet',
        asset: MINTS.USDC,
        amount: 10_000n,
        payTo: fixture.payTo,
        maxTimeoutSeconds: 60,
        feePayer: fixture.feePayer.publicKey.toBase58(),
      },
      receipt: undefined,
    });
  });

  test('a price that depends on the request is asked for and taken', async () => {
    const before = balance(MINTS.USDC);
    const { accepts } = await askTerms(`${url}/query?pages=3`);
    const { v2 } = await signPayment(fixture, `${url}/query?pages=3`);
    const dearer = await fetch(`${url}/query?pages=4`, { headers: v2 });
    const right = await fetch(`${url}/query?pages=3`, { headers: v2 });

    expect(accepts.map(({ amount }) => amount)).toEqual(['30000']);
    expect([dearer.status, right.status]).toEqual([402, 200]);
    expect(await dearer.json()).toMatchObject({ code: 'no_matching_requirements' });
    expect(balance(MINTS.USDC) - before).toBe(30_000n);
  });

  test.each([
    [0, 'v2', 'USDC', 10_000n],
    [1, 'v2', 'USDT', 20_000n],
    [2, 'v2', 'PYUSD', 30_000n],
    [0, 'v1', 'USDC', 10_000n],
    [1, 'v1', 'USDT', 20_000n],
    [2, 'v1', 'PYUSD', 30_000n],
  ] as const)('of several prices the payer takes number %s, in %s: %s', async (choice, version, symbol, amount) => {
    const before = balance(MINTS[symbol]);
    const payment = await signPayment(fixture, `${url}/list`, { choice });
    const answer = await fetch(`${url}/list`, { headers: payment[version] });

    expect(answer.status).toBe(200);
    expect(answer.headers.get('payment-response') !== null).toBe(version === 'v2');
    expect(answer.headers.get('x-payment-response') !== null).toBe(version === 'v1');
    expect(seen?.terms).toMatchObject({ asset: MINTS[symbol], amount });
    expect(balance(MINTS[symbol]) - before).toBe(amount);
  });

  test('the price of one token in another one is not taken', async () => {
    const { v2, v1 } = await signPayment(fixture, `${url}/list`, { choice: 1, change: { amount: '10000' } });
    for (const headers of [v1, v2]) expect((await fetch(`${url}/list`, { headers })).status).toBe(402);
  });

  test('a price in atomic units of a mint', async () => {
    const { v2 } = await signPayment(fixture, `${url}/atomic`);
    const before = balance(MINTS.USDT);
    expect((await fetch(`${url}/atomic`, { headers: v2 })).status).toBe(200);
    expect(balance(MINTS.USDT) - before).toBe(7n);
  });

  test('a recipient that depends on the request gets the money, and nobody else', async () => {
    const before = balance(MINTS.USDC, other);
    const { v2 } = await signPayment(fixture, `${url}/tenants?tenant=b`);
    const wrong = await fetch(`${url}/tenants?tenant=a`, { headers: v2 });
    const right = await fetch(`${url}/tenants?tenant=b`, { headers: v2 });

    expect([wrong.status, right.status]).toEqual([402, 200]);
    expect(balance(MINTS.USDC, other) - before).toBe(10_000n);
  });

  test('a memo must be there as it was asked for', async () => {
    const { accepts } = await askTerms(`${url}/memo`);
    const good = await signPayment(fixture, `${url}/memo`);
    const bad = await signPayment(fixture, `${url}/memo`, {
      change: { extra: { ...accepts[0]?.extra, memo: 'other' } },
    });
    const refused = await fetch(`${url}/memo`, { headers: bad.v1 });
    const paid = await fetch(`${url}/memo`, { headers: good.v2 });

    expect(accepts[0]?.extra?.['memo']).toBe('order 7 – ü');
    expect(await refused.json()).toMatchObject({ error: 'invalid_exact_svm_payload_memo_mismatch' });
    expect([refused.status, paid.status]).toEqual([402, 200]);
  });

  test('a memo that depends on the request binds the payment to it', async () => {
    const { v2 } = await signPayment(fixture, `${url}/memos?order=7`);
    const wrong = await fetch(`${url}/memos?order=8`, { headers: v2 });
    const right = await fetch(`${url}/memos?order=7`, { headers: v2 });
    const without = await signPayment(fixture, `${url}/memos`);

    expect([wrong.status, right.status]).toEqual([402, 200]);
    expect((await fetch(`${url}/memos`, { headers: without.v2 })).status).toBe(200);
  });

  test.each(['/broken', '/failing'])(
    '%s: a price function that answers none is an error of the server',
    async (path) => {
      expect((await fetch(`${url}${path}`)).status).toBe(500);
    },
  );

  test.each<[Commitment, number]>([
    ['processed', 0],
    ['confirmed', 2],
    ['finalized', 8],
  ])('commitment %s waits %s slots', async (commitment, slots) => {
    const { v2 } = await signPayment(fixture, `${url}/${commitment}`);
    const start = fixture.sandbox.slot();
    const answer = await fetch(`${url}/${commitment}`, { headers: v2 });

    expect(answer.status).toBe(200);
    expect(receiptOf(answer).success).toBe(true);
    expect(fixture.sandbox.slot() - start).toBeGreaterThanOrEqual(slots);
  });

  test('a transaction that is only processed does not count as confirmed', async () => {
    const hurried = fixture.facilitatorWith({ settleTimeoutMs: 200 });
    const base = await fixture.serve((app) => {
      for (const commitment of ['processed', 'confirmed'] as const) {
        const gate = requirePayment({ facilitator: hurried, payTo: fixture.payTo, price: '$0.01', commitment });
        app.get(`/${commitment}`, gate, (_req, res) => res.send('paid'));
      }
    });
    const processed = await signPayment(fixture, `${base}/processed`);
    const confirmed = await signPayment(fixture, `${base}/confirmed`);
    fixture.sandbox.pauseSlots();
    const answers = [
      await fetch(`${base}/processed`, { headers: processed.v2 }),
      await fetch(`${base}/confirmed`, { headers: confirmed.v2 }),
    ];
    fixture.sandbox.resumeSlots();

    expect(answers.map(({ status }) => status)).toEqual([200, 503]);
  });

  test('a seller without a token account is named as the reason', async () => {
    const payTo = Keypair.generate().publicKey.toBase58();
    const base = await fixture.serve((app) => {
      const gate = requirePayment({ facilitator: fixture.facilitator, payTo, price: '$0.01' });
      app.get('/report', gate, (_req, res) => res.send('paid'));
    });
    const { v2 } = await signPayment(fixture, `${base}/report`);
    const answer = await fetch(`${base}/report`, { headers: v2 });

    expect(await answer.json()).toMatchObject({ error: 'invalid_exact_svm_recipient_token_account_missing' });
  });
});
