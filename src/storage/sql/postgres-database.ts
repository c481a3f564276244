import type pg from 'pg';
import { badOption, TollhouseError } from '../../errors/errors.js';
import { whyNotLoaded } from '../../lib/optional-packages.js';
import { refuseBooks } from './backup/backup-error.js';
import { type BooksThere, lookForBooks, refuseUnsettled } from './backup/unsettled.js';
import { migrate, readSteps, type SchemaConnection, type SchemaState } from './migrate.js';
import {
  CONNECTIONS,
  COUNTER_CONNECTIONS,
  cannotConnect,
  POOL_CONNECTIONS,
  postgresFailure,
  readOnlyDatabase,
  tooFewConnections,
} from './postgres-errors.js';
import { postgresPresence } from './presence/postgres-presence.js';
import type { Presence } from './presence/presence.js';
import { readKeysInUse } from './secrets-keys.js';
import type { Row, SqlDatabase, Step } from './sql-database.js';

/** Bounds of the pool: nothing that asks the database waits for ever. Times in milliseconds. */
const POOL = {
  application_name: 'tollhouse',
  max: POOL_CONNECTIONS,
  connectionTimeoutMillis: 5_000,
  idleTimeoutMillis: 30_000,
  statement_timeout: 10_000,
  lock_timeout: 5_000,
  idle_in_transaction_session_timeout: 10_000,
  // Ends what a dead network leaves hanging, which the server's own limits cannot.
  query_timeout: 12_000,
  keepAlive: true,
} as const satisfies pg.PoolConfig;

/** The connection that shows that this process lives; the server notices soon where its other end is gone, and so do we. */
const HOLDER = (connectionString: string): pg.ClientConfig => ({
  connectionString,
  application_name: 'tollhouse presence',
  connectionTimeoutMillis: 2_000,
  query_timeout: 2_000,
  keepAlive: true,
  options: '-c tcp_keepalives_idle=5 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=2',
});

/** The advisory lock of whoever changes the schema, the same one as in the first versions, and how long an instance waits for it. */
const SCHEMA_LOCK = { id: 3_853_314_791_062_309_107n, waitMs: 3_600_000 } as const;

const MIN_VERSION = 140_000;

/** How many connections the user of a database may have at once; nothing bounds those of a superuser but the server's own. */
const ALLOWED: Step = [
  {
    name: 'connections_allowed',
    text: `select least(case when rolconnlimit >= 0 and not rolsuper then rolconnlimit end,
      case when datconnlimit >= 0 and not rolsuper then datconnlimit end, current_setting('max_connections')::int) as allowed
      from pg_roles, pg_database where rolname = session_user and datname = current_database()`,
  },
];

/**
 * Connects to a PostgreSQL (14 or later) and brings its schema up to date.
 * @param url - `postgres://user:password@host:port/database`, with the parameters that pg knows
 * @throws `missing_dependency` without pg, `bad_option` for a URL that cannot be right, a newer schema, or books that a restore has left
 * unsettled, `store_unavailable` when the server cannot be reached
 */
export function openPostgres(url: string): Promise<SqlDatabase> {
  return openMigrated(url, async (connection) => {
    await refuseUnsettled(connection);
    await migrate(connection);
  });
}

/** Opens books that a restore has put there, to settle them: see {@link BooksThere}. Throws like {@link openPostgres}. */
export function openUnsettled(url: string): Promise<SqlDatabase> {
  return openMigrated(url, migrate);
}

async function openMigrated(url: string, work: typeof migrate): Promise<SqlDatabase> {
  const driver = await loadPostgres();
  await withSchema(url, driver, (client) => migrateLocked(client, work));
  return connect(url, driver);
}

/** Looks what a database holds, and changes nothing. Throws like {@link openPostgres}. */
export async function lookAtPostgres(url: string): Promise<BooksThere> {
  return withSchema(url, await loadPostgres(), (client) => lookForBooks(schemaConnection(client)));
}

/**
 * Makes the schema in a PostgreSQL that has none, and fills it, all in one transaction. Throws like {@link openPostgres}, and `backup_failed`
 * where there are tables already.
 * @param signal - stops it before it is committed: it rejects with the signal's reason
 */
export async function fillPostgres(
  url: string,
  fill: (connection: SchemaConnection) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const filled = new AbortController();
  await withSchema(url, await loadPostgres(), async (client) => {
    // Whatever it waits for then fails.
    signal.addEventListener('abort', () => void client.end(), { signal: filled.signal });
    await migrateLocked(client, async (connection) => {
      const { made } = await readSteps(connection);
      refuseBooks(made);
      await migrate(connection);
      await fill(connection);
      signal.throwIfAborted();
      filled.abort();
    });
  }).catch((error: unknown) => {
    if (!filled.signal.aborted) signal.throwIfAborted();
    throw error;
  });
}

/**
 * Connects as {@link openPostgres} does, and lets go again; changes nothing. Throws what that throws, and `store_unavailable`
 * where the user may have fewer connections than a process opens when it has much to do.
 */
export async function tryPostgres(url: string): Promise<void> {
  const database = await connect(url, await loadPostgres());
  try {
    const [row] = await database.query(...ALLOWED);
    const allowed = Number(row?.['allowed']);
    if (allowed < CONNECTIONS) throw tooFewConnections(allowed);
  } finally {
    await database.close();
  }
}

async function connect(url: string, driver: typeof pg): Promise<SqlDatabase> {
  const pool = quietPool(driver, { ...POOL, connectionString: url });
  const apart = quietPool(driver, { ...POOL, max: COUNTER_CONNECTIONS, connectionString: url });
  try {
    const ask = async (text: string, values: readonly number[]) => (await pool.query(text, [...values])).rows;
    return postgresDatabase({ pool, apart }, await postgresPresence(() => new driver.Client(HOLDER(url)), ask));
  } catch (error) {
    await Promise.all([pool.end(), apart.end()]);
    throw cannotConnect(url, error);
  }
}

/** Looks how far the schema of a PostgreSQL database is, and changes nothing. Throws like {@link openPostgres}. */
export async function readPostgresSchema(url: string): Promise<SchemaState> {
  return withSchema(url, await loadPostgres(), async (client) => {
    const { rows } = await client.query<{ bytes: string }>(
      'select pg_database_size(current_database())::text as bytes',
    );
    const schema = schemaConnection(client);
    await refuseUnsettled(schema);
    const steps = await readSteps(schema);
    return { ...steps, bytes: Number(rows[0]?.bytes), ...(await readKeysInUse(schema, steps)) };
  });
}

/** Throws like {@link openPostgres}, and `store_unavailable` where a server that can be reached takes no writes. */
export async function refuseReadOnly(url: string): Promise<void> {
  await withSchema(url, await loadPostgres(), async (client) => {
    const { rows } = await client.query<{ answer: string }>(
      `select current_setting('transaction_read_only') as answer`,
    );
    if (rows[0]?.answer === 'on') throw readOnlyDatabase(url);
  });
}

async function loadPostgres(): Promise<typeof pg> {
  try {
    return (await import('pg')).default;
  } catch (cause) {
    throw whyNotLoaded('openStorage', 'pg', cause);
  }
}

/** On a connection of its own, without time-outs: a step over a large table takes its time. */
async function withSchema<T>(url: string, driver: typeof pg, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const { application_name, connectionTimeoutMillis, keepAlive } = POOL;
  const client = new driver.Client({ connectionString: url, application_name, connectionTimeoutMillis, keepAlive });
  client.on('error', () => {});
  try {
    await client.connect();
    await refuseOld(client);
    return await work(client);
  } catch (error) {
    throw error instanceof TollhouseError ? error : cannotConnect(url, error);
  } finally {
    await client.end();
  }
}

/** In one transaction; where it fails, the end of the connection takes all of it back. */
async function migrateLocked(client: pg.Client, work: typeof migrate): Promise<void> {
  // Whatever the server's default is: what is read under the lock must be what its last holder has written.
  await client.query(
    `begin isolation level read committed; set local lock_timeout = ${SCHEMA_LOCK.waitMs}; select pg_advisory_xact_lock(${SCHEMA_LOCK.id})`,
  );
  await work(schemaConnection(client));
  await client.query('commit');
}

function schemaConnection(client: pg.Client): SchemaConnection {
  return {
    dialect: 'postgres',
    run: async (text, ...values) => (await client.query<Row>(text, [...values])).rows,
  };
}

async function refuseOld(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ version: number }>(
    "select current_setting('server_version_num')::int as version",
  );
  if ((rows[0]?.version ?? 0) >= MIN_VERSION) return;
  throw badOption('openStorage', 'the PostgreSQL server is older than 14; use a later one', 'databaseUrl');
}

/**
 * A pool that outlives the loss of its connections; the next query opens another one. The pool listens to idle ones only:
 * one that is lost between two statements of a transaction would end the process, though its next statement tells all.
 */
function quietPool(driver: typeof pg, config: pg.PoolConfig): pg.Pool {
  const pool = new driver.Pool(config);
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** The connections of a process: for its work, and apart from them for its counters. */
interface Pools {
  readonly pool: pg.Pool;
  readonly apart: pg.Pool;
}

function postgresDatabase({ pool, apart }: Pools, presence: Presence): SqlDatabase {
  async function inTransaction<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await pool.connect().catch((cause: unknown) => {
      throw postgresFailure(cause);
    });
    try {
      await client.query('begin');
      const result = await work(client);
      await client.query('commit');
      client.release();
      return result;
    } catch (cause) {
      // Closing the connection rolls back, also where it no longer responses.
      client.release(true);
      throw postgresFailure(cause);
    }
  }

  function batch(steps: readonly Step[]): Promise<readonly (readonly Row[])[]> {
    return inTransaction(async (client) => {
      const results: (readonly Row[])[] = [];
      for (const step of steps) results.push(await run(client, step));
      return results;
    });
  }

  async function batchIf(guard: Step, steps: readonly Step[], first: readonly Step[] = []): Promise<readonly Row[]> {
    if (steps.length + first.length === 0) return query(...guard);
    return inTransaction(async (client) => {
      for (const step of first) await run(client, step);
      const rows = await run(client, guard);
      if (rows.length > 0) for (const step of steps) await run(client, step);
      return rows;
    });
  }

  const queryOn =
    (target: pg.Pool): SqlDatabase['query'] =>
    async (...step) => {
      try {
        return await run(target, step);
      } catch (cause) {
        throw postgresFailure(cause);
      }
    };
  const query = queryOn(pool);

  let closing: Promise<unknown> | undefined;

  async function close(): Promise<void> {
    closing ??= Promise.all([presence.close(), pool.end(), apart.end()]);
    await closing;
  }

  return { dialect: 'postgres', presence, query, queryApart: queryOn(apart), batch, batchIf, close };
}

async function run(target: pg.Pool | pg.PoolClient, [{ name, text }, ...values]: Step): Promise<readonly Row[]> {
  return (await target.query<Row>({ name, text, values })).rows;
}
