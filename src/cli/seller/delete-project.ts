import { createInterface } from 'node:readline/promises';
import { fillPath } from '../../http/framework/path.js';
import { owedResponse, PAYOUTS_PATHS, payoutResponse } from '../../http/payouts/schemas.js';
import { PROJECTS_PATHS } from '../../http/projects/schemas.js';
import { onlyOne, readArguments, SERVER_FLAGS } from '../arguments/arguments.js';
import { CommandError, RefusedError, UsageError } from '../command.js';
import { printStep } from '../output/terminal.js';
import { openSession, type ServerSession, understood } from '../session/session.js';
import { selectProject } from './find-project.js';
import { printOwed, printPayouts } from './payouts.js';

const OVER: readonly string[] = ['paid', 'failed'];
const NOT_FOUND = 404;

/** `tollhouse projects delete`: answers the exit code. */
export async function deleteProject(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, { ...SERVER_FLAGS, yes: { type: 'boolean' } });
  const wanted = onlyOne(positionals, 'tollhouse projects delete <slug or id> [--yes]');
  const session = openSession(values.server);
  const { id, slug, name } = await selectProject(session, wanted);
  if (!values.yes) await confirm(slug);
  await session.delete(fillPath(PROJECTS_PATHS.one, { id }));
  if (values.json) return 0;
  printStep('deleted', `${name} (${slug}, ${id}); the slug is kept for you for 30 days`);
  const readers = [`analytics ${id}`, `calls --of ${id}`, `payouts list --project ${id}`];
  printStep('stays', `what is read by this id: ${readers.map((it) => `npx tollhouse ${it}`).join(', ')}`);
  await printDebts(session, id);
  return 0;
}

async function confirm(slug: string): Promise<void> {
  if (!process.stdin.isTTY) throw new UsageError('a project is deleted for ever; say --yes');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const typed = await terminal.question(`"${slug}" is deleted for ever. Type its slug to go on: `);
  terminal.close();
  if (typed.trim() !== slug) throw new CommandError('nothing was deleted');
}

/** What others have to get of it still. That it cannot be read does not make the deletion fail. */
async function printDebts(session: ServerSession, project_id: string): Promise<void> {
  try {
    const { owed, open } = await debtsOf(session, project_id);
    if (owed.length + open.length === 0) return;
    printStep('to pay', `by itself, or now: npx tollhouse payouts pay --project ${project_id}`);
    if (open.length > 0) printPayouts(open);
    if (owed.length > 0) printOwed(owed);
  } catch (error) {
    // A server without split payments owes nobody anything.
    if (error instanceof RefusedError && error.status === NOT_FOUND) return;
    if (!(error instanceof CommandError)) throw error;
    printStep('to pay', `not known (${error.message}); see npx tollhouse payouts list --project ${project_id}`);
  }
}

async function debtsOf(session: ServerSession, project_id: string) {
  const { data: owed } = understood(owedResponse, await session.get(fillPath(PAYOUTS_PATHS.owed, { project_id })));
  const payouts = await session.list(fillPath(PAYOUTS_PATHS.all, { project_id }));
  const open = payouts.map((it) => understood(payoutResponse, it)).filter(({ state }) => !OVER.includes(state));
  return { owed, open };
}
