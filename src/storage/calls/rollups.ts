import { moneyOf } from '../../protocol/networks/tokens.js';
import { type ColumnValues, namesOf, valuesOf } from '../sql/columns.js';
import { type JsonRow, jsonRow } from '../sql/json-groups.js';
import type { Statement, Step } from '../sql/sql-database.js';
import { saturatingSum, summand } from '../sql/sql-sums.js';
import type { CallRecord, Charge, RefusedCall, UnforwardedCall } from './call-store.js';
import { latencyBucket } from './latency-buckets.js';
import { dayOf, hourOf, quarterOf } from './periods.js';

/**
 * What is summed by project and quarter of an hour; the label says of what, for those that have one. Durations are by the hour: they
 * have many labels. Sums of before quarters were kept stand at the first quarter of their hour.
 */
export type RollupKind =
  | 'calls'
  | 'paid'
  | 'challenged'
  | 'refused'
  | 'upstream_errors'
  | 'pass_uses'
  | 'passes_sold'
  /** By bucket of the duration: of calls, until the head of the upstream's response came, and until they were passed on to it. */
  | 'latency'
  | 'upstream_ms'
  | 'gateway_ms'
  /** By mint, in atomic units; of native SOL that of wrapped SOL. */
  | 'revenue'
  /** By mint: what was paid for calls that bought nothing, and what of it has paid others since. */
  | 'credit_given'
  | 'credit_used'
  /** By wallet: how many calls it paid. */
  | 'payers'
  /** The same by day, in place of the hour: what is distinct in a month would be too many hours to look at. */
  | 'payers_day'
  /** By error code. */
  | 'refusals'
  /** By the name of the route that matched; what none matched is the rest. */
  | 'route_calls'
  | 'route_paid'
  /** By mint and route, with a space between them. */
  | 'route_revenue';

/** Something to be added to one sum. */
export interface Rollup {
  readonly projectId: string;
  readonly kind: RollupKind;
  /** Start of the quarter of an hour, of the hour or of the day, as its kind is summed: milliseconds since the epoch. */
  readonly hour: number;
  readonly label: string;
  readonly value: bigint;
}

/** Columns of a sum. */
export const ROLLUP_INPUT = {
  project_id: 'text',
  kind: 'text',
  hour: 'bigint',
  label: 'text',
  value: 'bigint',
} as const;

const COLUMNS = namesOf(ROLLUP_INPUT);
/** More rows than this go in several statements. */
const MAX_ROWS = 40;

/** Reasons of failed calls that are no upstream's doing. */
const NO_UPSTREAM_FAULTS: ReadonlySet<string> = new Set([
  'client_gone',
  'body_too_large',
  'invalid_request',
  'method_not_allowed',
  'call_broken_off',
]);

/** What a call adds. */
export function rollupsOf(call: CallRecord): readonly Rollup[] {
  const { projectId, charge, credit, pass, payer, outcome } = call;
  const hour = quarterOf(call.at);
  const rollup = (kind: RollupKind, label = '', value = 1n): Rollup => ({ projectId, kind, hour, label, value });
  const money = (kind: RollupKind, { mint, amount }: Charge) => rollup(kind, moneyOf(mint), summand(amount));
  const hasPaid = credit === undefined ? charge !== undefined : credit.kind === 'given';
  return [
    rollup('calls'),
    ...durationRollups(call),
    ...routeRollups(call, rollup),
    ...(outcome === 'failed' && !NO_UPSTREAM_FAULTS.has(call.reason ?? '') ? [rollup('upstream_errors')] : []),
    ...(charge === undefined ? [] : [rollup('paid'), money('revenue', charge)]),
    ...(pass?.uses === 1 ? [rollup('pass_uses')] : []),
    ...(pass === undefined || charge === undefined ? [] : [rollup('passes_sold')]),
    ...(credit === undefined ? [] : [money(`credit_${credit.kind}`, credit.charge)]),
    ...(!hasPaid || payer === undefined ? [] : payerRollups(rollup('payers', payer), call.at)),
  ];
}

/** What one call adds to a sum. */
type RollupMaker = (kind: RollupKind, label: string, value?: bigint) => Rollup;

function durationRollups({ projectId, at, durationMs, upstreamMs, gatewayMs }: CallRecord): readonly Rollup[] {
  const durations = { latency: durationMs, upstream_ms: upstreamMs, gateway_ms: gatewayMs } as const;
  const hour = hourOf(at);
  return (Object.keys(durations) as (keyof typeof durations)[]).flatMap((kind) => {
    const ms = durations[kind];
    return ms === undefined ? [] : [{ projectId, kind, hour, label: String(latencyBucket(ms)), value: 1n }];
  });
}

/** What is known of the whole project needs no sum for the calls that no route matched. */
function routeRollups({ rule, charge }: CallRecord, rollup: RollupMaker): readonly Rollup[] {
  if (rule === undefined) return [];
  if (charge === undefined) return [rollup('route_calls', rule)];
  const revenue = rollup('route_revenue', routeRevenueLabel(moneyOf(charge.mint), rule), summand(charge.amount));
  return [rollup('route_calls', rule), rollup('route_paid', rule), revenue];
}

/** The label of what a route has earned of a token. */
export function routeRevenueLabel(mint: string, rule: string): string {
  return `${mint} ${rule}`;
}

function payerRollups(byHour: Rollup, at: number): readonly Rollup[] {
  return [byHour, { ...byHour, kind: 'payers_day', hour: dayOf(at) }];
}

/** What a refused call adds. */
export function refusalRollups({ projectId, at, reason }: RefusedCall): readonly Rollup[] {
  const common = { projectId, hour: quarterOf(at), value: 1n };
  return [
    { ...common, kind: 'refused', label: '' },
    { ...common, kind: 'refusals', label: reason },
  ];
}

/** What a request adds that was told the price. */
export function challengeRollups({ projectId, at }: UnforwardedCall): readonly Rollup[] {
  return [{ projectId, hour: quarterOf(at), value: 1n, kind: 'challenged', label: '' }];
}

/** A text that only rollups of the same sum have. */
export function sumOf({ projectId, kind, hour, label }: Rollup): string {
  return JSON.stringify([projectId, kind, hour, label]);
}

/**
 * The steps that add rollups, at most one to each sum. Everybody takes the rows in the same order, so that transactions
 * wait for each other and never in a circle; put them last into a transaction, because the rows are much in demand.
 */
export function rollupSteps(rollups: readonly Rollup[]): readonly Step[] {
  const sorted = [...rollups].sort(bySum);
  const chunks = Array.from({ length: Math.ceil(sorted.length / MAX_ROWS) }, (_, at) =>
    sorted.slice(at * MAX_ROWS, (at + 1) * MAX_ROWS),
  );
  return chunks.map((chunk) => [
    addRows(chunk.length),
    ...chunk.flatMap((rollup) => valuesOf(COLUMNS, rollupToSql(rollup))),
  ]);
}

/** By the bytes of project, kind, hour and label: the order of `finish-calls.ts`. */
function bySum(a: Rollup, b: Rollup): number {
  if (a.projectId !== b.projectId) return a.projectId < b.projectId ? -1 : 1;
  if (a.kind !== b.kind) return a.kind < b.kind ? -1 : 1;
  if (a.hour !== b.hour) return a.hour - b.hour;
  return a.label < b.label ? -1 : 1;
}

/** A rollup as a row of {@link ROLLUP_INPUT}, for statements that take it as JSON. */
export function rollupRow(rollup: Rollup): JsonRow {
  return jsonRow(rollupToSql(rollup));
}

function rollupToSql({ projectId, kind, hour, label, value }: Rollup): ColumnValues<keyof typeof ROLLUP_INPUT> {
  return { project_id: projectId, kind, hour, label, value };
}

/** By the number of rows. */
const statements = new Map<number, Statement>();

function addRows(count: number): Statement {
  const known = statements.get(count) ?? statementOf(count);
  statements.set(count, known);
  return known;
}

function statementOf(count: number): Statement {
  const row = (at: number) => COLUMNS.map((_, column) => `$${at * COLUMNS.length + column + 1}`).join(', ');
  const rows = Array.from({ length: count }, (_, at) => `(${row(at)})`).join(', ');
  return {
    name: `tollhouse_add_rollups_${count}`,
    text: `insert into tollhouse_rollup (${COLUMNS.join(', ')}) values ${rows}
      on conflict (project_id, kind, hour, label)
      do update set value = ${saturatingSum('tollhouse_rollup.value', 'excluded.value')}`,
  };
}
