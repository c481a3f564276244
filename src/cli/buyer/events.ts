import { EVENTS_PATHS, eventsResponse } from '../../http/events/schemas.js';
import { none, readArguments, SERVER_FLAGS } from '../arguments/arguments.js';
import type { Command } from '../command.js';
import { printTable } from '../output/table.js';
import { printJson } from '../output/terminal.js';
import { readableProject } from '../seller/find-project.js';
import { namingQuery } from '../session/name-flags.js';
import { openSession, understood } from '../session/session.js';
import { queryOf, readLimit } from './query-flags.js';

const TIME_LENGTH = '2026-01-31T12:00:00'.length;
/** Long ids of what has a name beside them, and what says the same once more. */
const LEFT_OUT: ReadonlySet<string> = new Set(['asset', 'amount_atomic', 'tx_signature', 'request_id', 'told_to']);

/** `tollhouse events`: what has happened to a wallet, its keys and its projects. */
export const eventsCommand: Command = {
  help: `tollhouse events [--types <list>] [--project <project>] [--limit <n>] [--json]

Events of your wallet, the newest first: of your projects, of your keys, and of calls that were made with them. Sign in first;
"tollhouse webhooks listen" follows them as they come.

  --types <list>       separated by commas, such as call.failed,spending.limit_reached
  --project <project>  slug or id of a project of yours; of a deleted one, and of one that is not yours, its id
  --limit <n>          how many, 1 to 100 (default 20)
  --json               prints what the server answers
  --server <url>       Tollhouse server (default: the one signed in to last)

Example:
  tollhouse events --types call.failed`,
  async run(args) {
    const { values, positionals } = readArguments(args, {
      ...SERVER_FLAGS,
      types: { type: 'string' },
      project: { type: 'string' },
      limit: { type: 'string', default: '20' },
    });
    none(positionals, 'tollhouse events');
    const { project } = values;
    const types = values.types?.replace(/\s/g, '');
    const limit = readLimit(values.limit);
    const session = openSession(values.server);
    const project_id = project === undefined ? undefined : await readableProject(session, project);
    const query = queryOf({ types, project_id, limit });
    const answered = await namingQuery(query, session.get(`${EVENTS_PATHS.all}?${query}`));
    const { data } = understood(eventsResponse, answered);
    if (values.json) printJson(answered);
    else if (data.length === 0) console.log('no events');
    else {
      const rows = data.map((it) => [it.timestamp.slice(0, TIME_LENGTH).replace('T', ' '), it.type, factsOf(it.data)]);
      printTable(['at', 'type', 'data'], rows);
    }
    return 0;
  },
};

/** The facts that tell most, by name; what only leads elsewhere is in --json. */
function factsOf(data: Readonly<Record<string, unknown>>): string {
  const told = Object.entries(data).filter(([name, value]) => !LEFT_OUT.has(name) && value !== null);
  return told.map(([name, value]) => `${name}=${textOf(value)}`).join(' ');
}

/** A text with blanks in it is quoted, so that the next name is seen. */
function textOf(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}
