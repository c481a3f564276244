import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { badOption } from '../../errors/errors.js';
import { IN_MEMORY, readDatabaseUrl } from '../../storage/sql/database-url.js';
import { makeFolder } from '../../storage/sql/make-folder.js';
import { readSecretFile } from './secret-file.js';

const KEY_BYTES = 32;
const OWNER_ONLY = 0o600;
const ENDING = '.secrets-key';

/**
 * The key for secrets of upstreams on the sandbox, where nobody has set one: beside a SQLite file, made with the first start, so
 * that what was encrypted can be read by the next one. A database in memory has one that is forgotten with it; Postgres, which
 * other servers may share, has none.
 * @throws TollhouseError `bad_option` where its file can neither be read nor made
 */
export function keptSecretsKey(databaseUrl: string): readonly string[] {
  const location = readDatabaseUrl(databaseUrl);
  if (location.dialect === 'postgres') return [];
  const fresh = randomBytes(KEY_BYTES).toString('base64');
  if (location.path === IN_MEMORY) return [fresh];
  const path = `${location.path}${ENDING}`;
  const isMade = makeFile(path, `${fresh}\n`);
  const kept = isMade ? fresh : readSecretFile(path)?.trim();
  if (kept) return [kept];
  throw badOption('environment', `the file "${path}" cannot be read: mend that, or set SECRETS_KEY`, 'secretsKey');
}

/** The key that {@link keptSecretsKey} would find; none where it would make one. Makes nothing. */
export function foundSecretsKey(databaseUrl: string): readonly string[] {
  const location = readDatabaseUrl(databaseUrl);
  if (location.dialect === 'postgres' || location.path === IN_MEMORY) return [];
  const kept = readSecretFile(`${location.path}${ENDING}`)?.trim();
  return kept ? [kept] : [];
}

/** False where there is one. */
function makeFile(path: string, text: string): boolean {
  try {
    makeFolder(dirname(path));
    writeFileSync(path, text, { flag: 'wx', mode: OWNER_ONLY });
    return true;
  } catch (error) {
    if (Reflect.get(Object(error), 'code') === 'EEXIST') return false;
    throw badOption('environment', `the file "${path}" cannot be made: mend that, or set SECRETS_KEY`, 'secretsKey');
  }
}
