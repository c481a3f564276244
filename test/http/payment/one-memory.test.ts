import type { EmbeddedFacilitator } from '../../../src/facilitator/create-facilitator.js';
import { remoteFacilitator } from '../../../src/facilitator/remote/remote-facilitator.js';
import type { Facilitator } from '../../../src/facilitator/types.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { createMemoryLedger } from '../../../src/storage/ledger/memory-ledger.js';
import { serveFacilitator } from '../../helpers/facilitator-server.js';
import { receiptOf, signPayment, stolenFrom } from '../../helpers/payments.js';
import { openTollStand, type TollStand } from '../../helpers/toll-stand.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const PRICE = 10_000n;

/** Two facilitators without a ledger, of one key, in this process. */
const PAIRS: readonly (readonly [string, (stand: TollStand) => Promise<readonly [Facilitator, Facilitator]>])[] = [
  ['that settle themselves', async (stand) => [stand.facilitatorWith({}), stand.facilitatorWith({})]],
  [
    'that settle elsewhere',
    async (stand) => {
      const elsewhere = await serveFacilitator(stand.facilitatorWith({ ledger: createMemoryLedger() }));
      closers.push(elsewhere.close);
      const { network, tokens } = stand.facilitator;
      const [one, other] = [1, 2].map(() => remoteFacilitator({ url: elsewhere.url, network, tokens }));
      if (one === undefined || other === undefined) throw new Error('two were made');
      closers.unshift(one.close, other.close);
      return [one, other];
    },
  ],
];

const closers: (() => Promise<void>)[] = [];

describe.each(PAIRS)('two facilitators of one key %s', (_name, open) => {
  let stand: TollStand;
  let url: string;
  let served: string[] = [];
  let balance: bigint;

  beforeAll(async () => {
    stand = await openTollStand();
    const [one, other] = await open(stand);
    url = await stand.serve((app) => {
      for (const [path, facilitator] of [['/one', one] as const, ['/other', other] as const]) {
        app.get(path, requirePayment({ facilitator, payTo: stand.payTo, price: '$0.01' }), (_req, res) => {
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
    await stand.close();
  });

  const spendable = () => stand.sandbox.tokenBalance(stand.payer.publicKey.toBase58(), USDC);
  const feeLamports = () => stand.sandbox.account(stand.feePayer.publicKey.toBase58())?.lamports ?? 0n;

  test('serve one payment once, shown on the routes of both at once', async () => {
    const fees = feeLamports();
    const { v2: headers } = await signPayment(stand, `${url}/one`);
    const answers = await Promise.all(['/one', '/other'].map((path) => fetch(`${url}${path}`, { headers })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 402]);
    expect(served).toHaveLength(1);
    expect(balance - spendable()).toBe(PRICE);
    expect(fees - feeLamports()).toBeLessThanOrEqual(10_100n);
  });

  test('serve one payment once, shown on the routes of both one after the other', async () => {
    const { v2: headers } = await signPayment(stand, `${url}/one`);
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
    const payments = [await signPayment(stand, `${url}/one`), await signPayment(stand, `${url}/other`)];
    const answers = await Promise.all(
      ['/one', '/other'].map((path, index) => fetch(`${url}${path}`, { headers: payments[index]?.v2 ?? {} })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect([...served].sort()).toEqual(['/one', '/other']);
    expect(balance - spendable()).toBe(2n * PRICE);
  });
});

describe('a facilitator without a ledger that is made when another was closed', () => {
  let stand: TollStand;
  beforeAll(async () => {
    stand = await openTollStand();
  });
  afterAll(() => stand.close());

  async function shop(facilitator: EmbeddedFacilitator): Promise<string> {
    const gate = requirePayment({ facilitator, payTo: stand.payTo, price: '$0.01' });
    let runs = 0;
    return stand.serve((app) =>
      app.get('/', gate, (_req, res) => {
        runs += 1;
        res.send(`goods ${runs}`);
      }),
    );
  }

  test('refuses what that one has served, with its receipt; what is paid anew is served', async () => {
    const first = stand.facilitatorWith({});
    const old = await shop(first);
    const { v2: headers } = await signPayment(stand, old);
    expect((await fetch(old, { headers })).status).toBe(200);
    await first.close();
    const anew = await shop(stand.facilitatorWith({}));
    const again = await fetch(anew, { headers });
    expect(again.status).toBe(402);
    expect(await again.json()).toMatchObject({ code: 'payment_already_used' });
    const fresh = await signPayment(stand, anew);
    expect((await fetch(anew, { headers: fresh.v2 })).status).toBe(200);
  });

  test('leaves the memory of one that is still open alone when it is closed', async () => {
    const [staying, leaving] = [stand.facilitatorWith({}), stand.facilitatorWith({})];
    const url = await shop(staying);
    const payment = await signPayment(stand, url);
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
