import type { EmbeddedFacilitator } from '../../../src/facilitator/create-facilitator.js';
import { remoteFacilitator } from '../../../src/facilitator/remote/remote-facilitator.js';
import type { Facilitator } from '../../../src/facilitator/types.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { createMemoryLedger } from '../../../src/storage/ledger/memory-ledger.js';
import { serveFacilitator } from '../../helpers/fixtures/facilitator-server.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { receiptOf, signPayment, stolenFrom } from '../../helpers/transactions/payments.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const PRICE = 10_000n;

/** Two facilitators without a ledger, of one key, in this process. */
const PAIRS: readonly (readonly [string, (fixture: TollFixture) => Promise<readonly [Facilitator, Facilitator]>])[] = [
  ['that settle themselves', async (fixture) => [fixture.facilitatorWith({}), fixture.facilitatorWith({})]],
  [
    'that settle elsewhere',
    async (fixture) => {
      const elsewhere = await serveFacilitator(fixture.facilitatorWith({ ledger: createMemoryLedger() }));
      closers.push(elsewhere.close);
      const { network, tokens } = fixture.facilitator;
      const [one, other] = [1, 2].map(() => remoteFacilitator({ url: elsewhere.url, network, tokens }));
      if (one === undefined || other === undefined) throw new Error('two were made');
      closers.unshift(one.close, other.close);
      return [one, other];
    },
  ],
];

const closers: (() => Promise<void>)[] = [];

describe.each(PAIRS)('two facilitators of one key %s', (_name, open) => {
  let fixture: TollFixture;
  let url: string;
  let served: string[] = [];
  let balance: bigint;

  beforeAll(async () => {
    fixture = await openTollFixture();
    const [one, other] = await open(fixture);
    url = await fixture.serve((app) => {
      for (const [path, facilitator] of [['/one', one] as const, ['/other', other] as const]) {
        app.get(path, requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.01' }), (_req, res) => {
          served.push(path);
          res.send(`goods ${served.length}`);
        });
      }
    });
  });
  beforeEach(() => {
    served = [];
    balance = spendable();
  });
  afterAll(async () => {
    for (const close of closers.splice(0)) await close();
    await fixture.close();
  });

  const spendable = () => fixture.sandbox.tokenBalance(fixture.payer.publicKey.toBase58(), USDC);
  const feeLamports = () => fixture.sandbox.account(fixture.feePayer.publicKey.toBase58())?.lamports ?? 0n;

  test('serve one payment once, shown on the routes of both at once', async () => {
    const fees = feeLamports();
    const { v2: headers } = await signPayment(fixture, `${url}/one`);
    const answers = await Promise.all(['/one', '/other'].map((path) => fetch(`${url}${path}`, { headers })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 402]);
    expect(served).toHaveLength(1);
    expect(balance - spendable()).toBe(PRICE);
    expect(fees - feeLamports()).toBeLessThanOrEqual(10_100n);
  });

  test('serve one payment once, shown on the routes of both one after the other', async () => {
    const { v2: headers } = await signPayment(fixture, `${url}/one`);
    const first = await fetch(`${url}/other`, { headers });
    const elsewhere = await fetch(`${url}/one`, { headers });
    const again = await fetch(`${url}/other`, { headers });
    expect([first.status, elsewhere.status, again.status]).toEqual([200, 402, 200]);
    expect(await elsewhere.json()).toMatchObject({ code: 'payment_already_used' });
    const replayed = [first, again].map((answer) => answer.headers.get('idempotency-replayed'));
    expect(replayed).toEqual([null, 'true']);
    expect([await first.text(), await again.text()]).toEqual(['goods 1', 'goods 1']);
    expect(receiptOf(again)).toEqual(receiptOf(first));
    expect(served).toEqual(['/other']);
    expect(balance - spendable()).toBe(PRICE);
  });

  test('serve two payments, each on its route', async () => {
    const payments = [await signPayment(fixture, `${url}/one`), await signPayment(fixture, `${url}/other`)];
    const answers = await Promise.all(
      ['/one', '/other'].map((path, index) => fetch(`${url}${path}`, { headers: payments[index]?.v2 ?? {} })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect([...served].sort()).toEqual(['/one', '/other']);
    expect(balance - spendable()).toBe(2n * PRICE);
  });
});

describe('a facilitator without a ledger that is made when another was closed', () => {
  let fixture: TollFixture;
  beforeAll(async () => {
    fixture = await openTollFixture();
  });
  afterAll(() => fixture.close());

  async function shop(facilitator: EmbeddedFacilitator): Promise<string> {
    const gate = requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.01' });
    let runs = 0;
    return fixture.serve((app) =>
      app.get('/', gate, (_req, res) => {
        runs += 1;
        res.send(`goods ${runs}`);
      }),
    );
  }

  test('refuses what that one has served, with its receipt; what is paid anew is served', async () => {
    const first = fixture.facilitatorWith({});
    const old = await shop(first);
    const { v2: headers } = await signPayment(fixture, old);
    expect((await fetch(old, { headers })).status).toBe(200);
    await first.close();
    const anew = await shop(fixture.facilitatorWith({}));
    const again = await fetch(anew, { headers });
    expect(again.status).toBe(402);
    expect(await again.json()).toMatchObject({ code: 'payment_already_used' });
    const fresh = await signPayment(fixture, anew);
    expect((await fetch(anew, { headers: fresh.v2 })).status).toBe(200);
  });

  test('leaves the memory of one that is still open alone when it is closed', async () => {
    const [staying, leaving] = [fixture.facilitatorWith({}), fixture.facilitatorWith({})];
    const url = await shop(staying);
    const payment = await signPayment(fixture, url);
    const stolen = await stolenFrom(payment, url);
    expect((await fetch(url, { headers: payment.v2 })).status).toBe(200);
    await leaving.close();
    const again = await fetch(url, { headers: payment.v2 });
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    expect(await again.text()).toBe('goods 1');
    const thief = await fetch(url, { headers: stolen.v2 });
    expect([thief.status, await thief.json()]).toMatchObject([402, { code: 'payment_already_used' }]);
  });
});
