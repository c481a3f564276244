import type { z } from 'zod';
import { fillPath } from '../../http/framework/path.js';
import { PASSES_PATHS, passesResponse } from '../../http/spending/pass-schemas.js';
import { none, onlyOne, readArguments, SERVER_FLAGS } from '../arguments/arguments.js';
import { selectItem } from '../arguments/select-item.js';
import type { Command } from '../command.js';
import { printTable } from '../output/table.js';
import { printJson, printStep } from '../output/terminal.js';
import { signInAt } from '../session/credentials.js';
import { openSession, type ServerSession, understood } from '../session/session.js';
import { type Action, pickAction } from '../sub-command.js';

type Pass = z.output<typeof passesResponse>['data'][number];

const NAME = 'tollhouse passes';

const actions: Readonly<Record<string, Action>> = { list, withdraw };

/** `tollhouse passes`: what a wallet has paid for that covers more than one request. */
export const passesCommand: Command = {
  help: `tollhouse passes list
tollhouse passes withdraw <pass>

Passes that your wallet has paid for, and what is left of them: uses, and until when. Sign in first. "withdraw" ends all
tokens of a pass that were given out so far, and its cookies, where somebody else has seen one; the pass stays as it is, and
signing in with the wallet where it is good brings a new token. A pass is named by its id or, where only one of the
newest 100 does, by what it covers.

  --json          prints what the server answers
  --server <url>  Tollhouse server (default: the one signed in to last)`,
  run: ([name, ...args]) => pickAction(NAME, actions, name)(args),
};

async function list(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, SERVER_FLAGS);
  none(positionals, `${NAME} list`);
  const session = openSession(values.server);
  const { found, answered } = await readPasses(session);
  if (values.json) printJson(answered);
  else if (found.length === 0) console.log(nothingYet(session));
  else printTable(['id', 'covers', 'site', 'left', 'ends', 'status'], found.map(rowOf));
  return 0;
}

function nothingYet({ server }: ServerSession): string {
  return `no passes yet that ${signInAt(server)?.wallet} has paid for; a payment buys one where the 402 offers it`;
}

function rowOf({ id, covers, project, site, bought, left, ends_at, status }: Pass): string[] {
  const balance = left === null ? 'any number' : `${left} of ${bought}`;
  return [
    id,
    project === null ? covers : `project ${project}`,
    site,
    balance,
    ends_at?.slice(0, 16).replace('T', ' ') ?? '–',
    status,
  ];
}

async function withdraw(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, SERVER_FLAGS);
  const name = onlyOne(positionals, `${NAME} withdraw <pass>`);
  const session = openSession(values.server);
  const { found } = await readPasses(session);
  const { id, covers } = selectItem(found, { what: 'pass', name, namesOf: (it) => [it.id, it.covers] });
  await session.delete(fillPath(PASSES_PATHS.tokens, { id }));
  if (!values.json) printStep('withdrawn', `all tokens of ${id} (${covers}); sign in where it is good for a new one`);
  return 0;
}

async function readPasses(session: ServerSession): Promise<{ found: readonly Pass[]; answered: unknown }> {
  const answered = await session.get(PASSES_PATHS.all);
  const { data } = understood(passesResponse, answered);
  return { found: data, answered: Reflect.get(Object(answered), 'data') };
}
