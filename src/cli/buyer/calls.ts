import type { z } from 'zod';
import { CALL_LIST_PATHS, callsResponse, ownCallsResponse } from '../../http/analytics/call-schemas.js';
import { fillPath } from '../../http/framework/path.js';
import { none, readArguments, SERVER_FLAGS } from '../arguments/arguments.js';
import { type Command, UsageError } from '../command.js';
import { printTable } from '../output/table.js';
import { printJson, printText } from '../output/terminal.js';
import { keyNames } from '../seller/find-key.js';
import { ownSlugs, readableProject } from '../seller/find-project.js';
import { namingQuery } from '../session/name-flags.js';
import { readResponseText } from '../session/server-client.js';
import { openSession, type ServerSession, understood } from '../session/session.js';
import { idsOf } from './named-ids.js';
import { queryOf, readLimit } from './query-flags.js';

type SoldCall = z.output<typeof callsResponse>['data'][number];
type OwnCall = z.output<typeof ownCallsResponse>['data'][number];
type Call = SoldCall | OwnCall;

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
  help: `tollhouse calls [--project <project>] [--key <key>] [--status <status>] [--route <route>] [options]
tollhouse calls --of <project> [--payer <wallet>] [--key <id>] [options]

Calls of your keys, and those that your wallet has paid, the newest first; with --of those of a project of yours. Sign in
first. Under price, "credit +" is what was paid and bought nothing, "credit -" what such credit has paid; "pass, not used" is a
call under a pass of which nothing was taken.

  --of <project>        slug or id of a project of yours; of a deleted one its id
  --project <project>   slug or id of what was called; of one that is not listed its id
  --key <key>           id, public part or name of a key of yours; with --of the id of whosever key
  --payer <wallet>      with --of: who has paid
  --status <status>     succeeded: the upstream answered, 2xx to 4xx; failed: it did not, or 5xx; or what it answered, such as 404 or 4xx
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
      printText(await namingQuery(query, session.send({ method: 'GET', path }).then(readResponseText)));
      return 0;
    }
    const answered = await namingQuery(query, session.get(path));
    if (json) printJson(answered);
    else if (of === undefined) printCalls(understood(ownCallsResponse, answered).data, ownColumns);
    else printCalls(understood(callsResponse, answered).data, sellerColumns(await namesFor(session)));
    return 0;
  },
};

/** What a table shows of a call, by the heads of its columns. */
type Columns = Readonly<Record<string, string>>;

interface Names {
  readonly slugs: ReadonlyMap<string, string>;
  readonly keys: ReadonlyMap<string, string>;
}

/** What a seller may have a name for: projects of his, and those of the keys that are his own. */
async function namesFor(session: ServerSession): Promise<Names> {
  const [slugs, keys] = await Promise.all([ownSlugs(session), keyNames(session)]);
  return { slugs, keys };
}

function printCalls<C extends Call>(calls: readonly C[], columnsOf: (call: C) => Columns): void {
  const [first, ...others] = calls.map(columnsOf);
  if (first === undefined) console.log('no calls');
  else printTable(Object.keys(first), [first, ...others].map(Object.values));
}

function ownColumns(call: OwnCall): Columns {
  const { at, ...columns } = commonColumns(call);
  return { at, project: call.project ?? call.project_id, ...columns };
}

function sellerColumns({ slugs, keys }: Names): (call: SoldCall) => Columns {
  return (call) => {
    const { at, ...columns } = commonColumns(call);
    const { project_id, key_id, payer } = call;
    const key = key_id === null ? '–' : (keys.get(key_id) ?? key_id);
    return { at, project: slugs.get(project_id) ?? project_id, ...columns, key, payer: payer ?? '–' };
  };
}

function commonColumns(call: Call) {
  const { at, method, route, status, outcome, reason, duration_ms, payment_id } = call;
  return {
    at: at.slice(0, TIME_LENGTH).replace('T', ' '),
    route: route ?? method,
    status: status === null ? '–' : String(status),
    outcome: reason ?? outcome,
    price: priceOf(call),
    ms: String(duration_ms),
    payment: payment_id ?? '–',
  };
}

function priceOf({ amount, token, credit, pass_id, pass_uses, payment_id, outcome }: Call): string {
  if (credit !== null) return `credit ${credit.kind === 'given' ? '+' : '-'}${credit.amount} ${credit.token}`;
  if (amount !== null) return `${amount} ${token}`;
  if (pass_id !== null) return pass_uses === 0 ? 'pass, not used' : 'pass';
  return outcome === 'succeeded' && payment_id === null ? 'free' : '–';
}
