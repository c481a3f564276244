import type { z } from 'zod';
import { fillPath } from '../../http/framework/path.js';
import { PROJECTS_PATHS, projectItemResponse, projectResponse } from '../../http/projects/schemas.js';
import { none, onlyOne, readArguments, SERVER_FLAGS } from '../arguments/arguments.js';
import { CHARGING_HELP } from '../arguments/charging-flags.js';
import { PROJECT_FIELDS, PROJECT_FLAGS, readProjectChanges, readProjectFlags } from '../arguments/project-flags.js';
import { UPSTREAM_HELP } from '../arguments/upstream-flags.js';
import type { Command } from '../command.js';
import { importProject } from '../import/import-project.js';
import { warnOfShallowDenials } from '../import/shallow-denials.js';
import { counted } from '../output/counted.js';
import { priceText, printPrices, printRoutes } from '../output/price-text.js';
import { printTable } from '../output/table.js';
import { printJson, printLine, printStep } from '../output/terminal.js';
import { type FlagsByField, namingFlags } from '../session/name-flags.js';
import { openSession, type ServerSession, understood } from '../session/session.js';
import { type Action, pickAction } from '../sub-command.js';
import { deleteProject } from './delete-project.js';
import { type ProjectItem, selectProject } from './find-project.js';
import { printWhyDown } from './why-down.js';

const NAME = 'tollhouse projects';
const BPS_PER_PERCENT = 100;
const DEFAULT_TIMEOUT_MS = 30_000;

const actions: Readonly<Record<string, Action>> = {
  list,
  create,
  update,
  import: importProject,
  show: (args) => onOne('show', args, (session, { id }) => session.get(fillPath(PROJECTS_PATHS.one, { id }))),
  pause: (args) => onOne('pause', args, (session, { id }) => session.post(fillPath(PROJECTS_PATHS.pause, { id }))),
  resume: (args) => onOne('resume', args, (session, { id }) => session.post(fillPath(PROJECTS_PATHS.resume, { id }))),
  delete: deleteProject,
};

/** `tollhouse projects`: the APIs that a wallet sells. */
export const projectsCommand: Command = {
  help: `tollhouse projects list
tollhouse projects create --slug <slug> --upstream <url> --price <price> [options]
tollhouse projects create --file <project.json>
tollhouse projects update <project> [options]
tollhouse projects import <openapi.json> --slug <slug> [--upstream <url>] [--price <price>] [--dry-run]
tollhouse projects show <project>
tollhouse projects pause <project>
tollhouse projects resume <project>
tollhouse projects delete <project> [--yes]

The APIs that you sell, each under /v1/<slug> of the server. A project is named by its slug or its id. Sign in first.

  --slug <slug>        name in the address
  --upstream <url>     the API that runs already; https, except in networks that the server lets in
  --price <price>      of each call: "0.01 USDC", "$0.01"; several with "or" between them, also for more than one call:
                       "0.01 USDC or 0.01 PYUSD", "0.01 USDC or 0.05 USDC for 10 calls or 1 USDC for 30d", "2 USDC for 500
                       calls in 30d", "5 USDC as credit at 0.004". With update it is the whole of the price
  --route <route>      what calls of a path cost, as often as you like; the first that matches decides: "GET /reports/** 0.05 USDC",
                       "/health free", "/admin/** deny" (or "deny 403"). "*" is one segment, "**" at the end any rest. With
                       update they are all its routes: those that it had are gone
  --no-routes          update: takes all routes away
  --free-calls <n>     calls that each key has without paying: 100/day (or hour, month); "none" takes them away
${CHARGING_HELP}
${UPSTREAM_HELP}
  --name <name>        for people (default: the slug)
  --description <text> what it is, for the marketplace
  --tags <list>        words to find it by, separated by commas
  --example <call>     a call that shows how: "GET /weather/berlin", 'POST /weather {"town":"berlin"}'
  --split <shares>     <wallet>=9000,<wallet>=1000: who is paid, in basis points (default: all to you)
  --listed             shows it in the marketplace
  --unlisted           for whoever knows its slug (the default)
  --private            for you alone; for everybody else it is not there
  --allowed <list>     private, but for these wallets and keys (ids), separated by commas
  --file <file>        JSON as for POST /api/v1/projects, for everything that has no option here
  --dry-run            import: prints the operations, their prices and what would change, and changes nothing. An operation with
                       x-payment-info has its price, one with "security": [] is free; --route goes before both
  --without-document   import: keeps the routes alone, and not the document, which the marketplace would show
  --yes                deletes without asking
  --json               prints what the server answers
  --server <url>       Tollhouse server (default: the one signed in to last)`,
  run: ([name, ...args]) => pickAction(NAME, actions, name)(args),
};

async function list(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, SERVER_FLAGS);
  none(positionals, `${NAME} list`);
  const found = await openSession(values.server).list(PROJECTS_PATHS.all);
  if (values.json) printJson(found);
  else if (found.length === 0) printLine(`no projects yet; make one with npx ${NAME} create --help`);
  else printTable(['slug', 'price', 'state', 'visibility', 'network', 'upstream', 'made'], found.map(rowOf));
  return 0;
}

function rowOf(json: unknown): string[] {
  const { slug, pricing, state, visibility, upstream, created_at } = understood(projectItemResponse, json);
  const shown = state === 'active' && upstream.status === 'down' ? 'down' : state;
  return [slug, priceText(pricing), shown, visibility, pricing.network, upstream.url, created_at.slice(0, 10)];
}

async function create(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, { ...SERVER_FLAGS, ...PROJECT_FLAGS });
  none(positionals, `${NAME} create --slug <slug> --upstream <url> --price <price>`);
  const { server, json, ...flags } = values;
  const body = readProjectFlags(flags);
  const made = await namingFlags(fieldsOf(flags), openSession(server).post(PROJECTS_PATHS.all, body));
  warnOfShallowDenials(body, made);
  if (json) printJson(made);
  else {
    printProject(made);
    printSecret(made);
    console.log();
    printLine('Its callers need a key, of their own or from you: npx tollhouse keys create --name <name>');
  }
  return 0;
}

async function update(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, { ...SERVER_FLAGS, ...PROJECT_FLAGS });
  const name = onlyOne(positionals, `${NAME} update <slug or id> [options]`);
  const { server, json, ...flags } = values;
  const changes = readProjectChanges(flags);
  const session = openSession(server);
  const { id } = await selectProject(session, name);
  const changed = await namingFlags(fieldsOf(flags), session.patch(fillPath(PROJECTS_PATHS.one, { id }), changes));
  warnOfShallowDenials(changes, changed);
  if (json) printJson(changed);
  else printProject(changed);
  return 0;
}

/** What was given as a file is known by its fields. */
function fieldsOf({ file }: { readonly file?: string | undefined }): FlagsByField {
  return file === undefined ? PROJECT_FIELDS : {};
}

async function onOne(
  action: string,
  args: readonly string[],
  act: (session: ServerSession, project: ProjectItem) => Promise<unknown>,
): Promise<number> {
  const { values, positionals } = readArguments(args, SERVER_FLAGS);
  const name = onlyOne(positionals, `${NAME} ${action} <slug or id>`);
  const session = openSession(values.server);
  const answer = await act(session, await selectProject(session, name));
  if (values.json) printJson(answer);
  else printProject(answer);
  if (!values.json && action === 'show') {
    printSecret(answer);
    await printWhyDown(session, answer);
  }
  return 0;
}

function upstreamText({ url, timeout_ms, health, status }: ProjectItem['upstream']): string {
  const asked = timeout_ms === DEFAULT_TIMEOUT_MS ? url : `${url} (answers within ${timeout_ms} ms)`;
  if (health === null) return asked;
  return `${asked} (${status ?? 'not looked at yet'}: ${health.path} every ${health.interval} s)`;
}

function printProject(json: unknown): void {
  const project: z.output<typeof projectResponse> = understood(projectResponse, json);
  const { name, slug, id, url, pricing, upstream, split, state, visibility } = project;
  printStep('project', `${name} (${slug}, ${id})`);
  printStep('state', `${state}, ${visibility}`);
  printStep('called at', url);
  printPrices(pricing);
  printRoutes(project.routes);
  if (pricing.charge_on.length > 0) printStep('charged', `2xx, 3xx, ${pricing.charge_on.join(', ')}`);
  if (project.free_calls !== null)
    printStep('free', `${counted(project.free_calls.count, 'call')} of each key a ${project.free_calls.window}`);
  printStep('upstream', upstreamText(upstream));
  const added = [...Object.keys(upstream.headers), ...Object.keys(upstream.query)];
  if (added.length > 0) printStep('added', `${added.join(', ')} (to each call; the values are shown to nobody)`);
  for (const { recipient, bps } of split) printStep('paid to', `${recipient} ${bps / BPS_PER_PERCENT} %`);
}

/** Apart: whoever changes a project in a script has not asked to have its secret in the log of that. */
function printSecret(json: unknown): void {
  const { gateway_secret } = understood(projectResponse, json);
  if (gateway_secret !== undefined)
    printStep('secret', `${gateway_secret} (the upstream checks calls with it: verifyGateway)`);
}
