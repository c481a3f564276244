import { once } from 'node:events';
import type { Socket } from 'node:net';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { createMemoryIdempotencyStore } from '../../../src/storage/idempotency/memory-idempotency-store.js';
import { moneyFirst, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { linesOf, openSocket, rawRequest } from '../../helpers/http/raw-http.js';
import { type PaymentHeaders, signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const MIB = 1024 * 1024;

describe('what a client does to its connection is its own doing', () => {
  let fixture: TollFixture;
  let url: string;
  let runs = 0;

  beforeAll(async () => {
    fixture = await openTollFixture();
    url = await fixture.serve((app) => {
      const gated = moneyFirst(fixture);
      app.get('/stream', requirePayment(gated), (_req, res) => {
        runs += 1;
        res.write(`stream ${runs} first word, last word`);
        // As most handlers do: it stops when nobody listens any more.
      });
      app.get('/breaking', requirePayment(gated), (_req, res) => {
        runs += 1;
        if (runs > 1) return void res.end(`whole ${runs}`);
        res.write('half');
        setImmediate(() => res.destroy());
      });
    });
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    runs = 0;
  });

  /** Reads until a word, and then does something to the connection. */
  async function readUntil(path: string, headers: PaymentHeaders, word: string, then: (socket: Socket) => void) {
    const socket = openSocket(url);
    let read = '';
    socket.on('data', (chunk: Buffer) => {
      read += chunk.toString('latin1');
    });
    socket.write(rawRequest(`GET ${path}`, linesOf(headers)));
    await until(() => read.includes(word));
    then(socket);
    if (!socket.destroyed) await once(socket, 'close');
  }

  async function ask(path: string, headers: PaymentHeaders): Promise<readonly [number, string]> {
    for (;;) {
      const answer = await fetch(url + path, { headers });
      const text = await answer.text();
      if (answer.status !== 409) return [answer.status, text];
    }
  }

  test.each<[string, (socket: Socket) => void]>([
    ['resets it', (socket) => socket.resetAndDestroy()],
    ['ends it', (socket) => socket.end()],
    ['writes what is no HTTP', (socket) => socket.write('\0\0 nonsense \r\n\r\n')],
    [
      'begins a second request with a head that is too large',
      (socket) => socket.write(`GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n`),
    ],
  ])('who reads a stream and %s has had it', async (_what, act) => {
    const { v2 } = await signPayment(fixture, `${url}/stream`);
    for (let times = 0; times < 2; times += 1) {
      if (times === 0) await readUntil('/stream', v2, 'last word', act);
      const [status, text] = await ask('/stream', v2);
      expect([status, JSON.parse(text).code]).toEqual([402, 'payment_already_used']);
    }
    expect(runs).toBe(1);
  });

  test('whose response is broken off by the server gets another one', async () => {
    const { v2 } = await signPayment(fixture, `${url}/breaking`);
    await readUntil('/breaking', v2, 'half', () => undefined);
    expect(await ask('/breaking', v2)).toEqual([200, 'whole 2']);
    expect(await ask('/breaking', v2)).toEqual([200, 'whole 2']);
    expect(runs).toBe(2);
  });
});

describe('a large body belongs to its request', () => {
  let fixture: TollFixture;
  let url: string;
  let runs = 0;

  beforeAll(async () => {
    runs = 0;
    fixture = await openTollFixture();
    url = await fixture.serve((app) => {
      const gated = { facilitator: fixture.facilitator, payTo: fixture.payTo, price: '$0.01' } as const;
      app.post('/work', requirePayment(gated), (req, res) => {
        runs += 1;
        let length = 0;
        req.on('data', (chunk: Buffer) => {
          length += chunk.length;
        });
        req.on('end', () => res.send(`run ${runs}, ${length} bytes`));
      });
    });
  });
  afterAll(() => fixture.close());

  test('another beginning or another length is another request, the same body the same', async () => {
    const body = Buffer.alloc(2 * MIB, 'a');
    const init = { method: 'POST', body };
    const { v2 } = await signPayment(fixture, `${url}/work`, { init });
    const send = async (sent: Buffer) => {
      const answer = await fetch(`${url}/work`, {
        method: 'POST',
        headers: { ...v2, connection: 'close' },
        body: sent,
      });
      return [
        answer.status,
        answer.status === 200 ? await answer.text() : Reflect.get(Object(await answer.json()), 'code'),
      ];
    };
    expect(await send(body)).toEqual([200, `run 1, ${2 * MIB} bytes`]);
    const other = Buffer.from(body);
    other.write('b', 0);
    expect(await send(other)).toEqual([402, 'payment_already_used']);
    expect(await send(body.subarray(1))).toEqual([402, 'payment_already_used']);
    expect(await send(body)).toEqual([200, `run 1, ${2 * MIB} bytes`]);
    expect(runs).toBe(1);
  });
});

describe('a neighbour who fills the store of responses', () => {
  test('does not take from a payer the response that did not arrive', async () => {
    const fixture = await openTollFixture();
    let runs = 0;
    const facilitator = fixture.facilitatorWith({ idempotency: createMemoryIdempotencyStore({ maxBytes: 200_000 }) });
    const url = await fixture.serve((app) => {
      const gated = { facilitator, payTo: fixture.payTo, price: '$0.01' } as const;
      app.get('/mine', requirePayment(gated), (_req, res) => {
        runs += 1;
        res.send(`mine ${runs}`);
      });
      app.get('/large/:n', requirePayment(gated), (_req, res) => void res.send('x'.repeat(60_000)));
    });
    try {
      const { v2 } = await signPayment(fixture, `${url}/mine`);
      const { sendTransaction = 0 } = fixture.sandbox.calls;
      const line = new AbortController();
      fixture.sandbox.pauseSlots();
      const cut = fetch(`${url}/mine`, { headers: v2, signal: line.signal }).catch(() => 'cut');
      await until(() => (fixture.sandbox.calls['sendTransaction'] ?? 0) > sendTransaction);
      line.abort();
      expect(await cut).toBe('cut');
      fixture.sandbox.resumeSlots();
      for (let n = 0; n < 4; n += 1) {
        const neighbour = await signPayment(fixture, `${url}/large/${n}`);
        expect((await fetch(`${url}/large/${n}`, { headers: neighbour.v2 })).status).toBe(200);
      }
      let answer = await fetch(`${url}/mine`, { headers: v2 });
      while (answer.status === 409 || answer.status === 503) answer = await fetch(`${url}/mine`, { headers: v2 });
      expect([answer.status, await answer.text()]).toEqual([200, 'mine 2']);
    } finally {
      await fixture.close();
    }
  });
});
