import { randomUUID } from 'node:crypto';
import { openHonestBooks } from '../helpers/crash/honest-books.js';
import { type ReconciledFixture, reconciled } from '../helpers/crash/reconciled.js';
import type { GatewayFixture } from '../helpers/fixtures/gateway-fixture.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';

let server: PostgresServer;
let fixture: GatewayFixture;
let compared: ReconciledFixture;

beforeAll(async () => {
  server = await startPostgres();
  fixture = await openHonestBooks(await server.newDatabase());
  const [feePayer, split] = [fixture.feePayer, fixture.splitWallet].map((it) => it.publicKey.toBase58()) as [
    string,
    string,
  ];
  compared = { sandbox: fixture.sandbox, feePayers: [feePayer], splitWallets: [split] };
});
afterAll(async () => {
  await fixture?.close();
  await server?.stop();
});

const change = async (text: string) => fixture.storage.database.query({ name: `test_${randomUUID()}`, text });
const first = (table: string, where: string) => `(select min(id) from ${table} where ${where})`;
const PAID = first('tollhouse_payment', `owed is not null and state = 'served'`);
const PAYOUT = first('tollhouse_payout', `state = 'paid'`);
// What credit has paid has no payment to be compared with.
const CALL = first('tollhouse_call', 'mint is not null and payment_id is not null');

/** One error for each thing that is read by a statement of its own, each on top of the one before. */
const ERRORS: readonly (readonly [what: string, sql: string, kind: string, detail: RegExp])[] = [
  [
    'the event of a payment tells another amount',
    `update tollhouse_event set data = replace(data, '"amount_atomic":"912347"', '"amount_atomic":"1"')
      where type = 'payment.settled' and data::json ->> 'payment_id' = ${PAID}`,
    'event',
    /amount is 912347, and its event tells 1$/,
  ],
  [
    'the event of a payout is gone',
    `delete from tollhouse_event where type = 'payout.paid' and data::json ->> 'payout_id' = ${PAYOUT}`,
    'event',
    /no event tells payout.paid/,
  ],
  [
    'the event of a call is gone',
    `delete from tollhouse_event where type = 'call.succeeded' and data::json ->> 'call_id' = ${CALL}`,
    'event',
    /no event tells call.succeeded/,
  ],
  [
    'an event tells of a payment that there is not',
    `update tollhouse_event set data = replace(data, data::json ->> 'payment_id', 'gone') where seq =
      (select max(seq) from tollhouse_event where type = 'payment.settled')`,
    'event',
    /there is no such payment/,
  ],
  [
    'a call is charged otherwise',
    `update tollhouse_call set amount = amount + 1 where id = ${CALL}`,
    'call',
    /amount is \d+8, and its payment's \d+7/,
  ],
  [
    'the same is seen in the revenue of the hour',
    'select 1',
    'figure',
    /^revenue in .* is \d+, and its calls sum to \d+$/,
  ],
  ['and in what its key has spent', 'select 1', 'spending', /^day in .* is \d+, and its calls sum to \d+$/],
  [
    'what a key has spent in all is changed',
    `update tollhouse_spend set amount = amount + 5 where period = 'total' and calls > 0`,
    'spending',
    /in all, \d+ by months/,
  ],
  [
    'what is owed is times a thousand',
    'update tollhouse_owed set amount = amount * 1000 where payout_id is null',
    'balance',
    /are missing$/,
  ],
  ['which is not what the payments say', 'select 1', 'owed', /the shares are .*, and booked as owed: /],
  [
    'what was paid is owed again',
    `update tollhouse_owed set payout_id = null where payout_id = ${PAYOUT}`,
    'payout',
    /and has taken what is owed: nothing$/,
  ],
  [
    'something is owed for nothing',
    `insert into tollhouse_owed (payment_id, recipient, project_id, owner, network, wallet, mint, amount, at)
      select 'invented', recipient, project_id, owner, network, wallet, mint, 1, at from tollhouse_owed limit 1`,
    'owed',
    /the payment is not in the books$/,
  ],
  [
    'something is owed and in a payout that there is not',
    `update tollhouse_owed set payout_id = 'gone' where payment_id = 'invented'`,
    'payout',
    /taken by a payout that is not in the books/,
  ],
  [
    'a request’s payment is gone',
    `delete from tollhouse_payment where id in (select attempt from tollhouse_payment_request)`,
    'request',
    /has landed, and is not in the books as received/,
  ],
];

test('on Postgres honest books differ in nothing as well, and what is wrong is found', async () => {
  const honest = await reconciled(compared, fixture.storage);
  expect(honest).toMatchObject({ differences: 0, found: [], notes: [] });
  for (const [what, sql, kind, detail] of ERRORS) {
    await change(sql);
    const { found } = await reconciled(compared, fixture.storage);
    const told = found.filter((it) => it.kind === kind).map((it) => it.detail);
    expect([what, told]).toEqual([what, expect.arrayContaining([expect.stringMatching(detail)])]);
  }
});
