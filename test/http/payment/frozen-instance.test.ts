import { createFacilitator } from '../../../src/facilitator/create-facilitator.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import type { Storage } from '../../../src/storage/storage.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { testFolder } from '../../helpers/processes/test-folder.js';
import { ledgerWith } from '../../helpers/storage/ledgers.js';
import { signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const LEASE_MS = 500;

/** Two instances on one database. The first stands still in its handler: it is not heard of for longer than its lease lasts. */
describe.each(['after', 'before'] as const)("an instance that was frozen in its handler (settle: '%s')", (settle) => {
  const folder = testFolder();
  let fixture: TollFixture;
  let storage: Storage;

  beforeAll(async () => {
    fixture = await openTollFixture();
    storage = await openStorage(`sqlite:${folder.newPath('db')}`);
  });
  afterAll(async () => {
    await fixture.close();
    await storage.close();
  });

  test('does not put its response in the place of the one that was given meanwhile', async () => {
    const { sandbox, payTo, feePayer } = fixture;
    let isFrozen = true;
    let wake: () => void = () => undefined;
    const runs: string[] = [];
    const shop = (name: string, ledger: Storage['ledger'], wait: () => Promise<void>) => {
      const { network, rpcUrl, wsUrl } = sandbox;
      const own = { network, rpcUrl, wsUrl, keypair: feePayer, check: false, leaseMs: LEASE_MS };
      const facilitator = createFacilitator({ ...own, ledger, idempotency: storage.idempotency });
      return fixture.serve((app) => {
        app.set('env', 'test');
        app.get('/report', requirePayment({ facilitator, payTo, price: '$0.01', settle }), async (_req, res) => {
          runs.push(name);
          await wait();
          res.send(`for you from ${name}`);
        });
      });
    };
    const frozen = ledgerWith(storage.ledger, {
      extend: async (id, lease, leaseMs) => {
        if (isFrozen) throw new Error('nothing happens in a frozen process');
        return storage.ledger.extend(id, lease, leaseMs);
      },
    });
    const first = await shop(
      'the first',
      frozen,
      () =>
        new Promise((resolve) => {
          wake = resolve;
        }),
    );
    const second = await shop('the second', storage.ledger, async () => undefined);
    const { v2 } = await signPayment(fixture, `${first}/report`);
    const ask = async (url: string) => {
      const response = await fetch(`${url}/report`, { headers: v2 });
      return `${response.status} ${await response.text()}`;
    };
    const late = ask(first).catch(() => 'broken off');
    await until(() => runs.length === 1);
    let given = await ask(second);
    for (; given.startsWith('409'); given = await ask(second));
    isFrozen = false;
    wake();
    expect(await late).not.toContain('from the first');

    expect(given).toBe('200 for you from the second');
    expect([await ask(first), await ask(second)]).toEqual([given, given]);
    expect(runs).toEqual(['the first', 'the second']);
  });
});
