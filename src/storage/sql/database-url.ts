import { badOption } from '../../errors/errors.js';

/** Where a database is. */
export type DatabaseLocation =
  | { readonly dialect: 'sqlite'; readonly path: string }
  | { readonly dialect: 'postgres'; readonly url: string };

/** SQLite's name for a database that is forgotten when it is closed. */
export const IN_MEMORY = ':memory:';

/** The forms that a database URL may have, as they stand in a sentence. */
export const DATABASE_FORMS = 'sqlite:<path of a file>, postgres://user:password@host:port/database or memory:';

/** Reads a database URL. Throws `bad_option` for one that cannot be used. */
export function readDatabaseUrl(text: string): DatabaseLocation {
  const location = locationOf(text);
  if (location !== undefined) return location;
  throw badOption('openStorage', `the database URL is wrong: it must be ${DATABASE_FORMS}`, 'databaseUrl');
}

/** Whether a text is a database URL that can be used. */
export function isDatabaseUrl(text: string): boolean {
  return locationOf(text) !== undefined;
}

function locationOf(text: string): DatabaseLocation | undefined {
  const path = text === 'memory:' ? IN_MEMORY : /^sqlite:(?:\/\/)?(.+)$/.exec(text)?.[1];
  if (path !== undefined) return { dialect: 'sqlite', path };
  return isUrlOf(['postgres:', 'postgresql:'], text) ? { dialect: 'postgres', url: text } : undefined;
}

/** A database URL to be shown: without a password, and without parameters, which may hold one. */
export function withoutPassword(text: string): string {
  const location = readDatabaseUrl(text);
  if (location.dialect === 'sqlite') return text;
  const { protocol, username, host, pathname } = new URL(location.url);
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`;
}

/** Whether a text is a URL of one of these protocols, with a host part. */
export function isUrlOf(protocols: readonly string[], text: string): boolean {
  return URL.canParse(text) && protocols.includes(new URL(text).protocol) && text.includes('://');
}
