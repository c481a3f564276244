import { setTimeout as wait } from 'node:timers/promises';
import type { Facilitator } from '../../../src/facilitator/types.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import type { FaultKind } from '../../../src/sandbox/start-sandbox.js';
import { openTollFixture, QUICK, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import {
  type PaymentHeaders,
  receiptOf,
  type SignedPayment,
  signPayment,
} from '../../helpers/transactions/payments.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const FAULTS: readonly FaultKind[] = ['disconnect', '429', 'hang', 'error'];

describe('a chain that cannot be reached', () => {
  let fixture: TollFixture;
  let url: string;
  let runs = 0;
  let verified = 0;
  let before: bigint;

  beforeAll(async () => {
    fixture = await openTollFixture();
    const hurried = fixture.facilitatorWith({ rpcTimeoutMs: 1500, settleTimeoutMs: 300 }, QUICK);
    const patient = fixture.facilitatorWith({ rpcTimeoutMs: 1500 }, QUICK);
    const gate = (facilitator: Facilitator, settle: 'after' | 'before') =>
      requirePayment({
        facilitator,
        payTo: fixture.payTo,
        price: '$0.01',
        settle,
        onVerified() {
          verified += 1;
        },
      });
    url = await fixture.serve((app) => {
      const routes = {
        after: gate(hurried, 'after'),
        before: gate(hurried, 'before'),
        patient: gate(patient, 'after'),
      };
      for (const [name, middleware] of Object.entries(routes)) {
        app.get(`/${name}`, middleware, (_req, res) => {
          runs += 1;
          res.send('delivered');
        });
      }
    });
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    runs = 0;
    verified = 0;
    before = balance();
  });
  afterEach(() => fixture.sandbox.faults.clear());

  const balance = (): bigint => fixture.sandbox.tokenBalance(fixture.payer.publicKey.toBase58(), USDC);

  async function expectUnavailable(answer: Response): Promise<void> {
    expect(answer.status).toBe(503);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('access-control-expose-headers')).toContain('Retry-After');
    expect(answer.headers.get('payment-response')).toBeNull();
    const body = await answer.text();
    expect(JSON.parse(body)).toMatchObject({ code: 'payment_backend_unavailable', status: 503, retryable: true });
    expect(body).not.toContain(new URL(fixture.sandbox.rpcUrl).host);
    expect(balance()).toBe(before);
  }

  /** An endpoint that failed rests for a moment, however well it is again. */
  async function untilDecided({ v2 }: SignedPayment, path: string, meanwhile: () => void = () => undefined) {
    // First of all: whoever asks has what may be lost sent again.
    meanwhile();
    let answer = await fetch(`${url}${path}`, { headers: v2 });
    while (answer.status === 503) {
      meanwhile();
      await wait(20);
      answer = await fetch(`${url}${path}`, { headers: v2 });
    }
    return answer;
  }

  test('an unpaid request is answered as ever', async () => {
    fixture.sandbox.faults.add({ kind: 'disconnect' });
    expect((await fetch(`${url}/after`)).status).toBe(402);
  });

  test.each(FAULTS)('%s while verifying: 503, nothing is held, a retry works when it is back', async (kind) => {
    const payment = await signPayment(fixture, `${url}/after`);
    const fault = fixture.sandbox.faults.add({ kind, method: 'simulateTransaction' });
    await expectUnavailable(await fetch(`${url}/after`, { headers: payment.v2 }));
    expect([runs, verified]).toEqual([0, 0]);
    fault.remove();

    expect((await untilDecided(payment, '/after')).status).toBe(200);
    expect(runs).toBe(1);
    expect(before - balance()).toBe(10_000n);
  });

  describe.each(['/after', '/before'])('while settling on %s', (path) => {
    test("a node's own error, which one node alone does not prove: 503, a retry works when it is back", async () => {
      const payment = await signPayment(fixture, `${url}${path}`);
      const fault = fixture.sandbox.faults.add({ kind: 'error', method: 'sendTransaction' });
      const unknown = await fetch(`${url}${path}`, { headers: payment.v2 });
      expect(unknown.status).toBe(503);
      expect(await unknown.text()).not.toContain('nothing was charged');
      fault.remove();

      expect((await untilDecided(payment, path)).status).toBe(200);
      expect(runs).toBe(1);
      expect(before - balance()).toBe(10_000n);
    });

    test.each<FaultKind>(['disconnect', 'hang', '429'])(
      '%s, so it may have been sent: the outcome is unknown, until the chain decides',
      async (kind) => {
        const payment = await signPayment(fixture, `${url}${path}`);
        const fault = fixture.sandbox.faults.add({ kind, method: 'sendTransaction' });
        const unknown = await fetch(`${url}${path}`, { headers: payment.v2 });
        fault.remove();
        const decided = await untilDecided(payment, path, () => fixture.sandbox.expireBlockhashes());

        expect(unknown.status).toBe(503);
        expect(receiptOf(unknown)).toMatchObject({ errorReason: 'settlement_pending' });
        expect(decided.status).toBe(402);
        expect(receiptOf(decided)).toMatchObject({ errorReason: 'invalid_exact_svm_transaction_expired' });
        expect(balance()).toBe(before);
      },
    );
  });

  test.each<FaultKind>(['disconnect', '429', 'error'])('%s once while settling is not noticed', async (kind) => {
    const payment = await signPayment(fixture, `${url}/patient`);
    fixture.sandbox.faults.add({ kind, method: 'sendTransaction', times: 1 });
    const answer = await fetch(`${url}/patient`, { headers: payment.v2 });

    expect(answer.status).toBe(200);
    expect(before - balance()).toBe(10_000n);
  });

  test('a fee payer that has run dry is our fault, and the payment is good once it is refilled', async () => {
    const dry = await fixture.sandbox.createWallet({});
    const facilitator = fixture.facilitatorWith({ keypair: dry });
    const poor = await fixture.serve((app) => {
      for (const settle of ['after', 'before'] as const) {
        app.get(
          `/${settle}`,
          requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.01', settle }),
          (_req, res) => {
            runs += 1;
            res.send('delivered');
          },
        );
      }
    });
    for (const path of ['/after', '/before']) {
      const { v2 } = await signPayment(fixture, `${poor}${path}`);
      await expectUnavailable(await fetch(`${poor}${path}`, { headers: v2 }));
      fixture.sandbox.airdrop(dry.publicKey.toBase58(), 1_000_000n);
      const paid = await fetch(`${poor}${path}`, { headers: v2 });
      expect(paid.status).toBe(200);
      before = balance();
      const state = fixture.sandbox.account(dry.publicKey.toBase58());
      if (state !== null) fixture.sandbox.setAccount(dry.publicKey.toBase58(), { ...state, lamports: 0n });
    }
    expect(runs).toBe(2);
  });
});

test("a browser is shown its seller's page while the chain is away, and a program a problem", async () => {
  const fixture = await openTollFixture();
  const facilitator = fixture.facilitatorWith({}, QUICK);
  const gate = requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.01', page: { name: 'The Magazine' } });
  const url = await fixture.serve((app) => app.get('/essay', gate, (_req, res) => void res.send('text')));
  fixture.sandbox.faults.add({ kind: 'disconnect' });
  await facilitator.health();
  const page = await fetch(`${url}/essay`, { headers: { accept: 'text/html,*/*;q=0.8' } });
  const told = await fetch(`${url}/essay`);
  const [html, problem] = [await page.text(), await told.json()];
  await fixture.close();

  expect([page.status, page.headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8']);
  expect(html).toContain('The Magazine');
  expect([told.status, problem]).toEqual([503, expect.objectContaining({ code: 'payment_backend_unavailable' })]);
});

test('a facilitator that is closed offers and takes nothing any more, and gives what was paid for again', async () => {
  const fixture = await openTollFixture();
  try {
    const facilitator = fixture.facilitatorWith({});
    const options = { facilitator, payTo: fixture.payTo, price: '$0.01' };
    const url = await fixture.serve((app) => {
      app.get('/report', requirePayment(options), (_req, res) => res.send('delivered'));
    });
    const ask = (headers: PaymentHeaders) => fetch(`${url}/report`, { headers });
    const [paid, late] = [await signPayment(fixture, `${url}/report`), await signPayment(fixture, `${url}/report`)];
    expect((await ask(paid.v2)).status).toBe(200);
    await facilitator.close();

    const unpaid = await ask({});
    const detail = 'Payments on solana-devnet cannot be taken at the moment.';
    expect([unpaid.status, await unpaid.json()]).toMatchObject([503, { code: 'payment_backend_unavailable', detail }]);
    for (const headers of [late.v1, late.v2]) expect((await ask(headers)).status).toBe(503);
    expect((await facilitator.supported()).kinds).toEqual([]);
    const again = await ask(paid.v2);
    expect([again.status, await again.text()]).toEqual([200, 'delivered']);
    expect(fixture.sandbox.tokenBalance(fixture.payTo, USDC)).toBe(10_000n);
  } finally {
    await fixture.close();
  }
});

test('a facilitator that somebody has wrapped is asked what it offers in its own words', async () => {
  const fixture = await openTollFixture();
  try {
    const nothing = { kinds: [], extensions: [], signers: [] };
    const facilitator = { ...fixture.facilitator, supported: async () => nothing };
    const options = { facilitator, payTo: fixture.payTo, price: '$0.01' };
    const url = await fixture.serve((app) => {
      app.get('/report', requirePayment(options));
      app.get('/open', requirePayment({ ...options, facilitator: fixture.facilitator }));
    });
    const { v1, v2 } = await signPayment(fixture, `${url}/open`);
    for (const headers of [{}, v1, v2]) expect((await fetch(`${url}/report`, { headers })).status).toBe(503);
  } finally {
    await fixture.close();
  }
});
