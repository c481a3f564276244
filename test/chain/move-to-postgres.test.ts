import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../src/storage/open-storage.js';
import { backUpDatabase, restoreDatabase } from '../../src/storage/sql/backup/backup.js';
import { openTollFixture, QUICK } from '../helpers/fixtures/toll-fixture.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { startPostgres } from '../helpers/storage/postgres.js';
import { signPayment } from '../helpers/transactions/payments.js';

const folder = testFolder();

test('who has paid before the books went from SQLite to Postgres gets his response there, and what is left of his pass', async () => {
  const [fixture, server] = [await openTollFixture(), await startPostgres()];
  const [from, to] = [`sqlite:${folder.newPath('db')}`, await server.emptyDatabase()];
  const [backup, token] = [folder.newPath('backup'), 'access-pass'];
  let runs = 0;

  /** Sells from some books, as a new process does. */
  async function open(url: string) {
    const storage = await openStorage(url);
    const facilitator = fixture.facilitatorWith({ storage }, QUICK);
    const gate = { facilitator, payTo: fixture.payTo, price: '$0.01' } as const;
    const origin = await fixture.serve((app) => {
      app.get('/report', requirePayment(gate), (_req, res) => {
        runs += 1;
        res.send(`run ${runs}`);
      });
      app.get('/pack', requirePayment({ ...gate, pass: { uses: 3 } }), (_req, res) => void res.send('used'));
    });
    return {
      ask: (path: string, headers: Readonly<Record<string, string>>) => fetch(origin + path, { headers }),
      origin,
      async close() {
        await facilitator.close();
        await storage.close();
      },
    };
  }

  const before = await open(from);
  const { v2: paid } = await signPayment(fixture, `${before.origin}/report`);
  const { v2: pack } = await signPayment(fixture, `${before.origin}/pack`);
  const first = await before.ask('/report', paid);
  const pass = (await before.ask('/pack', pack)).headers.get(token) ?? '';
  await before.close();
  await backUpDatabase(from, backup);
  await restoreDatabase(to, backup);

  const after = await open(to);
  const again = await after.ask('/report', paid);
  expect([first.status, again.status, await again.text(), runs]).toEqual([200, 200, await first.text(), 1]);
  const uses = [];
  for (let use = 0; use < 3; use += 1) uses.push((await after.ask('/pack', { [token]: pass })).status);
  expect(uses).toEqual([200, 200, 402]);
  await after.close();
  await fixture.close();
  await server.stop();
});
