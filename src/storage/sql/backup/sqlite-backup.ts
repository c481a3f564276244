import { existsSync, statSync } from 'node:fs';
import { copyFile, link, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { TollhouseError } from '../../../errors/errors.js';
import { defined } from '../../../lib/defined.js';
import { codeOf, lineOf } from '../driver-error.js';
import { makeFolder } from '../make-folder.js';
import { loadSqliteDriver } from '../sqlite/load-sqlite-driver.js';
import { isBusy, type SqliteConnection } from '../sqlite/sqlite-driver.js';
import { backupFailed } from './backup-error.js';
import type { BackupWork, Restored } from './backup-options.js';
import { checkBooks } from './check-books.js';
import { NOTE_MOMENT } from './moments.js';
import { settleSqlite } from './settle-database.js';
import { writeWhole } from './whole-file.js';

/** How long a look waits for a write of the server. */
const BUSY_MS = 5_000;
const HAS_MOMENTS = `select 1 as found from sqlite_master where type = 'table' and name = 'tollhouse_moment'`;

/**
 * Writes a SQLite file as it is at this moment into another one, while it is written to. Returns the last step of its schema.
 * @param source - whole path of the file
 * @param target - whole path of the backup; it is replaced
 */
export async function backUpSqlite(
  source: string,
  target: string,
  { step, signal, now }: BackupWork,
): Promise<string | undefined> {
  if (!existsSync(source)) throw backupFailed(`no such file: ${source}, which DATABASE_URL names`);
  const begun = now();
  let schema: string | undefined;
  await asBackup(`${source} cannot be backed up`, signal, () =>
    writeWhole(
      target,
      async (part) => {
        await step(`copying ${(statSync(source).size / 2 ** 20).toFixed(1)} MiB`);
        await copyBooks(source, part);
        await step('checking the copy');
        schema = await withFile(part, false, async (connection) => {
          const last = await checkBooks(connection, source);
          noteTime(connection, begun);
          return last;
        });
      },
      { signal },
    ),
  );
  return schema;
}

/** Puts a SQLite file that is a backup into a place, brings it up to date there, and ends what was open in it. */
export async function restoreSqlite(
  target: string,
  backup: string,
  force: boolean,
  { step, signal, now }: BackupWork,
): Promise<Restored> {
  return asBackup(`${backup} cannot be restored`, signal, async () => {
    await step('checking the backup');
    await checkBackup(backup);
    await refuseInUse(target, force);
    makeFolder(dirname(target));
    let restored: Restored | undefined;
    const fill = async (part: string) => {
      await step('copying');
      await copyBooks(backup, part);
      await step('marking what is lost');
      restored = await settleCopy(part, backup, now());
    };
    let setAside: string | undefined;
    const onWhole = async () => {
      setAside = await putAside(target, now());
    };
    await writeWhole(target, fill, { signal, onWhole });
    if (restored === undefined) throw new Error('nothing was restored');
    return { ...restored, ...defined({ setAside }) };
  });
}

/** Checks a SQLite file that is a backup, and copies it. */
export async function copyBackup(backup: string, to: string, signal: AbortSignal): Promise<void> {
  await asBackup(`${backup} cannot be restored`, signal, async () => {
    await checkBackup(backup);
    await copyBooks(backup, to);
  });
}

/**
 * Brings the copy of a backup up to date, and ends what was open in it. Nobody else has the copy: what it rejects is told as a fault of
 * the backup or of the disk, and not of a server.
 */
export async function settleCopy(copy: string, backup: string, now: number): Promise<Restored> {
  try {
    return await settleSqlite(copy, now);
  } catch (error) {
    const said = error instanceof TollhouseError ? (error.cause ?? error) : error;
    throw backupFailed(`${backup} cannot be restored (${lineOf(said)})`, error);
  }
}

async function checkBackup(backup: string): Promise<void> {
  await refuseCut(backup);
  await withFile(backup, true, (connection) => checkBooks(connection, backup));
}

/** As they are at this moment, with what is in the journal beside the file. */
function copyBooks(from: string, to: string): Promise<unknown> {
  return withFile(from, true, (connection) => connection.exec(`vacuum into '${to.replaceAll("'", "''")}'`));
}

/** Opens a file for as long as something is done with it. For its schema, which may be anybody's, no function is called that could do harm. */
export async function withFile<T>(
  file: string,
  readonly: boolean,
  work: (connection: SqliteConnection) => T | Promise<T>,
): Promise<T> {
  const connection = (await loadSqliteDriver()).open(file, { readonly, timeoutMs: BUSY_MS });
  try {
    connection.exec('pragma trusted_schema = off');
    return await work(connection);
  } finally {
    connection.close();
  }
}

const PAGE_SIZE_AT = 16;
const PAGES_AT = 28;
const HEADER_LENGTH = 32;
/** In a field of two bytes. */
const LARGEST_PAGE = 65_536;

/** SQLite takes a page whose end is missing for one that ends in zeros; a journal beside the file may have more pages than it. */
async function refuseCut(backup: string): Promise<void> {
  const file = await open(backup, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_LENGTH), 0, HEADER_LENGTH, 0);
    const written = buffer.readUInt16BE(PAGE_SIZE_AT);
    const pageSize = written === 1 ? LARGEST_PAGE : written;
    const { size } = await file.stat();
    const whole = buffer.readUInt32BE(PAGES_AT) * pageSize;
    if (bytesRead === HEADER_LENGTH && size >= whole && size % pageSize === 0) return;
    throw backupFailed(
      `${backup} is cut off: it has ${size} bytes of ${whole}; copy it again, or take an earlier backup`,
    );
  } finally {
    await file.close();
  }
}

/** In the copy only; what has no table for it is older than this program. */
function noteTime(connection: SqliteConnection, time: number): void {
  if (connection.prepare(HAS_MOMENTS).all([]).length === 0) return;
  connection.prepare(NOTE_MOMENT.text).run({ 1: 'backed_up', 2: time });
}

/** Whoever has a file open in WAL mode holds a lock on it, which leaving that mode would need. */
async function refuseInUse(target: string, force: boolean): Promise<void> {
  if (!existsSync(target) || statSync(target).size === 0) return;
  if (!force) {
    throw backupFailed(
      `${target} is there already; name another file in DATABASE_URL, or stop the server and take --force`,
    );
  }
  try {
    await withFreeFile(target);
  } catch (error) {
    if (isBusy(error)) throw backupFailed(`somebody has ${target} open; stop the server first`, error);
    // A damaged file is why one restores: nobody can tell who has it open.
    if (!codeOf(error).startsWith('SQLITE_') && codeOf(error) !== 'ERR_SQLITE_ERROR') throw error;
  }
}

async function withFreeFile(target: string): Promise<void> {
  const connection = (await loadSqliteDriver()).open(target, { timeoutMs: 0 });
  try {
    connection.exec('pragma journal_mode = delete');
  } finally {
    connection.close();
  }
}

/** What stood there is kept under another name as well; in its place it stays until the other one is there. */
async function putAside(target: string, time: number): Promise<string | undefined> {
  if (!existsSync(target)) return undefined;
  const aside = `${target}.before-${new Date(time).toISOString().replace(/[-:]|\.\d+/g, '')}`;
  await link(target, aside).catch(() => copyFile(target, aside));
  for (const end of ['-wal', '-shm'])
    if (existsSync(`${target}${end}`)) await rename(`${target}${end}`, `${aside}${end}`);
  return aside;
}

/** What the driver or the system throws says what went wrong, and not with what. */
async function asBackup<T>(what: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof TollhouseError ? error : backupFailed(`${what} (${lineOf(error)})`, error);
  }
}
