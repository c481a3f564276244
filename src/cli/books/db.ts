import { readConfiguration } from '../../server/configuration/configuration.js';
import {
  createPaymentReader,
  type PaymentRange,
  type PaymentReader,
  type StateCount,
} from '../../storage/books/payment-reader.js';
import { withoutPassword } from '../../storage/sql/database-url.js';
import { readSchema } from '../../storage/sql/schema-state.js';
import { readArguments } from '../arguments/arguments.js';
import { readTime } from '../arguments/time-argument.js';
import { type Command, UsageError } from '../command.js';
import { createProgress } from '../output/progress.js';
import { printJson, printStep, secondsSince } from '../output/terminal.js';
import { pickAction } from '../sub-command.js';
import { backUp, markRestored, restore } from './back-up.js';
import { lookAtSchema, requireSchema } from './current-schema.js';
import { exportedText, exportPayments } from './export-payments.js';
import { forgetSealedSecrets } from './forget-sealed-secrets.js';
import { withStorage } from './with-storage.js';

const HELP = `tollhouse db migrate [--json]
tollhouse db status [--json]
tollhouse db backup <file> [--force] [--json]
tollhouse db restore <file> [--force] [--json]
tollhouse db restored [--json]
tollhouse db forget-secrets [--yes] [--json]
tollhouse db export [--format csv|jsonl] [--from <time>] [--to <time>] [--out <file>]

Looks after the database that DATABASE_URL names (default sqlite:./data/tollhouse.db).

  migrate   brings the schema up to date; "tollhouse serve" does so at its start
  status    shows the schema, its size and what it holds, and changes nothing;
            exit code 1 while steps of the schema are pending
  backup    writes the books as they are at this moment into a file, while the server goes on; it is checked
            before it gets its name, and only its owner can read it. Of SQLite it is a SQLite file, of Postgres a
            dump of its tollhouse_ tables by pg_dump, which must be in PATH and of the server's version or later
  restore   puts a backup into a database that has no books of Tollhouse yet, and brings its schema up to date. One
            of SQLite goes into Postgres as well: the way from one to the other, with the server stopped.
            What was paid after the backup counts as used: nobody is served twice for it. Then it says what to do
  restored  says that the database was restored in another way (a snapshot of the disk, point-in-time recovery), or
            ends a restore into Postgres that was broken off: the same rules are good for it then. Stop the server before
  forget-secrets
            lists the projects whose upstream's secrets SECRETS_KEY does not open, for which the server does not
            start; with --yes they are taken away, and their owners have to give them anew. Exit code 1 while there are any
  export    writes payments and payouts out, the oldest first, to standard output or into a file: a row for
            each recipient, so that the rows of a wallet (moved_atomic) add up to what the chain has moved

  --yes              forget-secrets: their key is lost for good
  --force            backup: replaces the file; restore: replaces the SQLite file, which is set aside. Nobody may have it open
  --format <name>    csv (default; RFC 4180, with a line of column names) or jsonl
  --from, --to       a day (2026-01-31) or a time (2026-01-31T12:00:00Z); --to is not included
  --out <file>       a file that is not there yet

Payments that were made are kept for 400 days, those that failed for one.

Environment:
  DATABASE_URL   sqlite:<path> or postgres://user:password@host:port/database
  SECRETS_KEY    forget-secrets: the keys that there are, as for "tollhouse serve"
  TOKENS_FILE    JSON: symbols and decimals of further tokens, as for "tollhouse serve"`;

const MIB = 1024 * 1024;

/** `tollhouse db`: the schema, what the books hold, and their export. */
export const db: Command = {
  help: HELP,
  async run([name, ...args]) {
    const action = pickAction('tollhouse db', ACTIONS, name);
    const { DATABASE_URL, TOKENS_FILE } = process.env;
    const { databaseUrl, tokens } = readConfiguration({ DATABASE_URL, TOKENS_FILE });
    return action(databaseUrl, args, tokens);
  },
};

type Tokens = ReturnType<typeof readConfiguration>['tokens'];
type Action = (databaseUrl: string, args: readonly string[], tokens: Tokens) => Promise<number>;

const ACTIONS: Readonly<Record<string, Action>> = {
  migrate,
  status,
  backup: backUp,
  restore,
  restored: markRestored,
  'forget-secrets': forgetSealedSecrets,
  export: exportBooks,
};

async function migrate(databaseUrl: string, args: readonly string[]): Promise<number> {
  const json = onlyJson(args);
  const { pending } = await readSchema(databaseUrl);
  // Opening it does that.
  await withStorage(databaseUrl, () => undefined);
  if (json) {
    printJson({ database: withoutPassword(databaseUrl), made: pending });
    return 0;
  }
  printStep('database', withoutPassword(databaseUrl));
  for (const step of pending) printStep('made', step);
  printStep('schema', pending.length === 0 ? 'was up to date' : 'is up to date');
  return 0;
}

async function status(databaseUrl: string, args: readonly string[]): Promise<number> {
  const json = onlyJson(args);
  const { made, pending, bytes } = await lookAtSchema(databaseUrl);
  if (json) {
    const counts: StateCount[] = [];
    if (pending.length === 0) {
      await withReader(databaseUrl, async (reader) => void counts.push(...(await reader.counts())));
    }
    printJson({
      database: withoutPassword(databaseUrl),
      bytes,
      schema: made.at(-1) ?? null,
      pending,
      payments: counts.map(countJson),
    });
    return pending.length === 0 ? 0 : 1;
  }
  printStep('database', `${withoutPassword(databaseUrl)}, ${(bytes / MIB).toFixed(1)} MiB`);
  printStep('schema', made.at(-1) ?? 'none yet');
  for (const step of pending) printStep('pending', step);
  if (pending.length > 0) {
    printStep('next', 'npx tollhouse db migrate');
    return 1;
  }
  await withReader(databaseUrl, async (reader) => printCounts(await reader.counts()));
  return 0;
}

const OPEN: ReadonlySet<string> = new Set(['claimed', 'broadcast', 'confirmed']);

function printCounts(counts: readonly StateCount[]): void {
  if (counts.length === 0) printStep('payments', 'none');
  for (const { state, count, oldest } of counts) {
    const since = OPEN.has(state) ? `, the oldest of ${new Date(oldest).toISOString()}` : '';
    printStep(state, `${count}${since}`);
  }
}

async function exportBooks(databaseUrl: string, args: readonly string[], tokens: Tokens): Promise<number> {
  const { values, positionals } = readArguments(args, EXPORT_OPTIONS);
  noMore(positionals);
  const { format, out } = values;
  if (format !== 'csv' && format !== 'jsonl') throw new UsageError('--format must be csv or jsonl');
  const range = { from: readTime('--from', values.from), to: readTime('--to', values.to) };
  refuseTurnedRound(range, values);
  await requireSchema(databaseUrl);
  const progress = createProgress();
  const since = performance.now();
  await withReader(databaseUrl, async (reader) => {
    const exported = await exportPayments(reader, { format, range, out, tokens }, progress);
    progress.end(`${exportedText(exported)} in ${secondsSince(since)}`);
  });
  return 0;
}

/** A range that ends where it begins, or before, would be exported as nothing, without a word. */
function refuseTurnedRound(
  { from, to }: PaymentRange,
  { from: first, to: last }: { from?: string; to?: string },
): void {
  if (from === undefined || to === undefined || from < to) return;
  throw new UsageError(`--from must be before --to, which is not included: "${first}" is not before "${last}"`);
}

const EXPORT_OPTIONS = {
  format: { type: 'string', default: 'csv' },
  from: { type: 'string' },
  to: { type: 'string' },
  out: { type: 'string' },
} as const;

async function withReader(databaseUrl: string, work: (reader: PaymentReader) => Promise<void>): Promise<void> {
  await withStorage(databaseUrl, ({ database }) => work(createPaymentReader(database)));
}

function countJson({ state, count, oldest }: StateCount) {
  return { state, count, oldest_at: new Date(oldest).toISOString() };
}

/** Whether `--json` is among the arguments, and nothing else. */
function onlyJson(args: readonly string[]): boolean {
  const { values, positionals } = readArguments(args, { json: { type: 'boolean' } });
  noMore(positionals);
  return values.json === true;
}

function noMore(args: readonly string[]): void {
  if (args.length > 0) throw new UsageError(`"${args.join(' ')}" is not understood; npx tollhouse db --help`);
}
