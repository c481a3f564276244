import type { Dialect } from '../sql-database.js';

const QUARTER_MS = 900_000;
const HOUR_MS = 3_600_000;
const MAX_SUM = '9223372036854775807';
/** Each bucket of a duration is a tenth wider than the one before. */
const GROWTH = 1.1;
const LAST_BUCKET = 200;

/**
 * Sums by route, and how long upstreams took apart from the gateway, of the calls that are kept. From here on sums are of quarters of
 * an hour; those of before stay where they are, at the first quarter of their hour.
 */
export function figuresByRoute(dialect: Dialect): readonly string[] {
  return [
    ...['upstream_ms', 'gateway_ms'].map(durations),
    byRoute(dialect, { kind: 'route_calls', label: 'c.route', value: 'count(*)' }),
    byRoute(dialect, { kind: 'route_paid', label: 'c.route', value: 'count(*)', where: 'c.mint is not null' }),
    byRoute(dialect, {
      kind: 'route_revenue',
      label: `${MONEY} || ' ' || c.route`,
      value: SUM,
      where: 'c.mint is not null',
    }),
  ];
}

const INSERT = 'insert into tollhouse_rollup (project_id, kind, hour, label, value)';
/** Native SOL is counted as wrapped SOL. */
const MONEY = `(case when c.mint = '11111111111111111111111111111111' then 'So11111111111111111111111111111111111111112'
  else c.mint end)`;
/** What looks negative is more than a sum holds, and a sum stops at the most that it holds. */
const AMOUNT = `(case when c.amount < 0 then ${MAX_SUM} else c.amount end)`;
const LOW = `cast(sum(${AMOUNT} & 4294967295) as bigint)`;
const HIGH = `(cast(sum(${AMOUNT} >> 32) as bigint) + (${LOW} >> 32))`;
const SUM = `case when ${HIGH} > 2147483647 then ${MAX_SUM} else ${HIGH} * 4294967296 + (${LOW} & 4294967295) end`;

/** What a sum of a route is of. */
interface RouteSum {
  readonly kind: string;
  readonly label: string;
  readonly value: string;
  readonly where?: string;
}

/** Calls name their route or, where none had a price for them, their path: what a project has as a route is one. */
function byRoute(dialect: Dialect, { kind, label, value, where = 'c.route is not null' }: RouteSum): string {
  return `${INSERT} select c.project_id, '${kind}', c.at - c.at % ${QUARTER_MS}, ${label}, ${value} from tollhouse_call c
    join (${routes(dialect)}) named on named.project_id = c.project_id and named.name = c.route
    where ${where} group by c.project_id, c.at - c.at % ${QUARTER_MS}, ${label}`;
}

function routes(dialect: Dialect): string {
  if (dialect === 'postgres') {
    return `select distinct p.id as project_id,
        (coalesce(r.value ->> 'method', '*') || ' ' || (r.value ->> 'path')) collate "C" as name
      from tollhouse_project p cross join lateral json_array_elements(cast(p.details as json) -> 'routes') r(value)`;
  }
  return `select distinct p.id as project_id,
      coalesce(json_extract(r.value, '$.method'), '*') || ' ' || json_extract(r.value, '$.path') as name
    from tollhouse_project p, json_each(p.details, '$.routes') r`;
}

function durations(column: string): string {
  return `${INSERT} with bucket(label, low, high) as (values ${bucketRows()})
    select lasted.project_id, '${column}', lasted.hour, bucket.label, sum(lasted.calls) from (
      select project_id, at - at % ${HOUR_MS} as hour, ${column} as ms, count(*) as calls from tollhouse_call
      where ${column} is not null group by project_id, at - at % ${HOUR_MS}, ${column}) lasted
    join bucket on lasted.ms >= bucket.low and lasted.ms <= bucket.high
    group by lasted.project_id, lasted.hour, bucket.label`;
}

/** The whole milliseconds of each bucket. */
function bucketRows(): string {
  const rows: string[] = [];
  let low = 0;
  for (let bucket = 0; bucket <= LAST_BUCKET; bucket += 1) {
    const high = bucket === LAST_BUCKET ? MAX_SUM : String(Math.floor(GROWTH ** bucket));
    if (BigInt(high) < BigInt(low)) continue;
    rows.push(`('${bucket}', ${low}, ${high})`);
    low = Number(high) + 1;
  }
  return rows.join(', ');
}
