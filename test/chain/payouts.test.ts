import { Connection } from '@solana/web3.js';
import { splitAmount } from '../../src/protocol/money/split.js';
import { associatedTokenAddress } from '../../src/solana/transaction/associated-token.js';
import type { PayoutRecord } from '../../src/storage/payouts/payout-store.js';
import type { SqlDatabase } from '../../src/storage/sql/sql-database.js';
import { openSqlite } from '../../src/storage/sql/sqlite/sqlite-database.js';
import {
  newProjectId,
  openPayoutFixture,
  type PayoutFixture,
  type PayoutInstance,
} from '../helpers/fixtures/payout-fixture.js';
import { QUICK } from '../helpers/fixtures/toll-fixture.js';
import { startLyingNode } from '../helpers/nodes/lying-node.js';
import { createGate } from '../helpers/transactions/payments.js';
import { until } from '../helpers/until.js';

let fixture: PayoutFixture;
let database: SqlDatabase;
let projectId: string;
let anna: string;
let bert: string;

beforeAll(async () => {
  fixture = await openPayoutFixture();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  database = await openSqlite(':memory:');
  projectId = newProjectId();
  anna = await fixture.newRecipient();
  bert = await fixture.newRecipient();
});
afterEach(() => {
  fixture.sandbox.faults.clear();
  return database.close();
});

const LEASE_MS = 120_000;
const HOUR_MS = 3_600_000;
/** Slots until what has landed is final, and some more. */
const FINALITY = 40;

/** What a node has forgotten: everything; everything but since when it remembers; where single transactions stand. */
const FORGOTTEN = {
  ALL: [undefined],
  HIDDEN: ['getSignatureStatuses', 'getSignaturesForAddress'],
  STATUS: ['getSignatureStatuses'],
};

/** A payment of so much, of which 90 % go to Anna and 10 % to Bert. */
const earn = (amount: bigint) =>
  fixture.land(
    database,
    projectId,
    splitAmount(amount, [
      { recipient: anna, bps: 9_000 },
      { recipient: bert, bps: 1_000 },
    ]),
  );

const received = () => [fixture.held(anna), fixture.held(bert)];
const listed = ({ payouts }: PayoutInstance) => payouts.list(projectId, 100);
const statesOf = async (it: PayoutInstance) => (await listed(it)).map(({ state }) => state);
const owedTo = async ({ payouts }: PayoutInstance) =>
  Object.fromEntries((await payouts.owed(projectId)).map(({ recipient, amount, held }) => [recipient, [amount, held]]));

/** Asks for payouts and waits until they are over. */
async function pay(instance: PayoutInstance): Promise<readonly PayoutRecord[]> {
  const planned = await instance.payouts.request(projectId);
  await instance.payouts.close();
  return planned;
}

/** Freezes a recipient's account: it is there and his, and takes no transfer. */
function freeze(recipient: string): void {
  const account = associatedTokenAddress(recipient, fixture.mint, fixture.sandbox.tokens[0]!.program);
  const state = fixture.sandbox.account(account)!;
  const data = Uint8Array.from(state.data);
  data[108] = 2;
  fixture.sandbox.setAccount(account, { ...state, data });
}

/** A step that never comes back: the process is gone. */
const gone = (): Promise<never> => new Promise(() => undefined);

/** Waits until a payout of the project is in a state. */
const inState = (it: PayoutInstance, state: PayoutRecord['state']) =>
  until(async () => (await statesOf(it)).includes(state));

describe('a payout', () => {
  test('pays 90 and 10 per cent of many payments to the atomic unit, in one transaction, at our cost', async () => {
    const amounts = [1n, 7n, 333_333n, 1_000_001n, 10n];
    for (const amount of amounts) await earn(amount);
    const instance = fixture.instance(database);
    const before = [fixture.held(fixture.wallet), fixture.sandbox.balance(fixture.wallet)];
    const toBert = amounts.reduce((sum, it) => sum + it / 10n, 0n);
    const total = amounts.reduce((sum, it) => sum + it, 0n);

    await pay(instance);
    const [payout] = await listed(instance);

    expect(received()).toEqual([total - toBert, toBert]);
    expect(payout).toMatchObject({ state: 'paid', total, slot: expect.any(Number) });
    expect([fixture.held(fixture.wallet), fixture.sandbox.balance(fixture.wallet)]).toEqual([
      before[0]! - total,
      before[1],
    ]);
    expect(await owedTo(instance)).toEqual({});
    expect(instance.faults).toEqual([]);
  });

  test('says in its memo which one it is, and is paid for by the fee payer', async () => {
    await earn(100n);
    const instance = fixture.instance(database);
    await pay(instance);
    const [payout] = await listed(instance);
    const connection = new Connection(fixture.sandbox.rpcUrl, 'confirmed');
    const landed = await connection.getTransaction(payout!.signed!.signature, { maxSupportedTransactionVersion: 0 });

    expect(landed?.meta?.logMessages?.join()).toContain(payout!.id);
    expect(landed?.transaction.message.staticAccountKeys[0]?.toBase58()).toBe(fixture.feePayer.publicKey.toBase58());
    expect(landed?.meta?.fee).toBeLessThan(10_010);
  });

  test('of nothing is not made; and what was paid is not paid again', async () => {
    const instance = fixture.instance(database);
    expect(await pay(instance)).toEqual([]);
    await earn(100n);
    expect(await pay(instance)).toHaveLength(1);

    expect(await pay(instance)).toEqual([]);
    await instance.payouts.run();
    expect(received()).toEqual([90n, 10n]);
  });

  test('has at most eight recipients; more are paid by several', async () => {
    const recipients = await Promise.all(Array.from({ length: 11 }, () => fixture.newRecipient()));
    await fixture.land(
      database,
      projectId,
      recipients.map((recipient, index) => ({ recipient, amount: BigInt(index + 1) })),
    );
    const instance = fixture.instance(database);
    const planned = await pay(instance);

    expect(planned.map(({ legs }) => legs.length)).toEqual([8, 3]);
    expect(recipients.map((it) => fixture.held(it))).toEqual(recipients.map((_, index) => BigInt(index + 1)));
  });

  test('is made by itself above a threshold, or when it gets old; else it waits', async () => {
    const thresholds = new Map([[fixture.mint, 1_000n]]);
    const instance = fixture.instance(database, undefined, { thresholds });
    await earn(900n);
    await instance.payouts.run();
    expect(received()).toEqual([0n, 0n]);
    await earn(100n);
    await instance.payouts.run();
    expect(received()).toEqual([900n, 100n]);

    await earn(10n);
    await fixture.advance(24 * HOUR_MS);
    await instance.payouts.run();
    expect(received()).toEqual([909n, 101n]);
  });
});

describe('after a crash', () => {
  test('when it was planned, it is signed, sent and paid once by who comes next', async () => {
    await earn(100n);
    const taken = createGate();
    const prepare = (): Promise<never> => {
      taken.open();
      return gone();
    };
    const first = fixture.instance(database, () => ({ prepare }));
    await first.payouts.request(projectId);
    await taken.opened;
    expect(await statesOf(first)).toEqual(['created']);
    await fixture.advance(LEASE_MS);

    const second = fixture.instance(database);
    await second.payouts.run();
    expect(await statesOf(second)).toEqual(['paid']);
    expect(received()).toEqual([90n, 10n]);
  });

  test('when it was signed and recorded, the same bytes are sent', async () => {
    await earn(100n);
    const first = fixture.instance(database, () => ({ send: gone }));
    await first.payouts.request(projectId);
    await inState(first, 'broadcast');
    const [signed] = await listed(first);
    await fixture.advance(LEASE_MS);

    const second = fixture.instance(database, () => ({ prepare: () => Promise.reject(new Error('signed twice')) }));
    await second.payouts.run();
    expect(await listed(second)).toMatchObject([{ state: 'paid', signed: signed!.signed }]);
    expect(received()).toEqual([90n, 10n]);
  });

  test('when it was sent and has landed, the chain is asked, and nothing is sent', async () => {
    await earn(100n);
    const first = fixture.instance(database, ({ send }) => ({ send: (it) => send(it).then(gone) }));
    await first.payouts.request(projectId);
    await until(() => fixture.held(anna) > 0n);
    await fixture.advance(LEASE_MS);
    const sent = fixture.sandbox.calls['sendTransaction'];

    const second = fixture.instance(database);
    await second.payouts.run();
    expect(await statesOf(second)).toEqual(['paid']);
    expect([received(), fixture.sandbox.calls['sendTransaction']]).toEqual([[90n, 10n], sent]);
  });

  test('who comes back late changes nothing: what it signs is not recorded, and not sent', async () => {
    await earn(100n);
    const [prepared, awake] = [createGate(), createGate()];
    const late = fixture.instance(database, ({ prepare }) => ({
      prepare: async (payout) => {
        const signed = await prepare(payout);
        prepared.open();
        await awake.opened;
        return signed;
      },
      send: () => Promise.reject(new Error('sent twice')),
    }));
    await late.payouts.request(projectId);
    await prepared.opened;
    await fixture.advance(LEASE_MS);
    const second = fixture.instance(database);
    await second.payouts.run();
    awake.open();
    await late.payouts.close();

    expect(late.faults).toEqual([]);
    expect(await statesOf(second)).toEqual(['paid']);
    expect(received()).toEqual([90n, 10n]);
  });
});

describe('a payout that does not land', () => {
  test('fails when it never can, and is owed again; the next one pays once', async () => {
    await earn(100n);
    const fault = fixture.sandbox.faults.add({ kind: 'drop', method: 'sendTransaction' });
    const first = fixture.instance(database);
    await first.payouts.request(projectId);
    await inState(first, 'broadcast');
    fixture.sandbox.expireBlockhashes();
    fixture.sandbox.advanceSlots(FINALITY);
    await first.payouts.close();
    fault.remove();

    expect(await listed(first)).toMatchObject([{ state: 'failed', reason: 'expired' }]);
    await fixture.advance(1);
    const second = fixture.instance(database);
    await pay(second);
    expect(await statesOf(second)).toEqual(['paid', 'failed']);
    expect(received()).toEqual([90n, 10n]);
  });

  test('is not called expired when nodes may have forgotten it; by one that has not, however late', async () => {
    await earn(100n);
    const first = fixture.instance(database, () => ({ send: gone }));
    await first.payouts.request(projectId);
    await inState(first, 'broadcast');
    fixture.sandbox.expireBlockhashes();
    fixture.sandbox.advanceSlots(FINALITY);
    await fixture.advance(13 * HOUR_MS);

    const fault = fixture.sandbox.faults.add({ kind: 'forget' });
    const second = fixture.instance(database);
    await second.payouts.run();
    fault.remove();
    expect(await listed(second)).toMatchObject([{ state: 'broadcast', reason: 'outcome_unknown' }]);
    expect(await owedTo(second)).toEqual({});

    await fixture.advance(HOUR_MS);
    await second.payouts.run();
    expect(await listed(second)).toMatchObject([{ state: 'failed', reason: 'expired' }]);
    expect(await owedTo(second)).toEqual({ [anna]: [90n, 'expired'], [bert]: [10n, 'expired'] });
  });

  describe('of which the node has forgotten that it landed', () => {
    const { ALL, HIDDEN, STATUS } = FORGOTTEN;

    beforeEach(async () => {
      // All that the wallet holds is owed: what leaves it is missed.
      await fixture.land(database, newProjectId(), [{ recipient: bert, amount: fixture.held(fixture.wallet) - 100n }]);
      await earn(100n);
      const first = fixture.instance(database, ({ send }) => ({ send: (it) => send(it).then(gone) }));
      await first.payouts.request(projectId);
      await until(() => fixture.held(anna) > 0n);
      fixture.sandbox.expireBlockhashes();
      fixture.sandbox.advanceSlots(FINALITY);
      await fixture.advance(LEASE_MS);
    });

    const forget = (methods: readonly (string | undefined)[]): void => {
      const { faults } = fixture.sandbox;
      faults.add({ kind: 'silent' });
      for (const method of methods) faults.add({ kind: 'forget', ...(method === undefined ? {} : { method }) });
    };

    test.each([
      ['and says since when it remembers', ALL],
      ['and does not say so, but the money has left the wallet', HIDDEN],
    ])('stays sent, is seen to be unknown, and is never paid again: %s', async (_how, methods) => {
      forget(methods);
      const second = fixture.instance(database);
      for (let run = 0; run < 3; run += 1) {
        await second.payouts.run();
        await second.payouts.request(projectId);
        await fixture.advance(HOUR_MS);
      }
      await second.payouts.close();
      const unknown = [{ state: 'broadcast', reason: 'outcome_unknown' }];
      expect(await listed(second)).toMatchObject(unknown);
      // An outage on top of it makes nothing better known.
      const outage = fixture.sandbox.faults.add({ kind: 'error', method: 'getEpochInfo' });
      await second.payouts.run();
      outage.remove();
      expect(await listed(second)).toMatchObject(unknown);
      await fixture.advance(HOUR_MS);

      fixture.sandbox.faults.clear();
      await second.payouts.run();
      expect(received()).toEqual([90n, 10n]);
      expect(await listed(second)).toMatchObject([{ state: 'paid' }]);
      expect((await listed(second))[0]).not.toHaveProperty('reason');
    });

    test('is found in the history of the split wallet', async () => {
      forget(STATUS);
      const second = fixture.instance(database);
      await second.payouts.run();
      expect([await statesOf(second), received()]).toEqual([['paid'], [90n, 10n]]);
    });

    test('is found at another node, which is asked as well', async () => {
      forget([]);
      const forgetful = await startLyingNode(fixture);
      forgetful.lie = (method, result) => {
        if (method === 'getSignatureStatuses') return { ...Object(result), value: [null] };
        return method === 'getSignaturesForAddress' ? [] : result;
      };

      const rpcUrl = [forgetful.url, fixture.sandbox.rpcUrl];
      const { payouts: sender } = fixture.facilitatorWith({ splitKeypair: fixture.split, rpcUrl }, QUICK);
      const second = fixture.instance(database, () => sender!);
      await second.payouts.run();
      await forgetful.close();
      expect([await statesOf(second), received()]).toEqual([['paid'], [90n, 10n]]);
    });
  });

  test('is looked after until the chain answers again', async () => {
    await earn(100n);
    const first = fixture.instance(database);
    const fault = fixture.sandbox.faults.add({ kind: 'disconnect', method: 'simulateTransaction' });
    await pay(first);
    fault.remove();
    expect(first.faults).toMatchObject([{ code: 'chain_unavailable' }]);
    expect(await statesOf(first)).toEqual(['created']);

    await fixture.advance(5_000);
    await first.payouts.run();
    expect(received()).toEqual([90n, 10n]);
  });
});

describe('what cannot be paid', () => {
  test('to a recipient without a token account is held back, and costs nobody rent; the others are paid', async () => {
    const poor = (await fixture.sandbox.createWallet()).publicKey.toBase58();
    await fixture.land(database, projectId, [
      { recipient: poor, amount: 5n },
      { recipient: anna, amount: 95n },
    ]);
    const instance = fixture.instance(database);
    await pay(instance);
    expect(await owedTo(instance)).toEqual({ [poor]: [5n, 'recipient_token_account_missing'] });
    expect(received()).toEqual([95n, 0n]);

    fixture.sandbox.fundToken(poor, fixture.mint, 0n);
    await pay(instance);
    expect([fixture.held(poor), await owedTo(instance)]).toEqual([5n, {}]);
  });

  test('to a recipient whose account is frozen stops nobody else', async () => {
    const frozen = await fixture.newRecipient();
    freeze(frozen);
    await fixture.land(database, projectId, [
      { recipient: frozen, amount: 5n },
      { recipient: anna, amount: 95n },
    ]);
    const instance = fixture.instance(database);
    await pay(instance);
    expect(received()).toEqual([95n, 0n]);
    expect(await owedTo(instance)).toEqual({ [frozen]: [5n, 'transfer_refused'] });
    const made = await listed(instance);
    expect(made.map(({ state }) => state).sort()).toEqual(['failed', 'paid']);
    const failed = made.find(({ state }) => state === 'failed');
    expect(failed).toMatchObject({ reason: 'transfer_refused', total: 100n });
    expect(failed?.signed).toBeUndefined();

    await pay(instance);
    expect(await statesOf(instance)).toEqual(expect.arrayContaining(['failed', 'failed', 'paid']));
    expect(received()).toEqual([95n, 0n]);
  });

  test('to three of eight pays the other five in the same run', async () => {
    const recipients = await Promise.all(Array.from({ length: 8 }, () => fixture.newRecipient()));
    const frozen = recipients.slice(2, 5);
    for (const it of frozen) freeze(it);
    await fixture.land(
      database,
      projectId,
      recipients.map((recipient, index) => ({ recipient, amount: BigInt(index + 1) })),
    );
    const instance = fixture.instance(database, undefined, { maxAgeMs: 0 });
    await instance.payouts.run();

    expect(recipients.map((it) => fixture.held(it))).toEqual([1n, 2n, 0n, 0n, 0n, 6n, 7n, 8n]);
    expect(await owedTo(instance)).toEqual(
      Object.fromEntries(frozen.map((it, index) => [it, [BigInt(index + 3), 'transfer_refused']])),
    );
    expect(instance.faults).toEqual([]);
  });

  test('because the split wallet holds too little fails unsigned, and is tried again after an hour', async () => {
    const rich = 10_000_000_000n;
    await earn(rich);
    const instance = fixture.instance(database, undefined, { maxAgeMs: 0 });
    await instance.payouts.run();
    const [failed] = await listed(instance);
    expect(failed).toMatchObject({ state: 'failed', reason: 'split_wallet_short' });
    expect(failed?.signed).toBeUndefined();
    await instance.payouts.run();
    expect(await statesOf(instance)).toEqual(['failed']);

    fixture.sandbox.fundToken(fixture.wallet, fixture.mint, rich);
    await fixture.advance(HOUR_MS);
    await instance.payouts.run();
    expect(await statesOf(instance)).toEqual(['paid', 'failed']);
    expect(received()).toEqual([9_000_000_000n, 1_000_000_000n]);
  });

  test('because another wallet holds it is not paid from ours, and says so', async () => {
    await fixture.land(database, projectId, [{ recipient: anna, amount: 5n }], bert);
    const instance = fixture.instance(database, undefined, { maxAgeMs: 0 });
    expect(await pay(instance)).toEqual([]);
    await instance.payouts.run();

    expect(await owedTo(instance)).toEqual({ [anna]: [5n, 'split_wallet_replaced'] });
    expect(received()).toEqual([0n, 0n]);
  });
});

describe('a split wallet that was replaced', () => {
  test('pays out what was paid to it, while the new one pays what is paid to that', async () => {
    const old = await fixture.sandbox.createWallet({ usdc: '5' });
    const oldWallet = old.publicKey.toBase58();
    await fixture.land(database, projectId, [{ recipient: anna, amount: 5n }], oldWallet);
    await fixture.land(database, projectId, [{ recipient: anna, amount: 7n }]);
    const both = fixture.instance(database, undefined, { maxAgeMs: 0 }, [fixture.split, old]);

    expect(both.sender).toMatchObject({ wallet: fixture.wallet, wallets: [fixture.wallet, oldWallet] });
    const made = await pay(both);

    expect(made.map(({ wallet, total }) => [wallet, total]).sort()).toEqual(
      [
        [fixture.wallet, 7n],
        [oldWallet, 5n],
      ].sort(),
    );
    expect([await statesOf(both), received()]).toEqual([
      ['paid', 'paid'],
      [12n, 0n],
    ]);
    expect(fixture.held(oldWallet)).toBe(4_999_995n);
  });

  test('is emptied by itself, however young and little it is', async () => {
    const old = await fixture.sandbox.createWallet({ usdc: '5' });
    await fixture.land(database, projectId, [{ recipient: anna, amount: 5n }], old.publicKey.toBase58());
    await fixture.land(database, projectId, [{ recipient: bert, amount: 5n }]);
    const both = fixture.instance(database, undefined, {}, [fixture.split, old]);
    await both.payouts.run();
    expect([await statesOf(both), received()]).toEqual([['paid'], [5n, 0n]]);
  });

  test('is asked for what it has paid and the books do not know, before it pays again', async () => {
    const old = await fixture.sandbox.createWallet({ usdc: '5' });
    const keys = [fixture.split, old];
    const earned = async (into: SqlDatabase) =>
      fixture.land(into, projectId, [{ recipient: anna, amount: 5n }], old.publicKey.toBase58());
    await earned(database);
    await pay(fixture.instance(database, undefined, {}, keys));
    const restored = await openSqlite(':memory:');
    try {
      await earned(restored);
      const instance = fixture.instance(restored, undefined, { maxAgeMs: 0 }, keys);
      expect(await pay(instance)).toEqual([]);
      expect([await owedTo(instance), received()]).toEqual([{ [anna]: [5n, 'unknown_payout'] }, [5n, 0n]]);
    } finally {
      await restored.close();
    }
  });

  test('fails what was planned from it when its key is taken away, and pays it when the key is back', async () => {
    const old = await fixture.sandbox.createWallet({ usdc: '5' });
    const keys = [fixture.split, old];
    await fixture.land(database, projectId, [{ recipient: anna, amount: 5n }], old.publicKey.toBase58());
    const planned = await fixture.instance(
      database,
      () => ({ prepare: () => Promise.reject(new Error('away')) }),
      {},
      keys,
    );
    await pay(planned);
    await fixture.advance(LEASE_MS);

    const without = fixture.instance(database);
    await without.payouts.run();
    expect([await statesOf(without), await owedTo(without)]).toEqual([
      ['failed'],
      { [anna]: [5n, 'split_wallet_replaced'] },
    ]);
    const back = fixture.instance(database, undefined, {}, keys);
    await pay(back);
    expect([await statesOf(back), received()]).toEqual([
      ['paid', 'failed'],
      [5n, 0n],
    ]);
  });
});

describe('what is owed too little', () => {
  const minimums = () => ({ minimums: new Map([[fixture.mint, 100_000n]]), maxAgeMs: 0 });

  test('is not paid, asked for or not, costs nothing, and says from which amount on it is paid', async () => {
    await earn(20n);
    const instance = fixture.instance(database, undefined, minimums());
    const [sent, lamports] = [fixture.sandbox.calls['sendTransaction'], feePayerHolds()];
    for (let time = 0; time < 3; time += 1) {
      expect(await pay(instance)).toEqual([]);
      await instance.payouts.run();
      await fixture.advance(HOUR_MS);
    }

    expect([received(), fixture.sandbox.calls['sendTransaction'], feePayerHolds()]).toEqual([[0n, 0n], sent, lamports]);
    expect(await instance.payouts.owed(projectId)).toMatchObject([
      { held: 'below_minimum', minimum: 100_000n },
      { held: 'below_minimum', minimum: 100_000n },
    ]);
  });

  test('waits alone: who is owed enough is paid, and so is everybody once it is enough', async () => {
    await earn(500_000n);
    const instance = fixture.instance(database, undefined, minimums());
    await pay(instance);
    expect(received()).toEqual([450_000n, 0n]);
    expect(await owedTo(instance)).toEqual({ [bert]: [50_000n, 'below_minimum'] });

    await earn(500_000n);
    expect(await owedTo(instance)).toEqual({ [anna]: [450_000n, undefined], [bert]: [100_000n, undefined] });
    await pay(instance);
    expect(received()).toEqual([900_000n, 100_000n]);
  });

  test('of a token of which nobody knows the worth is paid once it is old enough', async () => {
    await earn(20n);
    const rules = { minimums: new Map<string, bigint>(), unlistedWaitMs: 24 * HOUR_MS };
    const instance = fixture.instance(database, undefined, rules);
    expect(await pay(instance)).toEqual([]);
    expect(await instance.payouts.owed(projectId)).toMatchObject([
      { held: 'too_early', payableFrom: fixture.now() + 24 * HOUR_MS },
      { held: 'too_early' },
    ]);

    await fixture.advance(24 * HOUR_MS);
    expect(await owedTo(instance)).toEqual({ [anna]: [18n, undefined], [bert]: [2n, undefined] });
    await pay(instance);
    expect(received()).toEqual([18n, 2n]);
  });

  const feePayerHolds = () => fixture.sandbox.balance(fixture.feePayer.publicKey.toBase58());
});
