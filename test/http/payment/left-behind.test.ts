import type { Request, Response as ServerAnswer } from 'express';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { createMemoryIdempotencyStore } from '../../../src/storage/idempotency/memory-idempotency-store.js';
import { createMemoryLedger } from '../../../src/storage/ledger/memory-ledger.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { ledgerWith } from '../../helpers/storage/ledgers.js';
import { type PaymentHeaders, receiptOf, signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const ATTEMPTS = 4;

describe('what requests leave behind', () => {
  let fixture: TollFixture;
  let url: string;
  const open = new Set<string>();
  let fail: (req: Request, res: ServerAnswer) => unknown = () => undefined;

  beforeAll(async () => {
    fixture = await openTollFixture();
    // One payment too many that is not let go of, and the ledger is full.
    const memory = createMemoryLedger({ maxOpen: 1 });
    const ledger = ledgerWith(memory, {
      async claim(request) {
        const result = await memory.claim(request);
        if (result.status === 'won') open.add(request.id);
        return result;
      },
      async forget(id, lease) {
        open.delete(id);
        return memory.forget(id, lease);
      },
      async recordOutcome(id, lease, outcome, events) {
        if (outcome.state !== 'confirmed') open.delete(id);
        return memory.recordOutcome(id, lease, outcome, events);
      },
      async served(id, lease) {
        open.delete(id);
        return memory.served(id, lease);
      },
    });
    const facilitator = fixture.facilitatorWith({ ledger });
    const options = { facilitator, payTo: fixture.payTo, price: '$0.01', maxHeldBytes: 1000 };
    url = await fixture.serve((app) => {
      app.set('env', 'test');
      app.get('/report', requirePayment(options), (req, res) => fail(req, res));
      app.get('/hurry', requirePayment({ ...options, handlerTimeoutMs: 20 }), (req, res) => fail(req, res));
      app.get('/twice', requirePayment({ ...options, onVerified: broken, onSettled: broken }), (req, res) =>
        fail(req, res),
      );
    });
  });
  afterAll(() => fixture.close());
  afterEach(() => fixture.sandbox.faults.clear());

  function broken(): never {
    throw new Error('a listener is broken');
  }

  async function attempt(path: string, payer = fixture.payer, init: RequestInit = {}): Promise<number> {
    const { v2 } = await signPayment({ ...fixture, payer }, `${url}${path}`);
    const answer = await fetch(`${url}${path}`, { ...init, headers: v2 });
    await answer.arrayBuffer();
    return answer.status;
  }

  test.each<[string, string, number, (req: Request, res: ServerAnswer) => unknown]>([
    ['a handler that answers 500', '/report', 500, (_req, res) => res.status(500).end()],
    ['a handler that throws', '/report', 500, broken],
    ['a handler that hangs', '/hurry', 504, () => undefined],
    ['an answer that is too large', '/report', 500, (_req, res) => res.send('x'.repeat(2000))],
    ['an answer', '/report', 200, (_req, res) => res.send('paid')],
    ['an answer and broken hooks', '/twice', 200, (_req, res) => res.send('paid')],
  ])('%s holds no payment', async (_what, path, status, handler) => {
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    fail = handler;
    for (let times = 0; times < ATTEMPTS; times += 1) {
      expect(await attempt(path)).toBe(status);
      await until(() => open.size === 0);
    }
    warn.mockRestore();
  });

  test('a refusal of the chain holds no payment', async () => {
    const poor = await fixture.sandbox.createWallet({ usdc: '0' });
    for (let times = 0; times < ATTEMPTS; times += 1) expect(await attempt('/report', poor)).toBe(402);
    expect(open.size).toBe(0);
  });

  test('a full ledger is 503, and takes payments again when it has room', async () => {
    let enter: () => void = () => undefined;
    let leave: () => void = () => undefined;
    const entered = new Promise<void>((resolve) => {
      enter = resolve;
    });
    fail = (_req, res) => {
      leave = () => res.send('paid');
      enter();
    };
    const first = attempt('/report');
    await entered;
    const full = await attempt('/report');
    leave();
    expect([await first, full]).toEqual([200, 503]);

    await until(() => open.size === 0);
    fail = (_req, res) => res.send('paid');
    expect(await attempt('/report')).toBe(200);
  });

  // Last: an endpoint that failed rests for a while.
  test('an outage holds no payment', async () => {
    fixture.sandbox.faults.add({ kind: 'error', method: 'simulateTransaction' });
    for (let times = 0; times < ATTEMPTS; times += 1) expect(await attempt('/report')).toBe(503);
    expect(open.size).toBe(0);
  });
});

describe('responses that are kept for a payer who comes again', () => {
  const SIZE = 10_000;
  const ROOM = 4;
  let fixture: TollFixture;
  let url: string;
  let runs = 0;

  beforeAll(async () => {
    fixture = await openTollFixture();
    const idempotency = createMemoryIdempotencyStore({ maxBytes: ROOM * (SIZE + 2_000) });
    const facilitator = fixture.facilitatorWith({ idempotency, ledger: createMemoryLedger() });
    const options = { facilitator, payTo: fixture.payTo, price: '$0.01' };
    url = await fixture.serve((app) => {
      app.get(['/report', '/other'], requirePayment(options), (_req, res) => {
        runs += 1;
        res.send(String(runs).padEnd(SIZE));
      });
      app.get('/huge', requirePayment(options), (_req, res) => {
        runs += 1;
        res.send('x'.repeat(2 * ROOM * SIZE));
      });
    });
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    runs = 0;
  });

  const get = (path: string, headers: PaymentHeaders) => fetch(`${url}${path}`, { headers });

  async function pay(path: string): Promise<PaymentHeaders> {
    const { v2 } = await signPayment(fixture, `${url}${path}`);
    expect((await get(path, v2)).status).toBe(200);
    return v2;
  }

  test('are bounded, for all routes of a facilitator together: the oldest go first', async () => {
    const paid: (readonly [string, PaymentHeaders])[] = [];
    for (let times = 0; times < ROOM; times += 1) {
      for (const path of ['/report', '/other']) paid.push([path, await pay(path)]);
    }
    const again = await Promise.all(paid.map(([path, headers]) => get(path, headers)));
    const statuses = again.map(({ status }) => status);

    expect(statuses).toEqual([402, 402, 402, 402, 200, 200, 200, 200]);
    for (const [index, answer] of again.entries()) {
      if (answer.status === 200) expect(Number(await answer.text())).toBe(index + 1);
      else expect(await answer.json()).toMatchObject({ code: 'payment_already_used' });
      expect(receiptOf(answer)).toMatchObject({ success: true });
    }
    expect(runs).toBe(paid.length);
  });

  test('one that is too large for all of the room is not kept, and moves no other out', async () => {
    const small = await pay('/report');
    const huge = await pay('/huge');
    const [smallAgain, hugeAgain] = [await get('/report', small), await get('/huge', huge)];

    expect([smallAgain.status, hugeAgain.status]).toEqual([200, 402]);
    expect(await hugeAgain.json()).toMatchObject({ code: 'payment_already_used' });
    expect(runs).toBe(2);
  });

  test('are for the same address only', async () => {
    const { v2 } = await signPayment(fixture, `${url}/report?page=1`);
    const first = await get('/report?page=1', v2);
    const [other, again] = [await get('/report?page=2', v2), await get('/report?page=1', v2)];

    expect([other.status, again.status]).toEqual([402, 200]);
    expect(await again.text()).toBe(await first.text());
  });
});
