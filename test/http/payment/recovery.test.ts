import { VersionedTransaction } from '@solana/web3.js';
import type { EmbeddedFacilitator } from '../../../src/facilitator/create-facilitator.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import type { Storage } from '../../../src/storage/storage.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { testFolder } from '../../helpers/processes/test-folder.js';
import { ledgerOfTheDead, ledgerWith } from '../../helpers/storage/ledgers.js';
import { testClock } from '../../helpers/test-clock.js';
import { createGate, signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const LEASE_MS = 30_000;
const NOTHING = { settled: 0, failed: 0, expired: 0, open: 0 };

/** Two instances on one database. The first dies right after it has sent a transaction: nothing it does arrives any more. */
describe('what a dead instance leaves', () => {
  const folder = testFolder();
  const { now, advance } = testClock(Date.now());
  let fixture: TollFixture;
  let storage: Storage;
  let dead: EmbeddedFacilitator;
  let alive: EmbeddedFacilitator;
  let deadUrl: string;
  let aliveUrl: string;
  let runs = 0;
  let balance: bigint;

  beforeAll(async () => {
    fixture = await openTollFixture();
    storage = await openStorage(`sqlite:${folder.newPath('db')}`, { now });
    const silenced = ledgerOfTheDead(storage.ledger);
    dead = fixture.facilitatorWith({ ledger: silenced, settleTimeoutMs: 150 });
    alive = fixture.facilitatorWith({ ledger: storage.ledger });
    deadUrl = await serve(dead);
    aliveUrl = await serve(alive);
  });
  afterAll(async () => {
    await fixture.close();
    await storage.close();
  });
  beforeEach(() => {
    runs = 0;
    balance = fixture.sandbox.tokenBalance(fixture.payer.publicKey.toBase58(), USDC);
  });
  afterEach(() => fixture.sandbox.faults.clear());

  const spent = (): bigint => balance - fixture.sandbox.tokenBalance(fixture.payer.publicKey.toBase58(), USDC);

  function serve(facilitator: EmbeddedFacilitator): Promise<string> {
    return fixture.serve((app) => {
      app.set('env', 'test');
      app.get('/report', requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.01' }), (_req, res) => {
        runs += 1;
        res.send('paid');
      });
    });
  }

  async function payTheDead() {
    const { v2 } = await signPayment(fixture, `${deadUrl}/report`);
    const answer = await fetch(`${deadUrl}/report`, { headers: v2 });
    await answer.arrayBuffer();
    expect(answer.status).toBeGreaterThanOrEqual(500);
    return v2;
  }

  const ask = async (headers: Readonly<Record<string, string>>) => {
    const answer = await fetch(`${aliveUrl}/report`, { headers });
    return { status: answer.status, text: await answer.text() };
  };

  /** Those who live look until so many are settled: on a busy machine a look may be over before the chain has told. */
  async function settle(count: number, ...living: readonly EmbeddedFacilitator[]): Promise<void> {
    for (let left = count; left > 0; ) {
      const found = await Promise.all(living.map((it) => it.recover()));
      expect(found).toEqual(found.map(({ settled, open }) => ({ ...NOTHING, settled, open })));
      left -= found.reduce((sum, { settled }) => sum + settled, 0);
      expect(left).toBeGreaterThanOrEqual(0);
      if (left > 0) await advance(LEASE_MS);
    }
  }

  test('is not touched while it may be alive, and is not served to anybody else', async () => {
    const v2 = await payTheDead();
    await advance(LEASE_MS - 1);

    expect(await alive.recover()).toEqual(NOTHING);
    expect((await ask(v2)).status).toBe(409);
    await advance(1);
    await settle(1, alive);
    expect((await ask(v2)).status).toBe(200);
  });

  test('and has landed is settled, told once, and served once, to the request that paid for it', async () => {
    const told: string[] = [];
    const end = alive.on('payment.settled', ({ resource, receipt }) => told.push(`${resource} ${receipt.amount}`));
    const v2 = await payTheDead();
    await advance(LEASE_MS);
    await settle(1, alive);
    expect(await alive.recover()).toEqual(NOTHING);
    runs = 0;
    const [served, again] = [await ask(v2), await ask(v2)];
    end();

    expect([served.status, again]).toEqual([200, served]);
    expect(told).toEqual(['GET /report 10000']);
    expect([runs, spent()]).toEqual([1, 10_000n]);
  });

  test('and has not landed is looked at until it can land no longer; then its payer may pay anew', async () => {
    fixture.sandbox.faults.add({ kind: 'drop' });
    const v2 = await payTheDead();
    await advance(LEASE_MS);
    expect(await alive.recover()).toEqual({ ...NOTHING, open: 1 });
    expect(await alive.recover()).toEqual(NOTHING);
    async function lookWhenItIsDead() {
      fixture.sandbox.expireBlockhashes();
      await advance(LEASE_MS);
      return alive.recover();
    }
    // How long a hash lives is reckoned from the height that is seen first; a busy machine may see a late one.
    let found = await lookWhenItIsDead();
    while (found.open === 1) found = await lookWhenItIsDead();
    expect(found).toEqual({ ...NOTHING, expired: 1 });
    const answer = await ask(v2);

    expect(answer).toMatchObject({ status: 402, text: expect.stringContaining('transaction_expired') });
    expect(spent()).toBe(0n);
  });

  test('stays open while the chain cannot be asked', async () => {
    await payTheDead();
    await advance(LEASE_MS);
    fixture.sandbox.faults.add({ kind: 'error', method: 'getSignatureStatuses' });
    fixture.sandbox.faults.add({ kind: 'silent' });
    expect(await alive.recover()).toEqual({ ...NOTHING, open: 1 });
    fixture.sandbox.faults.clear();
    await advance(LEASE_MS);
    await settle(1, alive);
  });

  test('does not include what a living instance takes long for: its handler, or its settlement', async () => {
    const leaseMs = 50;
    let beats = 0;
    const ledger = ledgerWith(storage.ledger, {
      async extend(id, lease, time) {
        const isHeld = await storage.ledger.extend(id, lease, time);
        beats += 1;
        return isHeld;
      },
    });
    const slow = fixture.facilitatorWith({ ledger, leaseMs });
    const gate = createGate();
    const url = await fixture.serve((app) => {
      app.get('/report', requirePayment({ facilitator: slow, payTo: fixture.payTo, price: '$0.01' }), (_req, res) => {
        void gate.opened.then(() => res.send('paid'));
      });
    });
    const { v2 } = await signPayment(fixture, `${url}/report`);
    const staysHeld = async () => {
      for (let times = 0; times < 3; times += 1) {
        const enough = beats + 2;
        await until(() => beats >= enough);
        await advance(leaseMs - 1);
        expect((await ask(v2)).status).toBe(409);
        expect(await alive.recover()).toEqual(NOTHING);
      }
    };
    const answer = fetch(`${url}/report`, { headers: v2 });
    await staysHeld();
    fixture.sandbox.pauseSlots();
    fixture.sandbox.resetCalls();
    gate.open();
    await until(() => fixture.sandbox.calls.sendTransaction === 1);
    await staysHeld();
    fixture.sandbox.resumeSlots();

    expect((await answer).status).toBe(200);
    // The response is kept in the memory of the instance that gave it.
    expect((await ask(v2)).status).toBe(402);
  });

  test('is shared by those who live: each payment is settled by one of them', async () => {
    await Promise.all(Array.from({ length: 6 }, payTheDead));
    await advance(LEASE_MS);
    const other = fixture.facilitatorWith({ ledger: storage.ledger });
    const told: string[] = [];
    for (const facilitator of [alive, other]) facilitator.on('payment.settled', ({ id }) => told.push(id));
    await settle(6, alive, other);

    expect(new Set(told).size).toBe(6);
    expect(told).toHaveLength(6);
  });

  test('of a payment request is settled with it', async () => {
    const { payer, payTo } = fixture;
    const wanted = { amount: '0.5', token: 'USDC', recipient: payTo, payer: payer.publicKey.toBase58() };
    // A new one: the others remember a blockhash from before the chain was moved on.
    const { request, transfer } = await fixture.facilitatorWith({ ledger: storage.ledger }).createPayment(wanted);
    const transaction = VersionedTransaction.deserialize(transfer.transaction!);
    transaction.sign([payer]);
    await expect(dead.settleRequest(request.id, transaction.serialize())).rejects.toThrow('dead');
    await advance(LEASE_MS);
    await settle(1, alive);

    expect(await storage.ledger.find((await alive.paymentRequest(request.id))?.request.attempt ?? '')).toMatchObject({
      state: 'served',
    });
    expect(await alive.paymentRequest(request.id)).toMatchObject({ status: 'settled' });
    expect(await alive.settleRequest(request.id, transaction.serialize())).toMatchObject({ status: 'settled' });
    expect(spent()).toBe(500_000n);
  });

  test('and was lost on its way is sent again when its payer brings it again', async () => {
    fixture.sandbox.faults.add({ kind: 'drop', times: 1 });
    const v2 = await payTheDead();
    await advance(LEASE_MS);
    const served = await ask(v2);

    expect(served.status).toBe(200);
    expect(spent()).toBe(10_000n);
  });
});
