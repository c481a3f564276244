import type { Express } from 'express';
import type { Facilitator } from '../../../src/facilitator/types.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { createMemoryPassStore } from '../../../src/storage/passes/memory-pass-store.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { buyPass, passAnswer } from '../../helpers/http/passes.js';
import { createGate, type Gate, type PaymentHeaders } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const USES = 10;
/** Fewer requests than are served beside one that takes long. */
const MOST_REMEMBERED = 2;
const BESIDE = 5;

describe.each(DAILY_EXPRESSES)('a pass in a memory that remembers few requests, %s', (_name, express) => {
  let fixture: TollFixture;
  let facilitator: Facilitator;
  let url: string;
  let token: PaymentHeaders;
  let work: Gate;
  let waiting = 0;
  /** How many requests have come to another gate behind their response. */
  let went = 0;

  beforeAll(async () => {
    fixture = await openTollFixture();
    const passes = createMemoryPassStore({ maxDebits: MOST_REMEMBERED });
    facilitator = fixture.facilitatorWith({ storage: { ...(await openStorage('memory:')), passes } });
    url = await fixture.serve(routes, express);
  });
  afterAll(() => fixture.close());
  beforeEach(async () => {
    work = createGate();
    [waiting, went] = [0, 0];
    ({ token } = await buyPass(fixture, `${url}/quick`));
  });

  function routes(app: Express): void {
    const { payTo } = fixture;
    const gate = requirePayment({ facilitator, payTo, price: '$0.50', pass: { uses: USES, group: 'all' } });
    app.get('/quick', gate, (_req, res) => void res.send('good'));
    app.get('/later', gate, (_req, res) => void setImmediate(() => res.send('good')));
    app.get('/failing', gate, async (_req, res) => {
      waiting += 1;
      await work.opened;
      res.status(503).send('not now');
    });
    app.get('/on', gate, (_req, res, next) => {
      res.send('good');
      setImmediate(() => {
        next();
        went += 1;
      });
    });
    app.get('/on', gate);
  }

  const get = async (path: string) => passAnswer(await fetch(`${url}${path}`, { headers: token }));

  async function left(): Promise<bigint | undefined> {
    const [pass] = await facilitator.passes.list(fixture.payer.publicKey.toBase58());
    return pass?.left;
  }

  test.each(['/quick', '/later'])(
    'gives a request that fails its use, however many were served meanwhile, by %s',
    async (path) => {
      const failing = get('/failing');
      await until(() => waiting === 1);
      for (let times = 0; times < BESIDE; times += 1) expect(await get(path)).toMatchObject({ status: 200 });
      expect(await left()).toBe(BigInt(USES - 2 - BESIDE));
      work.open();
      expect(await failing).toMatchObject({ status: 503 });
      expect(await left()).toBe(BigInt(USES - 1 - BESIDE));
    },
  );

  test('takes one use for a request that comes to another gate when its response has ended', async () => {
    await get('/on').catch(() => undefined);
    await until(() => went === 1);
    expect(await left()).toBe(BigInt(USES - 2));
  });
});
