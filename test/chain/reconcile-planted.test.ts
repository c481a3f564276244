import { randomUUID } from 'node:crypto';
import { copyFileSync } from 'node:fs';
import { Connection, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { SANDBOX_TOKENS } from '../../src/protocol/networks/tokens.js';
import { transferInstructions, unsignedTransaction } from '../../src/solana/building/transfer-transaction.js';
import { openStorage } from '../../src/storage/open-storage.js';
import type { Row } from '../../src/storage/sql/sql-database.js';
import type { Storage } from '../../src/storage/storage.js';
import { openHonestBooks } from '../helpers/crash/honest-books.js';
import { type ReconciledFixture, reconciled } from '../helpers/crash/reconciled.js';
import type { GatewayFixture } from '../helpers/fixtures/gateway-fixture.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { openSqliteFile } from '../helpers/storage/sqlite-file.js';
import { confirmed, sendToChain, transferDirectly } from '../helpers/transactions/direct-transfer.js';

const folder = testFolder();
const [live, honest] = [folder.newPath('db'), folder.newPath('db')];
let fixture: GatewayFixture;
let compared: ReconciledFixture;

beforeAll(async () => {
  fixture = await openHonestBooks(`sqlite:${live}`);
  const { sandbox, feePayer, splitWallet } = fixture;
  const [payer, split] = [feePayer, splitWallet].map((it) => it.publicKey.toBase58()) as [string, string];
  compared = { sandbox, feePayers: [payer], splitWallets: [split] };
  const source = await openSqliteFile(`sqlite:${live}`);
  source.exec(`vacuum into '${honest}'`);
  source.close();
});
afterAll(() => fixture?.close());

/** Opens a copy of the honest books for something. */
async function withCopy<T>(use: (storage: Storage) => Promise<T>): Promise<T> {
  const path = folder.newPath('db');
  copyFileSync(honest, path);
  const storage = await openStorage(`sqlite:${path}`);
  try {
    return await use(storage);
  } finally {
    await storage.close();
  }
}

const ask = ({ database }: Storage, text: string): Promise<readonly Row[]> =>
  database.query({ name: `test_${randomUUID()}`, text });

const NOWHERE = bs58.encode(Buffer.alloc(64, 7));
const STRANGER = bs58.encode(Buffer.alloc(32, 9));

/** Which entry is spoilt: a query for its id. */
const PICK = {
  x402: `select id from tollhouse_payment where owed is not null and state = 'served' order by claimed_at, id limit 1`,
  direct: `select id from tollhouse_payment where project_id is null and state in ('confirmed', 'served') limit 1`,
  requested: `select p.id from tollhouse_payment p join tollhouse_payment_request r on r.attempt = p.id
    where p.state = 'served' and p.terms like '%feePayer%' order by p.claimed_at limit 1`,
  byWallet: `select p.id from tollhouse_payment p join tollhouse_payment_request r on r.attempt = p.id
    where p.state = 'served' and p.terms not like '%feePayer%' limit 1`,
  unused: `select id from tollhouse_payment where state = 'confirmed' limit 1`,
  failed: `select id from tollhouse_payment where state = 'failed' limit 1`,
  unpaid: `select o.payment_id as id from tollhouse_owed o where o.payout_id is null order by o.payment_id limit 1`,
  taken: `select o.payment_id as id from tollhouse_owed o join tollhouse_payout p on p.id = o.payout_id
    where p.state = 'paid' order by o.payment_id limit 1`,
  paid: `select id from tollhouse_payout where state = 'paid' order by created_at limit 1`,
  failedPayout: `select id from tollhouse_payout where state = 'failed' limit 1`,
  call: `select id from tollhouse_call where mint is not null order by seq limit 1`,
  project: `select project_id as id from tollhouse_rollup where kind = 'revenue' limit 1`,
  creditCall: `select id from tollhouse_call where credit_amount > 0 order by seq limit 1`,
  onCredit: `select id from tollhouse_call where credit_amount < 0 order by seq limit 1`,
  credit: `select project_id as id from tollhouse_credit limit 1`,
  key: `select key_id as id from tollhouse_spend where period = 'total' and calls > 1 limit 1`,
  settled: `select id from tollhouse_event where type = 'payment.settled' order by seq limit 1`,
  split: `select wallet as id from tollhouse_payout limit 1`,
  none: `select 'none' as id`,
} as const;

const PAYMENT = 'update tollhouse_payment set';
const OWED = 'update tollhouse_owed set';
const PAYOUT = 'update tollhouse_payout set';
const EXPIRED = `state = 'expired', reason = 'invalid_exact_svm_transaction_expired', finished_at = 1`;
const COPY_PAYOUT = `insert into tollhouse_payout (id, project_id, owner, network, wallet, mint, state, legs, total, signature,
  signed, blockhash, last_valid_block_height, signed_at, slot, reason, created_at, updated_at)
  select 'pyo_invented', project_id, owner, network, wallet, mint, state, legs, total, `;
const COPY_EVENT = 'insert into tollhouse_event (id, type, at, owner, project_id, data)';

type Kind =
  | 'payment'
  | 'request'
  | 'transaction'
  | 'owed'
  | 'payout'
  | 'balance'
  | 'call'
  | 'figure'
  | 'spending'
  | 'credit'
  | 'event';

type PlantedError = [what: string, pick: keyof typeof PICK, sql: string, kind: Kind, named?: string];

/** Some fifty ways to spoil books: in words, the entry, the SQL in which `$` is its id, and the kind that names that id. */
const ERRORS: readonly PlantedError[] = [
  ['a payment of x402 has a unit more', 'x402', `${PAYMENT} amount = amount + 1 where id = '$'`, 'payment'],
  ['a payment of x402 has a unit less', 'direct', `${PAYMENT} amount = amount - 1 where id = '$'`, 'payment'],
  ['a payment is booked to a stranger', 'direct', `${PAYMENT} pay_to = '${STRANGER}' where id = '$'`, 'payment'],
  ['a payment is booked in another token', 'x402', `${PAYMENT} asset = '${STRANGER}' where id = '$'`, 'payment'],
  ['a payment is booked as a stranger’s', 'x402', `${PAYMENT} payer = '${STRANGER}' where id = '$'`, 'payment'],
  ['a payment is booked in another slot', 'direct', `${PAYMENT} slot = slot - 1000 where id = '$'`, 'payment'],
  [
    'a payment names a transaction that there is not',
    'direct',
    `${PAYMENT} signature = '${NOWHERE}' where id = '$'`,
    'payment',
  ],
  [
    'a payment names the transaction of another one',
    'direct',
    `${PAYMENT} signature = (select signature from tollhouse_payment where owed is not null limit 1) where id = '$'`,
    'payment',
  ],
  ['a paid payment names no transaction', 'x402', `${PAYMENT} signature = null where id = '$'`, 'payment'],
  ['a landed payment is booked as expired', 'direct', `${PAYMENT} ${EXPIRED} where id = '$'`, 'payment'],
  [
    'a landed payment is booked as failed on the chain',
    'direct',
    `${PAYMENT} state = 'failed', reason = 'invalid_exact_svm_transaction_failed' where id = '$'`,
    'payment',
  ],
  [
    'a landed payment is booked as not received',
    'direct',
    `${PAYMENT} state = 'failed', reason = 'invalid_transfer_not_received' where id = '$'`,
    'payment',
  ],
  [
    'a landed payment of a request is booked as not received',
    'requested',
    `${PAYMENT} state = 'failed', reason = 'invalid_transfer_not_received' where id = '$'`,
    'payment',
  ],
  [
    'a payment that failed is booked as paid',
    'failed',
    `${PAYMENT} state = 'served', slot = 1 where id = '$'`,
    'payment',
  ],
  [
    'the amount of a request’s payment is changed',
    'requested',
    `${PAYMENT} amount = amount * 10 where id = '$'`,
    'payment',
  ],
  [
    'the payer of a request’s payment is changed',
    'byWallet',
    `${PAYMENT} payer = '${STRANGER}' where id = '$'`,
    'payment',
  ],
  [
    'a request asks for more than was paid',
    'requested',
    `update tollhouse_payment_request set amount = amount + 1 where attempt = '$'`,
    'payment',
  ],
  [
    'the legs of a request are changed, and their sum is not',
    'requested',
    `update tollhouse_payment_request set details = replace(replace(details, '"821113"', '"821114"'), '"91234"', '"91233"')
      where attempt = '$'`,
    'payment',
  ],
  [
    'a leg of a request goes to a stranger',
    'byWallet',
    `update tollhouse_payment_request set details = replace(details, json_extract(details, '$.legs[1].recipient'),
      '${STRANGER}') where attempt = '$'`,
    'payment',
  ],
  [
    'a request names another payment',
    'requested',
    `update tollhouse_payment_request set attempt = 'other' where attempt = '$'`,
    'payment',
  ],
  [
    'a payment that a wallet sent is taken out of the books',
    'byWallet',
    `delete from tollhouse_payment where id = '$'`,
    'request',
    "select id from tollhouse_payment_request where attempt = '$'",
  ],
  [
    'a payment that we sent is taken out of the books',
    'direct',
    `delete from tollhouse_payment where id = '$'`,
    'transaction',
    `select signature as id from tollhouse_payment where id = '$'`,
  ],
  ['what is owed is times a thousand', 'unpaid', `${OWED} amount = amount * 1000 where payment_id = '$'`, 'owed'],
  [
    'what is owed and paid out is a unit more to one and less to the other',
    'taken',
    `${OWED} amount = amount + case when amount > 500000 then 1 else -1 end where payment_id = '$'`,
    'owed',
  ],
  [
    'an entry of what is owed is gone',
    'unpaid',
    `delete from tollhouse_owed where payment_id = '$' and amount > 500000`,
    'owed',
  ],
  [
    'what a stranger is owed',
    'unpaid',
    `${OWED} recipient = '${STRANGER}' where payment_id = '$' and amount < 500000`,
    'owed',
  ],
  ['what is owed in another token', 'unpaid', `${OWED} mint = '${STRANGER}' where payment_id = '$'`, 'owed'],
  ['what is owed by another project', 'unpaid', `${OWED} project_id = 'prj_other' where payment_id = '$'`, 'owed'],
  [
    'something is owed for a payment that there is not',
    'none',
    `insert into tollhouse_owed (payment_id, recipient, project_id, owner, network, wallet, mint, amount, at)
      select 'invented', recipient, project_id, owner, network, wallet, mint, 1, at from tollhouse_owed limit 1`,
    'owed',
    `select 'invented' as id`,
  ],
  [
    'something is owed for a payment that failed',
    'failed',
    `insert into tollhouse_owed (payment_id, recipient, project_id, owner, network, wallet, mint, amount, at)
      select '$', recipient, project_id, owner, network, wallet, mint, 1, at from tollhouse_owed limit 1`,
    'owed',
  ],
  [
    'the shares of a payment are gone, and what is owed is not',
    'unpaid',
    `${PAYMENT} owed = null where id = '$'`,
    'owed',
  ],
  [
    'the shares of a payment are gone, and what is owed with them',
    'unpaid',
    `${PAYMENT} owed = null where id = '$';delete from tollhouse_owed where payment_id = '$'`,
    'owed',
  ],
  [
    'the shares of a payment sum to more',
    'x402',
    `${PAYMENT} owed = replace(owed, '"91234"', '"91235"') where id = '$'`,
    'owed',
  ],
  [
    'what is owed is taken by a payout that there is not',
    'unpaid',
    `${OWED} payout_id = 'pyo_gone' where payment_id = '$'`,
    'payout',
    `select 'pyo_gone' as id`,
  ],
  ['what was paid is owed again', 'paid', `${OWED} payout_id = null where payout_id = '$'`, 'payout'],
  ['a payout has taken what it does not pay', 'paid', `${OWED} payout_id = '$' where payout_id is null`, 'payout'],
  [
    'a payout is booked as failed, and has landed',
    'paid',
    `${PAYOUT} state = 'failed', reason = 'expired' where id = '$'`,
    'payout',
  ],
  [
    'a payout is booked as failed, and what it paid is owed again',
    'paid',
    `${PAYOUT} state = 'failed', reason = 'expired' where id = '$';${OWED} payout_id = null where payout_id = '$'`,
    'payout',
  ],
  [
    'a payout that never landed is booked as paid',
    'failedPayout',
    `${PAYOUT} state = 'paid', slot = 5 where id = '$'`,
    'payout',
  ],
  [
    'the shares of a payout are changed',
    'paid',
    `${PAYOUT} legs = replace(legs, substr(legs, 4, instr(substr(legs, 4), '"') - 1), '${STRANGER}') where id = '$'`,
    'payout',
  ],
  ['the total of a payout is changed', 'paid', `${PAYOUT} total = total || '0' where id = '$'`, 'payout'],
  [
    'a payout names a transaction that there is not',
    'paid',
    `${PAYOUT} signature = '${NOWHERE}' where id = '$'`,
    'payout',
  ],
  ['a payout is booked in another slot', 'paid', `${PAYOUT} slot = slot + 10000 where id = '$'`, 'payout'],
  [
    'a payout is invented, with a transaction that there is not',
    'none',
    `${COPY_PAYOUT} '${NOWHERE}', signed, blockhash, last_valid_block_height, signed_at, slot, reason, created_at, updated_at
      from tollhouse_payout where state = 'paid' limit 1`,
    'payout',
    `select 'pyo_invented' as id`,
  ],
  [
    'a payout is invented, with the transaction of another one',
    'none',
    `${COPY_PAYOUT} signature, signed, blockhash, last_valid_block_height, signed_at, slot, reason, created_at, updated_at
      from tollhouse_payout where state = 'paid' limit 1`,
    'payout',
    `select 'pyo_invented' as id`,
  ],
  [
    'a payout is taken out of the books',
    'paid',
    `delete from tollhouse_payout where id = '$'`,
    'transaction',
    `select signature as id from tollhouse_payout where id = '$'`,
  ],
  [
    'a payment with its shares is invented, and the split wallet is short of it',
    'split',
    `${OWED} amount = amount * 1000 where payout_id is null`,
    'balance',
  ],
  [
    'a call is charged more than was paid',
    'call',
    `update tollhouse_call set amount = amount + 1 where id = '$'`,
    'call',
  ],
  [
    'a call is charged with a payment that there is not',
    'call',
    `update tollhouse_call set payment_id = 'gone' where id = '$'`,
    'call',
  ],
  [
    'two calls are charged with the same payment',
    'call',
    `update tollhouse_call set (payment_id, signature, payer, project_id) =
      (select payment_id, signature, payer, project_id from tollhouse_call where id = '$') where id =
      (select id from tollhouse_call where mint is not null order by seq limit 1 offset 1)`,
    'call',
  ],
  [
    'a call is charged with an unused payment',
    'call',
    `${PAYMENT} state = 'confirmed' where id = (select payment_id from tollhouse_call where id = '$')`,
    'call',
  ],
  [
    'a call is taken out of the books',
    'project',
    `delete from tollhouse_call where seq = (select min(seq) from tollhouse_call where project_id = '$')`,
    'figure',
  ],
  [
    'the revenue of an hour is changed',
    'project',
    `update tollhouse_rollup set value = value + 1 where kind = 'revenue' and project_id = '$'`,
    'figure',
  ],
  [
    'the paid calls of an hour are changed',
    'project',
    `update tollhouse_rollup set value = value - 1 where kind = 'paid' and project_id = '$'`,
    'figure',
  ],
  ['credit is changed', 'credit', `update tollhouse_credit set amount = amount + 1 where project_id = '$'`, 'credit'],
  [
    'credit is held that nobody had',
    'credit',
    `insert into tollhouse_credit_hold (id, key_id, project_id, mint, amount, ends_at)
      select 'held', key_id, project_id, mint, 1, 1 from tollhouse_credit where project_id = '$'`,
    'credit',
  ],
  [
    'the credit that was given in an hour is changed',
    'credit',
    `update tollhouse_rollup set value = value + 1 where kind = 'credit_given' and project_id = '$'`,
    'credit',
  ],
  [
    'a call has given more credit than it was paid',
    'creditCall',
    `update tollhouse_call set credit_amount = credit_amount + 1 where id = '$'`,
    'call',
  ],
  [
    'a call says that it was paid from credit, and gave it',
    'onCredit',
    `update tollhouse_call set credit_amount = -credit_amount where id = '$'`,
    'call',
  ],
  [
    'what a key has spent in all is changed',
    'key',
    `update tollhouse_spend set amount = amount - 1 where key_id = '$' and period = 'total'`,
    'spending',
  ],
  [
    'what a key has spent in a day is changed',
    'key',
    `update tollhouse_spend set amount = amount * 2 where key_id = '$' and period = 'day'`,
    'spending',
  ],
  [
    'what a key has spent in a month is gone',
    'key',
    `delete from tollhouse_spend where key_id = '$' and period = 'month'`,
    'spending',
  ],
  [
    'the event of a payment is gone',
    'x402',
    `delete from tollhouse_event where type = 'payment.settled' and json_extract(data, '$.payment_id') = '$'`,
    'event',
  ],
  [
    'a payment is told twice',
    'x402',
    `${COPY_EVENT} select 'evt_twice', type, at, owner, project_id, data from tollhouse_event
      where type = 'payment.settled' and json_extract(data, '$.payment_id') = '$'`,
    'event',
  ],
  [
    'the event of a payment tells another amount',
    'direct',
    `update tollhouse_event set data = json_set(data, '$.amount_atomic', '1') where type = 'payment.settled'
      and json_extract(data, '$.payment_id') = '$'`,
    'event',
  ],
  [
    'the event of a payment is told to another owner',
    'unused',
    `update tollhouse_event set owner = '${STRANGER}' where type = 'payment.settled'
      and json_extract(data, '$.payment_id') = '$'`,
    'event',
  ],
  [
    'an event tells of a payment that there is not',
    'settled',
    `update tollhouse_event set data = json_set(data, '$.payment_id', 'gone') where id = '$'`,
    'event',
  ],
  [
    'an event tells that a failed payment was settled',
    'failed',
    `update tollhouse_event set type = 'payment.settled' where type = 'payment.failed'
      and json_extract(data, '$.payment_id') = '$'`,
    'event',
  ],
  [
    'the event of a payout is gone',
    'paid',
    `delete from tollhouse_event where type = 'payout.paid' and json_extract(data, '$.payout_id') = '$'`,
    'event',
  ],
  [
    'the event of a payout tells of one that failed',
    'failedPayout',
    `update tollhouse_event set data = json_set(data, '$.payout_id', '$') where type = 'payout.paid' and seq =
      (select max(seq) from tollhouse_event where type = 'payout.paid')`,
    'event',
  ],
  [
    'the event of a call is gone',
    'call',
    `delete from tollhouse_event where type = 'call.succeeded' and json_extract(data, '$.call_id') = '$'`,
    'event',
  ],
];

const filled = (sql: string, id: string) => sql.replaceAll(`'$'`, `'${id}'`);

async function idOf(storage: Storage, sql: string): Promise<string> {
  const [row] = await ask(storage, sql);
  if (row === undefined) throw new Error(`nothing is found by ${sql}`);
  return String(row.id);
}

test('honest books differ in nothing, read in full or quickly', async () => {
  const all = await withCopy((storage) => reconciled(compared, storage));
  expect(all).toEqual({
    payments: 20,
    payouts: 3,
    refunds: 0,
    transactions: 20,
    open: 0,
    differences: 0,
    found: [],
    notes: [],
  });
  const quick = await withCopy((storage) => reconciled(compared, storage, false));
  expect(quick).toEqual(all);
});

describe(`${ERRORS.length} errors in the books, one at a time`, () => {
  test('are fifty at least', () => expect(ERRORS.length).toBeGreaterThanOrEqual(50));

  test.each<PlantedError>(ERRORS)('%s', (_, pick, sql, kind, ...[named]) =>
    withCopy(async (storage) => {
      const id = await idOf(storage, PICK[pick]);
      const told = named === undefined ? id : await idOf(storage, filled(named, id));
      for (const statement of filled(sql, id).split(';')) {
        const before = await ask(storage, 'select total_changes() as n');
        await ask(storage, statement);
        expect(await ask(storage, 'select total_changes() as n')).not.toEqual(before);
      }
      const { found, differences } = await reconciled(compared, storage);
      expect(found.filter((it) => it.kind === kind).flatMap(({ ids }) => ids)).toContain(told);
      expect(differences).toBe(found.length);
      for (const { detail, advice } of found) expect([detail, advice].join('; ')).toMatch(/^\S.*\S$/);
    }),
  );
});

/** These change the chain for good, and so come last. */
describe('errors on the chain', () => {
  const findings = () => withCopy((storage) => reconciled(compared, storage));
  const usdc = SANDBOX_TOKENS.find(({ symbol }) => symbol === 'USDC')!;

  test('what a stranger puts into the split wallet is told, and is no difference', async () => {
    const { sandbox, splitWallet } = fixture;
    const wallet = await sandbox.createWallet({ sol: '1', usdc: '1' });
    const recipient = splitWallet.publicKey.toBase58();
    await transferDirectly(sandbox, { wallet, legs: [{ recipient, amount: 7n }] });
    const { found, notes } = await findings();
    expect(found).toEqual([]);
    expect(notes).toMatchObject([{ kind: 'balance', ids: [recipient, usdc.mint] }]);
    expect(notes[0]?.detail).toContain('7 are a surplus');
  });

  test('a transaction of the fee payer that nobody has booked', async () => {
    const { sandbox, feePayer, payTo } = fixture;
    sandbox.fundToken(feePayer.publicKey.toBase58(), usdc.mint, 1n);
    const signature = await transferDirectly(sandbox, { wallet: feePayer, legs: [{ recipient: payTo, amount: 1n }] });
    expect((await findings()).found).toMatchObject([{ kind: 'transaction', ids: [signature] }]);
  });

  test('the split wallet is emptied, at somebody else’s cost', async () => {
    const { sandbox, splitWallet, payTo } = fixture;
    const thief = await sandbox.createWallet({ sol: '1' });
    const from = splitWallet.publicKey.toBase58();
    const amount = sandbox.tokenBalance(from, usdc.mint);
    const plan = { asset: usdc.mint, tokenProgram: usdc.program, decimals: 6, reference: undefined, memo: undefined };
    const legs = [{ recipient: payTo, amount }];
    const instructions = transferInstructions({ ...plan, legs, accountsToCreate: new Set() }, from);
    const { blockhash } = await new Connection(sandbox.rpcUrl).getLatestBlockhash();
    const bytes = unsignedTransaction(instructions, thief.publicKey.toBase58(), blockhash)!;
    const transaction = VersionedTransaction.deserialize(bytes);
    transaction.sign([thief, splitWallet]);
    const signature = await sendToChain(sandbox, transaction.serialize());
    await confirmed(sandbox, signature);
    const { found } = await findings();
    expect(found.map(({ kind }) => kind).sort()).toEqual(['balance', 'transaction', 'transaction']);
    expect(found.find(({ kind }) => kind === 'balance')?.ids).toEqual([from, usdc.mint]);
    const taken = found.find(({ ids }) => ids[0] === signature);
    expect(taken?.detail).toBe(`takes ${amount} of ${usdc.mint} out of the split wallet, and no payout explains it`);
  });
});
