import { badOption, TollhouseError } from '../../errors/errors.js';
import { codeOf, lineOf } from './driver-error.js';
import { storeUnavailable } from './sql-database.js';

/** Connections that one process has at the most: those for its work, those for its counters, and the one by which it is seen. */
export const POOL_CONNECTIONS = 8;
export const COUNTER_CONNECTIONS = 2;
export const CONNECTIONS = POOL_CONNECTIONS + COUNTER_CONNECTIONS + 1;

/** SQLSTATEs that a retry does not help: wrong name, password or database, a server that is too old. */
const WRONG_URL = new Set(['28000', '28P01', '3D000', '42601', '0A000', 'ENOTFOUND', 'EAI_AGAIN']);

const NO_RIGHTS = '42501';
const RIGHTS_ADVICE =
  'allow its user what the one that made the tables may: name that one in the URL, or make this one their owner (all begin with tollhouse_)';

/** Of statements that were prepared in a session and are not in it: a pooler has changed the session between them. */
const OTHER_SESSION = new Set(['26000', '42P05']);
const TOO_MANY_CONNECTIONS = '53300';
const READ_ONLY = '25006';
const READ_ONLY_ADVICE =
  'it takes no writes: it is a standby, or set to be read only (default_transaction_read_only); name the one that takes them in the URL, or change the setting';
/** What poolers say to parameters that they do not know, and to transactions in statement mode. */
const OF_POOLER = /unsupported startup parameter|statement pooling mode/;

const SESSION_ADVICE =
  'connect directly, or through a pooler in session mode whose ignore_startup_parameters has options, statement_timeout, ' +
  'lock_timeout and idle_in_transaction_session_timeout; one in transaction mode cannot be used, as the lock by which a ' +
  'process is seen and prepared statements belong to a session';
const CONNECTIONS_ADVICE = `allow ${CONNECTIONS} connections to each process of Tollhouse, and two more to commands beside it`;

/** Two connections have turned out to be in one session of the server. */
export class SharedSession extends Error {
  constructor() {
    super('two connections are in one session: a pooler in transaction mode is between');
  }
}

/** The error for a database that cannot be opened: what it has said, and what to do. */
export function cannotConnect(url: string, cause: unknown): TollhouseError {
  const { host, pathname } = new URL(url);
  const detail = `cannot use the PostgreSQL database ${host}${pathname} (${lineOf(cause)})`;
  if (codeOf(cause) === NO_RIGHTS) return badOption('openStorage', `${detail}; ${RIGHTS_ADVICE}`, 'databaseUrl');
  if (WRONG_URL.has(codeOf(cause))) return badOption('openStorage', `${detail}; correct the URL`, 'databaseUrl');
  const advice = adviceFor(cause) ?? 'is it running?';
  return new TollhouseError('store_unavailable', `openStorage: ${detail}; ${advice}`, { cause });
}

/** Class 22 of SQLSTATE: a value that no column can hold. The database answers, and will answer the same again. */
const DATA_EXCEPTION = /^22[\dA-Z]{3}$/;

/**
 * The error for a database that did not do what it was asked: `store_unavailable`, whose cause says what to do where that is known; or
 * the driver's own where it was asked with a value that it can never take, which is a mistake of ours.
 */
export function postgresFailure(cause: unknown): Error {
  if (cause instanceof Error && DATA_EXCEPTION.test(codeOf(cause))) return cause;
  const advice = adviceFor(cause);
  return storeUnavailable(advice === undefined ? cause : new Error(`${lineOf(cause)}; ${advice}`, { cause }));
}

/** The error for a database that lets a user have fewer connections than one process opens. */
export function tooFewConnections(allowed: number): TollhouseError {
  const detail = `openStorage: the PostgreSQL database allows this user ${allowed} connections at once; ${CONNECTIONS_ADVICE}`;
  return new TollhouseError('store_unavailable', detail);
}

/** The error for a database that takes no writes, which was asked before one was tried. */
export function readOnlyDatabase(url: string): TollhouseError {
  const { host, pathname } = new URL(url);
  const detail = `openStorage: cannot use the PostgreSQL database ${host}${pathname}: ${READ_ONLY_ADVICE}`;
  return new TollhouseError('store_unavailable', detail);
}

function adviceFor(cause: unknown): string | undefined {
  const code = codeOf(cause);
  if (code === TOO_MANY_CONNECTIONS) return CONNECTIONS_ADVICE;
  if (code === READ_ONLY) return READ_ONLY_ADVICE;
  const isOfPooler = cause instanceof SharedSession || OTHER_SESSION.has(code) || OF_POOLER.test(lineOf(cause));
  return isOfPooler ? SESSION_ADVICE : undefined;
}
