import { request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { NextFunction, Request, Response as ServerAnswer } from 'express';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { createMemoryLedger } from '../../../src/storage/ledger/memory-ledger.js';
import { EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { ledgerWith } from '../../helpers/storage/ledgers.js';
import { createGate, receiptOf, type SignedPayment, signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';

type Behaviour = (req: Request, res: ServerAnswer, next: NextFunction) => unknown;

describe.each(EXPRESSES)('a handler that does not deliver costs nothing, %s', (name, express) => {
  let fixture: TollFixture;
  let url: string;
  let balance: bigint;
  let runs = 0;
  let forgotten = 0;
  /** What the handler does on its first run; on every later one it answers. */
  let misbehave: Behaviour = () => undefined;

  beforeAll(async () => {
    fixture = await openTollFixture();
    const memory = createMemoryLedger();
    const ledger = ledgerWith(memory, {
      forget(id, lease) {
        forgotten += 1;
        return memory.forget(id, lease);
      },
    });
    const facilitator = fixture.facilitatorWith({ ledger });
    const { payTo } = fixture;
    const options = { facilitator, payTo, price: '$0.01' };
    const handler: Behaviour = (req, res, next) => {
      runs += 1;
      return runs === 1 ? misbehave(req, res, next) : res.send('delivered');
    };
    const charge = ({ statusCode }: ServerAnswer): boolean => {
      if (statusCode === 203) throw new Error('the rule of the seller is broken');
      return statusCode !== 302;
    };
    url = await fixture.serve((app) => {
      app.set('env', 'test');
      app.get('/report', requirePayment(options), handler);
      app.get('/hurry', requirePayment({ ...options, handlerTimeoutMs: 50 }), handler);
      app.get('/choosy', requirePayment({ ...options, charge }), handler);
      app.get('/small', requirePayment({ ...options, maxHeldBytes: 1000 }), handler);
      // An app may call a gate by itself.
      const gate = requirePayment(options);
      app.get('/own', (req, res, next) => gate(req, res, (error) => (error ? next(error) : handler(req, res, next))));
      const before = requirePayment({ ...options, charge, settle: 'before' });
      app.get('/own-before', (req, res, next) => before(req, res, (it) => (it ? next(it) : handler(req, res, next))));
      app.get('/deaf', (req, res, next) => gate(req, res, () => handler(req, res, next)));
    }, express);
  });
  // A promise that rejects unheard fails the test that runs.
  afterAll(() => fixture.close());
  beforeEach(() => {
    runs = 0;
    forgotten = 0;
    balance = fixture.sandbox.tokenBalance(fixture.payer.publicKey.toBase58(), USDC);
  });

  const spent = (): bigint => balance - fixture.sandbox.tokenBalance(fixture.payer.publicKey.toBase58(), USDC);

  async function signFor(path: string, behaviour: Behaviour): Promise<SignedPayment> {
    misbehave = behaviour;
    const payment = await signPayment(fixture, `${url}${path}`);
    fixture.sandbox.resetCalls();
    return payment;
  }

  function expectNothingCharged(): void {
    expect(fixture.sandbox.calls.sendTransaction).toBe(0);
    expect(spent()).toBe(0n);
  }

  /** The same payment is good as soon as the failed request has let go of it. */
  async function expectStillGood({ v2 }: SignedPayment, path: string): Promise<void> {
    let answer = await fetch(`${url}${path}`, { headers: v2 });
    while (answer.status === 409) answer = await fetch(`${url}${path}`, { headers: v2 });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe('delivered');
    expect(spent()).toBe(10_000n);
  }

  /** Pays for a run that misbehaves: nothing is charged, and the payment is still good. */
  async function fail(
    path: string,
    behaviour: Behaviour,
    init: RequestInit = {},
  ): Promise<{ answer: Response; body: string }> {
    const payment = await signFor(path, behaviour);
    const answer = await fetch(`${url}${path}`, { ...init, headers: payment.v2 });
    const body = await answer.text();
    expectNothingCharged();
    expect(answer.headers.get('payment-response')).toBeNull();
    await expectStillGood(payment, path);
    expect(runs).toBe(2);
    return { answer, body };
  }

  test.each([400, 401, 402, 404, 409, 429, 500, 503])('it answers %s: that comes through, unpaid', async (status) => {
    const { answer, body } = await fail('/report', (_req, res) =>
      res.status(status).set('X-Why', 'so').json({ status }),
    );

    expect(answer.status).toBe(status);
    expect(answer.headers.get('x-why')).toBe('so');
    expect(JSON.parse(body)).toEqual({ status });
  });

  test.each([100, 102, 103, 199])('it answers %s, after which its client waits on: unpaid', async (status) => {
    const payment = await signFor('/report', (_req, res) => res.status(status).end('the report'));
    const asked = request(`${url}/report`, { agent: false, headers: { ...payment.v2 } }).on('error', () => undefined);
    asked.end();
    await new Promise((resolve) => asked.once('close', resolve));
    expectNothingCharged();
    await expectStillGood(payment, '/report');
  });

  test('it redirects where its seller does not charge for that: it comes through, unpaid', async () => {
    const { answer } = await fail('/choosy', (_req, res) => res.redirect('/elsewhere'), { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/elsewhere']);
  });

  test('an error is charged for where its seller says so', async () => {
    const payment = await signFor('/choosy', (_req, res) => res.status(404).send('there is none'));
    const answer = await fetch(`${url}/choosy`, { headers: payment.v2 });
    const again = await fetch(`${url}/choosy`, { headers: payment.v2 });

    expect([answer.status, receiptOf(answer).success, spent()]).toEqual([404, true, 10_000n]);
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([404, 'true']);
    expect(await again.text()).toBe('there is none');
    expect(runs).toBe(1);
  });

  test('the rule by which its seller charges throws: 500, unpaid', async () => {
    const { answer, body } = await fail('/choosy', (_req, res) =>
      res.status(203).set('X-Secret', 'paid only').send('paid only'),
    );
    expect([answer.status, answer.headers.get('x-secret')]).toEqual([500, null]);
    expect(body).not.toContain('paid only');
  });

  test('it throws', async () => {
    const { answer } = await fail('/report', () => {
      throw Object.assign(new Error('broken on purpose'), { status: 502 });
    });
    expect(answer.status).toBe(502);
  });

  test('it throws where its app has called the gate by itself', async () => {
    const { answer } = await fail('/own', () => {
      throw Object.assign(new Error('broken on purpose'), { status: 502 });
    });
    expect(answer.status).toBe(502);
  });

  test.each([undefined, null, '', 0, 'route', 'router'])(
    'it throws %p where its app has called the gate by itself: that is an error to Express as well',
    async (thrown) => {
      const { answer } = await fail('/own', () => {
        throw thrown;
      });
      expect(answer.status).toBe(500);
    },
  );

  test.each<[string, Behaviour, number]>([
    [
      'it throws where its app has called the gate by itself',
      () => {
        throw Object.assign(new Error('broken on purpose'), { status: 502 });
      },
      502,
    ],
    ['the rule by which its seller charges throws', (_req, res) => res.status(203).send('whether or not'), 203],
  ])('once its money has landed, %s: the same payment is good, and charged once', async (_what, behaviour, status) => {
    const payment = await signFor('/own-before', behaviour);
    const answer = await fetch(`${url}/own-before`, { headers: payment.v2 });
    expect(answer.status).toBe(status);
    await answer.text();
    await expectStillGood(payment, '/own-before');
    expect(runs).toBe(2);
  });

  test('it throws again where its app does not listen to what the gate says', async () => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation();
    const payment = await signFor('/deaf', () => {
      runs = 0;
      throw new Error('broken on purpose');
    });
    const answer = await fetch(`${url}/deaf`, { headers: payment.v2 });
    expect([answer.status, await answer.json()]).toMatchObject([500, { code: 'internal_error' }]);
    expect(warned).toHaveBeenCalledWith('broken on purpose', expect.objectContaining({ code: 'TOLLHOUSE_INTERNAL' }));
    warned.mockRestore();
    expectNothingCharged();
    runs = 1;
    await expectStillGood(payment, '/deaf');
  });

  test('it passes an error on', async () => {
    const error = Object.assign(new Error('passed on'), { status: 503 });
    const { answer } = await fail('/report', (_req, _res, next) => next(error));
    expect(answer.status).toBe(503);
  });

  test('it leaves the request to nobody', async () => {
    const { answer } = await fail('/report', (_req, _res, next) => next());
    expect(answer.status).toBe(404);
  });

  // Express 4 does not see what becomes of a handler's promise.
  if (name === 'Express 5') {
    test('its promise rejects', async () => {
      const { answer } = await fail('/report', async () => {
        await wait(1);
        throw new Error('broken later');
      });
      expect(answer.status).toBe(500);
    });
  }

  test('it writes a piece and throws: the connection is cut, as without a gate', async () => {
    const payment = await signFor('/report', (_req, res) => {
      res.write('half an answ');
      throw new Error('broken in the middle');
    });
    await expect(fetch(`${url}/report`, { headers: payment.v2 })).rejects.toThrow();
    expectNothingCharged();
    await expectStillGood(payment, '/report');
  });

  test('its answer is larger than what is held: an error that says so', async () => {
    const { answer, body } = await fail('/small', (_req, res) =>
      res.set('X-Secret', 'paid only').send('x'.repeat(1001)),
    );

    expect(answer.status).toBe(500);
    expect(answer.headers.get('x-secret')).toBeNull();
    const detail =
      'The answer is larger than 1000 bytes, so it cannot be held until it is paid; nothing was charged. Its seller can raise "maxHeldBytes" or use settle: "before".';
    expect(JSON.parse(body)).toMatchObject({ code: 'answer_too_large', status: 500, detail });
    expect(body).toMatch(/1000 bytes.*maxHeldBytes/);
  });

  test('its answer grows piece by piece over what is held: cut off, and the handler is not disturbed', async () => {
    let pieces = 0;
    const { answer } = await fail('/small', (_req, res) => {
      for (; pieces < 100; pieces += 1) res.write('x'.repeat(100));
      res.end();
    });
    expect(answer.status).toBe(500);
    expect(pieces).toBe(100);
  });

  test('an answer of exactly what is held is delivered', async () => {
    const payment = await signFor('/small', (_req, res) => res.send('x'.repeat(1000)));
    const answer = await fetch(`${url}/small`, { headers: payment.v2 });
    expect([answer.status, (await answer.text()).length]).toEqual([200, 1000]);
  });

  test('it hangs: 504 at the deadline', async () => {
    const { answer, body } = await fail('/hurry', (_req, res) => res.set('X-Secret', 'paid only'));

    expect(answer.status).toBe(504);
    expect(answer.headers.get('x-secret')).toBeNull();
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const detail = 'No answer came within 50 ms. Nothing was charged; the same payment can be sent again.';
    expect(JSON.parse(body)).toMatchObject({ code: 'handler_timeout', status: 504, retryable: true, detail });
  });

  test.each<[string, (res: ServerAnswer) => unknown]>([
    ['answers', (res) => res.status(201).cookie('a', 'b').json({ late: true })],
    ['writes in pieces', (res) => res.writeHead(200, { 'X-Late': '1' }).write('late') && res.end('r')],
    ['waits for each piece', (res) => new Promise((resolve) => res.write('late', resolve))],
    ['waits for its end', (res) => new Promise<void>((resolve) => res.end('late', resolve))],
    ['redirects', (res) => res.redirect('/elsewhere')],
    ['sends a file', (res) => new Promise((resolve) => res.sendFile(__filename, resolve))],
    ['flushes its headers', (res) => res.flushHeaders()],
  ])('a handler that %s after its deadline neither crashes nor hangs, nor reaches the client', async (_what, late) => {
    const gate = createGate();
    let lateResponse: Promise<unknown> = Promise.resolve();
    const payment = await signFor('/hurry', (_req, res) => {
      lateResponse = gate.opened.then(() => late(res));
    });
    const answer = await fetch(`${url}/hurry`, { headers: payment.v2 });
    gate.open();
    await lateResponse;

    expect(answer.status).toBe(504);
    expect(await answer.json()).toMatchObject({ code: 'handler_timeout' });
    expectNothingCharged();
    await expectStillGood(payment, '/hurry');
  });

  test('an error after the deadline meets a connection that the client has left', async () => {
    const gate = createGate();
    const failed = createGate();
    const payment = await signFor('/hurry', (_req, _res, next) => {
      void gate.opened.then(() => next(new Error('broken too late'))).then(failed.open);
    });
    const answer = await fetch(`${url}/hurry`, { headers: payment.v2 });
    gate.open();
    await failed.opened;

    expect(answer.status).toBe(504);
    expect(answer.headers.get('connection')).toBe('close');
    expect(await answer.json()).toMatchObject({ code: 'handler_timeout' });
    await expectStillGood(payment, '/hurry');
  });

  test('an error after its answer does not come between the payer and what was paid', async () => {
    const payment = await signFor('/report', (_req, res) => {
      res.send('delivered');
      throw new Error('broken while cleaning up');
    });
    await expectStillGood(payment, '/report');
    expect(runs).toBe(1);
  });

  test('the client goes away while it works', async () => {
    const entered = createGate();
    const leave = createGate();
    const payment = await signFor('/report', async (_req, res) => {
      entered.open();
      await leave.opened;
      res.send('nobody listens');
    });
    const leaving = new AbortController();
    const request = fetch(`${url}/report`, { headers: payment.v2, signal: leaving.signal });
    await entered.opened;
    leaving.abort();
    await expect(request).rejects.toThrow();
    await until(() => forgotten === 1);
    expectNothingCharged();
    await expectStillGood(payment, '/report');
    leave.open();

    expect(runs).toBe(2);
    expect(fixture.sandbox.calls.sendTransaction).toBe(1);
  });

  test('the client goes away before it is reached: it does not run', async () => {
    const payment = await signFor('/report', (_req, res) => res.send('delivered'));
    fixture.sandbox.faults.add({ kind: 'delay', method: 'simulateTransaction', delayMs: 100, times: 1 });
    const leaving = new AbortController();
    const request = fetch(`${url}/report`, { headers: payment.v2, signal: leaving.signal });
    await until(() => fixture.sandbox.calls.simulateTransaction === 1);
    leaving.abort();
    await expect(request).rejects.toThrow();
    await until(() => forgotten === 1);
    expect(runs).toBe(0);
    expectNothingCharged();
    await expectStillGood(payment, '/report');

    expect(runs).toBe(1);
    expect(fixture.sandbox.calls.sendTransaction).toBe(1);
  });
});
