import type { SqlDatabase } from '../../src/storage/sql/sql-database.js';
import { openSqlite } from '../../src/storage/sql/sqlite/sqlite-database.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { callBookContract } from './call-book.js';
import { budgetsContract } from './call-book-budgets.js';
import { booksOn } from './call-book-stand.js';
import { callRunsContract } from './call-runs.js';
import { creditContract } from './credit.js';

const NAME = 'the book of calls on SQLite';
const folder = testFolder();
const opened: SqlDatabase[] = [];
afterAll(() => Promise.all(opened.map((it) => it.close())));

async function open() {
  const path = folder.newPath('db');
  const databases = [await openSqlite(path), await openSqlite(path)] as const;
  opened.push(...databases);
  return booksOn(databases);
}

callBookContract(NAME, open);
budgetsContract(NAME, open);
creditContract(NAME, open);
callRunsContract(NAME, open);
