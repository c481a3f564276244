import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { badOption } from '../../../errors/errors.js';
import { namingAllMissing } from '../../../lib/optional-packages.js';
import { IN_MEMORY, readDatabaseUrl } from '../database-url.js';
import { packagesFor } from '../needed-packages.js';
import { refuseReadOnly } from '../postgres-database.js';
import type { Dialect } from '../sql-database.js';
import { backupFailed } from './backup-error.js';
import { type BackupOptions, backupWork, type Restored } from './backup-options.js';
import { backUpPostgres, restorePostgres } from './postgres-backup.js';
import { backUpSqlite, restoreSqlite } from './sqlite-backup.js';
import { restoreIntoPostgres } from './sqlite-into-postgres.js';
import { beginningOf } from './whole-file.js';

/** A backup as its maker is told of it. */
export interface MadeBackup {
  /** Whole path of the file. */
  readonly file: string;
  /** The last step of the schema in it; undefined where there is none. */
  readonly schema: string | undefined;
}

/** How the files of the two begin. */
const BEGINNINGS = [
  { dialect: 'sqlite', text: 'SQLite format 3\u0000' },
  { dialect: 'postgres', text: 'PGDMP' },
] as const;
const LONGEST = 16;
const DUMP = 'a dump of Postgres (pg_dump --format=custom)';

/**
 * Writes the books as they are at this moment into a file, while whoever uses them goes on: of SQLite another SQLite file, of Postgres a
 * dump by `pg_dump`. It is read again and checked before it gets its name; only its owner can read it.
 * @throws TollhouseError `backup_failed`, `bad_option` for `memory:`, and what `openStorage` throws
 */
export async function backUpDatabase(
  databaseUrl: string,
  file: string,
  options: BackupOptions = {},
): Promise<MadeBackup> {
  const location = locationOf(databaseUrl, 'backUpDatabase');
  const path = resolve(file);
  refusePlace(path, options.force === true);
  const work = backupWork(options);
  const schema = await namingAllMissing('backUpDatabase', packagesFor(databaseUrl), () =>
    location.dialect === 'postgres'
      ? backUpPostgres(location.url, path, work)
      : backUpSqlite(resolve(location.path), path, work),
  );
  return { file: path, schema };
}

/**
 * Puts a backup into a database that holds nothing of Tollhouse yet; of SQLite, with `force`, into the place of a file that nobody has
 * open, which is set aside. A SQLite file goes into Postgres as well, which is the way from one to the other. The schema is brought up to
 * date, and what was open then is ended: see `settleRestored`.
 * @throws TollhouseError `backup_failed`, `bad_option` for `memory:` and a schema that is newer than this program, `store_unavailable` for
 * a server that takes no writes
 */
export async function restoreDatabase(
  databaseUrl: string,
  file: string,
  options: BackupOptions = {},
): Promise<Restored> {
  const location = locationOf(databaseUrl, 'restoreDatabase');
  const path = resolve(file);
  const dialect = await dialectOf(path);
  const work = backupWork(options);
  return namingAllMissing('restoreDatabase', packagesFor(databaseUrl), async () => {
    if (location.dialect === 'postgres') {
      await refuseReadOnly(location.url);
      const restore = dialect === 'postgres' ? restorePostgres : restoreIntoPostgres;
      return restore(databaseUrl, path, work);
    }
    if (dialect === 'postgres') throw backupFailed(`${path} is ${DUMP}, which is restored into Postgres alone`);
    return restoreSqlite(resolve(location.path), path, options.force === true, work);
  });
}

/** A place that no backup can be written to. */
function refusePlace(path: string, force: boolean): void {
  const folder = dirname(path);
  if (!existsSync(folder)) throw backupFailed(`there is no folder ${folder}; make it first, or name a file elsewhere`);
  if (!statSync(folder).isDirectory()) throw backupFailed(`${folder} is a file and no folder; name a file elsewhere`);
  if (!existsSync(path)) return;
  if (statSync(path).isDirectory()) throw backupFailed(`${path} is a folder; name a file in it`);
  if (!force) throw backupFailed(`${path} is there already; name another file, or take --force`);
}

function locationOf(databaseUrl: string, where: string) {
  const location = readDatabaseUrl(databaseUrl);
  if (location.dialect === 'postgres' || location.path !== IN_MEMORY) return location;
  throw badOption(where, 'memory: is seen by its own process only; name a file or a server', 'databaseUrl');
}

/** What a backup was made of. */
async function dialectOf(path: string): Promise<Dialect> {
  if (!existsSync(path)) throw backupFailed(`no such file: ${path}`);
  if (statSync(path).isDirectory()) throw backupFailed(`${path} is a folder; name the file of the backup in it`);
  const beginning = await beginningOf(path, LONGEST);
  const kind = BEGINNINGS.find(({ text }) => beginning.startsWith(text));
  if (kind === undefined) throw backupFailed(`${path} is no backup: neither a SQLite file nor ${DUMP}`);
  return kind.dialect;
}
