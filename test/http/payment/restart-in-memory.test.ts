import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { createMemoryLedger } from '../../../src/storage/ledger/memory-ledger.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { signPayment } from '../../helpers/transactions/payments.js';

describe('payments that are remembered in memory only', () => {
  let fixture: TollFixture;
  let runs = 0;

  beforeAll(async () => {
    fixture = await openTollFixture();
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    runs = 0;
  });

  /** A process: a server and a facilitator that remembers nothing of the ones before. */
  async function start(newLedger: () => Promise<ReturnType<typeof createMemoryLedger>>, settle: 'after' | 'before') {
    const facilitator = fixture.facilitatorWith({ ledger: await newLedger() });
    const url = await fixture.serve((app) => {
      app.get('/report', requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.01', settle }), (_req, res) => {
        runs += 1;
        res.send('paid');
      });
    });
    return `${url}/report`;
  }

  const LEDGERS = {
    'a ledger in memory': async () => createMemoryLedger(),
    'memory:': async () => (await openStorage('memory:')).ledger,
  };

  describe.each(Object.entries(LEDGERS))('%s', (_name, newLedger) => {
    test.each(['after', 'before'] as const)('a restart opens no replay: settle %s', async (settle) => {
      const before = await start(newLedger, settle);
      const { v2, v1 } = await signPayment(fixture, before);
      const paid = await fetch(before, { headers: v2 });
      const after = await start(newLedger, settle);
      const again = [await fetch(after, { headers: v2 }), await fetch(after, { headers: v1 })];

      expect(paid.status).toBe(200);
      for (const answer of again) {
        expect(answer.status).toBe(402);
        expect(await answer.json()).toMatchObject({ error: 'duplicate_settlement' });
      }
      expect(runs).toBe(1);
    });
  });
});
