import { fillPath } from '../../http/framework/path.js';
import { KEYS_PATHS, keyResponse, revealedKeyResponse } from '../../http/keys/schemas.js';
import { defined } from '../../lib/defined.js';
import { none, onlyOne, readArguments, SERVER_FLAGS } from '../arguments/arguments.js';
import { type Command, UsageError } from '../command.js';
import { printTable } from '../output/table.js';
import { printJson, printLine, printStep } from '../output/terminal.js';
import { namingFlags } from '../session/name-flags.js';
import { openSession, type ServerSession, understood } from '../session/session.js';
import { type Action, pickAction } from '../sub-command.js';
import { selectKey, selectLivingKey } from './find-key.js';
import { callableProject, selectProject } from './find-project.js';
import { CHANGES, KEY_FIELDS, type KeyChanges, keyDraft, keyPatch } from './key-changes.js';
import { budgetText, printKey } from './print-key.js';

const NAME = 'tollhouse keys';

const actions: Readonly<Record<string, Action>> = { list, create, show, update, rotate, revoke };

/** `tollhouse keys`: service keys, with which APIs are called. */
export const keys: Command = {
  help: `tollhouse keys list
tollhouse keys create --name <name> [options]
tollhouse keys show <key>
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
  --mode <mode>        create: live, for mainnet, or test, for test networks (default: live where the server has mainnet)
  --allowed-projects <list>  the only projects that may be called with it, slugs or ids, separated by commas; one that is
                             not listed is named by its id
  --allowed-ips <list> addresses and networks that it may be used from, separated by commas
  --metadata <json>    notes such as '{"team":"a"}', with update merged with those it has; upstreams are told them
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
  else printTable(['id', 'name', 'status', 'scopes', 'budget', 'mode', 'used'], found.map(rowOf));
  return 0;
}

function rowOf(json: unknown): string[] {
  const { id, name, status, scopes, spending, mode, last_used_at } = understood(keyResponse, json);
  return [id, name, status, scopes.join(','), budgetText(spending) ?? '–', mode, last_used_at?.slice(0, 10) ?? '–'];
}

async function show(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, SERVER_FLAGS);
  const name = onlyOne(positionals, `${NAME} show <key>`);
  const key = await selectKey(openSession(values.server), name);
  if (values.json) printJson(key);
  else printKey(key);
  return 0;
}

async function create(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, {
    ...SERVER_FLAGS,
    ...CHANGES,
    project: { type: 'string' },
    mode: { type: 'string' },
  });
  none(positionals, `${NAME} create --name <name>`);
  const { server, json, project, mode, ...flags } = values;
  if (flags.name === undefined) throw new UsageError('--name is needed; see npx tollhouse keys --help');
  const wanted = keyDraft(flags);
  const session = openSession(server);
  const restriction = project === undefined ? {} : { project_id: (await selectProject(session, project)).id };
  const body = { ...(await withProjectIds(session, wanted)), ...defined({ mode }), ...restriction };
  const asked = session.post(KEYS_PATHS.generate, body);
  showSecret(await namingFlags(KEY_FIELDS, asked), json);
  return 0;
}

async function update(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, { ...SERVER_FLAGS, ...CHANGES });
  const name = onlyOne(positionals, `${NAME} update <key> [options]`);
  const patch = keyPatch(values);
  if (Object.keys(patch).length === 0) throw new UsageError('say what to change; see npx tollhouse keys --help');
  const session = openSession(values.server);
  const { id } = await selectLivingKey(session, name);
  const changes = await withProjectIds(session, patch);
  const answered = await namingFlags(KEY_FIELDS, session.patch(fillPath(KEYS_PATHS.one, { id }), changes));
  if (values.json) printJson(answered);
  else printKey(understood(keyResponse, answered));
  return 0;
}

async function rotate(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, { ...SERVER_FLAGS, 'expire-old-in': { type: 'string' } });
  const name = onlyOne(positionals, `${NAME} rotate <key> [--expire-old-in <seconds>]`);
  const overlap = readSeconds('--expire-old-in', values['expire-old-in']);
  const session = openSession(values.server);
  const { id } = await selectLivingKey(session, name);
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
  const key = await selectLivingKey(session, name);
  await session.delete(fillPath(KEYS_PATHS.one, { id: key.id }));
  if (!values.json) printStep('revoked', `${key.id} (${key.name}); refused everywhere within 30 seconds`);
  return 0;
}

async function withProjectIds(session: ServerSession, fields: KeyChanges): Promise<object> {
  const { allowed_projects: names } = fields;
  if (names === undefined) return fields;
  return { ...fields, allowed_projects: await Promise.all(names.map((it) => callableProject(session, it))) };
}

function showSecret(json: unknown, asJson: boolean | undefined): void {
  if (asJson) return printJson(json);
  const { api_secret, ...key } = understood(revealedKeyResponse, json);
  printKey(key);
  console.log('\nThe secret is shown this once. For curl, and for tollhouse pay:\n');
  console.log(`  -H "X-Service-Key: ${key.api_key}" -H "X-Service-Secret: ${api_secret}"`);
}
