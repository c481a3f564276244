import type { OptionalPackage } from '../optional-packages.js';
import { readDatabaseUrl } from './database-url.js';

/** The packages that a database, and Redis beside it, are reached with. Throws `bad_option` for a URL that cannot be used. */
export function packagesFor(databaseUrl: string, redisUrl?: string): readonly OptionalPackage[] {
  const { dialect } = readDatabaseUrl(databaseUrl);
  return ['kysely', dialect === 'postgres' ? 'pg' : 'better-sqlite3', ...(redisUrl === undefined ? [] : REDIS)];
}

const REDIS = ['ioredis'] as const;
