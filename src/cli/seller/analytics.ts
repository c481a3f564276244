import type { z } from 'zod';
import { ANALYTICS_PATHS, analyticsResponse } from '../../http/analytics/schemas.js';
import { fillPath } from '../../http/framework/path.js';
import { onlyOne, readArguments } from '../arguments/arguments.js';
import { readTime } from '../arguments/time-argument.js';
import { type Command, UsageError } from '../command.js';
import { printTable } from '../output/table.js';
import { printJson } from '../output/terminal.js';
import { readResponseText } from '../session/server-client.js';
import { openSession, understood } from '../session/session.js';
import { selectProject } from './find-project.js';

type Figures = z.output<typeof analyticsResponse>;

const USAGE = 'tollhouse analytics <slug or id>';
const DAY_LENGTH = '2026-01-31'.length;
const HOUR_LENGTH = '2026-01-31T12:00'.length;

/** `tollhouse analytics`: what a project earned. */
export const analytics: Command = {
  name: 'analytics',
  summary: 'calls, revenue and durations of a project',
  help: `tollhouse analytics <project> [--from <time>] [--to <time>] [--interval hour|day] [--csv | --json]

Calls, revenue, payers and durations of a project by hour or day (UTC), without those in which nothing happened.

  --from, --to <time>   a day (2026-01-31) or a time (2026-01-31T12:00:00Z); default: the last 30 days, or 24 hours by hour
  --interval <name>     hour or day (default day)
  --csv                 the whole series as CSV
  --json                prints what the server answers
  --server <url>        Tollhouse server (default: the one signed in to last)`,
  async run(args) {
    const { values, positionals } = readArguments(args, {
      server: { type: 'string' },
      from: { type: 'string' },
      to: { type: 'string' },
      interval: { type: 'string', default: 'day' },
      csv: { type: 'boolean' },
      json: { type: 'boolean' },
    });
    const name = onlyOne(positionals, USAGE);
    if (values.csv && values.json) throw new UsageError('--csv or --json, not both');
    const query = queryOf(values);
    const session = openSession(values.server);
    const { id } = await selectProject(session, name);
    const path = `${fillPath(ANALYTICS_PATHS.analytics, { project_id: id })}?${query}`;
    if (values.csv) {
      const csv = await session.send({ method: 'GET', path, headers: { accept: 'text/csv' } });
      process.stdout.write(await readResponseText(csv));
    } else {
      const figures = await session.get(path);
      if (values.json) printJson(figures);
      else printFigures(understood(analyticsResponse, figures));
    }
    return 0;
  },
};

interface RangeFlags {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly interval: string;
}

function queryOf({ from, to, interval }: RangeFlags): URLSearchParams {
  if (interval !== 'hour' && interval !== 'day') throw new UsageError('--interval must be hour or day');
  const query = new URLSearchParams({ interval });
  for (const [name, text] of Object.entries({ from, to })) {
    const time = readTime(`--${name}`, text);
    if (time !== undefined) query.set(name, new Date(time).toISOString());
  }
  return query;
}

function printFigures({ interval, from, to, series, totals, tokens }: Figures): void {
  const symbols = Object.keys(tokens);
  const cellsOf = (it: Figures['totals']) => [
    ...[it.calls, it.paid, it.refused, it.payers].map(String),
    ...symbols.map((symbol) => it.revenue[symbol] ?? '0'),
    ...[it.p50_ms, it.p95_ms].map((ms) => (ms === null ? '–' : String(ms))),
    String(it.upstream_errors),
  ];
  const timeText = (time: string) => time.slice(0, interval === 'hour' ? HOUR_LENGTH : DAY_LENGTH).replace('T', ' ');
  const busy = series.filter(({ calls, challenged, refused }) => calls + challenged + refused > 0);
  const heads = [interval, 'calls', 'paid', 'refused', 'payers', ...symbols, 'p50 ms', 'p95 ms', 'errors'];
  printTable(heads, [...busy.map((it) => [timeText(it.t), ...cellsOf(it)]), ['total', ...cellsOf(totals)]]);
  const reasons = Object.entries(totals.refusals).map(([code, count]) => `${count} ${code}`);
  if (reasons.length > 0) console.log(`refused: ${reasons.join(', ')}`);
  if (totals.challenged > 0) console.log(`told the price: ${totals.challenged}`);
  console.log(`${timeText(from)} to ${timeText(to)} (UTC)`);
}
