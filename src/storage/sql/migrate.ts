import type { Kysely, Migration, Migrator, sql as Sql } from 'kysely';
import { TollhouseError } from '../../errors/errors.js';
import { loadDriver } from './load-driver.js';
import { payments } from './migrations/0001-payments.js';
import { counters } from './migrations/0002-counters.js';
import { events } from './migrations/0003-events.js';
import { answers } from './migrations/0004-answers.js';
import { webhooks } from './migrations/0005-webhooks.js';
import { serviceKeys } from './migrations/0006-service-keys.js';
import { projects } from './migrations/0007-projects.js';
import { calls } from './migrations/0008-calls.js';
import { payouts } from './migrations/0009-payouts.js';
import { paymentUses } from './migrations/0010-payment-uses.js';
import { payoutProofs } from './migrations/0011-payout-proofs.js';
import { oneSol } from './migrations/0012-one-sol.js';
import type { Dialect } from './sql-database.js';

/** The parts of Kysely in use, loaded only where there is a database. */
export type KyselyModule = Pick<
  typeof import('kysely'),
  'Kysely' | 'Migrator' | 'PostgresDialect' | 'SqliteDialect' | 'sql'
>;

/** Names of the tables in which Kysely notes what was done. */
const TABLES = { migrationTableName: 'tollhouse_migration', migrationLockTableName: 'tollhouse_migration_lock' };

/** Loads Kysely. Throws `missing_dependency` when it is not installed. */
export function loadKysely(): Promise<KyselyModule> {
  return loadDriver('kysely', () => import('kysely'));
}

/**
 * Brings the schema up to date: every step in `migrations/` that was not made yet, in order, forward only. In Postgres
 * Kysely holds an advisory lock meanwhile; on SQLite the caller must hold the write lock. Of several instances that start
 * at once one does it and the others wait.
 * @throws `bad_option` when a newer version of Tollhouse has been at the database
 */
export async function migrate(kysely: KyselyModule, db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const migrator = await migratorOf(kysely, db, dialect);
  const { error } = await migrator.migrateToLatest();
  if (error === undefined) return;
  await migratorOf(kysely, db, dialect);
  throw error;
}

/** How far a schema is: names of the steps that were made, and of those that are still to be made, in order. */
export interface SchemaSteps {
  readonly made: readonly string[];
  readonly pending: readonly string[];
}

/** How far a schema is, and the room that its database takes. */
export interface SchemaState extends SchemaSteps {
  readonly bytes: number;
}

/** Looks how far a schema is, and changes nothing. Throws like {@link migrate}. */
export async function readSteps(kysely: KyselyModule, db: Kysely<unknown>, dialect: Dialect): Promise<SchemaSteps> {
  const steps = await (await migratorOf(kysely, db, dialect)).getMigrations();
  const names = (made: boolean) => steps.filter((it) => (it.executedAt !== undefined) === made).map(({ name }) => name);
  return { made: names(true), pending: names(false) };
}

async function migratorOf(kysely: KyselyModule, db: Kysely<unknown>, dialect: Dialect): Promise<Migrator> {
  const migrations = allMigrations(kysely.sql, dialect);
  await refuseNewer(kysely, db, migrations);
  return new kysely.Migrator({ db, provider: { getMigrations: async () => migrations }, ...TABLES });
}

/** Every step there is, by name. A step that was released is never changed. */
function allMigrations(sql: typeof Sql, dialect: Dialect): Readonly<Record<string, Migration>> {
  return {
    '0001-payments': payments(sql, dialect),
    '0002-counters': counters(sql, dialect),
    '0003-events': events(sql, dialect),
    '0004-answers': answers(sql, dialect),
    '0005-webhooks': webhooks(sql, dialect),
    '0006-service-keys': serviceKeys(sql, dialect),
    '0007-projects': projects(sql, dialect),
    '0008-calls': calls(sql, dialect),
    '0009-payouts': payouts(sql, dialect),
    '0010-payment-uses': paymentUses(sql, dialect),
    '0011-payout-proofs': payoutProofs(sql, dialect),
    '0012-one-sol': oneSol(sql),
  };
}

async function refuseNewer({ sql }: KyselyModule, db: Kysely<unknown>, known: object): Promise<void> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === TABLES.migrationTableName)) return;
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(TABLES.migrationTableName)}`.execute(db);
  const unknown = rows.map(({ name }) => name).filter((name) => !Object.hasOwn(known, name));
  if (unknown.length === 0) return;
  const detail =
    `openStorage: the database has a newer schema (${unknown.sort().join(', ')}) than this version of Tollhouse knows; ` +
    'install the version that made it, or a later one';
  throw new TollhouseError('bad_option', detail, { param: 'databaseUrl' });
}
