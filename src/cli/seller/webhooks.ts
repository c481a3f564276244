import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import { fillPath } from '../../http/framework/path.js';
import {
  deliveryResponse,
  loggedDeliveryResponse,
  revealedWebhookResponse,
  WEBHOOKS_PATHS,
  webhookResponse,
} from '../../http/webhooks/schemas.js';
import { defined } from '../../lib/defined.js';
import { EVENT_TYPES } from '../../storage/events/events.js';
import { none, onlyOne, readArguments, SERVER_FLAGS } from '../arguments/arguments.js';
import { selectItem } from '../arguments/select-item.js';
import { type Command, CommandError, UsageError } from '../command.js';
import { printTable } from '../output/table.js';
import { printJson, printLine, printStep, withProgress } from '../output/terminal.js';
import { namingFlags } from '../session/name-flags.js';
import { openSession, type ServerSession, understood } from '../session/session.js';
import { type Action, pickAction } from '../sub-command.js';
import { selectProject } from './find-project.js';
import { listenCommand } from './listen.js';

const NAME = 'tollhouse webhooks';
const POLL_MS = 200;
/** Longer than the one attempt of a test takes. */
const PATIENCE_MS = 20_000;
const SHOWN_CHARACTERS = 200;
const TYPES_IN_LINE = 4;
const TYPE_LINES = EVENT_TYPES.flatMap((_, at) =>
  at % TYPES_IN_LINE === 0 ? [`  ${EVENT_TYPES.slice(at, at + TYPES_IN_LINE).join(', ')}`] : [],
);

const actions: Readonly<Record<string, Action>> = { list, create, delete: remove, test, listen: listenCommand };

/** `tollhouse webhooks`: events, posted to an address or shown as they come. */
export const webhooksCommand: Command = {
  help: `tollhouse webhooks list
tollhouse webhooks create --url <url> [--events <list>] [--project <project>]
tollhouse webhooks delete <webhook>
tollhouse webhooks test <webhook> [--type <type>]
tollhouse webhooks listen [--project <project>] [--types <list>] [--forward <url>]

Events of your payments, calls, keys and projects, posted to an address of yours. A webhook is named by its id or, where
only one has it, its address. Sign in first.

  --url <url>          where events are posted to
  --events <list>      types, separated by commas (default: all)
  --project <project>  only its events
  --type <type>        of the test event (default: the first that is posted)
  --json               prints what the server answers; with listen, a line of JSON for each event
  --server <url>       Tollhouse server (default: the one signed in to last)

listen shows events as they come, until it is stopped; after an interruption it goes on where it was.
  --types <list>       only these types, separated by commas
  --forward <url>      posts each event to a receiver on your machine, signed as webhooks are (Standard Webhooks)
  WEBHOOK_SECRET       environment: the secret to sign with (default: a new one, shown at the start)

Types of events:
${TYPE_LINES.join('\n')}`,
  run: ([name, ...args]) => pickAction(NAME, actions, name)(args),
};

async function list(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, SERVER_FLAGS);
  none(positionals, `${NAME} list`);
  const found = await openSession(values.server).list(WEBHOOKS_PATHS.all);
  if (values.json) printJson(found);
  else if (found.length === 0) printLine(`no webhooks yet; make one with npx ${NAME} create --url <url>`);
  else printTable(['id', 'status', 'events', 'project', 'url'], found.map(rowOf));
  return 0;
}

function rowOf(json: unknown): string[] {
  const { id, status, disabled_reason, events, project_id, url } = understood(webhookResponse, json);
  const state = disabled_reason === null ? status : `${status} (${disabled_reason})`;
  return [id, state, events.join(','), project_id ?? 'all', url];
}

/** Which option fills which field. */
const WEBHOOK_FIELDS = { '/url': '--url', '/events': '--events', '/project_id': '--project' } as const;

async function create(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, {
    ...SERVER_FLAGS,
    url: { type: 'string' },
    events: { type: 'string', default: '*' },
    project: { type: 'string' },
  });
  none(positionals, `${NAME} create --url <url>`);
  const { server, json, url, events, project } = values;
  if (url === undefined) throw new UsageError('--url is needed; see npx tollhouse webhooks --help');
  const session = openSession(server);
  const restriction = project === undefined ? {} : { project_id: (await selectProject(session, project)).id };
  const body = { url, events: events.split(',').map((it) => it.trim()), ...restriction };
  const made = await namingFlags(WEBHOOK_FIELDS, session.post(WEBHOOKS_PATHS.all, body));
  if (json) printJson(made);
  else printWebhook(understood(revealedWebhookResponse, made));
  return 0;
}

function printWebhook({ id, url, events, secret }: z.output<typeof revealedWebhookResponse>): void {
  printStep('webhook', id);
  printStep('posts', `${events.join(', ')} to ${url}`);
  printStep('secret', `${secret} (shown this once; the receiver checks with it: verifyWebhook)`);
}

async function remove(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, SERVER_FLAGS);
  const name = onlyOne(positionals, `${NAME} delete <id>`);
  const session = openSession(values.server);
  const { id, url } = await findWebhook(session, name);
  await session.delete(fillPath(WEBHOOKS_PATHS.one, { id }));
  if (!values.json) printStep('deleted', `${id}, ${url}`);
  return 0;
}

async function test(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, { ...SERVER_FLAGS, type: { type: 'string' } });
  const name = onlyOne(positionals, `${NAME} test <id>`);
  const session = openSession(values.server);
  const { id } = await findWebhook(session, name);
  const body = defined({ type: values.type });
  const queued = understood(deliveryResponse, await session.post(fillPath(WEBHOOKS_PATHS.test, { id }), body));
  const outcome = finished(session, fillPath(WEBHOOKS_PATHS.delivery, { id, delivery: queued.id }));
  const delivery = await (values.json ? outcome : withProgress('posting', queued.event_type, outcome));
  if (values.json) printJson(delivery);
  else printDelivery(delivery);
  return delivery.status === 'delivered' ? 0 : 1;
}

type Delivery = z.output<typeof loggedDeliveryResponse>;

async function finished(session: ServerSession, path: string): Promise<Delivery> {
  const until = performance.now() + PATIENCE_MS;
  while (performance.now() < until) {
    const delivery = understood(loggedDeliveryResponse, await session.get(path));
    if (delivery.status !== 'pending') return delivery;
    await sleep(POLL_MS);
  }
  throw new CommandError('the event was not posted yet; is the server busy, or is its background work not running?');
}

function printDelivery({ event_type, event_id, status, log }: Delivery): void {
  const attempt = log.at(-1);
  const said = attempt?.answer ? `: ${attempt.answer.slice(0, SHOWN_CHARACTERS)}` : '';
  const outcome = attempt?.status ?? attempt?.error ?? 'no answer';
  printStep(status, `${event_type} ${event_id} → ${outcome} in ${attempt?.duration_ms ?? 0} ms${said}`);
}

async function findWebhook(session: ServerSession, name: string): Promise<z.output<typeof webhookResponse>> {
  const found = (await session.list(WEBHOOKS_PATHS.all)).map((it) => understood(webhookResponse, it));
  return selectItem(found, { what: 'webhook', name, namesOf: ({ id, url }) => [id, url] });
}
