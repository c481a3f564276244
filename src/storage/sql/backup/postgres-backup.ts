import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lineOf } from '../driver-error.js';
import { SCHEMA_STEPS } from '../migrations/steps.js';
import { lookAtPostgres, openPostgres } from '../postgres-database.js';
import { readSchema } from '../schema-state.js';
import type { SqlDatabase } from '../sql-database.js';
import { backupFailed, refuseBooks } from './backup-error.js';
import type { BackupWork, Restored } from './backup-options.js';
import { NOTE_MOMENT } from './moments.js';
import { inOwnFolder } from './own-folder.js';
import { runPgTool } from './pg-tools.js';
import { settlePostgres } from './settle-database.js';
import { withoutLastTable } from './unsettled.js';
import { writeWhole } from './whole-file.js';

/** Ours alone: the database may be somebody's whose application has tables of its own in it. */
const OUR_TABLES = '--table=tollhouse_*';
const BOOK_OF_STEPS = 'tollhouse_migration';
/** Steps of the schema have short names, and there are not many tables; so much is read of them at most. */
const MOST_READ = 1_000_000;

const ADVICE = 'nobody can open them before "npx tollhouse db restored" was run';

/** What `pg_restore` says of a file that it cannot read to its end, without its name, and what that means. */
const FILE_FAULTS = [
  { said: /end of file/, means: 'is cut off; copy it again, or take an earlier backup' },
  { said: /compress|corrupt/, means: 'is damaged; take an earlier backup' },
] as const;

/** Dumps the tables of Tollhouse while they are used; answers the last step of their schema. */
export async function backUpPostgres(
  url: string,
  target: string,
  { step, signal, now }: BackupWork,
): Promise<string | undefined> {
  const { made, pending, bytes } = await readSchema(url);
  if (made.length === 0) throw backupFailed('the database holds no books of Tollhouse');
  // What an older program has made has no table for it.
  if (pending.length === 0) {
    const time = now();
    await withDatabase(url, (database) => database.query(NOTE_MOMENT, 'backed_up', time));
  }
  await writeWhole(
    target,
    async (part) => {
      await step(`pg_dump of a database of ${(bytes / 2 ** 20).toFixed(1)} MiB`);
      await runPgTool('pg_dump', ['--format=custom', OUR_TABLES, '--file', part], { url, signal });
      await step('checking the dump');
      await checkDump(part, signal);
    },
    { signal },
  );
  return made.at(-1);
}

/**
 * Puts a dump into a database that holds nothing of Tollhouse, all or nothing; then brings it up to date and ends what was open. In between
 * nobody can open it.
 */
export async function restorePostgres(
  url: string,
  backup: string,
  { step, signal, now }: BackupWork,
): Promise<Restored> {
  await step('checking the dump');
  await checkDump(backup, signal);
  refuseBooks((await readSchema(url)).made);
  await step('pg_restore');
  try {
    await putBooks(url, backup, signal);
  } catch (error) {
    throw (await isEmpty(url)) ? error : notEnded(error);
  }
  try {
    return await settlePostgres(url, now());
  } catch (error) {
    throw unsettled(error);
  }
}

/** All but what makes them books that can be opened. */
function putBooks(url: string, backup: string, signal: AbortSignal): Promise<void> {
  return inOwnFolder(async (folder) => {
    const list = join(folder, 'list');
    await writeFile(list, withoutLastTable(await outputOf(['--list', backup], signal)));
    const args = [
      '--no-owner',
      '--no-privileges',
      '--single-transaction',
      '--exit-on-error',
      '--use-list',
      list,
      backup,
    ];
    await runPgTool('pg_restore', args, { url, signal });
  });
}

async function isEmpty(url: string): Promise<boolean> {
  const there = await lookAtPostgres(url).catch(() => undefined);
  return there === 'none';
}

/** A tool that fails, or is stopped, may have committed before; what there is may be another restore's as well. */
function notEnded(error: unknown): Error {
  return backupFailed(
    `pg_restore has not ended well (${lineOf(error)}); if there are books in the database all the same, of it or of another restore, ${ADVICE}`,
    error,
  );
}

function unsettled(error: unknown): Error {
  return backupFailed(
    `the books are in the database, what they have lost is not marked (${lineOf(error)}), and ${ADVICE}`,
    error,
  );
}

async function withDatabase<T>(url: string, work: (database: SqlDatabase) => Promise<T>): Promise<T> {
  const database = await openPostgres(url);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Reads all of a dump, and whether this program knows every step of its schema. */
async function checkDump(file: string, signal: AbortSignal): Promise<void> {
  await runPgTool('pg_restore', ['--file=/dev/null', file], { signal }).catch((error: unknown) => {
    const known = FILE_FAULTS.find(({ said }) => said.test(lineOf(error)));
    throw known === undefined ? error : backupFailed(`${file} ${known.means} (${lineOf(error)})`, error);
  });
  const text = await outputOf(['--data-only', `--table=${BOOK_OF_STEPS}`, '--file=-', file], signal);
  const steps = [...text.matchAll(/^(\d{4}-[\w-]+)\t/gm)].map(([, name]) => String(name));
  if (steps.length === 0) throw backupFailed(`${file} holds no books of Tollhouse`);
  const known = new Set(SCHEMA_STEPS.map(([name]) => name));
  const unknown = steps.filter((name) => !known.has(name));
  if (unknown.length === 0) return;
  throw backupFailed(
    `${file} has a newer schema (${unknown.join(', ')}) than this version of Tollhouse knows; install the version that made it, or a later one`,
  );
}

/** What `pg_restore` tells of a dump. */
async function outputOf(args: readonly string[], signal: AbortSignal): Promise<string> {
  let text = '';
  const onOutput = (more: string): void => {
    if (text.length < MOST_READ) text += more;
  };
  await runPgTool('pg_restore', args, { signal, onOutput });
  return text;
}
