import type { z } from 'zod';
import { findTimeZone, startOfDate, type TimeZone } from '../../gateway/figures/time-zone.js';
import { ANALYTICS_PATHS, analyticsResponse } from '../../http/analytics/schemas.js';
import { fillPath } from '../../http/framework/path.js';
import { DAY_MS } from '../../storage/calls/periods.js';
import { onlyOne, readArguments, SERVER_FLAGS } from '../arguments/arguments.js';
import { readTime } from '../arguments/time-argument.js';
import { type Command, UsageError } from '../command.js';
import { printTable } from '../output/table.js';
import { printJson, printLine, printText } from '../output/terminal.js';
import { namingQuery } from '../session/name-flags.js';
import { readResponseText } from '../session/server-client.js';
import { openSession, understood } from '../session/session.js';
import { readableProject } from './find-project.js';

type Figures = z.output<typeof analyticsResponse>;

const USAGE = 'tollhouse analytics <slug or id>';
const DAY_LENGTH = '2026-01-31'.length;
const HOUR_LENGTH = '2026-01-31T12:00'.length;

/** `tollhouse analytics`: what a project earned. */
export const analytics: Command = {
  help: `tollhouse analytics <project> [--from <time>] [--to <time>] [--interval hour|day] [--tz <zone>] [--by route] [--csv | --json]

Calls, revenue, payers and durations of a project by hour or day, without those in which nothing happened. Of the durations "up" is
what its upstream took until it began to answer, and "own" what the gateway took until the call was passed on.

  <project>             slug or id; of a deleted one its id
  --from, --to <time>   a day (2026-01-31) or a time (2026-01-31T12:00:00Z); default: the last 30 days, or 24 hours by hour
  --interval <name>     hour or day (default day)
  --tz <zone>           by whose clocks days and hours begin, such as Europe/Berlin (default UTC)
  --by route            the totals by the route of the project that matched, in place of the series
  --csv                 the whole series as CSV; with --by route, the routes
  --json                prints what the server answers
  --server <url>        Tollhouse server (default: the one signed in to last)

Examples:
  tollhouse analytics weather --tz Europe/Berlin --from 2026-03-01 --to 2026-04-01
  tollhouse analytics weather --by route --csv > routes.csv`,
  async run(args) {
    const { values, positionals } = readArguments(args, {
      ...SERVER_FLAGS,
      from: { type: 'string' },
      to: { type: 'string' },
      interval: { type: 'string', default: 'day' },
      tz: { type: 'string' },
      by: { type: 'string' },
      csv: { type: 'boolean' },
    });
    const name = onlyOne(positionals, USAGE);
    if (values.csv && values.json) throw new UsageError('--csv or --json, not both');
    const query = queryOf(values);
    const session = openSession(values.server);
    const project_id = await readableProject(session, name);
    const path = `${fillPath(ANALYTICS_PATHS.analytics, { project_id })}?${query}`;
    if (values.csv) {
      const asked = session.send({ method: 'GET', path, headers: { accept: 'text/csv' } });
      printText(await namingQuery(query, asked.then(readResponseText)));
    } else {
      const figures = await namingQuery(query, session.get(path));
      if (values.json) printJson(figures);
      else print(understood(analyticsResponse, figures));
    }
    return 0;
  },
};

interface RangeFlags {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly interval: string;
  readonly tz?: string | undefined;
  readonly by?: string | undefined;
}

function queryOf({ from, to, interval, tz, by }: RangeFlags): URLSearchParams {
  if (interval !== 'hour' && interval !== 'day') throw new UsageError('--interval must be hour or day');
  if (by !== undefined && by !== 'route') throw new UsageError('--by must be route');
  const query = new URLSearchParams({ interval });
  const zone = zoneOf(tz);
  if (tz !== undefined) query.set('tz', tz);
  if (by !== undefined) query.set('by', by);
  for (const [name, text] of Object.entries({ from, to })) {
    const time = readTime(`--${name}`, text);
    if (time === undefined) continue;
    const isDay = text?.length === DAY_LENGTH && zone !== undefined;
    query.set(name, new Date(isDay ? startOfDate(zone, time / DAY_MS) : time).toISOString());
  }
  return query;
}

function zoneOf(tz: string | undefined): TimeZone | undefined {
  if (tz === undefined) return undefined;
  const zone = findTimeZone(tz);
  if (zone !== undefined) return zone;
  throw new UsageError(`--tz must be the name of a time zone, such as Europe/Berlin, not "${tz}"`);
}

function print(figures: Figures): void {
  if (figures.routes === undefined) printFigures(figures);
  else printRoutes(figures, figures.routes);
}

const NAMELESS = { none: '(no route matched)', others: '(all others)', route: '' } as const;

function printRoutes({ from, to, tz, totals, tokens }: Figures, routes: NonNullable<Figures['routes']>): void {
  const symbols = Object.keys(tokens);
  const rowOf = (name: string, it: Pick<Figures['totals'], 'calls' | 'paid' | 'revenue'>) => [
    ...[name, String(it.calls), String(it.paid)],
    ...symbols.map((symbol) => it.revenue[symbol] ?? '0'),
  ];
  const rows = routes.map((it) => rowOf(it.route ?? NAMELESS[it.kind], it));
  printTable(['route', 'calls', 'paid', ...symbols], [...rows, rowOf('total', totals)]);
  printLine(`${from} to ${to} (${tz})`);
}

function printFigures({ interval, from, to, tz, series, totals, responses, tokens }: Figures): void {
  const symbols = Object.keys(tokens);
  const cellsOf = (it: Figures['totals']) => [
    ...[it.calls, it.paid, it.refused, it.payers].map(String),
    ...symbols.map((symbol) => it.revenue[symbol] ?? '0'),
    ...[it.p50_ms, it.p95_ms, it.upstream_p95_ms, it.gateway_p95_ms].map((ms) => (ms === null ? '–' : String(ms))),
    String(it.upstream_errors),
  ];
  const timeText = (time: string) => time.slice(0, interval === 'hour' ? HOUR_LENGTH : DAY_LENGTH).replace('T', ' ');
  const busy = series.filter(({ calls, challenged, refused }) => calls + challenged + refused > 0);
  const heads = [
    interval,
    'calls',
    'paid',
    'refused',
    'payers',
    ...symbols,
    'p50 ms',
    'p95 ms',
    'up p95',
    'own p95',
    'errors',
  ];
  printTable(heads, [...busy.map((it) => [timeText(it.local), ...cellsOf(it)]), ['total', ...cellsOf(totals)]]);
  const reasons = Object.entries(totals.refusals).map(([code, count]) => `${count} ${code}`);
  if (reasons.length > 0) printLine(`refused: ${reasons.join(', ')}`);
  if (totals.challenged > 0) printLine(`told the price: ${totals.challenged}`);
  if (responses.open > 0) {
    const owed = symbols.filter((it) => responses.owed[it] !== '0').map((it) => `${responses.owed[it]} ${it}`);
    printLine(`paid, and nobody has come for it: ${responses.open} (${owed.join(', ')}), since ${responses.oldest}`);
  }
  const [first, end] = tz === 'UTC' ? [timeText(from), timeText(to)] : [from, to];
  printLine(`${first} to ${end} (${tz})`);
}
