import { request } from 'node:http';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { type OwnDatabase, SHARED_DATABASES } from '../../helpers/storage/both-databases.js';
import { type SignedPayment, signPayment, stolenFrom } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const PRICE = 10_000n;

/** A shop with a connection of its own to the database, as a process has one. */
interface Instance {
  readonly url: string;
  stop(): Promise<void>;
}

describe.each(SHARED_DATABASES)('a payer whose line breaks while the payment lands, on %s,', (_name, openDatabase) => {
  let fixture: TollFixture;
  let database: OwnDatabase;
  const running = new Set<Instance>();
  let runs: string[] = [];
  let earned = 0n;

  beforeAll(async () => {
    fixture = await openTollFixture();
    database = await openDatabase();
  });
  beforeEach(() => {
    runs = [];
    earned = fixture.sandbox.tokenBalance(fixture.payTo, USDC);
  });
  afterEach(async () => {
    fixture.sandbox.resumeSlots();
    for (const instance of running) await instance.stop();
  });
  afterAll(async () => {
    await fixture.close();
    await database.stop();
  });

  const paid = (): bigint => fixture.sandbox.tokenBalance(fixture.payTo, USDC) - earned;

  async function start(): Promise<Instance> {
    const storage = await openStorage(database.url);
    const facilitator = fixture.facilitatorWith({ storage });
    const url = await fixture.serve((app) => {
      app.set('trust proxy', true);
      for (const settle of ['after', 'before'] as const) {
        const gate = requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.01', settle });
        app.get(`/${settle}`, gate, (req, res) => {
          runs.push(req.originalUrl);
          res.set('set-cookie', `session=${runs.length}`).send(`${req.originalUrl}, run ${runs.length}`);
        });
      }
    });
    const instance = {
      url,
      async stop() {
        running.delete(instance);
        await facilitator.close();
        await storage.close();
      },
    };
    running.add(instance);
    return instance;
  }

  /** Sends the payment, and breaks the line off once the node has its transaction, which lands after that. */
  async function breakOff(address: string, { v2 }: SignedPayment): Promise<void> {
    const { sandbox } = fixture;
    const { sendTransaction } = sandbox.calls;
    sandbox.pauseSlots();
    const sent = request(address, { headers: v2, agent: false }).on('error', () => undefined);
    sent.end();
    await until(() => sandbox.calls.sendTransaction > sendTransaction);
    sent.destroy();
    sandbox.resumeSlots();
    await until(() => paid() === PRICE);
  }

  /** Asks until the one that lost the line holds it no more. */
  async function insist(address: string, headers: Readonly<Record<string, string>>) {
    let answer = await fetch(address, { headers });
    for (; [409, 503].includes(answer.status); answer = await fetch(address, { headers })) await answer.arrayBuffer();
    return { status: answer.status, cookie: answer.headers.get('set-cookie'), text: await answer.text() };
  }

  async function expectNothingFor(thief: Readonly<Record<string, string>>, address: string): Promise<void> {
    const { status, cookie, text } = await insist(address, thief);
    expect([status, cookie, JSON.parse(text).code]).toEqual([402, null, 'payment_already_used']);
  }

  test.each(['after', 'before'])(
    'has one response of one run at each instance and after a restart, and a stranger none: settle %s',
    async (settle) => {
      const [one, other] = [await start(), await start()];
      const target = `/${settle}?q=1`;
      const payment = await signPayment(fixture, one.url + target);
      await breakOff(one.url + target, payment);
      const { v1, v2: stolen } = await stolenFrom(payment, one.url + target);
      const strangers = [stolen, { ...v1, 'x-forwarded-for': '203.0.113.9' }];
      for (const thief of strangers) await expectNothingFor(thief, other.url + target);

      const given = await insist(other.url + target, payment.v2);
      expect(given).toEqual({ status: 200, cookie: 'session=1', text: `${target}, run 1` });
      expect(await insist(one.url + target, payment.v2)).toEqual(given);
      await one.stop();
      await other.stop();
      const restarted = await start();
      for (const thief of strangers) await expectNothingFor(thief, restarted.url + target);
      await expectNothingFor(payment.v2, `${restarted.url}/${settle}?q=2`);
      expect(await insist(restarted.url + target, payment.v2)).toEqual(given);
      expect([runs, paid()]).toEqual([[target], PRICE]);
    },
  );

  test.each(['after', 'before'])(
    'who comes back after a restart only is served then, by one run: settle %s',
    async (settle) => {
      const dying = await start();
      const target = `/${settle}?q=1`;
      const payment = await signPayment(fixture, dying.url + target);
      await breakOff(dying.url + target, payment);
      await dying.stop();
      const restarted = await start();
      await expectNothingFor((await stolenFrom(payment, restarted.url + target)).v2, restarted.url + target);
      const given = await insist(restarted.url + target, payment.v2);
      expect(given).toEqual({ status: 200, cookie: 'session=1', text: `${target}, run 1` });
      expect(await insist(restarted.url + target, payment.v2)).toEqual(given);
      expect([runs, paid()]).toEqual([[target], PRICE]);
    },
  );
});
