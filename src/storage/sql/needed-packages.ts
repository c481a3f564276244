import type { OptionalPackage } from '../../lib/optional-packages.js';
import { readDatabaseUrl } from './database-url.js';
import { hasOwnSqlite } from './sqlite/load-sqlite-driver.js';

/**
 * The packages that a database, and Redis beside it, are reached with. Throws `bad_option` for a URL that cannot be used.
 * @param node - version of Node, without the `v`
 */
export function packagesFor(databaseUrl: string, redisUrl?: string, node?: string): readonly OptionalPackage[] {
  const { dialect } = readDatabaseUrl(databaseUrl);
  return [...(dialect === 'postgres' ? POSTGRES : sqlite(node)), ...(redisUrl === undefined ? [] : REDIS)];
}

const POSTGRES = ['pg'] as const;
const REDIS = ['ioredis'] as const;

function sqlite(node?: string): readonly OptionalPackage[] {
  return hasOwnSqlite(node) ? [] : ['better-sqlite3'];
}
