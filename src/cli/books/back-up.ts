import { backUpDatabase, restoreDatabase } from '../../storage/sql/backup/backup.js';
import type { Restored } from '../../storage/sql/backup/backup-options.js';
import { settleDatabase } from '../../storage/sql/backup/settle-database.js';
import { withoutPassword } from '../../storage/sql/database-url.js';
import { none, onlyOne, readArguments } from '../arguments/arguments.js';
import { counted } from '../output/counted.js';
import { createProgress } from '../output/progress.js';
import { stoppable } from '../output/stoppable.js';
import { printJson, printStep, secondsSince } from '../output/terminal.js';
import { refuseMissingFile } from './current-schema.js';

const OPTIONS = { force: { type: 'boolean' }, json: { type: 'boolean' } } as const;
/** Ids of payments that are printed; there may be as many as requests had been under way. */
const SHOWN = 20;

/** `tollhouse db backup <file>`. */
export async function backUp(databaseUrl: string, args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, OPTIONS);
  const wanted = onlyOne(positionals, 'tollhouse db backup <file> [--force] [--json]');
  const progress = createProgress();
  const since = performance.now();
  const options = { force: values.force === true, onStep: (text: string) => progress.show(text) };
  const { file, schema } = await stoppable('nothing was backed up', (signal) =>
    backUpDatabase(databaseUrl, wanted, { ...options, signal }),
  );
  progress.end(`backed up and checked in ${secondsSince(since)}`);
  if (values.json) printJson({ database: withoutPassword(databaseUrl), file, schema: schema ?? null });
  else {
    printStep('database', withoutPassword(databaseUrl));
    printStep('backup', `${file}, schema ${schema ?? 'none'}`);
  }
  return 0;
}

/** `tollhouse db restore <file>`. */
export async function restore(databaseUrl: string, args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, OPTIONS);
  const file = onlyOne(positionals, 'tollhouse db restore <file> [--force] [--json]');
  const progress = createProgress();
  const since = performance.now();
  const options = { force: values.force === true, onStep: (text: string) => progress.show(text) };
  const restored = await stoppable('nothing was restored', (signal) =>
    restoreDatabase(databaseUrl, file, { ...options, signal }),
  );
  progress.end(`restored in ${secondsSince(since)}`);
  tell(databaseUrl, restored, values.json === true);
  return 0;
}

/** `tollhouse db restored`. */
export async function markRestored(databaseUrl: string, args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, { json: OPTIONS.json });
  none(positionals, 'tollhouse db restored [--json]');
  refuseMissingFile(databaseUrl);
  tell(databaseUrl, await settleDatabase(databaseUrl, Date.now()), values.json === true);
  return 0;
}

function tell(databaseUrl: string, { from, to, owed, sent, claimed, setAside }: Restored, isJson: boolean): void {
  const [completeUntil, restoredAt] = [from, to].map((time) => new Date(time).toISOString());
  if (isJson) {
    const database = withoutPassword(databaseUrl);
    const times = { complete_until: completeUntil, restored_at: restoredAt };
    return printJson({ database, ...times, set_aside: setAside ?? null, ended: owed, sent, forgotten: claimed });
  }
  printStep('database', withoutPassword(databaseUrl));
  if (setAside !== undefined) printStep('set aside', setAside);
  printStep('complete', `until ${completeUntil}; what was paid from then to ${restoredAt} counts as used`);
  if (owed.length > 0) {
    const rest = owed.length > SHOWN ? `, and ${owed.length - SHOWN} more` : '';
    const ids = `${owed.slice(0, SHOWN).join(', ')}${rest}`;
    printStep('ended', `${had(owed.length)} landed, and a response was owed, which may have been given since: ${ids}`);
  }
  if (sent > 0)
    printStep('sent', `${had(sent)} been sent: the server asks the chain; nothing can be bought with that any more`);
  if (claimed > 0) printStep('forgotten', `${had(claimed)} not been sent`);
  printStep('next', 'npx tollhouse payouts resolve, where there is a SPLIT_KEYPAIR; then start the server');
  printStep('then', `npx tollhouse reconcile --book-lost: finds on the chain what was paid since ${completeUntil}`);
}

function had(count: number): string {
  return `${counted(count, 'payment')} had`;
}
