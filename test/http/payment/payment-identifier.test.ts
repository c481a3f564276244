import { randomBytes, randomUUID } from 'node:crypto';
import { request } from 'node:http';
import type { RequestHandler } from 'express';
import { idempotency } from '../../../src/middleware/idempotency/idempotency.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { PAYMENT_IDENTIFIER } from '../../../src/protocol/payment-identifier.js';
import { createMemoryIdempotencyStore } from '../../../src/storage/idempotency/memory-idempotency-store.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import {
  askTerms,
  carry,
  createGate,
  named,
  type PaymentHeaders,
  receiptOf,
  signPayment,
  stolenFrom,
} from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const newId = () => `pay_${randomUUID()}`;

/** Asks with POST and goes away at a time. */
function abandoned(url: string, headers: PaymentHeaders, when: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const sent = request(url, { method: 'POST', headers }).once('error', () => {});
    sent.once('close', () => resolve());
    sent.end();
    void when.then(() => sent.destroy());
  });
}

async function codeOf(answer: Response): Promise<string> {
  return ((await answer.json()) as { code: string }).code;
}

describe.each(DAILY_EXPRESSES)('payment-identifier, %s', (_name, express) => {
  let fixture: TollFixture;
  let url: string;
  let served = 0;
  let gone = false;
  let gate = createGate();
  let entered = createGate();

  const ours = () => fixture.sandbox.tokenBalance(fixture.payTo, '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU');

  beforeAll(async () => {
    fixture = await openTollFixture();
    const { facilitator, payTo } = fixture;
    const terms = { facilitator, payTo, price: '$0.01' };
    url = await fixture.serve((app) => {
      app.all(['/report', '/other'], requirePayment(terms), express.json(), (req, res) => {
        served += 1;
        res.set('X-Served', String(served)).json({ served, body: req.body ?? null });
      });
      app.get('/stream', requirePayment({ ...terms, settle: 'before' }), (_req, res) => {
        served += 1;
        res.write(`${served} `);
        res.end('streamed');
      });
      app.get('/fails', requirePayment(terms), (_req, res) => {
        served += 1;
        res.status(served % 2 === 1 ? 500 : 200).json({ served });
      });
      app.get('/slow', requirePayment(terms), async (_req, res) => {
        served += 1;
        entered.open();
        await gate.opened;
        res.json({ served });
      });
      const hurried = fixture.facilitatorWith({ settleTimeoutMs: 150 });
      app.get('/hurried', requirePayment({ ...terms, facilitator: hurried }), (_req, res) => {
        served += 1;
        res.json({ served });
      });
      app.get('/large', requirePayment(terms), (_req, res) => {
        served += 1;
        res.send(randomBytes(4_194_304));
      });
      app.get('/strict', requirePayment({ ...terms, paymentIdentifier: 'required' }), (_req, res) => void res.json({}));
      app.get('/plain', requirePayment({ ...terms, paymentIdentifier: 'off' }), (_req, res) => void res.json({}));
      const keyed = (path: string, settle: 'after' | 'before', handler: RequestHandler) =>
        app.post(
          path,
          noteEnd,
          idempotency({ store: createMemoryIdempotencyStore() }),
          requirePayment({ ...terms, settle }),
          handler,
        );
      const noteEnd: RequestHandler = (req, res, next) => {
        const isPaid = req.get('payment-signature') !== undefined;
        res.once('close', () => {
          gone ||= isPaid;
        });
        next();
      };
      const answerSlowly: RequestHandler = async (_req, res) => {
        served += 1;
        entered.open();
        await gate.opened;
        res.json({ served });
      };
      keyed('/keyed-slow', 'after', answerSlowly);
      keyed('/keyed-stream', 'before', answerSlowly);
      keyed('/keyed-late', 'after', (_req, res) => {
        served += 1;
        res.json({ served });
        entered.open();
      });
      app.post('/keyed', idempotency({ store: createMemoryIdempotencyStore() }), requirePayment(terms), (_req, res) => {
        served += 1;
        res.json({ served });
      });
    }, express);
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    served = 0;
    gone = false;
    gate = createGate();
    entered = createGate();
  });

  /** Sends until nothing is under way any more: a response is written down a moment after it has left. */
  async function settled(path: string, init: RequestInit): Promise<Response> {
    for (;;) {
      const answer = await fetch(url + path, init);
      if (answer.status !== 409) return answer;
      expect(await codeOf(answer)).toMatch(/^(payment|idempotency)_in_progress$/);
    }
  }

  test.each(['/report', '/stream'])(
    'the same payment again at %s gets the paid answer again, with its receipt',
    async (path) => {
      const before = ours();
      const headers = named(await signPayment(fixture, url + path), newId());
      const first = await fetch(url + path, { headers });
      const again = await settled(path, { headers });

      expect([first.status, first.headers.get('idempotency-replayed')]).toEqual([200, null]);
      expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
      expect(await again.text()).toBe(await first.text());
      expect(receiptOf(again)).toEqual(receiptOf(first));
      for (const name of ['content-type', 'cache-control', 'x-served', 'etag']) {
        expect(again.headers.get(name)).toBe(first.headers.get(name));
      }
      expect(again.headers.get('access-control-expose-headers')).toContain('Idempotency-Replayed');
      expect(served).toBe(1);
      expect(ours() - before).toBe(10_000n);
    },
  );

  test('an identifier is the payment’s that no node has taken, for as long as that may land: no other is charged beside it', async () => {
    const [one, two, id, before] = [
      await signPayment(fixture, `${url}/stream`),
      await signPayment(fixture, `${url}/stream`),
      newId(),
      ours(),
    ];
    fixture.sandbox.pauseSlots();
    // Taken all the same.
    fixture.sandbox.faults.add({
      kind: 'error',
      method: 'sendTransaction',
      code: -32_003,
      takesEffect: true,
      times: 1,
    });
    const first = await fetch(`${url}/stream`, { headers: named(one, id) });
    fixture.sandbox.resumeSlots();
    await until(() => ours() > before);
    const second = await fetch(`${url}/stream`, { headers: named(two, id) });
    const again = await fetch(`${url}/stream`, { headers: named(one, id) });
    expect([first.status, second.status, again.status, ours() - before]).toEqual([503, 409, 200, 10_000n]);
  });

  test('whoever read the transaction on the chain, or has another identifier, gets no answer', async () => {
    const payment = await signPayment(fixture, `${url}/report`);
    const headers = named(payment, newId());
    await fetch(`${url}/report`, { headers });
    const stolen = await stolenFrom(payment, `${url}/report`);
    for (const thief of [stolen.v2, stolen.v1, named(stolen, newId())]) {
      const answer = await settled('/report', { headers: thief });
      expect([answer.status, await codeOf(answer)]).toEqual([402, 'payment_already_used']);
    }
    expect((await settled('/report', { headers })).status).toBe(200);
    expect(served).toBe(1);
  });

  test('a client that does not send back what it was offered is known by its identifier', async () => {
    const payment = await signPayment(fixture, `${url}/report`);
    const { nonce: _, ...extra } = payment.accepted.extra;
    const plain = { ...payment, accepted: { ...payment.accepted, extra } };
    const headers = named(plain, newId());
    const first = await fetch(`${url}/report`, { headers });
    for (const thief of [named(plain, newId()), carry(plain.transaction, plain.accepted).v2, payment.v2]) {
      const answer = await settled('/report', { headers: thief });
      expect([answer.status, await codeOf(answer)]).toEqual([402, 'payment_already_used']);
    }
    const again = await settled('/report', { headers });
    expect([first.status, again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 200, 'true']);
    expect(await again.text()).toBe(await first.text());
    expect(served).toBe(1);
  });

  test('another payment under the same identifier is 409, and is not charged', async () => {
    const id = newId();
    await fetch(`${url}/report`, { headers: named(await signPayment(fixture, `${url}/report`), id) });
    const before = ours();
    const other = await fetch(`${url}/report`, { headers: named(await signPayment(fixture, `${url}/report`), id) });

    expect(other.status).toBe(409);
    expect(await other.json()).toMatchObject({ code: 'payment_identifier_conflict', retryable: false });
    expect([served, ours() - before]).toEqual([1, 0n]);
  });

  test('of two payments at once under one identifier one is charged', async () => {
    const before = ours();
    const id = newId();
    const payments = [await signPayment(fixture, `${url}/report`), await signPayment(fixture, `${url}/report`)];
    const answers = await Promise.all(payments.map((it) => fetch(`${url}/report`, { headers: named(it, id) })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect([served, ours() - before]).toEqual([1, 10_000n]);
  });

  test.each([
    ['another body', '/report', '{"a":2}'],
    ['another query', '/report?more', '{"a":1}'],
  ])('the same payment with %s is used up', async (_what, path, body) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"a":1}' };
    const headers = { ...init.headers, ...named(await signPayment(fixture, `${url}/report`, { init }), newId()) };
    expect((await fetch(`${url}/report`, { ...init, headers })).status).toBe(200);
    const other = await fetch(url + path, { ...init, headers, body });
    expect([other.status, await codeOf(other)]).toEqual([402, 'payment_already_used']);
    const again = await settled('/report', { ...init, headers });
    expect(await again.json()).toEqual({ served: 1, body: { a: 1 } });
  });

  test('on another route the identifier is another one, and the payment is used up', async () => {
    const headers = named(await signPayment(fixture, `${url}/report`), newId());
    await fetch(`${url}/report`, { headers });
    const other = await fetch(`${url}/other`, { headers });
    expect([other.status, await codeOf(other), served]).toEqual([402, 'payment_already_used', 1]);
  });

  test('while the first is being served the same is 409 payment_in_progress', async () => {
    const headers = named(await signPayment(fixture, `${url}/slow`), newId());
    const first = fetch(`${url}/slow`, { headers });
    await entered.opened;
    const during = await fetch(`${url}/slow`, { headers });
    expect([during.status, during.headers.get('retry-after')]).toEqual([409, '1']);
    expect(await during.json()).toMatchObject({ code: 'payment_in_progress', retryable: true });
    gate.open();
    expect((await first).status).toBe(200);
    expect(await (await settled('/slow', { headers })).json()).toEqual({ served: 1 });
  });

  test('an answer that did not arrive is not lost: the same payment gets it', async () => {
    const headers = named(await signPayment(fixture, `${url}/slow`), newId());
    const gone = new Promise((resolve) => {
      const sent = request(`${url}/slow`, { headers }).once('error', resolve).once('close', resolve);
      sent.end();
      void entered.opened.then(() => sent.destroy());
    });
    await gone;
    gate.open();
    const later = await settled('/slow', { headers });
    expect(later.status).toBe(200);
    const again = await settled('/slow', { headers });
    expect([await again.text(), again.headers.get('idempotency-replayed')]).toEqual([await later.text(), 'true']);
  });

  test('while it is not known whether it was charged, no other payment goes under its identifier', async () => {
    const id = newId();
    const headers = named(await signPayment(fixture, `${url}/hurried`), id);
    const other = named(await signPayment(fixture, `${url}/hurried`), id);
    fixture.sandbox.pauseSlots();
    const unknown = await fetch(`${url}/hurried`, { headers });
    const refused = await fetch(`${url}/hurried`, { headers: other });
    fixture.sandbox.resumeSlots();

    expect([unknown.status, await codeOf(unknown)]).toEqual([503, 'settlement_pending']);
    expect([refused.status, await codeOf(refused)]).toEqual([409, 'payment_identifier_conflict']);
    const answers = [await settled('/hurried', { headers }), await settled('/hurried', { headers })];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    // It was made and kept before the outcome was known to be unknown.
    expect(answers.map((it) => it.headers.get('idempotency-replayed'))).toEqual(['true', 'true']);
    expect(served).toBe(1);
  });

  test('an error of the handler is not kept; the same payment may try again, and another one too', async () => {
    const id = newId();
    const payment = named(await signPayment(fixture, `${url}/fails`), id);
    expect((await fetch(`${url}/fails`, { headers: payment })).status).toBe(500);
    const retried = await settled('/fails', { headers: payment });
    expect([retried.status, served]).toEqual([200, 2]);
  });

  test('a refused payment leaves its identifier free', async () => {
    const id = newId();
    const refused = await signPayment(fixture, `${url}/report`, { change: { amount: '1' } });
    expect((await fetch(`${url}/report`, { headers: named(refused, id) })).status).toBe(402);
    const good = await fetch(`${url}/report`, { headers: named(await signPayment(fixture, `${url}/report`), id) });
    expect(good.status).toBe(200);
  });

  test('whatever was held until it was paid is kept, however long: the same payment gets it again', async () => {
    const headers = named(await signPayment(fixture, `${url}/large`), newId());
    const first = Buffer.from(await (await fetch(`${url}/large`, { headers })).arrayBuffer());
    const again = await settled('/large', { headers });
    expect([first.length, again.status, served]).toEqual([4_194_304, 200, 1]);
    expect(Buffer.from(await again.arrayBuffer()).equals(first)).toBe(true);
  });

  test.each([
    ['too short', 'pay_1'],
    ['too long', 'x'.repeat(129)],
    ['of other characters', 'pay 1234567890abcdef'],
    ['no text', 1234567890123456],
  ])('an identifier that is %s is 400', async (_what, id) => {
    const answer = await fetch(`${url}/report`, { headers: named(await signPayment(fixture, `${url}/report`), id) });
    expect([answer.status, await codeOf(answer), served]).toEqual([400, 'invalid_payment_identifier', 0]);
  });

  test('a 402 declares it; where it is required a payment without one is 400; where it is off it conflicts with none', async () => {
    const declared = async (path: string) => (await askTerms(url + path)).extensions?.[PAYMENT_IDENTIFIER];
    expect(await declared('/report')).toMatchObject({ info: { required: false } });
    expect(await declared('/strict')).toMatchObject({ info: { required: true } });
    expect(await declared('/plain')).toBeUndefined();

    const payment = await signPayment(fixture, `${url}/strict`);
    for (const headers of [payment.v2, payment.v1]) {
      const answer = await fetch(`${url}/strict`, { headers });
      expect([answer.status, await codeOf(answer)]).toEqual([400, 'invalid_payment_identifier']);
    }
    expect((await fetch(`${url}/strict`, { headers: named(payment, newId()) })).status).toBe(200);

    const id = newId();
    for (const _ of ['one', 'other']) {
      const plain = named(await signPayment(fixture, `${url}/plain`), id);
      expect((await fetch(`${url}/plain`, { headers: plain })).status).toBe(200);
    }
  });

  test.each(['/keyed-slow', '/keyed-stream'])(
    'behind an Idempotency-Key at %s: a client that goes blocks nothing and gains nothing',
    async (path) => {
      const key = { 'idempotency-key': randomUUID() };
      const payment = await signPayment(fixture, url + path, { init: { method: 'POST' } });
      const headers = { ...key, ...payment.v2 };
      const before = ours();
      await abandoned(url + path, headers, entered.opened);
      await until(() => gone);
      gate.open();
      const paid = await settled(path, { method: 'POST', headers });
      const again = await fetch(url + path, { method: 'POST', headers });
      expect([paid.status, again.status, await again.text()]).toEqual([200, 200, await paid.text()]);

      const unkeyed = await settled(path, { method: 'POST', headers: payment.v2 });
      expect([unkeyed.status, await unkeyed.json()]).toEqual([200, { served }]);
      const stolen = await stolenFrom(payment, url + path, { method: 'POST' });
      const thief = await settled(path, { method: 'POST', headers: stolen.v2 });
      expect([thief.status, await codeOf(thief)]).toEqual([402, 'payment_already_used']);
      expect(ours() - before).toBe(10_000n);
    },
  );

  test('behind an Idempotency-Key: an answer that is kept for its client counts as delivered', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const payment = await signPayment(fixture, `${url}/keyed-late`, { init: { method: 'POST' } });
    const headers = { ...key, ...payment.v2 };
    fixture.sandbox.pauseSlots();
    await abandoned(`${url}/keyed-late`, headers, entered.opened);
    await until(() => gone);
    fixture.sandbox.resumeSlots();
    const kept = await settled('/keyed-late', { method: 'POST', headers });
    expect([kept.status, kept.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    const stolen = await stolenFrom(payment, `${url}/keyed-late`, { method: 'POST' });
    const thief = await settled('/keyed-late', { method: 'POST', headers: stolen.v2 });
    const unkeyed = await settled('/keyed-late', { method: 'POST', headers: payment.v2 });
    expect([thief.status, unkeyed.status, served]).toEqual([402, 200, 1]);
    expect(await unkeyed.text()).toBe(await kept.text());
  });

  test('behind an Idempotency-Key: asked without a payment, then paid, then asked again', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const init = { method: 'POST', headers: key };
    expect((await fetch(`${url}/keyed`, init)).status).toBe(402);
    const { v2 } = await signPayment(fixture, `${url}/keyed`, { init });
    const paid = await fetch(`${url}/keyed`, { method: 'POST', headers: { ...key, ...v2 } });
    const again = await fetch(`${url}/keyed`, init);
    expect([paid.status, again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 200, 'true']);
    expect([await again.text(), receiptOf(again)]).toEqual([await paid.text(), receiptOf(paid)]);
    expect(served).toBe(1);
  });
});
