import { badOption } from '../../errors/errors.js';
import { createTable } from './migrations/schema-step.js';
import { type NamedSteps, SCHEMA_STEPS } from './migrations/steps.js';
import type { Dialect, Row, SqlInput } from './sql-database.js';

/** One connection to a database whose schema is looked at or changed. */
export interface SchemaConnection {
  readonly dialect: Dialect;
  /** Runs one statement, with parameters `$1`, `$2`, …, and answers its rows. Throws what the driver throws. */
  run(text: string, ...values: readonly SqlInput[]): Promise<readonly Row[]>;
}

/** How far a schema is: names of the steps that were made, and of those that are still to be made, in order. */
export interface SchemaSteps {
  readonly made: readonly string[];
  readonly pending: readonly string[];
}

/** How far a schema is, the room that its database takes, and ids of the keys that something in it is encrypted with. */
export interface SchemaState extends SchemaSteps {
  readonly bytes: number;
  /** Of secrets of upstreams: a server without one of these keys does not start. */
  readonly secretsKeys: readonly string[];
  /** Of responses that are still kept. */
  readonly responseKeys: readonly string[];
}

/** Answers a row where the book of steps is there. */
const FIND_BOOK: Readonly<Record<Dialect, string>> = {
  sqlite: `select 1 as found from sqlite_master where type = 'table' and name = 'tollhouse_migration'`,
  postgres: `select 1 as found where to_regclass('tollhouse_migration') is not null`,
};

/** Only the first versions read it; all of them have made it. */
export const MAKE_LOCK = [
  createTable(
    'tollhouse_migration_lock',
    { id: 'varchar(255) not null primary key', is_locked: 'integer default 0 not null' },
    { kind: 'table if not exists' },
  ),
  `insert into tollhouse_migration_lock (id, is_locked) values ('migration_lock', 0) on conflict (id) do nothing`,
] as const;

/** As the first versions made it through Kysely: they and this one open the same databases. */
const MAKE_BOOK = [
  createTable(
    'tollhouse_migration',
    { name: 'varchar(255) not null primary key', timestamp: 'varchar(255) not null' },
    { kind: 'table if not exists' },
  ),
  ...MAKE_LOCK,
];

/**
 * Brings the schema up to date: every step that was not made yet, in order, forward only. The caller holds the lock under
 * which one instance does this while the others wait, and a transaction, so that all steps are made or none.
 * @param steps - all there are; default {@link SCHEMA_STEPS}
 * @throws `bad_option` when a newer version of Tollhouse has been at the database, or when a step is missing before a later one
 */
export async function migrate(connection: SchemaConnection, steps: NamedSteps = SCHEMA_STEPS): Promise<void> {
  const { made, pending } = await readSteps(connection, steps);
  if (pending.length === 0) return;
  if (made.length === 0) for (const statement of MAKE_BOOK) await connection.run(statement);
  // One time for all: the order of times, which the first versions go by, is that of the names, whatever the clock does.
  const at = new Date().toISOString();
  for (const [name, step] of steps.slice(made.length)) {
    for (const statement of step(connection.dialect)) await connection.run(statement);
    await connection.run('insert into tollhouse_migration (name, timestamp) values ($1, $2)', name, at);
  }
}

/** Looks how far a schema is, and changes nothing. Throws like {@link migrate}. */
export async function readSteps(connection: SchemaConnection, steps: NamedSteps = SCHEMA_STEPS): Promise<SchemaSteps> {
  const booked = await readBook(connection);
  const known = steps.map(([name]) => name);
  refuseNewer(booked, known);
  const made = known.filter((name) => booked.has(name));
  const pending = known.filter((name) => !booked.has(name));
  refuseGap(made, pending);
  return { made, pending };
}

async function readBook({ dialect, run }: SchemaConnection): Promise<ReadonlySet<string>> {
  if ((await run(FIND_BOOK[dialect])).length === 0) return new Set();
  const rows = await run('select name from tollhouse_migration');
  return new Set(rows.map(({ name }) => String(name)));
}

function refuseNewer(booked: ReadonlySet<string>, known: readonly string[]): void {
  const unknown = [...booked].filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  const detail =
    `the database has a newer schema (${unknown.sort().join(', ')}) than this version of Tollhouse knows; ` +
    'install the version that made it, or a later one';
  throw badOption('openStorage', detail, 'databaseUrl');
}

/** Names rise from step to step. */
function refuseGap(made: readonly string[], pending: readonly string[]): void {
  const [missing, last] = [pending[0], made.at(-1)];
  if (missing === undefined || last === undefined || last < missing) return;
  const detail =
    `the schema of the database has a gap: step ${missing} was not made, though ${last}, which comes after it, was; ` +
    'restore the database, or its table tollhouse_migration, from a backup';
  throw badOption('openStorage', detail, 'databaseUrl');
}
