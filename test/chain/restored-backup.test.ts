import { readSplitWallets } from '../../src/facilitator/reconcile/check-split-wallet.js';
import { createSolanaRpc } from '../../src/solana/rpc/rpc-client.js';
import { createBookReaders } from '../../src/storage/books/book-readers.js';
import type { LandedPayout } from '../../src/storage/payouts/payout-store.js';
import type { SqlDatabase } from '../../src/storage/sql/sql-database.js';
import { openSqlite } from '../../src/storage/sql/sqlite/sqlite-database.js';
import {
  newProjectId,
  openPayoutFixture,
  type PayoutFixture,
  type PayoutInstance,
} from '../helpers/fixtures/payout-fixture.js';

let fixture: PayoutFixture;
let anna: string;
let bert: string;
let projectId: string;
const opened: SqlDatabase[] = [];

beforeAll(async () => {
  fixture = await openPayoutFixture();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  [anna, bert] = [await fixture.newRecipient(), await fixture.newRecipient()];
  projectId = newProjectId();
});
afterEach(async () => {
  for (const database of opened.splice(0)) await database.close();
});

async function newDatabase(): Promise<SqlDatabase> {
  const database = await openSqlite(':memory:');
  opened.push(database);
  return database;
}

const earn = (database: SqlDatabase, ...amounts: readonly bigint[]) =>
  fixture.land(
    database,
    projectId,
    amounts.map((amount, index) => ({ recipient: [anna, bert][index]!, amount })),
  );
const received = () => [fixture.held(anna), fixture.held(bert)];
const heldOf = async ({ payouts }: PayoutInstance) =>
  Object.fromEntries((await payouts.owed(projectId)).map(({ recipient, amount, held }) => [recipient, [amount, held]]));

async function pay({ payouts }: PayoutInstance) {
  const planned = await payouts.request(projectId);
  await payouts.close();
  return planned;
}

/** Pays what is owed, and answers the books as they were before: those of a backup. */
async function paidSince(...amounts: readonly bigint[]): Promise<SqlDatabase> {
  const lost = await newDatabase();
  await earn(lost, ...amounts);
  await pay(fixture.instance(lost));
  const restored = await newDatabase();
  await earn(restored, ...amounts);
  return restored;
}

/** The one payout that the chain has and the books do not. */
async function unknownOf({ sender }: PayoutInstance): Promise<LandedPayout> {
  const { traces } = await sender.past(fixture.wallet).page();
  return (await sender.past(fixture.wallet).landed(traces[0]!.signature))!;
}

describe('what a payout has paid that the books do not know', () => {
  test('is not paid a second time, neither when asked nor by itself', async () => {
    const restored = await paidSince(600n, 400n);
    const instance = fixture.instance(restored, undefined, { maxAgeMs: 0 });

    expect(await pay(instance)).toEqual([]);
    await instance.payouts.run();

    expect(received()).toEqual([600n, 400n]);
    expect(await heldOf(instance)).toEqual({ [anna]: [600n, 'unknown_payout'], [bert]: [400n, 'unknown_payout'] });
    expect(instance.faults).toEqual([]);
  });

  test('holds nobody else back: who is not among its recipients is paid', async () => {
    const restored = await paidSince(600n);
    await earn(restored, 50n, 400n);
    const instance = fixture.instance(restored);
    await pay(instance);

    expect(received()).toEqual([600n, 400n]);
    expect(await heldOf(instance)).toEqual({ [anna]: [650n, 'unknown_payout'] });
  });

  test('is found by a payout that was planned before the backup, and signed after it', async () => {
    const lost = await newDatabase();
    await earn(lost, 600n, 400n);
    const gone = (): Promise<never> => new Promise(() => undefined);
    const planning = fixture.instance(lost, () => ({ prepare: gone }));
    await planning.payouts.request(projectId);
    const [planned] = await planning.payouts.list(projectId, 1);
    await fixture.advance(120_000);
    const backup = await newDatabase();
    await earn(backup, 600n, 400n);
    await backup.query(
      {
        name: 'copy_payout',
        text: `insert into tollhouse_payout (id, project_id, owner, network, wallet, mint, state, legs, total, created_at, updated_at)
        values ($1, $2, $3, $4, $5, $6, 'created', $7, '1000', $8, $8)`,
      },
      planned!.id,
      projectId,
      planned!.owner,
      planned!.network,
      fixture.wallet,
      fixture.mint,
      JSON.stringify(planned!.legs.map(({ recipient, amount }) => [recipient, String(amount)])),
      planned!.createdAt,
    );
    await fixture.instance(lost).payouts.run();
    expect(received()).toEqual([600n, 400n]);

    const instance = fixture.instance(backup);
    await instance.payouts.owed(projectId);
    await backup.query({ name: 'copy_claim', text: 'update tollhouse_owed set payout_id = $1' }, planned!.id);
    await instance.payouts.run();

    expect(received()).toEqual([600n, 400n]);
    expect(await instance.payouts.list(projectId, 5)).toMatchObject([
      { state: 'failed', reason: 'unknown_payout' },
      { state: 'failed', reason: 'unknown_payout' },
    ]);
    const booked = await instance.book.bookLanded('solana-devnet', await unknownOf(instance));
    expect(booked).toMatchObject({ payout: { id: planned!.id, state: 'paid', total: 1_000n }, beyond: 0n });
    expect(await heldOf(instance)).toEqual({});
  });

  test('is booked when it has paid what is owed to the atomic unit, and what came later is paid', async () => {
    const restored = await paidSince(600n, 400n);
    const instance = fixture.instance(restored);
    await fixture.advance(1_000);
    await earn(restored, 6n, 4n);
    await pay(instance);
    const booked = await instance.book.bookLanded('solana-devnet', await unknownOf(instance));

    expect(booked).toMatchObject({ payout: { state: 'paid', total: 1_000n, projectId }, beyond: 0n });
    expect(await instance.payouts.list(projectId, 5)).toMatchObject([{ state: 'paid', slot: expect.any(Number) }]);
    expect(await heldOf(instance)).toEqual({ [anna]: [6n, undefined], [bert]: [4n, undefined] });
    await pay(instance);
    expect(received()).toEqual([606n, 404n]);
    expect(instance.faults).toEqual([]);
  });

  test('is booked with what it has paid beyond that, where the backup is older than a sale', async () => {
    const lost = await newDatabase();
    await earn(lost, 600n, 400n);
    await earn(lost, 60n, 40n);
    await pay(fixture.instance(lost));
    const restored = await newDatabase();
    await earn(restored, 600n, 400n);
    const instance = fixture.instance(restored);
    await pay(instance);

    expect(await instance.book.bookLanded('solana-devnet', await unknownOf(instance))).toMatchObject({
      payout: { state: 'paid', total: 1_100n },
      beyond: 100n,
    });
    expect(await heldOf(instance)).toEqual({});
    await earn(restored, 6n, 4n);
    await pay(instance);
    expect(received()).toEqual([666n, 444n]);
  });

  test('is not booked where the books do not owe what it has paid', async () => {
    const restored = await newDatabase();
    const lost = await newDatabase();
    await earn(lost, 600n, 400n);
    await pay(fixture.instance(lost));
    await earn(restored, 601n, 400n);
    const instance = fixture.instance(restored);
    await pay(instance);

    expect(await instance.book.bookLanded('solana-devnet', await unknownOf(instance))).toBeUndefined();
    expect(await heldOf(instance)).toMatchObject({ [anna]: [601n, 'unknown_payout'] });
    expect(received()).toEqual([600n, 400n]);
  });
});

test('reconciling says of such a payout that a backup may have been restored, and what books it', async () => {
  const restored = await paidSince(600n);
  const { sender } = fixture.instance(restored);
  await fixture.instance(restored).payouts.owed(projectId);
  const rpc = createSolanaRpc({ urls: [fixture.sandbox.rpcUrl] });
  try {
    const { owed, reader } = createBookReaders(restored);
    const { traces } = await sender.past(fixture.wallet).page();
    const since = 0;
    const parts = { rpc, owed, reader, network: sender.network, splitWallets: [fixture.wallet] };
    const found = await readSplitWallets(parts, { since, known: new Set() });
    const { signature, id } = traces[0]!;

    expect(found.get(signature)).toMatchObject({
      detail: expect.stringContaining(`no payout explains it: it names the payout ${id}`),
      advice: expect.stringContaining('npx tollhouse payouts resolve'),
    });
  } finally {
    await rpc.close();
  }
});

test('a memo that somebody else writes, who names the split wallet, holds nobody back', async () => {
  const { Connection, PublicKey, SystemProgram, Transaction } = await import('@solana/web3.js');
  const { memoInstruction } = await import('../../src/solana/building/memo.js');
  const stranger = await fixture.sandbox.createWallet({ sol: '1' });
  const connection = new Connection(fixture.sandbox.rpcUrl, 'confirmed');
  const { blockhash } = await connection.getLatestBlockhash();
  const naming = SystemProgram.transfer({ fromPubkey: stranger.publicKey, toPubkey: stranger.publicKey, lamports: 1 });
  naming.keys.push({ pubkey: new PublicKey(fixture.wallet), isSigner: false, isWritable: false });
  const forged = new Transaction({ feePayer: stranger.publicKey, recentBlockhash: blockhash });
  forged.add(naming, memoInstruction('pyo_2222222222222222222222'));
  forged.sign(stranger);
  const signature = await connection.sendRawTransaction(forged.serialize());
  await connection.confirmTransaction(signature, 'confirmed');

  const database = await newDatabase();
  await earn(database, 600n);
  const instance = fixture.instance(database);
  expect((await instance.sender.past(fixture.wallet).page()).traces[0]).toEqual({
    signature,
    id: 'pyo_2222222222222222222222',
  });
  await pay(instance);
  expect(fixture.held(anna)).toBe(600n);
});
