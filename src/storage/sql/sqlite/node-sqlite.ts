import { TollhouseError } from '../../../errors/errors.js';
import type { Row } from '../sql-database.js';
import type { SqliteConnection, SqliteDriver, SqliteStatement, SqliteValues } from './sqlite-driver.js';

/** What is used of `node:sqlite`. Written out, for its types are not in those of Node 20. */
interface NodeSqlite {
  readonly DatabaseSync: new (file: string, options: { readOnly: boolean; timeout: number }) => Database;
}

interface Database {
  readonly isOpen: boolean;
  readonly isTransaction: boolean;
  prepare(text: string): Statement;
  exec(text: string): void;
  close(): void;
}

interface Statement {
  setReadBigInts(enabled: boolean): void;
  setAllowUnknownNamedParameters(enabled: boolean): void;
  columns(): readonly unknown[];
  all(...values: readonly unknown[]): Row[];
  run(...values: readonly unknown[]): unknown;
}

/** Takes Node's own SQLite, of Node 24 and later. Throws `missing_dependency` when this Node was made without it. */
export function loadNodeSqlite(): SqliteDriver {
  const sqlite = nodeSqlite();
  if (sqlite === undefined) {
    const detail = `openStorage: this Node ${process.versions.node} has no SQLite (node:sqlite); use one that was built with it`;
    throw new TollhouseError('missing_dependency', detail);
  }
  return {
    open: (file, { readonly = false, timeoutMs }) =>
      connectionOf(new sqlite.DatabaseSync(file, { readOnly: readonly, timeout: timeoutMs })),
  };
}

/** Not imported: tools that know the modules of an older Node would look for a package of that name. */
function nodeSqlite(): NodeSqlite | undefined {
  // The first ones of Node 24 still say that it is an experiment, once, to whoever runs this service.
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return process.getBuiltinModule('node:sqlite') as NodeSqlite | undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}

function connectionOf(database: Database): SqliteConnection {
  return {
    get inTransaction() {
      return database.isTransaction;
    },
    prepare: (text) => statementOf(database.prepare(text)),
    exec: (text) => database.exec(text),
    close() {
      if (database.isOpen) database.close();
    },
  };
}

function statementOf(statement: Statement): SqliteStatement {
  statement.setReadBigInts(true);
  // Some texts have no use for every value that their name is given.
  statement.setAllowUnknownNamedParameters(true);
  return {
    reader: statement.columns().length > 0,
    all: (values) => statement.all(...argumentsOf(values)),
    run: (values) => statement.run(...argumentsOf(values)),
  };
}

function argumentsOf(values: SqliteValues): readonly unknown[] {
  return Array.isArray(values) ? values : [values];
}
