import type { PayoutSender } from '../../src/facilitator/payouts/payout-sender.js';
import { createPayouts } from '../../src/gateway/payouts/payouts.js';
import { openStorage } from '../../src/storage/open-storage.js';
import { settleRestored } from '../../src/storage/sql/backup/after-restore.js';
import type { Storage } from '../../src/storage/storage.js';
import { newProjectId, openPayoutFixture, type PayoutFixture } from '../helpers/fixtures/payout-fixture.js';
import { QUICK } from '../helpers/fixtures/toll-fixture.js';
import { rejectionOf } from '../helpers/nodes/fake-node.js';
import { emptyDatabases } from '../helpers/storage/empty-databases.js';
import { until } from '../helpers/until.js';

/** Longer than anything that comes between a payout that is sent and those that are asked for after the restore. */
const UNDER_WAY_SLOTS = 1_000;
const OWED = 600n;

describe.each(emptyDatabases())('after books of $dialect were restored', ({ newUrl }) => {
  let fixture: PayoutFixture;
  let storage: Storage;
  let [anna, bert]: [string, string] = ['', ''];
  let [lost, restored]: [string, string] = ['', ''];
  const projectId = newProjectId();

  beforeEach(async () => {
    [fixture, lost, restored] = await Promise.all([openPayoutFixture(), newUrl(), newUrl()]);
    [anna, bert] = [await fixture.newRecipient(), await fixture.newRecipient()];
  });
  afterEach(async () => {
    await fixture.close();
    await storage.close();
  });

  const earn = (recipient: string) =>
    fixture.land(storage.database, projectId, [{ recipient, amount: OWED }], undefined, fixture.payTo);

  /** A process that pays out, on the books at hand. */
  function start(change: (sender: PayoutSender) => Partial<PayoutSender> = () => ({})) {
    const facilitator = fixture.facilitatorWith({ storage, splitKeypair: fixture.split }, QUICK);
    const { payouts: real } = facilitator;
    const sender = { ...real!, ...change(real!) };
    const faults: unknown[] = [];
    const onFault = (error: unknown): void => void faults.push(error);
    const parts = { book: storage.gateway.payouts, sender, now: fixture.now, onFault, maxAgeMs: 0 };
    const payouts = createPayouts(parts);
    return {
      payouts,
      faults,
      async stop() {
        await facilitator.close();
        await payouts.close();
      },
    };
  }

  /** Pays Anna by a transaction that is under way when the process ends; the books are set back to before that. */
  async function payAndRestore(): Promise<void> {
    storage = await openStorage(lost);
    await earn(anna);
    fixture.sandbox.faults.add({ kind: 'late', slots: UNDER_WAY_SLOTS });
    const before = start();
    await before.payouts.request(projectId);
    await until(() => (fixture.sandbox.calls['sendTransaction'] ?? 0) > 0);
    await before.stop();
    await storage.close();
    fixture.sandbox.faults.clear();
    storage = await openStorage(restored);
    await earn(anna);
    await settleRestored(storage.database, Date.now());
    await storage.close();
    storage = await openStorage(restored);
  }

  const asBlocksGoBy = (holds: () => boolean | Promise<boolean>) =>
    until(async () => {
      fixture.sandbox.expireBlockhashes();
      return holds();
    });

  test('a payout that was under way is found when it has landed, and nobody is paid twice', async () => {
    await payAndRestore();
    const after = start();
    const waiting = {
      code: 'chain_unavailable',
      context: { retryAfterSeconds: expect.any(Number) },
      message: expect.stringMatching(/restored from a backup.*may still land.*in about \d+ s/),
    };
    expect(await rejectionOf(after.payouts.request(projectId))).toMatchObject(waiting);
    expect(await rejectionOf(after.payouts.run())).toMatchObject(waiting);
    expect(await after.payouts.list(projectId, 5)).toEqual([]);
    expect(fixture.held(anna)).toBe(0n);

    await asBlocksGoBy(() => fixture.held(anna) > 0n);
    await asBlocksGoBy(async () => (await rejectionOf(after.payouts.run())) === undefined);
    expect(await after.payouts.owed(projectId)).toMatchObject([{ recipient: anna, held: 'unknown_payout' }]);
    expect(fixture.held(anna)).toBe(OWED);
    await after.stop();
  });

  test('what was never sent is paid once, when nothing from before can land any more', async () => {
    await payAndRestore();
    await earn(bert);
    const after = start();
    expect(await rejectionOf(after.payouts.run())).toMatchObject({ code: 'chain_unavailable' });
    await asBlocksGoBy(async () => (await rejectionOf(after.payouts.run())) === undefined);
    expect([fixture.held(anna), fixture.held(bert)]).toEqual([OWED, OWED]);
    await after.payouts.run();
    expect([fixture.held(anna), fixture.held(bert)]).toEqual([OWED, OWED]);
    expect(after.faults).toEqual([]);
    await after.stop();
  });

  test('a process that starts later does not begin to wait anew', async () => {
    storage = await openStorage(restored);
    await earn(bert);
    await settleRestored(storage.database, Date.now());
    await storage.close();
    storage = await openStorage(restored);
    const first = start();
    expect(await rejectionOf(first.payouts.run())).toMatchObject({ code: 'chain_unavailable' });
    await first.stop();
    // The blockhashes of then are dead, and what a node may lag behind and what is not final yet are over.
    fixture.sandbox.expireBlockhashes();
    fixture.sandbox.advanceSlots(200);
    const second = start();
    await second.payouts.run();
    expect(fixture.held(bert)).toBe(OWED);
    await second.stop();
  });
});
