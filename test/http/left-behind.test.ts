import type { Request, Response as ServerAnswer } from 'express';
import { keptAnswersOf } from '../../src/middleware/kept-answers.js';
import { requirePayment } from '../../src/middleware/require-payment.js';
import { createMemoryLedger } from '../../src/storage/memory-ledger.js';
import { ledgerWith } from '../helpers/ledgers.js';
import { signPayment } from '../helpers/payments.js';
import { openTollStand, type TollStand } from '../helpers/toll-stand.js';
import { until } from '../helpers/until.js';

const MIB = 1024 * 1024;
const ATTEMPTS = 4;

describe('what requests leave behind', () => {
  let stand: TollStand;
  let url: string;
  const open = new Set<string>();
  let fail: (req: Request, res: ServerAnswer) => unknown = () => undefined;

  beforeAll(async () => {
    stand = await openTollStand({ maxBlockhashAge: 2000 });
    // One payment too many that is not let go of, and the ledger is full.
    const memory = createMemoryLedger({ maxOpen: 1 });
    const ledger = ledgerWith(memory, {
      async claim(request) {
        const result = await memory.claim(request);
        if (result.status === 'won') open.add(request.id);
        return result;
      },
      async release(id, lease) {
        open.delete(id);
        return memory.release(id, lease);
      },
      async complete(id, lease) {
        open.delete(id);
        return memory.complete(id, lease);
      },
    });
    const facilitator = stand.facilitatorWith({ ledger });
    const options = { facilitator, payTo: stand.payTo, price: '$0.01', maxHeldBytes: 1000 };
    url = await stand.serve((app) => {
      app.set('env', 'test');
      app.get('/report', requirePayment(options), (req, res) => fail(req, res));
      app.get('/hurry', requirePayment({ ...options, handlerTimeoutMs: 20 }), (req, res) => fail(req, res));
      app.get('/twice', requirePayment({ ...options, onVerified: broken, onSettled: broken }), (req, res) =>
        fail(req, res),
      );
    });
  });
  afterAll(() => stand.close());
  afterEach(() => stand.sandbox.faults.clear());

  function broken(): never {
    throw new Error('a listener is broken');
  }

  async function attempt(path: string, payer = stand.payer, init: RequestInit = {}): Promise<number> {
    const { v2 } = await signPayment({ ...stand, payer }, `${url}${path}`);
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
    const poor = await stand.sandbox.createWallet({ usdc: '0' });
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
    stand.sandbox.faults.add({ kind: 'error', method: 'simulateTransaction' });
    for (let times = 0; times < ATTEMPTS; times += 1) expect(await attempt('/report')).toBe(503);
    expect(open.size).toBe(0);
  });
});

describe('answers that are kept for a payer who comes again', () => {
  const answer = { statusCode: 200, statusMessage: 'OK', headers: {}, body: Buffer.alloc(4 * MIB) };

  test('are at most 64 MiB, the oldest go first', () => {
    const kept = keptAnswersOf({});
    const ids = Array.from({ length: 40 }, (_, index) => `payment-${index}`);
    for (const id of ids) kept.keep(id, '/report', answer);
    const found = ids.filter((id) => kept.find(id, '/report') !== undefined);

    expect(found.length * 4).toBeLessThanOrEqual(64);
    expect(found.length * 4).toBeGreaterThan(48);
    expect(found).toEqual(ids.slice(-found.length));
  });

  test('are shared by the routes of a facilitator, so that the limit is one for all', () => {
    const owner = {};
    keptAnswersOf(owner).keep('payment', '/report', answer);

    expect(keptAnswersOf(owner).find('payment', '/report')).toBe(answer);
    expect(keptAnswersOf({}).find('payment', '/report')).toBeUndefined();
  });

  test('are for the same address only, and gone when dropped', () => {
    const kept = keptAnswersOf({});
    kept.keep('payment', '/report?page=1', answer);

    expect(kept.find('payment', '/report?page=2')).toBeUndefined();
    expect(kept.find('payment', '/report?page=1')).toBe(answer);
    kept.drop('payment');
    expect(kept.find('payment', '/report?page=1')).toBeUndefined();
  });
});
