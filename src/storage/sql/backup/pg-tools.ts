import { spawn } from 'node:child_process';
import { lineOf } from '../driver-error.js';
import { backupFailed } from './backup-error.js';

/** A client tool of Postgres. */
export type PgTool = 'pg_dump' | 'pg_restore';

const MISSING = 'ENOENT';
/** What a tool says is shown as far as it helps. */
const SHOWN = 600;

/**
 * Runs a client tool of Postgres. Its password goes by the environment, which other users of the machine do not see.
 * @param url - of the database that it works on; undefined where it only reads a file
 * @param onOutput - is given what it writes to standard output. Default: nobody
 * @throws TollhouseError `backup_failed` where it is not installed, is older than the server, or says that something went wrong
 */
export async function runPgTool(
  tool: PgTool,
  url: string | undefined,
  args: readonly string[],
  onOutput: (text: string) => void = () => undefined,
): Promise<void> {
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
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', (error) => reject(startFault(tool, error)));
    child.once('close', resolve);
  });
  if (code !== 0) throw complaintOf(tool, complaint);
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
