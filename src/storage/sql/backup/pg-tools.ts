import { spawn } from 'node:child_process';
import { throwIfStopped } from '../../../lib/work/stopped.js';
import { lineOf } from '../driver-error.js';
import { backupFailed } from './backup-error.js';

/** A client tool of Postgres. */
export type PgTool = 'pg_dump' | 'pg_restore';

const MISSING = 'ENOENT';
/** What a tool says is shown as far as it helps. */
const SHOWN = 600;

/** How a tool is run. */
export interface PgToolRun {
  /** Of the database that it works on. Default: none, it only reads a file. */
  readonly url?: string;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Is given what it writes to standard output. Default: nobody. */
  readonly onOutput?: (text: string) => void;
}

/**
 * Runs a client tool of Postgres, which is over when this is. Its password goes by the environment, which other users of the machine do not see.
 * @throws TollhouseError `backup_failed` where it is not installed, is older than the server, or says that something went wrong; the
 * reason of the signal where that has ended it
 */
export async function runPgTool(
  tool: PgTool,
  args: readonly string[],
  { url, signal, onOutput = () => undefined }: PgToolRun,
): Promise<void> {
  signal.throwIfAborted();
  const { shown, password } = url === undefined ? { shown: [], password: {} } : connectionOf(url);
  const child = spawn(tool, [...shown, ...args], {
    env: { ...process.env, ...password },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let complaint = '';
  child.stdout.setEncoding('utf8').on('data', onOutput);
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = `${complaint}${text}`.slice(-SHOWN * 2);
  });
  const end = () => void child.kill();
  signal.addEventListener('abort', end);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', (error) => reject(startFault(tool, error)));
    child.once('close', resolve);
  });
  const code = await ended.finally(() => signal.removeEventListener('abort', end));
  if (code === 0) return;
  // A terminal sends it to both: the tool may have heard it first.
  await throwIfStopped(signal);
  throw complaintOf(tool, complaint);
}

function connectionOf(url: string) {
  const open = new URL(url);
  const { password } = open;
  open.password = '';
  return {
    shown: [`--dbname=${open.href}`],
    password: password === '' ? {} : { PGPASSWORD: decodeURIComponent(password) },
  };
}

function startFault(tool: PgTool, error: Error): Error {
  const isMissing = Reflect.get(error, 'code') === MISSING;
  const why = isMissing
    ? `there is no ${tool} in PATH: install the client tools of PostgreSQL, of the server's version or later (Debian: postgresql-client)`
    : `${tool} cannot be started (${lineOf(error)})`;
  return backupFailed(why, error);
}

function complaintOf(tool: PgTool, complaint: string): Error {
  const [, server] = /server version: ([\d.]{1,20})/.exec(complaint) ?? [];
  const [, own] = /pg_dump version: ([\d.]{1,20})/.exec(complaint) ?? [];
  if (server !== undefined && own !== undefined) {
    return backupFailed(
      `${tool} ${own} is older than the server, ${server}: install the client tools of PostgreSQL ${server}, or put them first in PATH`,
    );
  }
  const said = complaint.replace(/\s+/g, ' ').trim().slice(0, SHOWN);
  return backupFailed(`${tool} failed: ${said === '' ? 'it does not say why' : said}`);
}
