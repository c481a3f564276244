import { randomUUID } from 'node:crypto';
import { existsSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { db } from '../../src/cli/books/db.js';
import { payoutsCommand } from '../../src/cli/books/payouts.js';
import { reconcileCommand } from '../../src/cli/books/reconcile.js';
import { openStorage } from '../../src/storage/open-storage.js';
import type { Storage } from '../../src/storage/storage.js';
import { newClaim } from '../contracts/ledger-samples.js';
import { openTollFixture, type TollFixture } from '../helpers/fixtures/toll-fixture.js';
import { runCommand } from '../helpers/processes/run-command.js';
import { type Ended, endOf, runFile, stopFiles } from '../helpers/processes/run-file.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';
import { openSmallDisk } from '../helpers/storage/small-disk.js';
import { offeredTerms, payTerms } from '../helpers/transactions/core-payments.js';

const folder = testFolder();
let fixture: TollFixture;
/** Each test has a fee payer of its own: what it has paid for is to be in the books of that test. */
let feePayer: Keypair;
let server: PostgresServer;

beforeAll(async () => {
  [fixture, server] = await Promise.all([openTollFixture(), startPostgres()]);
});
beforeEach(async () => {
  feePayer = await fixture.sandbox.createWallet({ sol: '1' });
});
afterAll(async () => {
  stopFiles();
  await fixture.close();
  await server.stop();
});

const KINDS: readonly { readonly name: string; newUrl(): Promise<string> }[] = [
  { name: 'SQLite', newUrl: async () => `sqlite:${folder.newPath('db')}` },
  { name: 'Postgres', newUrl: () => server.emptyDatabase() },
];

/** The server's configuration: a database, and the fixture's chain. */
const environment = (databaseUrl: string) => ({
  DATABASE_URL: databaseUrl,
  SOLANA_NETWORK: 'solana-devnet',
  SOLANA_RPC_URL: fixture.sandbox.rpcUrl,
  FACILITATOR_KEYPAIR: bs58.encode(feePayer.secretKey),
});

const tollhouse = (
  databaseUrl: string,
  name: 'db' | 'payouts' | 'reconcile',
  ...args: readonly string[]
): Promise<Ended> =>
  runCommand({ db, payouts: payoutsCommand, reconcile: reconcileCommand }[name], environment(databaseUrl), args);

/** Makes a payment of a cent that is in these books. Returns its signature. */
async function pay({ ledger }: Storage): Promise<string> {
  const facilitator = fixture.facilitatorWith({ ledger, keypair: feePayer });
  const terms = await offeredTerms(facilitator, fixture.payTo);
  const settlement = await facilitator.settle(await payTerms(fixture, terms), terms);
  if (settlement.status !== 'settled') throw new Error(`the payment is ${settlement.status}`);
  return settlement.receipt.signature;
}

test.each([
  ['db', 'status'],
  ['db', 'export'],
  ['payouts', 'list'],
  ['reconcile', '--quick'],
] as const)('%s %s of a file that is not there says so, and makes none', async (name, arg) => {
  const file = folder.newPath('db');
  await expect(tollhouse(`sqlite:${file}`, name, arg)).rejects.toThrow(
    `no such file: ${file}, which DATABASE_URL names`,
  );
  expect(existsSync(file)).toBe(false);
});

test.each([
  ['2026-02-01', '2026-01-01'],
  ['2026-02-01', '2026-02-01'],
])('an export from %s to %s is refused: there is nothing between', async (from, to) => {
  const url = `sqlite:${folder.newPath('db')}`;
  await tollhouse(url, 'db', 'migrate');
  const turned = tollhouse(url, 'db', 'export', '--from', from, '--to', to, '--out', folder.newPath('csv'));
  await expect(turned).rejects.toThrow(
    `--from must be before --to, which is not included: "${from}" is not before "${to}"`,
  );
});

describe.each(KINDS)('tollhouse db on $name', ({ newUrl }) => {
  test('brings the schema up to date once, and says what it did', async () => {
    const url = await newUrl();
    // A database without a schema; of SQLite, an empty file.
    if (url.startsWith('sqlite:')) writeFileSync(url.slice('sqlite:'.length), '');
    const before = await tollhouse(url, 'db', 'status');
    const made = await tollhouse(url, 'db', 'migrate');
    const again = await tollhouse(url, 'db', 'migrate');
    const after = await tollhouse(url, 'db', 'status');

    expect(before).toMatchObject({ code: 1, text: expect.stringMatching(/pending +0001-payments/) });
    expect(made).toMatchObject({ code: 0, text: expect.stringMatching(/made +0001-payments/) });
    expect(again).toMatchObject({ code: 0, text: expect.stringMatching(/schema +was up to date/) });
    expect(after).toMatchObject({ code: 0, text: expect.stringMatching(/payments +none/) });
    for (const { text } of [before, made, after]) expect(text).not.toContain('toll:house');
  });

  test('shows and exports what the books hold, in the order of time, with amounts that can be read', async () => {
    const url = await newUrl();
    let time = Date.parse('2026-01-31T12:00:00Z');
    const storage = await openStorage(url, { now: () => time });
    const { owedLegs: _owedLegs, projectId: _projectId, ...claim } = newClaim();
    const { amount, ...terms } = claim.terms;
    const fingerprint = `["exact","solana-devnet","${terms.asset}","1250000","${terms.payTo}","${terms.feePayer}","order 7 – ü"]`;
    const resource = '=GET /"a",b';
    const binding = `${resource}|${fingerprint}`;
    for (let count = 0; count < 600; count += 1) {
      await storage.ledger.claim({ ...claim, id: randomUUID(), binding, terms: { ...terms, amount: 1_250_000n } });
      time += 1_000;
    }
    await storage.close();
    const status = await tollhouse(url, 'db', 'status');
    const file = folder.newPath('csv');
    const range = ['--from', '2026-01-31T12:00:10Z', '--to', '2026-01-31T12:00:12Z'];
    const some = await tollhouse(url, 'db', 'export', ...range, '--out', file);
    const everything = folder.newPath('jsonl');
    const until = ['--to', '2026-01-31T14:10+02:00'];
    const all = await tollhouse(url, 'db', 'export', '--format', 'jsonl', ...until, '--out', everything);

    expect(status.text).toMatch(/claimed +600, the oldest of 2026-01-31T12:00:00.000Z/);
    const [head, first, second, ...rest] = readFileSync(file, 'utf8').split('\r\n');
    expect(head).toMatch(/^id,state,claimed_at,finished_at,payer,pay_to,network,asset,symbol,amount,amount_atomic,/);
    expect(first).toContain(',claimed,2026-01-31T12:00:10.000Z,,');
    expect(first).toContain(',USDC,1.25,1250000,,,,"\'=GET /""a"",b",');
    expect(second).toContain('12:00:11.000Z');
    expect(rest).toEqual(['']);
    expect(some).toMatchObject({ code: 0, text: expect.stringMatching(/^2 payments in/) });
    await expect(tollhouse(url, 'db', 'export', '--out', file)).rejects.toThrow('is there already');
    const lines = readFileSync(everything, 'utf8').trimEnd().split('\n');
    const last = JSON.parse(lines[599] ?? '');
    expect(lines).toHaveLength(600);
    expect(last).toMatchObject({ claimed_at: '2026-01-31T12:09:59.000Z', amount: '1.25', resource });
    expect(all).toMatchObject({ code: 0, text: expect.stringMatching(/^600 payments in/) });
  });

  test('reconcile finds books that agree, and each way in which they can differ', async () => {
    const url = await newUrl();
    const storage = await openStorage(url);
    const { ledger, database } = storage;
    const [, underpaid, lost, failed] = [
      await pay(storage),
      await pay(storage),
      await pay(storage),
      await pay(storage),
    ];
    const same = await tollhouse(url, 'reconcile');
    const open = newClaim({ terms: { ...newClaim().terms, network: 'solana-devnet' } });
    await ledger.claim(open);
    await ledger.recordBroadcast(open.id, open.lease, { signature: lost });
    const stillSame = await tollhouse(url, 'reconcile', '--quick');

    expect(same).toMatchObject({ code: 0, text: expect.stringMatching(/result +0 differences, 0 payments not over/) });
    expect(stillSame).toMatchObject({ code: 0, text: expect.stringMatching(/result +0 differences, 1 payment not/) });
    expect(stillSame.text).toMatch(new RegExp(`open +${open.id} broadcast: sent; the chain: landed in slot`));

    const change = (text: string) => database.query({ name: `test_${randomUUID()}`, text });
    await change(`update tollhouse_payment set amount = amount + 1 where signature = '${underpaid}'`);
    await change(
      `update tollhouse_payment set signature = '${bs58.encode(Buffer.alloc(64, 7))}' where signature = '${lost}' and state = 'served'`,
    );
    await change(
      `update tollhouse_payment set state = 'expired', reason = 'invalid_exact_svm_transaction_expired' where signature = '${failed}'`,
    );
    await ledger.keep(open.id, open.lease);
    const paidOut = await pay(storage);
    await change(`delete from tollhouse_payment where signature = '${paidOut}'`);
    const payout = `insert into tollhouse_payout
      (id, project_id, owner, network, wallet, mint, state, legs, total, signature, created_at, updated_at)
      values ('pyo_1', 'prj_1', 'o', 'solana-devnet', 'w', 'm', 'paid', '[]', '1', '${paidOut}', 1, 1)`;
    await change(payout);
    await change(`delete from tollhouse_payment where id = '${open.id}'`);
    const different = await tollhouse(url, 'reconcile');

    expect(different).toMatchObject({ code: 1, text: expect.stringMatching(/result +10 differences/) });
    expect(different.text).toContain(`${underpaid}: the transaction pays 10000 of 10001 atomic units`);
    expect(different.text).toContain('booked as paid, and the chain does not know it');
    expect(different.text).toContain(`${failed}: booked as expired, and it has landed`);
    expect(different.text).toContain(`${lost}: paid for by us, and not in the books`);
    await storage.close();
  });
});

test('reconcile says with exit code 2 that it could not compare', async () => {
  const url = `sqlite:${folder.newPath('db')}`;
  const storage = await openStorage(url);
  await pay(storage);
  await storage.close();
  fixture.sandbox.faults.add({ kind: 'error', code: -32000, method: 'getSignatureStatuses' });
  const failed = await tollhouse(url, 'reconcile');
  fixture.sandbox.faults.clear();

  expect(failed).toMatchObject({ code: 2, text: expect.stringContaining('could not be compared') });
});

test('reconcile says that a pass is missing that was paid for, and opens it where it is told to', async () => {
  const url = `sqlite:${folder.newPath('db')}`;
  const storage = await openStorage(url);
  const signature = await pay(storage);
  const buys = JSON.stringify({ site: 'https://shop.example', scope: 'GET /a', kind: 'uses', bought: '9', left: '8' });
  const text = `update tollhouse_payment set buys = '${buys}' where signature = '${signature}'`;
  await storage.database.query({ name: 'test_buys', text });

  const missing = await tollhouse(url, 'reconcile');
  expect(missing).toMatchObject({ code: 1, text: expect.stringMatching(/DIFFERENT +pass .* --open-passes" opens it/) });
  const opened = await tollhouse(url, 'reconcile', '--open-passes');
  expect(opened).toMatchObject({ code: 0, text: expect.stringMatching(/note +pass pas_.* it is open now/) });
  const wallet = fixture.payer.publicKey.toBase58();
  expect(await storage.passes.list(wallet)).toEqual([expect.objectContaining({ scope: 'GET /a', left: 8n })]);
  await storage.close();
});

test.each([
  // Linux alone has a device for it.
  ...(existsSync('/dev/full') ? [['whose disk is full', 'ENOSPC'] as const] : []),
  ['whose reader has gone', 'EPIPE'] as const,
])('an export to a standard output %s fails, and says that it is cut off', async (_how, code) => {
  const url = `sqlite:${folder.newPath('db')}`;
  await tollhouse(url, 'db', 'migrate');
  const stdout = code === 'ENOSPC' ? openSync('/dev/full', 'w') : 'pipe';
  const child = runFile('src/cli/main.ts', ['db', 'export'], environment(url), stdout);
  child.stdout?.destroy();
  const ended = await endOf(child);
  expect(ended).toMatchObject({ code: 1, text: expect.stringMatching(new RegExp(`${code}.*; the export is cut off`)) });
});

const disk = openSmallDisk(1);
afterAll(() => disk?.remove());

// Elsewhere only the administrator makes disks.
(disk === undefined ? test.skip : test)('an export to a file whose disk is full fails, and leaves none', async () => {
  const url = `sqlite:${folder.newPath('db')}`;
  await tollhouse(url, 'db', 'migrate');
  await disk?.leave(0);
  const out = `${disk?.path}/payments.csv`;
  await expect(tollhouse(url, 'db', 'export', '--out', out)).rejects.toThrow('the disk is full: ENOSPC');
  disk?.makeRoom();
  expect(readdirSync(disk?.path ?? '')).toEqual([]);
});

test('an export goes to standard output, and how far it is to standard error', async () => {
  const url = `sqlite:${folder.newPath('db')}`;
  const storage = await openStorage(url);
  const signature = await pay(storage);
  await storage.close();
  const child = runFile('src/cli/main.ts', ['db', 'export'], environment(url));
  let out = '';
  child.stdout?.on('data', (chunk) => {
    out += String(chunk);
  });
  const { code, text } = await endOf(child);

  expect(code).toBe(0);
  expect(out.split('\r\n')).toEqual([expect.stringMatching(/^id,/), expect.stringContaining(signature), '']);
  expect(text).toContain('1 payment in');
});
