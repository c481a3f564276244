import type { Express } from 'express';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import type { PassStore } from '../../../src/storage/passes/pass-store.js';
import { storeUnavailable } from '../../../src/storage/sql/sql-database.js';
import type { Storage } from '../../../src/storage/storage.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { buyPass, passAnswer } from '../../helpers/http/passes.js';
import type { PaymentHeaders } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const USES = 3;

describe('a use of a pass that was taken, and of which the answer of the database was lost', () => {
  let fixture: TollFixture;
  let storage: Storage;
  let url: string;
  let token: PaymentHeaders;
  let isLost = false;
  /** Whether debits stay on their way, and those that do. */
  let isLate = false;
  const late: (() => unknown)[] = [];
  let givenBack = 0;

  beforeAll(async () => {
    fixture = await openTollFixture();
    storage = await openStorage('memory:');
    const facilitator = fixture.facilitatorWith({ storage: { ...storage, passes: losing(storage.passes) } });
    url = await fixture.serve((app: Express) => {
      const gate = requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.50', pass: { uses: USES } });
      app.get('/sold', gate, (_req, res) => void res.send('good'));
    });
    ({ token } = await buyPass(fixture, `${url}/sold`));
  });
  afterAll(async () => {
    await fixture.close();
    await storage.close();
  });

  function losing(passes: PassStore): PassStore {
    return {
      ...passes,
      async giveBack(...asked) {
        const given = await passes.giveBack(...asked);
        givenBack += 1;
        return given;
      },
      async debit(debit) {
        if (isLate) {
          late.push(() => passes.debit(debit));
          throw storeUnavailable(new Error('the network is cut in two'));
        }
        const taken = await passes.debit(debit);
        if (isLost) throw storeUnavailable(new Error('the connection was lost'));
        return taken;
      },
    };
  }

  const left = async () => (await storage.passes.list(fixture.payer.publicKey.toBase58()))[0]?.left;

  test('takes nothing where it arrives after its request was told 503', async () => {
    isLate = true;
    const refused = await passAnswer(await fetch(`${url}/sold`, { headers: token }));
    isLate = false;
    await until(() => givenBack === 1);
    for (const arrive of late) await arrive();
    expect([refused.status, late.length, await left()]).toEqual([503, 1, BigInt(USES - 1)]);
  });

  test('is given back: its request was told 503, and all that was bought can be used', async () => {
    const use = async () => passAnswer(await fetch(`${url}/sold`, { headers: token }));
    isLost = true;
    expect((await use()).status).toBe(503);
    isLost = false;
    await until(async () => (await left()) === BigInt(USES - 1));
    expect([await use(), await use()]).toMatchObject([{ status: 200 }, { status: 200, left: '0' }]);
    expect((await use()).status).toBe(402);
  });
});
