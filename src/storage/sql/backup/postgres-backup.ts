import { SCHEMA_STEPS } from '../migrations/steps.js';
import { openPostgres } from '../postgres-database.js';
import { readSchema } from '../schema-state.js';
import type { SqlDatabase } from '../sql-database.js';
import { settleRestored } from './after-restore.js';
import { backupFailed, refuseBooks } from './backup-error.js';
import type { Restored } from './backup-options.js';
import { NOTE_MOMENT } from './moments.js';
import { runPgTool } from './pg-tools.js';
import { writeWhole } from './whole-file.js';

/** Ours alone: the database may be somebody's whose application has tables of its own in it. */
const OUR_TABLES = '--table=tollhouse_*';
const BOOK_OF_STEPS = 'tollhouse_migration';
/** Steps of the schema have short names; so much is read of them at most. */
const MOST_READ = 100_000;

/** Dumps the tables of Tollhouse while they are used; answers the last step of their schema. */
export async function backUpPostgres(
  url: string,
  target: string,
  onStep: (text: string) => void,
  now: () => number,
): Promise<string | undefined> {
  const { made, pending, bytes } = await readSchema(url);
  if (made.length === 0) throw backupFailed('the database holds no books of Tollhouse');
  // What an older program has made has no table for it.
  if (pending.length === 0) {
    const time = now();
    await withDatabase(url, (database) => database.query(NOTE_MOMENT, 'backed_up', time));
  }
  await writeWhole(target, async (part) => {
    onStep(`pg_dump of a database of ${(bytes / 2 ** 20).toFixed(1)} MiB`);
    await runPgTool('pg_dump', url, ['--format=custom', OUR_TABLES, '--file', part]);
    onStep('checking the dump');
    await checkDump(part);
  });
  return made.at(-1);
}

/** Puts a dump into a database that holds nothing of Tollhouse, all or nothing; then brings it up to date and ends what was open. */
export async function restorePostgres(
  url: string,
  backup: string,
  onStep: (text: string) => void,
  now: () => number,
): Promise<Restored> {
  onStep('checking the dump');
  await checkDump(backup);
  refuseBooks((await readSchema(url)).made);
  onStep('pg_restore');
  await runPgTool('pg_restore', url, [
    '--no-owner',
    '--no-privileges',
    '--single-transaction',
    '--exit-on-error',
    backup,
  ]);
  return withDatabase(url, (database) => settleRestored(database, now()));
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
async function checkDump(file: string): Promise<void> {
  await runPgTool('pg_restore', undefined, ['--file=/dev/null', file]);
  let text = '';
  await runPgTool('pg_restore', undefined, ['--data-only', `--table=${BOOK_OF_STEPS}`, '--file=-', file], (more) => {
    if (text.length < MOST_READ) text += more;
  });
  const steps = [...text.matchAll(/^(\d{4}-[\w-]+)\t/gm)].map(([, name]) => String(name));
  if (steps.length === 0) throw backupFailed(`${file} holds no books of Tollhouse`);
  const known = new Set(SCHEMA_STEPS.map(([name]) => name));
  const unknown = steps.filter((name) => !known.has(name));
  if (unknown.length === 0) return;
  throw backupFailed(
    `${file} has a newer schema (${unknown.join(', ')}) than this version of Tollhouse knows; install the version that made it, or a later one`,
  );
}
