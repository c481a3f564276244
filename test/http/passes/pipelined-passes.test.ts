import { EventEmitter } from 'node:events';
import type { Express } from 'express';
import type { Facilitator } from '../../../src/facilitator/types.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { buyPass } from '../../helpers/http/passes.js';
import { answersIn, collect, linesOf, openSocket, rawRequest } from '../../helpers/http/raw-http.js';
import { createGate, type Gate, type PaymentHeaders } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

/** More than an emitter may have listeners of one kind without a warning of Node's. */
const MANY = 25;

describe.each(DAILY_EXPRESSES)('many requests with a pass over one connection, %s', (_name, express) => {
  let fixture: TollFixture;
  let facilitator: Facilitator;
  let url: string;
  let token: PaymentHeaders;
  let go: Gate;
  let waiting: number;
  let charged = true;
  /** The listeners of one kind that their connection has, at the most. */
  let listeners: number;

  beforeAll(async () => {
    fixture = await openTollFixture();
    facilitator = fixture.facilitatorWith({ storage: await openStorage('memory:') });
    url = await fixture.serve(routes, express);
  });
  afterAll(() => fixture.close());
  beforeEach(async () => {
    go = createGate();
    [waiting, charged, listeners] = [0, true, 0];
    ({ token } = await buyPass(fixture, `${url}/quick`));
  });

  function routes(app: Express): void {
    const { payTo } = fixture;
    const gate = requirePayment({ facilitator, payTo, price: '$0.50', pass: { uses: 2 * MANY, group: 'all' } });
    app.get('/quick', gate, (_req, res) => void res.send('good'));
    app.get('/later', gate, async ({ socket }, res) => {
      waiting += 1;
      await go.opened;
      listeners = Math.max(listeners, ...socket.eventNames().map((name) => socket.listenerCount(name)));
      res.status(charged ? 200 : 503).send('done');
    });
  }

  async function left(): Promise<bigint | undefined> {
    const passes = await facilitator.passes.list(fixture.payer.publicKey.toBase58());
    return passes.at(0)?.left;
  }

  function sendMany() {
    const socket = openSocket(url);
    const heard = collect(socket);
    const [last, one] = [['Connection: close'], []].map((more) =>
      rawRequest('GET /later', [...linesOf(token), ...more]),
    );
    socket.write(`${one}`.repeat(MANY - 1) + last, 'latin1');
    return { socket, heard };
  }

  test('are served and taken of it, and add no listener each', async () => {
    const before = await left();
    const { heard } = sendMany();
    await until(() => waiting === MANY);
    go.open();
    const answers = answersIn(await heard);
    expect(answers.map(({ status }) => status)).toEqual(Array(MANY).fill(200));
    await until(async () => (await left()) === before! - BigInt(MANY));
    expect(listeners).toBeLessThanOrEqual(EventEmitter.defaultMaxListeners);
  });

  test('that fail when their client is gone are given back, each of them', async () => {
    const before = await left();
    const { socket, heard } = sendMany();
    await until(() => waiting === MANY);
    socket.destroy();
    await heard;
    charged = false;
    go.open();
    await until(async () => (await left()) === before);
    expect(listeners).toBeLessThanOrEqual(EventEmitter.defaultMaxListeners);
  });
});
