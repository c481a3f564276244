import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { db } from '../../src/cli/books/db.js';
import { openStorage } from '../../src/storage/open-storage.js';
import { backUpDatabase } from '../../src/storage/sql/backup/backup.js';
import type { SqliteConnection } from '../../src/storage/sql/sqlite/sqlite-driver.js';
import { runCommand } from '../helpers/processes/run-command.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { emptyDatabases } from '../helpers/storage/empty-databases.js';
import { openSqliteFile } from '../helpers/storage/sqlite-file.js';

const folder = testFolder();
const KINDS = emptyDatabases();
const tollhouse = (url: string, ...args: readonly string[]) => runCommand(db, { DATABASE_URL: url }, args);

let backup: string;

beforeAll(async () => {
  const url = `sqlite:${folder.newPath('db')}`;
  await (await openStorage(url)).close();
  backup = folder.newPath('backup');
  await backUpDatabase(url, backup);
});

/** Changes something in a copy of the backup. */
async function changed(...statements: readonly string[]): Promise<string> {
  const file = folder.newPath('crafted');
  copyFileSync(backup, file);
  await inFile(file, (connection) => {
    for (const text of statements) connection.exec(text);
  });
  return file;
}

async function inFile<T>(file: string, work: (connection: SqliteConnection) => T): Promise<T> {
  const connection = await openSqliteFile(`sqlite:${file}`);
  try {
    return work(connection);
  } finally {
    connection.close();
  }
}

/** Makes the table of moments anew, from its text with something changed in it. */
const remade = (columns: string) => ['drop table tollhouse_moment', `create table "tollhouse_moment" (${columns})`];

const CRAFTED: readonly { readonly what: string; readonly says: string; readonly statements: readonly string[] }[] = [
  {
    what: 'a trigger, which would run as soon as the restore writes',
    says: 'has a trigger evil that Tollhouse does not make, and that would run in the books; drop it if it is your own, else take another backup',
    statements: ['create trigger evil after insert on tollhouse_moment begin delete from tollhouse_service_key; end'],
  },
  {
    what: 'a view',
    says: 'has a view other that Tollhouse does not make',
    statements: ['create view other as select * from tollhouse_payment'],
  },
  {
    what: 'a view in the place of a table',
    says: 'has a view tollhouse_moment that',
    statements: ['alter table tollhouse_moment rename to aside', 'create view tollhouse_moment as select * from aside'],
  },
  {
    what: 'a virtual table',
    says: 'has a table words that',
    statements: ['create virtual table words using fts5(word)'],
  },
  {
    what: 'no table of payments',
    says: 'lacks the table tollhouse_payment; take another backup',
    statements: ['drop table tollhouse_payment'],
  },
  {
    what: 'no index that keeps a slug from being taken twice',
    says: 'lacks the index tollhouse_project_slug; take another backup',
    statements: ['drop index tollhouse_project_slug'],
  },
  {
    what: 'a column less',
    says: 'lacks the column at of the table tollhouse_moment; take another backup',
    statements: remade('"name" text not null primary key'),
  },
  {
    what: 'a key that lets the later row win',
    says: 'has a table tollhouse_moment that is not as Tollhouse makes it; take another backup',
    statements: remade('"name" text not null primary key on conflict replace, "at" bigint not null'),
  },
];

describe.each(KINDS)('a backup of SQLite that is restored into $dialect', ({ dialect, newUrl }) => {
  test.each(CRAFTED)('and has $what is refused', async ({ says, statements }) => {
    const [file, url] = [await changed(...statements), await newUrl()];
    await expect(tollhouse(url, 'restore', file)).rejects.toMatchObject({
      code: 'backup_failed',
      message: expect.stringContaining(`${file} ${says}`),
    });
    if (dialect === 'sqlite') expect(existsSync(url.slice('sqlite:'.length))).toBe(false);
  });

  test('may have tables and indexes of its operator beside ours', async () => {
    const file = await changed(
      'create table own (x integer primary key autoincrement)',
      'create table tollhouse_notes (x)',
      'create index own_payers on tollhouse_payment (payer)',
      'analyze',
    );
    expect(await tollhouse(await newUrl(), 'restore', file)).toMatchObject({ code: 0 });
  });

  test('and was made by an earlier release is brought up to date', async () => {
    const file = folder.newPath('old');
    const recorded = readFileSync(join(__dirname, '../contracts/kysely/sqlite.sql'), 'utf8').split('\n');
    const end = recorded.findIndex((line) => line.includes(`values ('0009-payouts'`));
    await inFile(file, (connection) => {
      for (const statement of recorded.slice(1, end + 1)) connection.exec(statement);
    });
    const url = await newUrl();
    expect(await tollhouse(url, 'restore', file)).toMatchObject({ code: 0 });
    expect(await tollhouse(url, 'status')).toMatchObject({ code: 0 });
  });

  test('and holds what the books reject is told as that, and not as a database that does not answer', async () => {
    const file = await changed(`update tollhouse_moment set at = 'not a time'`);
    await expect(tollhouse(await newUrl(), 'restore', file)).rejects.toMatchObject({
      code: 'backup_failed',
      message: `${file} cannot be restored (NOT NULL constraint failed: tollhouse_moment.at)`,
    });
  });
});

test('what could not be restored is not made as a backup', async () => {
  const file = await changed('create trigger own after delete on tollhouse_payment begin select 1; end');
  const to = folder.newPath('backup');
  await expect(tollhouse(`sqlite:${file}`, 'backup', to)).rejects.toMatchObject({
    code: 'backup_failed',
    message: expect.stringContaining(`${file} has a trigger own that Tollhouse does not make`),
  });
  expect(existsSync(to)).toBe(false);
});
