import type pg from 'pg';
import { badOption, TollhouseError } from '../errors.js';
import { codeOf, lineOf, loadDriver } from './load-driver.js';
import { type KyselyModule, loadKysely, migrate } from './migrate.js';
import { type Row, type SqlDatabase, type Step, storeUnavailable } from './sql-database.js';

/** Bounds of the pool: nothing that asks the database waits for ever. Times in milliseconds. */
const POOL = {
  application_name: 'tollhouse',
  max: 10,
  connectionTimeoutMillis: 5_000,
  idleTimeoutMillis: 30_000,
  statement_timeout: 10_000,
  lock_timeout: 5_000,
  idle_in_transaction_session_timeout: 10_000,
  // Ends what a dead network leaves hanging, which the server's own limits cannot.
  query_timeout: 12_000,
  keepAlive: true,
} as const satisfies pg.PoolConfig;

/** SQLSTATEs that a retry does not help: wrong name, password or database, missing rights, a server that is too old. */
const WRONG_URL = new Set(['28000', '28P01', '3D000', '42501', '42601', '0A000', 'ENOTFOUND', 'EAI_AGAIN']);
const MIN_VERSION = 140_000;

/**
 * Connects to a PostgreSQL (14 or later) and brings its schema up to date.
 * @param url - `postgres://user:password@host:port/database`, with the parameters that pg knows
 * @throws `missing_dependency` without pg or kysely, `bad_option` for a URL that cannot be right or a newer schema,
 * `store_unavailable` when the server cannot be reached
 */
export async function openPostgres(url: string): Promise<SqlDatabase> {
  const kysely = await loadKysely();
  const driver = (await loadDriver('pg', () => import('pg'))).default;
  try {
    await prepareSchema(kysely, driver, url);
  } catch (error) {
    throw error instanceof TollhouseError ? error : cannotConnect(url, error);
  }
  return postgresDatabase(quietPool(driver, { ...POOL, connectionString: url }));
}

/** On connections of its own, without time-outs: a step over a large table takes its time. */
async function prepareSchema(kysely: KyselyModule, driver: typeof pg, url: string): Promise<void> {
  const { application_name, connectionTimeoutMillis, keepAlive } = POOL;
  const options = { connectionString: url, application_name, connectionTimeoutMillis, keepAlive, max: 2 };
  const pool = quietPool(driver, options);
  const db = new kysely.Kysely<unknown>({ dialect: new kysely.PostgresDialect({ pool }) });
  try {
    const { rows } = await pool.query<{ version: number }>(
      "select current_setting('server_version_num')::int as version",
    );
    if ((rows[0]?.version ?? 0) < MIN_VERSION) {
      throw badOption('openStorage', 'the PostgreSQL server is older than 14; use a later one', 'databaseUrl');
    }
    await migrate(kysely, db, 'postgres');
  } finally {
    await db.destroy();
  }
}

/** A pool that outlives the loss of an idle connection; the next query opens another one. */
function quietPool(driver: typeof pg, config: pg.PoolConfig): pg.Pool {
  const pool = new driver.Pool(config);
  pool.on('error', () => {});
  return pool;
}

function cannotConnect(url: string, cause: unknown): TollhouseError {
  const { host, pathname } = new URL(url);
  const detail = `cannot use the PostgreSQL database ${host}${pathname} (${lineOf(cause)})`;
  if (WRONG_URL.has(codeOf(cause))) return badOption('openStorage', `${detail}; correct the URL`, 'databaseUrl');
  return new TollhouseError('store_unavailable', `openStorage: ${detail}; is it running?`, { cause });
}

function postgresDatabase(pool: pg.Pool): SqlDatabase {
  async function batch(steps: readonly Step[]): Promise<readonly (readonly Row[])[]> {
    const client = await pool.connect().catch((cause: unknown) => {
      throw storeUnavailable(cause);
    });
    const results: (readonly Row[])[] = [];
    try {
      await client.query('begin');
      for (const step of steps) results.push(await run(client, step));
      await client.query('commit');
      client.release();
      return results;
    } catch (cause) {
      // Closing the connection rolls back, also where it no longer answers.
      client.release(true);
      throw storeUnavailable(cause);
    }
  }

  async function query(...step: Step): Promise<readonly Row[]> {
    try {
      return await run(pool, step);
    } catch (cause) {
      throw storeUnavailable(cause);
    }
  }

  return { query, batch, close: () => pool.end() };
}

async function run(target: pg.Pool | pg.PoolClient, [{ name, text }, ...values]: Step): Promise<readonly Row[]> {
  return (await target.query<Row>({ name, text, values })).rows;
}
