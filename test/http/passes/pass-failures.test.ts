import { once } from 'node:events';
import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Express, Response } from 'express';
import type { Facilitator } from '../../../src/facilitator/types.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { buyPass, passAnswer } from '../../helpers/http/passes.js';
import { createGate, type Gate, type PaymentHeaders, signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

const USES = 5;
/** Twenty times that is longer than a test needs to look at what is taken meanwhile. */
const HANDLER_TIMEOUT_MS = 150;

const [PIECES, PIECE] = [40, 'x'.repeat(20_000)];

async function sendInPieces(res: Response): Promise<void> {
  for (let at = 0; at < PIECES; at += 1) if (!res.write(PIECE)) await once(res, 'drain');
  res.end();
}

describe.each(DAILY_EXPRESSES)('a request that a pass covers, %s', (_name, express) => {
  let fixture: TollFixture;
  let url: string;
  let answer:
    | 'good'
    | 'error'
    | 'error-in-pieces'
    | 'break'
    | 'wait'
    | 'wait-error'
    | 'wait-break'
    | 'wait-throw'
    | 'long';
  let work: Gate;
  let begun = 0;
  /** Handlers that have done all their work. */
  let ended = 0;
  let gone = 0;
  /** Debits that were made and whose requests wait. */
  let held = 0;
  let hold: Gate | undefined;
  /** How many give-backs fail. */
  let busy = 0;
  /** What became of responses and of give-backs, in order. */
  let order: ('left' | 'given back')[] = [];
  let facilitator: Facilitator;

  beforeAll(async () => {
    fixture = await openTollFixture();
    facilitator = waiting(fixture.facilitatorWith({ storage: await openStorage('memory:') }));
    url = await fixture.serve(routes, express);
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    answer = 'good';
    work = createGate();
    [begun, ended, gone, held, hold, order] = [0, 0, 0, 0, undefined, []];
  });

  function routes(app: Express): void {
    const { payTo } = fixture;
    const sold = { facilitator, payTo, price: '$0.50', pass: { uses: USES }, handlerTimeoutMs: HANDLER_TIMEOUT_MS };
    app.use((_req, res, next) => {
      res.once('finish', () => order.push('left'));
      res.once('close', () => {
        gone += 1;
      });
      next();
    });
    app.get(['/after', '/before'], (req, res, next) => {
      const settle = req.path === '/after' ? 'after' : 'before';
      requirePayment({ ...sold, settle })(req, res, next);
    });
    app.get(['/after', '/before'], async (_req, res, next) => {
      begun += 1;
      const asked = answer;
      if (asked.startsWith('wait')) await work.opened;
      if (asked === 'long') {
        await pause(3 * HANDLER_TIMEOUT_MS);
        ended += 1;
      }
      if (asked === 'wait-break') return void res.destroy();
      if (asked === 'wait-throw') return next(new Error('the work has failed'));
      if (asked === 'error-in-pieces') return void sendInPieces(res.status(503));
      if (asked.endsWith('error')) return void res.status(503).send('not now');
      if (asked !== 'break') return void res.send('good');
      res.write('the first half');
      setImmediate(() => res.destroy());
    });
  }

  const get = async (path: string, headers: PaymentHeaders) => passAnswer(await fetch(`${url}${path}`, { headers }));

  /** The same facilitator; a request that was debited waits where it is asked to, and give-backs fail as often as they are to. */
  function waiting(real: Facilitator): Facilitator {
    const debit: Facilitator['passes']['debit'] = async (asked) => {
      const result = await real.passes.debit(asked);
      held += 1;
      await hold?.opened;
      return result;
    };
    const giveBack: Facilitator['passes']['giveBack'] = async (...asked) => {
      if (busy > 0) throw new Error(`the store is busy for ${busy--} more`);
      // A store at a distance: whatever does not wait for it goes first.
      await nextTurn();
      await nextTurn();
      const left = await real.passes.giveBack(...asked);
      order.push('given back');
      return left;
    };
    return { ...real, passes: { ...real.passes, debit, giveBack } };
  }

  async function left(): Promise<bigint | undefined> {
    const [pass] = await facilitator.passes.list(fixture.payer.publicKey.toBase58());
    return pass?.left;
  }

  describe.each(['/after', '/before'])('on %s', (path) => {
    let token: PaymentHeaders;
    beforeEach(async () => {
      ({ token } = await buyPass(fixture, `${url}${path}`));
      begun = 0;
    });

    test('costs a use, and its twin that fails costs none and says so', async () => {
      expect(await get(path, token)).toEqual({ status: 200, left: '3' });
      answer = 'error';
      expect(await get(path, token)).toEqual({ status: 503, left: '3' });
      await until(async () => (await left()) === 3n);
      answer = 'good';
      expect(await get(path, token)).toEqual({ status: 200, left: '2' });
    });

    test.each([
      ['at once', 'error', 'not now'],
      ['in pieces that fill its connection', 'error-in-pieces', 'x'.repeat(PIECES * PIECE.length)],
    ] as const)('that fails has its use before its client is answered, %s', async (_how, failing, body) => {
      await get(path, token);
      await get(path, token);
      await get(path, token);
      expect(await left()).toBe(1n);
      answer = failing;
      for (let times = 0; times < 3; times += 1) {
        order = [];
        const failed = await fetch(`${url}${path}`, { headers: token });
        expect([failed.status, failed.headers.get('access-pass-remaining'), await failed.text()]).toEqual([
          503,
          '1',
          body,
        ]);
        expect(order[0]).toBe('given back');
        expect(await left()).toBe(1n);
      }
      answer = 'good';
      expect(await get(path, token)).toEqual({ status: 200, left: '0' });
    });

    test('whose use a busy store does not take back at first has it in the end, once', async () => {
      busy = 2;
      answer = 'error';
      expect(await get(path, token)).toEqual({ status: 503, left: '4' });
      await until(async () => (await left()) === 4n);
      expect(busy).toBe(0);
      answer = 'good';
      expect(await get(path, token)).toEqual({ status: 200, left: '3' });
    });

    test('that breaks off in the middle through no fault of its client costs none', async () => {
      answer = 'break';
      await expect(fetch(`${url}${path}`, { headers: token }).then((it) => it.text())).rejects.toThrow();
      await until(async () => (await left()) === 4n);
    });

    async function hangUp(): Promise<void> {
      const before = { gone, begun };
      const sent = request(`${url}${path}`, { headers: token, agent: false }).on('error', () => undefined);
      sent.end();
      await until(() => begun === before.begun + 1);
      sent.destroy();
      await until(() => gone === before.gone + 1);
    }

    test('whose client hangs up on a handler that comes to its end has spent its use, as often as he does', async () => {
      answer = 'wait';
      await hangUp();
      await hangUp();
      work.open();
      answer = 'good';
      expect(await get(path, token)).toEqual({ status: 200, left: '1' });
    });

    test('whose client hangs up on a handler that outlasts its time buys its work once, and no more work than it has uses', async () => {
      answer = 'long';
      for (let times = 0; times < USES - 1; times += 1) await hangUp();
      await until(() => ended === USES - 1);
      answer = 'good';
      expect(await get(path, token)).toMatchObject({ status: 402, code: 'pass_used_up' });
    });

    test.each([
      ['fails', 'wait-error'],
      ['throws', 'wait-throw'],
      ['breaks off', 'wait-break'],
    ] as const)(
      'whose client hangs up on a handler that %s then has its use, which nobody else has before',
      async (_how, end) => {
        answer = end;
        await hangUp();
        expect(await left()).toBe(3n);
        work.open();
        await until(async () => (await left()) === 4n);
      },
    );

    test('whose client hangs up on a handler that never ends has its use after many times that of handlers', async () => {
      answer = 'wait';
      await hangUp();
      expect(await left()).toBe(3n);
      await until(async () => (await left()) === 4n);
    });

    test('whose client is gone before the handler is asked costs none', async () => {
      hold = createGate();
      const sent = request(`${url}${path}`, { headers: token, agent: false }).on('error', () => undefined);
      sent.end();
      await until(() => held === 1);
      const before = gone;
      sent.destroy();
      await until(() => gone === before + 1);
      hold.open();
      await until(async () => (await left()) === 4n);
      expect(begun).toBe(0);
    });
  });

  test('opens no pass where the paid request failed and nothing was charged', async () => {
    const before = await facilitator.passes.list(fixture.payer.publicKey.toBase58());
    answer = 'error';
    const { v2 } = await signPayment(fixture, `${url}/after`);
    expect(await get('/after', v2)).toEqual({ status: 503, left: null });
    expect(await facilitator.passes.list(fixture.payer.publicKey.toBase58())).toEqual(before);
    answer = 'good';
    expect(await get('/after', v2)).toEqual({ status: 200, left: '4' });
  });

  test('has its pass where the money was taken first and the handler failed, and the same payment is served then', async () => {
    answer = 'error';
    const { v2 } = await signPayment(fixture, `${url}/before`);
    const failed = await fetch(`${url}/before`, { headers: v2 });
    const token = { 'access-pass': failed.headers.get('access-pass') ?? '' };
    expect([failed.status, failed.headers.get('access-pass-remaining')]).toEqual([503, '5']);
    answer = 'good';
    expect(await get('/before', token)).toEqual({ status: 200, left: '4' });
    expect(await get('/before', v2)).toEqual({ status: 200, left: '3' });
  });
});
