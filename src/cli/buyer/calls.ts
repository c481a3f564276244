import type { z } from 'zod';
import { CALL_LIST_PATHS, callsResponse, ownCallsResponse } from '../../http/analytics/call-schemas.js';
import { fillPath } from '../../http/framework/path.js';
import { none, readArguments, SERVER_FLAGS } from '../arguments/arguments.js';
import { type Command, UsageError } from '../command.js';
import { printTable } from '../output/table.js';
import { printJson, printText } from '../output/terminal.js';
import { readableKey } from '../seller/find-key.js';
import { callableProject, readableProject } from '../seller/find-project.js';
import { readResponseText } from '../session/server-client.js';
import { openSession, type ServerSession, understood } from '../session/session.js';
import { queryOf, readLimit } from './query-flags.js';

type Call = z.output<typeof callsResponse>['data'][number] | z.output<typeof ownCallsResponse>['data'][number];

const TIME_LENGTH = '2026-01-31T12:00:00'.length;
const OPTIONS = {
  ...SERVER_FLAGS,
  csv: { type: 'boolean' },
  of: { type: 'string' },
  project: { type: 'string' },
  key: { type: 'string' },
  payer: { type: 'string' },
  status: { type: 'string' },
  route: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  cursor: { type: 'string' },
  limit: { type: 'string', default: '20' },
} as const;

/** `tollhouse calls`: what a wallet has called, or what was called of a project. */
export const callsCommand: Command = {
  help: `tollhouse calls [--project <project>] [--key <key>] [--status succeeded|failed] [--route <route>] [options]
tollhouse calls --of <project> [--payer <wallet>] [--key <id>] [options]

Calls of your keys, and those that your wallet has paid, the newest first; with --of those of a project of yours. Sign in
first.

  --of <project>        slug or id of a project of yours; of a deleted one its id
  --project <project>   slug or id of what was called; of one that is not listed its id
  --key <key>           id, public part or name of a key of yours; with --of the id of whosever key
  --payer <wallet>      with --of: who has paid
  --status <status>     succeeded: the upstream answered, 2xx to 4xx; failed: it did not, or 5xx
  --route <route>       as it is shown, such as "GET /weather/*"
  --from, --to <time>   a day (2026-01-31) or a time (2026-01-31T12:00:00Z)
  --limit <n>           how many, 1 to 100 (default 20)
  --cursor <cursor>     goes on where a page has ended (next_cursor of --json)
  --csv                 as CSV
  --json                prints what the server answers
  --server <url>        Tollhouse server (default: the one signed in to last)

Examples:
  tollhouse calls --status failed --from 2026-01-31
  tollhouse calls --of weather --csv > calls.csv`,
  async run(args) {
    const { values, positionals } = readArguments(args, OPTIONS);
    none(positionals, 'tollhouse calls');
    const { server, json, csv, of, limit, ...filters } = values;
    if (json && csv) throw new UsageError('--csv or --json, not both');
    if (of === undefined && filters.payer !== undefined) throw new UsageError('--payer goes with --of <project>');
    if (of !== undefined && filters.project !== undefined) throw new UsageError('--of or --project, not both');
    const count = readLimit(limit);
    const session = openSession(server);
    const query = queryOf({ ...filters, ...(of === undefined ? await idsOf(session, filters) : {}), limit: count });
    const base =
      of === undefined
        ? CALL_LIST_PATHS.own
        : fillPath(CALL_LIST_PATHS.ofProject, { project_id: await readableProject(session, of) });
    if (csv) query.set('format', 'csv');
    const path = `${base}?${query}`;
    if (csv) {
      printText(await readResponseText(await session.send({ method: 'GET', path })));
      return 0;
    }
    const answered = await session.get(path);
    const { data } = of === undefined ? understood(ownCallsResponse, answered) : understood(callsResponse, answered);
    if (json) printJson(answered);
    else if (data.length === 0) console.log('no calls');
    else printTable(['at', 'project', 'route', 'status', 'outcome', 'price', 'ms', 'payment'], data.map(rowOf));
    return 0;
  },
};

interface Named {
  readonly project?: string | undefined;
  readonly key?: string | undefined;
}

/** What a buyer names, by the ids that the server takes: one that it does not know is told, and not answered with no calls. */
async function idsOf(session: ServerSession, { project, key }: Named): Promise<Named> {
  return {
    project: project === undefined ? undefined : await callableProject(session, project),
    key: key === undefined ? undefined : await readableKey(session, key),
  };
}

function withoutAmount({ pass_id, payment_id, outcome }: Call): string {
  if (pass_id !== null) return 'pass';
  return outcome === 'succeeded' && payment_id === null ? 'free' : '–';
}

function rowOf(call: Call): string[] {
  const { at, method, route, status, outcome, reason, amount, token, duration_ms, payment_id } = call;
  const project = 'project' in call ? (call.project ?? call.project_id) : call.project_id;
  return [
    at.slice(0, TIME_LENGTH).replace('T', ' '),
    project,
    route ?? method,
    status === null ? '–' : String(status),
    reason ?? outcome,
    amount === null ? withoutAmount(call) : `${amount} ${token}`,
    String(duration_ms),
    payment_id ?? '–',
  ];
}
