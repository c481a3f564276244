import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import type { Request, Response as ServerAnswer } from 'express';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { createMemoryLedger } from '../../../src/storage/ledger/memory-ledger.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { ledgerWith } from '../../helpers/storage/ledgers.js';
import {
  createGate,
  type PaymentHeaders,
  receiptOf,
  signPayment,
  stolenFrom,
} from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';

type Handler = (req: Request, res: ServerAnswer) => unknown;

describe.each(DAILY_EXPRESSES)("settle: 'before', %s", (name, express) => {
  const memory = createMemoryLedger();
  let usedUp: string[] = [];
  let keptOpen: string[] = [];
  let fixture: TollFixture;
  let url: string;
  let handler: Handler = () => undefined;
  let runs = 0;
  let isGone = false;

  beforeAll(async () => {
    fixture = await openTollFixture();
    const ledger = ledgerWith(memory, {
      served(id, lease) {
        usedUp.push(id);
        return memory.served(id, lease);
      },
      keep(id, lease) {
        keptOpen.push(id);
        return memory.keep(id, lease);
      },
    });
    const facilitator = fixture.facilitatorWith({ ledger });
    const options = { facilitator, payTo: fixture.payTo, price: '$0.01', settle: 'before' as const };
    url = await fixture.serve((app) => {
      app.set('env', 'test');
      const run: Handler = (req, res) => {
        runs += 1;
        isGone = false;
        res.once('close', () => {
          isGone = true;
        });
        return handler(req, res);
      };
      app.get('/stream', requirePayment(options), run);
      app.get('/endless', requirePayment({ ...options, handlerTimeoutMs: 50 }), run);
      app.get('/patient', requirePayment({ ...options, handlerTimeoutMs: 3_600_000 }), run);
    }, express);
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    runs = 0;
    usedUp = [];
    keptOpen = [];
  });

  const balance = (): bigint => fixture.sandbox.tokenBalance(fixture.payer.publicKey.toBase58(), USDC);
  const sign = (path = '/stream') => signPayment(fixture, `${url}${path}`);
  const get = (headers: PaymentHeaders, path = '/stream') => fetch(`${url}${path}`, { headers });
  /** Reads the first piece of a response; returns it, and what ends its connection. */
  async function readSome(headers: PaymentHeaders, path: string): Promise<[string, () => void]> {
    const leaving = new AbortController();
    const answer = await fetch(`${url}${path}`, { headers, signal: leaving.signal });
    const { value } = (await answer.body?.getReader().read()) ?? {};
    return [Buffer.from(value ?? []).toString(), () => leaving.abort()];
  }

  test.each<[string, Handler]>([
    ['events', (_req, res) => void res.type('text/event-stream').write('data: 1\n\n')],
    ['more than is kept', (_req, res) => void res.write(Buffer.alloc(2 * 1024 * 1024))],
  ])('a stream of %s that its client has left is over, though its handler never ends it', async (_what, streams) => {
    handler = streams;
    const { v2 } = await sign('/patient');
    const asked = request(`${url}/patient`, { headers: v2 }).end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    await once(answer, 'data');
    asked.destroy();
    await until(() => usedUp.length > 0);

    expect([(await get(v2, '/patient')).status, runs]).toEqual([402, 1]);
  });

  test('events of which none has left are owed to the client that left, though their handler never ends them', async () => {
    handler = (_req, res) => void res.type('text/event-stream');
    const { v2 } = await sign('/patient');
    const asked = request(`${url}/patient`, { headers: v2 })
      .on('error', () => undefined)
      .end();
    await until(() => runs === 1);
    asked.destroy();
    await until(() => keptOpen.length > 0);
    handler = (_req, res) => void res.send('paid');

    expect([await (await get(v2, '/patient')).text(), runs]).toEqual(['paid', 2]);
  });

  test('the money has landed before the handler runs, which sees the receipt', async () => {
    const before = balance();
    let seen: unknown;
    handler = (req, res) => {
      seen = { spent: before - balance(), receipt: req.payment?.receipt };
      res.send('ok');
    };
    const answer = await get((await sign()).v2);

    expect(answer.status).toBe(200);
    expect(receiptOf(answer)).toMatchObject({ success: true });
    expect(seen).toMatchObject({
      spent: 10_000n,
      receipt: { signature: receiptOf(answer).transaction, amount: 10_000n },
    });
  });

  test('a handler that takes its time is asked whether its payment is still its own, and answers it', async () => {
    handler = (_req, res) => {
      jest.spyOn(performance, 'now').mockReturnValueOnce(performance.now() + 3_600_000);
      res.send('in the end');
    };
    const answer = await get((await sign()).v2);
    jest.restoreAllMocks();
    expect([answer.status, await answer.text()]).toEqual([200, 'in the end']);
  });

  test('a stream arrives piece by piece, while the handler is still writing', async () => {
    const next = createGate();
    let ended = false;
    handler = async (_req, res) => {
      res.write('first');
      await next.opened;
      res.end('second');
      ended = true;
    };
    const answer = await get((await sign()).v2);
    const reader = answer.body?.getReader();
    const first = await reader?.read();
    const endedAtFirst = ended;
    next.open();
    const second = await reader?.read();

    expect(answer.headers.get('cache-control')).toBe('private');
    expect(Buffer.from(first?.value ?? []).toString()).toBe('first');
    expect(endedAtFirst).toBe(false);
    expect(Buffer.from(second?.value ?? []).toString()).toBe('second');
  });

  test('server-sent events flow, with the headers of the handler', async () => {
    const next = createGate();
    handler = async (_req, res) => {
      res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
      res.flushHeaders();
      await next.opened;
      res.write('data: 1\n\n');
      res.end();
    };
    const answer = await get((await sign()).v2);
    next.open();

    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    expect(answer.headers.get('cache-control')).toBe('private, no-cache');
    expect(receiptOf(answer).success).toBe(true);
    expect(await answer.text()).toBe('data: 1\n\n');
  });

  test('a slow reader holds the writer back', async () => {
    const chunk = Buffer.alloc(256 * 1024);
    const pushedBack = createGate();
    let written = 0;
    handler = async (_req, res) => {
      for (; written < 400; written += 1) {
        if (res.write(chunk)) continue;
        pushedBack.open();
        await once(res, 'drain');
      }
      res.end();
    };
    const { v2 } = await sign();
    const sent = request(`${url}/stream`, { headers: v2, agent: false }).end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.pause();
    await pushedBack.opened;
    const atPause = written;
    let size = 0;
    for await (const piece of answer) size += (piece as Buffer).length;

    expect(atPause).toBeLessThan(400);
    expect(size).toBe(400 * chunk.length);
  });

  test('used up when it is whole: the same request gets the same response again, and no other handler runs', async () => {
    handler = (_req, res) => {
      res.cookie('session', String(runs)).write('in ');
      res.end('pieces');
    };
    const { v2 } = await sign();
    const first = await get(v2);
    const text = await first.text();
    await until(() => usedUp.length === 1);
    const again = await get(v2);

    expect([first.status, first.headers.get('idempotency-replayed'), text]).toEqual([200, null, 'in pieces']);
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    expect(await again.text()).toBe(text);
    for (const name of ['set-cookie', 'cache-control']) {
      expect(again.headers.get(name)).toBe(first.headers.get(name));
    }
    expect(receiptOf(again)).toEqual(receiptOf(first));
    expect(runs).toBe(1);
  });

  test('somebody who brings the payment without what its payer was told gets nothing but its receipt', async () => {
    handler = (_req, res) => res.cookie('session', 'secret').send('for the payer');
    const payment = await sign();
    const first = await get(payment.v2);
    await until(() => usedUp.length === 1);
    const stolen = await stolenFrom(payment, `${url}/stream`);
    for (const headers of [stolen.v2, stolen.v1]) {
      const thief = await get(headers);
      expect([thief.status, thief.headers.get('set-cookie')]).toEqual([402, null]);
      expect(await thief.json()).toMatchObject({ code: 'payment_already_used' });
    }
    expect(first.status).toBe(200);
    expect(runs).toBe(1);
  });

  test.each([
    ['exactly 1 MiB is kept', 1_048_576, 200],
    ['more than 1 MiB is not', 1_048_577, 402],
  ])('of a response that has left as a whole %s; either way it was had', async (_what, size, status) => {
    handler = (_req, res) => {
      res.write(Buffer.alloc(size - 1));
      res.end('.');
    };
    const { v2 } = await sign();
    const first = await get(v2);
    expect((await first.arrayBuffer()).byteLength).toBe(size);
    await until(() => usedUp.length === 1);
    const again = await get(v2);

    expect(again.status).toBe(status);
    expect(receiptOf(again)).toEqual(receiptOf(first));
    if (status === 200) expect((await again.arrayBuffer()).byteLength).toBe(size);
    else {
      const detail = expect.stringMatching(/for this very request, and its response is not kept: .* at most 1 MiB/);
      expect(await again.json()).toMatchObject({ code: 'payment_already_used', detail });
      const otherwise = expect.stringContaining('for another request or by somebody else');
      expect(await (await get(v2, '/stream?other')).json()).toMatchObject({ detail: otherwise });
    }
    expect(runs).toBe(1);
  });

  const failures: readonly (readonly [string, Handler, number])[] = [
    ['answers 500', (_req, res) => res.status(500).send('no'), 500],
    ['answers 404', (_req, res) => res.status(404).send('no'), 404],
    [
      'throws',
      () => {
        throw Object.assign(new Error('broken on purpose'), { status: 502 });
      },
      502,
    ],
    ...(name === 'Express 5' ? [['rejects', async () => Promise.reject(new Error('no')), 500] as const] : []),
  ];
  test.each(failures)(
    'a handler that %s keeps the payment good for the same request',
    async (_what, broken, status) => {
      const before = balance();
      handler = broken;
      const { v2 } = await sign();
      const failed = await get(v2);
      await until(() => keptOpen.length === 1);
      handler = (_req, res) => res.send('at last');
      const elsewhere = await get(v2, '/endless');
      const again = await get(v2);

      expect([failed.status, elsewhere.status, again.status]).toEqual([status, 402, 200]);
      expect(receiptOf(failed)).toMatchObject({ success: true });
      expect(await again.text()).toBe('at last');
      expect(receiptOf(again)).toEqual(receiptOf(failed));
      expect(before - balance()).toBe(10_000n);
    },
  );

  test('a handler that fails again and again is run as often as its payer comes, who is charged once', async () => {
    const before = balance();
    handler = (_req, res) => res.status(503).send('not now');
    const { v2 } = await sign();
    const statuses: number[] = [];
    for (let times = 1; times <= 5; times += 1) {
      const answer = await get(v2);
      statuses.push(answer.status);
      expect(receiptOf(answer)).toMatchObject({ success: true });
      expect(answer.headers.get('access-pass-remaining')).toBe('0.01 USDC');
    }

    expect(statuses).toEqual([503, 503, 503, 503, 503]);
    expect([runs, usedUp]).toEqual([5, []]);
    expect(before - balance()).toBe(10_000n);
  });

  test('a client that goes away in the middle has had its response', async () => {
    handler = (_req, res) => void res.write('first');
    const { v2 } = await sign('/endless');
    const leaving = new AbortController();
    const answer = await fetch(`${url}/endless`, { headers: v2, signal: leaving.signal });
    const during = await get(v2, '/endless');
    leaving.abort();
    await expect(answer.text()).rejects.toThrow();
    await until(() => usedUp.length === 1);
    const again = await get(v2, '/endless');

    expect([during.status, again.status]).toEqual([409, 402]);
    expect(await again.json()).toMatchObject({ code: 'payment_already_used' });
    expect(receiptOf(again)).toMatchObject({ success: true });
    expect([runs, keptOpen]).toEqual([1, []]);
  });

  test.each<[string, (source: Readable, res: ServerAnswer) => unknown]>([
    ['piped', (source, res) => source.pipe(res)],
    [
      'piped in two parts',
      (source, res) => {
        source.pipe(res, { end: false });
        source.once('end', () => Readable.from(['last']).pipe(res));
      },
    ],
    [
      'written with waits',
      async (source, res) => {
        for await (const chunk of source) if (!res.write(chunk)) await once(res, 'drain');
        res.end();
      },
    ],
  ])('a response that is %s is kept to its end, though its client goes away in the middle', async (_how, give) => {
    const next = createGate();
    const parts = ['first ', 'x'.repeat(300_000), ' second '];
    handler = (_req, res) =>
      give(
        Readable.from(
          (async function* () {
            yield parts[0];
            await next.opened;
            yield* parts.slice(1);
          })(),
        ),
        res,
      );
    const { v2 } = await sign('/patient');
    const [sent, leave] = await readSome(v2, '/patient');
    leave();
    await until(() => isGone);
    next.open();
    await until(() => usedUp.length === 1);
    const again = await (await get(v2, '/patient')).text();

    expect(sent).toBe('first ');
    expect(again).toBe(`${parts.join('')}${_how === 'piped in two parts' ? 'last' : ''}`);
    expect([runs, keptOpen]).toEqual([1, []]);
  });

  test.each([
    ['its time is over', 'few', '/endless'],
    ['it is longer than what is kept', 'too many', '/patient'],
  ])(
    'a source that many are given lets go of one who is gone when %s, and waits for none',
    async (_when, bytes, path) => {
      const source = new PassThrough();
      handler = (_req, res) => source.pipe(res);
      const [leaving, staying] = [await sign(path), await sign(path)];
      const left = readSome(leaving.v2, path);
      await until(() => source.listenerCount('data') === 1);
      const read = fetch(`${url}${path}`, { headers: staying.v2 }).then((answer) => answer.arrayBuffer());
      await until(() => source.listenerCount('data') === 2);
      source.write('first');
      const [, leave] = await left;
      leave();
      const more = Buffer.alloc(bytes === 'few' ? 10 : 2_000_000);
      await until(() => {
        if (usedUp.length === 0) source.write(more);
        return usedUp.length === 1;
      });
      expect(source.listenerCount('data')).toBe(1);
      expect(usedUp).toHaveLength(1);
      source.end('last');
      expect(Buffer.from(await read).toString()).toMatch(/^first[\s\S]*last$/);
    },
  );

  test('a quick source of small pieces whose reader is gone leaves others their turn', async () => {
    let pieces = 0;
    let most = 0;
    function* endless() {
      for (;;) {
        pieces += 1;
        yield 'a piece of text, '.repeat(3);
      }
    }
    let isGone = false;
    handler = (req, res) => {
      // Before that, what the buffers of a connection take goes in one turn: 128 KiB on Node 26.
      req.socket.once('close', () => {
        isGone = true;
      });
      Readable.from(endless()).pipe(res);
    };
    const { v2 } = await sign('/patient');
    const [, leave] = await readSome(v2, '/patient');
    leave();
    while (usedUp.length === 0) {
      const before = isGone ? pieces : undefined;
      await new Promise(setImmediate);
      if (before !== undefined) most = Math.max(most, pieces - before);
    }
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(1000);
    expect(runs).toBe(1);
  });

  test('a file whose reader is gone is not waited for: its client has had its response', async () => {
    const source = new PassThrough();
    handler = (_req, res) => {
      res.once('close', () => source.destroy());
      source.pipe(res);
      source.write('first');
    };
    const { v2 } = await sign('/patient');
    const [, leave] = await readSome(v2, '/patient');
    leave();
    await until(() => usedUp.length === 1);
    const again = await get(v2, '/patient');

    expect(again.status).toBe(402);
    expect([runs, keptOpen]).toEqual([1, []]);
  });

  test('a response that breaks off by the doing of the server is made good at once, however long handlers may take', async () => {
    const before = balance();
    handler = (_req, res) => {
      res.write('first', () => res.destroy());
    };
    const { v2 } = await sign('/patient');
    await expect(get(v2, '/patient').then((answer) => answer.text())).rejects.toThrow();
    await until(() => keptOpen.length === 1);
    handler = (_req, res) => res.send('whole');
    const again = await get(v2, '/patient');

    expect(await again.text()).toBe('whole');
    expect([runs, before - balance()]).toEqual([2, 10_000n]);
  });

  test('a client that goes before anything was sent gets what the handler makes of it meanwhile', async () => {
    const entered = createGate();
    const next = createGate();
    handler = async (_req, res) => {
      entered.open();
      await next.opened;
      res.send('made for nobody');
    };
    const { v2 } = await sign();
    const leaving = new AbortController();
    const left = fetch(`${url}/stream`, { headers: v2, signal: leaving.signal });
    await entered.opened;
    leaving.abort();
    await expect(left).rejects.toThrow();
    next.open();
    await until(() => usedUp.length === 1);
    const again = await get(v2);

    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    expect(await again.text()).toBe('made for nobody');
    expect([runs, keptOpen]).toEqual([1, []]);
  });

  test('a client that goes before anything was sent, of a handler that never ends: it is run anew', async () => {
    const entered = createGate();
    handler = () => entered.open();
    const { v2 } = await sign('/endless');
    const leaving = new AbortController();
    const left = fetch(`${url}/endless`, { headers: v2, signal: leaving.signal });
    await entered.opened;
    leaving.abort();
    await expect(left).rejects.toThrow();
    await until(() => keptOpen.length === 1);
    handler = (_req, res) => res.send('at last');
    const again = await get(v2, '/endless');

    expect(await again.text()).toBe('at last');
    expect(runs).toBe(2);
  });

  test('a client that goes away while the money is on its way: the handler runs for the one who comes back', async () => {
    handler = (_req, res) => res.send('served');
    const { v2 } = await sign();
    fixture.sandbox.resetCalls();
    fixture.sandbox.pauseSlots();
    const leaving = new AbortController();
    const left = fetch(`${url}/stream`, { headers: v2, signal: leaving.signal });
    await until(() => fixture.sandbox.calls.sendTransaction === 1);
    leaving.abort();
    await expect(left).rejects.toThrow();
    fixture.sandbox.resumeSlots();
    await until(() => keptOpen.length === 1);
    expect(runs).toBe(0);
    const again = await get(v2);

    expect(await again.text()).toBe('served');
    expect(fixture.sandbox.calls.sendTransaction).toBe(1);
  });

  test('while a response without end goes on, however long, a second one is not to be had', async () => {
    const next = createGate();
    handler = async (_req, res) => {
      res.write('tick');
      await next.opened;
      res.end();
    };
    const { v2 } = await sign('/endless');
    const endless = await get(v2, '/endless');
    // Longer than the time that a handler has without a client.
    await wait(60);
    const second = await get(v2, '/endless');
    next.open();

    expect(endless.status).toBe(200);
    expect(second.status).toBe(409);
    expect(await endless.text()).toBe('tick');
    expect([runs, keptOpen]).toEqual([1, []]);
  });

  test('an error after its response comes neither between the payer and what was paid nor into what is kept', async () => {
    handler = (_req, res) => {
      res.status(201).set('X-Mine', 'yes').send('delivered');
      throw new Error('broken while cleaning up');
    };
    const { v2 } = await sign();
    const answers = [await get(v2), await get(v2)];

    for (const answer of answers) {
      expect([answer.status, answer.headers.get('x-mine'), await answer.text()]).toEqual([201, 'yes', 'delivered']);
    }
    expect([runs, keptOpen]).toEqual([1, []]);
  });

  test('many requests over one connection leave nothing on it', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const listeners: number[] = [];
    handler = (req, res) => {
      listeners.push(req.socket.listenerCount('close'));
      res.send('ok');
    };
    for (let times = 0; times < 4; times += 1) {
      const { v2 } = await sign();
      const [answer] = await once(request(`${url}/stream`, { headers: v2, agent }).end(), 'response');
      await once(answer.resume(), 'end');
    }
    agent.destroy();

    expect(new Set(listeners).size).toBe(1);
  });

  test('a payment that is refused on sending is 402, and the handler does not run', async () => {
    const payer = await fixture.sandbox.createWallet({ usdc: '0' });
    const { v2 } = await signPayment({ ...fixture, payer }, `${url}/stream`);
    const answer = await get(v2);

    expect(answer.status).toBe(402);
    expect(await answer.json()).toMatchObject({ error: 'insufficient_funds' });
    expect(runs).toBe(0);
  });

  test('twenty copies at once run the handler once', async () => {
    handler = (_req, res) => res.send('once');
    const before = balance();
    const { v2 } = await sign();
    const answers = await Promise.all(Array.from({ length: 20 }, () => get(v2)));

    for (const { status } of answers) expect([200, 409]).toContain(status);
    expect(answers.filter((it) => it.ok && !it.headers.has('idempotency-replayed'))).toHaveLength(1);
    expect(runs).toBe(1);
    expect(before - balance()).toBe(10_000n);
  });
});
