import type { Express } from 'express';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { storeUnavailable } from '../../../src/storage/sql/sql-database.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { buyPass, passAnswer } from '../../helpers/http/passes.js';

const USES = 3;

describe('a use that waits to be given back while the database is away', () => {
  let fixture: TollFixture;

  beforeAll(async () => {
    fixture = await openTollFixture();
  });
  afterAll(() => fixture.close());

  test('is given back before the facilitator is closed, where the database comes back within some seconds', async () => {
    const storage = await openStorage('memory:');
    let [refusals, status] = [0, 200];
    const passes = {
      ...storage.passes,
      async giveBack(...asked: Parameters<typeof storage.passes.giveBack>) {
        if (refusals > 0) throw storeUnavailable(new Error(`away for ${refusals--} more`));
        return storage.passes.giveBack(...asked);
      },
    };
    const facilitator = fixture.facilitatorWith({ storage: { ...storage, passes } });
    const url = await fixture.serve((app: Express) => {
      const gate = requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.50', pass: { uses: USES } });
      app.get('/sold', gate, (_req, res) => void res.status(status).send('done'));
    });
    const left = async () => (await storage.passes.list(fixture.payer.publicKey.toBase58()))[0]?.left;
    const { token } = await buyPass(fixture, `${url}/sold`);

    [refusals, status] = [3, 503];
    expect((await passAnswer(await fetch(`${url}/sold`, { headers: token }))).status).toBe(503);
    expect([await left(), refusals]).toEqual([BigInt(USES - 2), 2]);
    await facilitator.close();
    expect([await left(), refusals]).toEqual([BigInt(USES - 1), 0]);
    await storage.close();
  });
});
