import { request } from 'node:http';
import { PassThrough } from 'node:stream';
import type { Express, Request, Response } from 'express';
import { TollhouseError } from '../../../src/errors/errors.js';
import type { Facilitator } from '../../../src/facilitator/types.js';
import { chargeCredit } from '../../../src/middleware/gate/request-properties.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { compressing } from '../../helpers/http/compressing.js';
import { passAnswer } from '../../helpers/http/passes.js';
import { createGate, type Gate, type PaymentHeaders, signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

/** What is paid, and what there must be to begin. */
const [PRICE, COST] = [10_000n, 1_000n];
/** Twenty times that is how long a handler may go on for a client that is gone. */
const HANDLER_TIMEOUT_MS = 100;

const LONGER_THAN_A_TEST_MS = 600_000;

/** What a stream is asked to be, by its query. */
interface Wanted {
  /** What each piece costs, atomic units. Default 1,000. */
  readonly each?: number;
  /** How many there are at most. Default 100. */
  readonly pieces?: number;
  /** At which of them it waits to be let on. */
  readonly wait?: number;
  /** At which of them it is broken off by this side. */
  readonly break?: number;
  /** At which of them its handler stops without an end. */
  readonly quit?: number;
  /** Whether it goes on though it is told not to. */
  readonly stubborn?: boolean;
  /** Whether it tells how long it is. */
  readonly long?: boolean;
  readonly type?: string;
  /** Default 200. */
  readonly status?: number;
}

describe.each(DAILY_EXPRESSES)('a stream that is taken from credit, %s', (_name, express) => {
  let fixture: TollFixture;
  let facilitator: Facilitator;
  let url: string;
  let go: Gate;
  /** What charges of handlers came to, in order. */
  let charged: (boolean | string)[];
  let waiting = 0;
  let done = 0;
  let gone = 0;
  let fault: 'before' | 'behind' | undefined;

  beforeAll(async () => {
    fixture = await openTollFixture();
    facilitator = failing(fixture.facilitatorWith({ storage: await openStorage('memory:') }));
    url = await fixture.serve(routes, express);
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    go = createGate();
    charged = [];
    [waiting, done, gone, fault] = [0, 0, 0, undefined];
  });

  /** The same facilitator; where it is asked to, it does not say what came of taking more, which was done or not. */
  function failing(real: Facilitator): Facilitator {
    const adjust: Facilitator['passes']['adjust'] = async (asked) => {
      const wrong = fault;
      fault = undefined;
      if (wrong === 'before') throw new TollhouseError('store_unavailable', 'not now');
      const result = await real.passes.adjust(asked);
      if (wrong === 'behind') throw new TollhouseError('store_unavailable', 'nobody knows');
      return result;
    };
    return { ...real, passes: { ...real.passes, adjust } };
  }

  function routes(app: Express): void {
    app.use((_req, res, next) => {
      res.once('close', () => {
        gone += 1;
      });
      next();
    });
    const gate = requirePayment({
      ...{ facilitator, payTo: fixture.payTo, price: '$0.01', settle: 'before', handlerTimeoutMs: HANDLER_TIMEOUT_MS },
      pass: { credit: true, cost: '$0.001', stream: true, group: 'streams' },
    });
    app.get('/stream', gate, (req, res) => stream(req, res).finally(() => (done += 1)));
    const patient = requirePayment({
      ...{
        facilitator,
        payTo: fixture.payTo,
        price: '$0.01',
        settle: 'before',
        handlerTimeoutMs: LONGER_THAN_A_TEST_MS,
      },
      pass: { credit: true, cost: '$0.001', stream: true, group: 'patient' },
    });
    app.get('/patient', patient, (req, res) => stream(req, res).finally(() => (done += 1)));
    app.get('/compressed', compressing, gate, (req, res) => stream(req, res));
    app.get('/compressed-behind', gate, compressing, (req, res) => stream(req, res));
    app.get('/at-once', gate, async (req, res) => {
      const all = Array.from({ length: 40 }, () => charge(req, 700n));
      res.json((await Promise.all(all)).filter(Boolean).length);
    });
    app.get('/late', gate, async (req, res) => {
      res.send('all of it');
      await go.opened;
      await charge(req, 5n);
      done += 1;
    });
    app.get('/piped', patient, (req, res) => {
      res.setHeader('Content-Type', 'text/event-stream');
      const source = new PassThrough();
      source.pipe(res);
      source.write('data: 1\n\n');
      waiting += 1;
      void go.opened.then(() => charge(req, 100n)).then(() => res.end());
    });
    app.get('/not-awaited', gate, (req, res) => {
      for (let times = 0; times < 5; times += 1) void charge(req, 700n);
      res.send('all of it');
    });
  }

  async function charge(req: Request, amount: bigint): Promise<boolean> {
    const goesOn = await chargeCredit(req, amount);
    charged.push(goesOn);
    return goesOn;
  }

  async function stream(req: Request, res: Response): Promise<void> {
    const wanted = (name: keyof Wanted, otherwise = 0): number => Number(req.query[name] ?? otherwise);
    const isStubborn = req.query['stubborn'] !== undefined;
    res.status(wanted('status', 200));
    res.setHeader('Content-Type', String(req.query['type'] ?? 'text/event-stream'));
    if (req.query['long'] !== undefined) res.setHeader('Content-Length', 100_000);
    for (let at = 1; at <= wanted('pieces', 100); at += 1) {
      if (at === wanted('wait')) {
        waiting += 1;
        await go.opened;
      }
      if (at === wanted('quit')) return;
      if (at === wanted('break')) return void res.destroy();
      const goesOn = await charge(req, BigInt(wanted('each', 1_000))).catch((error: TollhouseError) => {
        charged.push(error.code);
        return true;
      });
      if (!goesOn && !isStubborn) return;
      res.write(`data: ${at}\n\n`);
    }
    res.end('data: end\n\n');
  }

  const pathOf = (wanted: Wanted = {}) =>
    `/stream?${new URLSearchParams(Object.entries(wanted).map(([name, value]): [string, string] => [name, String(value)]))}`;
  const piecesIn = (text: string) => text.match(/^data: \d+$/gm)?.length ?? 0;

  async function pay(path: string) {
    const { v2 } = await signPayment(fixture, url + path);
    const paid = await fetch(url + path, { headers: v2 });
    return { v2, paid, token: { 'access-pass': paid.headers.get('access-pass') ?? '' } };
  }

  /** Credit of which so much is left: the paid request takes the rest. */
  async function buy(more = PRICE): Promise<PaymentHeaders> {
    const { paid, token } = await pay(pathOf({ pieces: 1, each: Number(PRICE - more) }));
    await paid.text();
    await until(async () => (await left()) === more);
    [charged, done, gone] = [[], 0, 0];
    return token;
  }

  async function left(): Promise<bigint | undefined> {
    const [pass] = await facilitator.passes.list(fixture.payer.publicKey.toBase58());
    return pass?.left;
  }

  const get = (path: string, headers: PaymentHeaders) => fetch(url + path, { headers });

  test('costs what was charged as it went on, more or less than what it began with', async () => {
    const token = await buy();
    const many = await get(pathOf({ each: 700, pieces: 5 }), token);
    expect([many.headers.get('access-pass-remaining'), piecesIn(await many.text())]).toEqual(['0.0093 USDC', 5]);
    await until(async () => (await left()) === PRICE - 3_500n);
    expect(await (await get(pathOf({ each: 7, pieces: 3 }), token)).text()).toContain('end');
    await until(async () => (await left()) === PRICE - 3_521n);
    expect(await (await get(pathOf({ pieces: 0 }), token)).text()).toContain('end');
    await until(async () => (await left()) === PRICE - 3_521n - COST);
  });

  test('without its price goes on to its end, and has given back what it began with before its head left', async () => {
    const token = await buy(2_000n);
    const failed = await get(pathOf({ status: 503, each: 700, pieces: 5 }), token);
    expect([failed.headers.get('access-pass-remaining'), await left()]).toEqual(['0.002 USDC', 2_000n]);
    expect([piecesIn(await failed.text()), charged]).toEqual([5, [true, true, true, true, true]]);
    await until(() => done === 1);
    expect(await left()).toBe(2_000n);
  });

  test('ends when the credit is out, after what it paid for, with an event that says why', async () => {
    const token = await buy(9_999n);
    const text = await (await get(pathOf({ each: 2_000 }), token)).text();
    expect(piecesIn(text)).toBe(4);
    const [, data = ''] = /\n\nevent: payment_required\ndata: (.*)\n\n$/.exec(text) ?? [];
    expect(JSON.parse(data)).toMatchObject({
      type: 'urn:tollhouse:error:pass_used_up',
      code: 'pass_used_up',
      status: 402,
    });
    expect(charged).toEqual([true, true, true, true, false]);
    await until(async () => (await left()) === 1_999n);
    await (await get(pathOf({ each: 1_999, pieces: 1 }), token)).text();
    await until(async () => (await left()) === 0n);
    expect(await passAnswer(await get(pathOf(), token))).toMatchObject({ status: 402, code: 'pass_used_up' });
  });

  test('ends as the paid one as well, which is had again as it was', async () => {
    const { v2, paid } = await pay(pathOf({ each: 3_000 }));
    const text = await paid.text();
    expect([piecesIn(text), text.includes('event: payment_required')]).toEqual([3, true]);
    await until(async () => (await left()) === 1_000n);
    const again = await get(pathOf({ each: 3_000 }), v2);
    expect([await again.text(), again.headers.get('access-pass-remaining')]).toEqual([text, '0.001 USDC']);
    expect([done, await left()]).toEqual([1, 1_000n]);
  });

  test('of another kind than events ends by itself, and its connection with it where its length was told', async () => {
    const token = await buy(5_000n);
    const plain = await get(pathOf({ type: 'text/plain' }), token);
    expect(await plain.text()).toBe('data: 1\n\ndata: 2\n\ndata: 3\n\ndata: 4\n\ndata: 5\n\n');
    const next = await buy(5_000n);
    const long = await get(pathOf({ type: 'text/plain', long: true }), next);
    await expect(long.text()).rejects.toThrow();
    await until(async () => (await left()) === 0n);
  });

  test.each(['/compressed', '/compressed-behind'])('that is compressed ends as well, on %s', async (path) => {
    const token = await buy(3_000n);
    const compressed = await get(pathOf({ type: 'text/plain', stubborn: true }).replace('/stream', path), token);
    expect(compressed.headers.get('content-encoding')).not.toBeNull();
    expect(await compressed.text()).toBe('data: 1\n\ndata: 2\n\ndata: 3\n\n');
    await until(async () => (await left()) === 0n);
  });

  test('is over for a handler that goes on all the same', async () => {
    const token = await buy(3_000n);
    const text = await (await get(pathOf({ stubborn: true, pieces: 20 }), token)).text();
    expect([piecesIn(text), text.endsWith('}\n\n')]).toEqual([3, true]);
    await until(() => done === 1);
    expect([charged.filter(Boolean), await left()]).toEqual([[true, true, true], 0n]);
  });

  test('of which nothing has left yet is a 402 with terms, and costs nothing', async () => {
    const token = await buy(5_000n);
    const answer = await get(pathOf({ each: 5_001, stubborn: true }), token);
    expect([answer.headers.get('payment-required'), answer.headers.get('cache-control')]).toEqual([
      expect.any(String),
      'no-store',
    ]);
    expect(await passAnswer(answer)).toEqual({ status: 402, left: '0.005 USDC', code: 'pass_used_up' });
    await until(async () => (await left()) === 5_000n);
  });

  test.each([['revoked', 'pass_revoked', (id: string) => facilitator.passes.revoke(id)]])(
    'ends when its pass is %s',
    async (_what, code, end) => {
      const token = await buy();
      const answer = await get(pathOf({ wait: 3 }), token);
      await until(() => waiting === 1);
      const [pass] = await facilitator.passes.list(fixture.payer.publicKey.toBase58());
      await end(pass?.id ?? '');
      go.open();
      const text = await answer.text();
      expect([piecesIn(text), text.includes(`"code":"${code}"`)]).toEqual([2, true]);
      await until(async () => (await left()) === PRICE - 2_000n);
    },
  );

  test('takes what there is, to the unit and no further, with others at the same time', async () => {
    const token = await buy();
    const all = Array.from({ length: 3 }, async () => piecesIn(await (await get(pathOf({ each: 700 }), token)).text()));
    const pieces = (await Promise.all(all)).reduce((sum, it) => sum + it, 0);
    await until(async () => (await left()) === PRICE - 700n * BigInt(pieces));
    expect(pieces).toBeGreaterThan(10);
  });

  test('takes what is charged at the same time as far as it goes', async () => {
    const token = await buy();
    const answer = await get('/at-once', token);
    expect(await passAnswer(answer)).toMatchObject({ status: 402, code: 'pass_used_up' });
    await until(async () => (await left()) === PRICE);
    expect(charged.filter(Boolean)).toHaveLength(14);
  });

  test('takes what its handler has charged and not waited for', async () => {
    const token = await buy();
    expect(await (await get('/not-awaited', token)).text()).toBe('all of it');
    await until(async () => (await left()) === PRICE - 3_500n);
  });

  test('takes nothing for what is charged when it has ended', async () => {
    const token = await buy();
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    await (await get('/late', token)).text();
    await until(() => gone === 1);
    go.open();
    await until(() => done === 1);
    expect([charged, await left()]).toEqual([[false], PRICE - COST]);
    // Once in a process.
    const codes = warned.mock.calls.map(([, options]) => Reflect.get(Object(options), 'code'));
    expect(codes).toEqual(express === DAILY_EXPRESSES[0][1] ? ['TOLLHOUSE_LATE_CHARGE'] : []);
    warned.mockRestore();
  });

  /** Asks for a stream and hangs up when it waits. */
  async function hangUp(path: string, headers: PaymentHeaders): Promise<void> {
    const sent = request(url + path, { headers, agent: false }).on('error', () => undefined);
    sent.end();
    await until(() => waiting === 1);
    sent.destroy();
    await until(() => gone === 1);
  }

  test('whose client hangs up costs what was charged until then, and goes on no more', async () => {
    const token = await buy();
    await hangUp(pathOf({ wait: 4 }), token);
    go.open();
    await until(() => done === 1);
    expect(charged).toEqual([true, true, true, false]);
    expect(await left()).toBe(PRICE - 3_000n);
  });

  test('whose client hangs up may say at its end that it has cost less than what it began with', async () => {
    const token = await buy();
    await hangUp(pathOf({ wait: 2, each: 100, pieces: 3 }), token);
    expect(await left()).toBe(PRICE - COST);
    go.open();
    await until(async () => (await left()) === PRICE - 300n);
    expect(charged).toEqual([true, true, true]);
  });

  test('whose client hangs up before anything has left costs what its handler charges, and nothing where that is left open', async () => {
    const token = await buy();
    await hangUp(pathOf({ wait: 1, each: 100, quit: 4 }), token);
    expect(await left()).toBe(PRICE - COST);
    go.open();
    await until(async () => (await left()) === PRICE - 300n);
    [waiting, gone, go] = [0, 0, createGate()];
    await hangUp(pathOf({ wait: 1, quit: 1 }), token);
    go.open();
    await until(async () => (await left()) === PRICE - 300n);
  });

  test('that is paid for, and whose client hangs up, may say at its end what it has cost', async () => {
    const path = pathOf({ wait: 2, each: 100, pieces: 3 });
    const { v2 } = await signPayment(fixture, url + path);
    gone = 0;
    await hangUp(path, v2);
    go.open();
    await until(async () => (await left()) === PRICE - 300n);
  });

  test('that is piped and paid for, and whose client hangs up, may say at its end what it has cost', async () => {
    const { v2 } = await signPayment(fixture, `${url}/piped`);
    gone = 0;
    await hangUp('/piped', v2);
    expect((await get('/piped', v2)).status).toBe(409);
    go.open();
    await until(async () => (await left()) === PRICE - 100n);
    expect(charged).toEqual([true]);
  });

  test('that is paid for, and whose client hangs up, is over when its handler was told to stop, whatever time it has', async () => {
    const path = pathOf({ wait: 4 }).replace('/stream', '/patient');
    const { v2 } = await signPayment(fixture, url + path);
    gone = 0;
    await hangUp(path, v2);
    go.open();
    await until(() => done === 1);
    await until(async () => (await get(path, v2)).status !== 409);
    expect(charged).toEqual([true, true, true, false]);
    expect(await left()).toBe(PRICE - 3_000n);
  });

  test('that this side breaks off costs what was charged for what had left, and no more', async () => {
    const token = await buy();
    await expect(get(pathOf({ break: 4 }), token).then((it) => it.text())).rejects.toThrow();
    await until(async () => (await left()) === PRICE - 3_000n);
  });

  test('that this side breaks off when it was paid for costs the same, and is not run again for that payment', async () => {
    const path = pathOf({ break: 4 });
    const { v2, paid } = await pay(path);
    await expect(paid.text()).rejects.toThrow();
    await until(async () => (await left()) === PRICE - 3_000n);
    await until(async () => (await get(path, v2)).status === 402);
    expect([charged.length, await left()]).toEqual([3, PRICE - 3_000n]);
  });

  test.each(['before', 'behind'] as const)(
    'is right in the end where a store failed %s taking more, and its handler hears of it',
    async (when) => {
      const token = await buy();
      const answer = await get(pathOf({ wait: 3, pieces: 5 }), token);
      await until(() => waiting === 1);
      fault = when;
      go.open();
      expect(piecesIn(await answer.text())).toBe(5);
      expect(charged).toEqual([true, true, 'store_unavailable', true, true]);
      await until(async () => (await left()) === PRICE - 4_000n);
    },
  );
});
