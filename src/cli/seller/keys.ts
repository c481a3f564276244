import type { z } from 'zod';
import { fillPath } from '../../http/framework/path.js';
import { KEYS_PATHS, keyResponse, revealedKeyResponse } from '../../http/keys/schemas.js';
import { defined } from '../../lib/defined.js';
import { none, onlyOne, readArguments, SERVER_FLAGS } from '../arguments/arguments.js';
import { selectItem } from '../arguments/select-item.js';
import { readTime } from '../arguments/time-argument.js';
import { type Command, UsageError } from '../command.js';
import { printTable } from '../output/table.js';
import { printJson, printLine, printStep } from '../output/terminal.js';
import { namingFlags } from '../session/name-flags.js';
import { openSession, type ServerSession, understood } from '../session/session.js';
import { type Action, pickAction } from '../sub-command.js';
import { selectProject } from './find-project.js';
import { CHANGES, KEY_FIELDS, keyPatch, readKeyBudget } from './key-changes.js';

const NAME = 'tollhouse keys';

const actions: Readonly<Record<string, Action>> = { list, create, update, rotate, revoke };

/** `tollhouse keys`: service keys, with which APIs are called. */
export const keys: Command = {
  help: `tollhouse keys list
tollhouse keys create --name <name> [options]
tollhouse keys update <key> [options]
tollhouse keys rotate <key> [--expire-old-in <seconds>]
tollhouse keys revoke <key>

Service keys, with which APIs are called (X-Service-Key, X-Service-Secret). A key is named by its id, its public part or,
where only one has it, its name. Sign in first. A secret is shown once; after a rotation the one before is good for 24 hours,
or as long as you say.

  --name <name>        for people
  --project <project>  a project of yours, the only one that the key may touch
  --scopes <list>      separated by commas (default call,spending:read)
  --budget <budget>    most that may be spent: "10 USDC/day", by hour, day, month or total
  --expires <time>     a day (2030-01-31) or a time (2030-01-31T12:00:00Z)
  --allowed-projects <ids>  update: the only projects that may be called with it, separated by commas
  --allowed-ips <list>      update: addresses and networks that it may be used from, separated by commas
  --metadata <json>         update: notes such as '{"team":"a"}', merged with those it has; upstreams are told them
  --expire-old-in <n>  seconds that the secret before stays good after a rotation; 0 ends it at once
  --json               prints what the server answers
  --server <url>       Tollhouse server (default: the one signed in to last)

With update, "none" takes away a budget, an end, addresses or projects: tollhouse keys update bot --budget none`,
  run: ([name, ...args]) => pickAction(NAME, actions, name)(args),
};

async function list(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, SERVER_FLAGS);
  none(positionals, `${NAME} list`);
  const found = await openSession(values.server).list(KEYS_PATHS.all);
  if (values.json) printJson(found);
  else if (found.length === 0) printLine(`no keys yet; make one with npx ${NAME} create --name <name>`);
  else printTable(['id', 'name', 'status', 'scopes', 'budget', 'used'], found.map(rowOf));
  return 0;
}

function rowOf(json: unknown): string[] {
  const { id, name, status, scopes, spending, last_used_at } = understood(keyResponse, json);
  const budget = spending === null ? '–' : `${spending.limit} ${spending.token}/${spending.window}`;
  return [id, name, status, scopes.join(','), budget, last_used_at?.slice(0, 10) ?? '–'];
}

async function create(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, {
    ...SERVER_FLAGS,
    name: { type: 'string' },
    project: { type: 'string' },
    scopes: { type: 'string' },
    budget: { type: 'string' },
    expires: { type: 'string' },
  });
  none(positionals, `${NAME} create --name <name>`);
  const { server, json, name, project, scopes, budget, expires } = values;
  if (name === undefined) throw new UsageError('--name is needed; see npx tollhouse keys --help');
  const until = readTime('--expires', expires);
  const wanted = {
    name,
    ...(scopes === undefined ? {} : { scopes: scopes.split(',').map((it) => it.trim()) }),
    ...(budget === undefined ? {} : { spending: readKeyBudget(budget) }),
    ...(until === undefined ? {} : { expires_at: new Date(until).toISOString() }),
  };
  const session = openSession(server);
  const restriction = project === undefined ? {} : { project_id: (await selectProject(session, project)).id };
  const asked = session.post(KEYS_PATHS.generate, { ...wanted, ...restriction });
  showSecret(await namingFlags(KEY_FIELDS, asked), json);
  return 0;
}

async function update(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, { ...SERVER_FLAGS, ...CHANGES });
  const name = onlyOne(positionals, `${NAME} update <key> [options]`);
  const patch = keyPatch(values);
  if (Object.keys(patch).length === 0) throw new UsageError('say what to change; see npx tollhouse keys --help');
  const session = openSession(values.server);
  const { id } = await findKey(session, name);
  const answered = await namingFlags(KEY_FIELDS, session.patch(fillPath(KEYS_PATHS.one, { id }), patch));
  if (values.json) printJson(answered);
  else printTable(['id', 'name', 'status', 'scopes', 'budget', 'used'], [rowOf(answered)]);
  return 0;
}

async function rotate(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, { ...SERVER_FLAGS, 'expire-old-in': { type: 'string' } });
  const name = onlyOne(positionals, `${NAME} rotate <key> [--expire-old-in <seconds>]`);
  const overlap = readSeconds('--expire-old-in', values['expire-old-in']);
  const session = openSession(values.server);
  const { id } = await findKey(session, name);
  const asked = session.post(fillPath(KEYS_PATHS.rotate, { id }), defined({ expire_old_in: overlap }));
  showSecret(await namingFlags(KEY_FIELDS, asked), values.json);
  return 0;
}

function readSeconds(name: string, text: string | undefined): number | undefined {
  if (text === undefined || /^\d{1,9}$/.test(text)) return text === undefined ? undefined : Number(text);
  throw new UsageError(`${name} must be a whole number of seconds such as 3600, or 0, not "${text}"`);
}

async function revoke(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, SERVER_FLAGS);
  const name = onlyOne(positionals, `${NAME} revoke <key>`);
  const session = openSession(values.server);
  const key = await findKey(session, name);
  await session.delete(fillPath(KEYS_PATHS.one, { id: key.id }));
  if (!values.json) printStep('revoked', `${key.id} (${key.name}); refused everywhere within 30 seconds`);
  return 0;
}

/** A key that is not revoked. */
async function findKey(session: ServerSession, name: string): Promise<z.output<typeof keyResponse>> {
  const found = (await session.list(KEYS_PATHS.all)).map((it) => understood(keyResponse, it));
  const alive = found.filter(({ status }) => status !== 'revoked');
  return selectItem(alive, { what: 'key', name, namesOf: (key) => [key.id, key.api_key, key.name] });
}

function showSecret(json: unknown, asJson: boolean | undefined): void {
  if (asJson) return printJson(json);
  const { id, name, api_key, api_secret, scopes } = understood(revealedKeyResponse, json);
  printStep('key', `${id} (${name})`);
  printStep('scopes', scopes.join(', '));
  console.log('\nThe secret is shown this once. For curl, and for tollhouse pay:\n');
  console.log(`  -H "X-Service-Key: ${api_key}" -H "X-Service-Secret: ${api_secret}"`);
}
