import { ENDED_PER_LIVING } from '../owners/quotas.js';
import { placesOf } from '../sql/columns.js';
import type { Statement } from '../sql/sql-database.js';
import { PROJECT_COLUMNS } from './project-rows.js';
import { MAX_WORDS, type MarketSort } from './projects.js';

const COLUMNS = PROJECT_COLUMNS.join(', ');
/** With how its upstream is. */
const SHOWN = `${COLUMNS},
    (select checked_at from tollhouse_upstream_health where project_id = tollhouse_project.id) as checked_at,
    (select down_since from tollhouse_upstream_health where project_id = tollhouse_project.id) as down_since`;
const VALUES = placesOf(PROJECT_COLUMNS);
const DOCUMENT = PROJECT_COLUMNS.length + 1;
const ASSIGNMENTS = PROJECT_COLUMNS.map((column, at) => `${column} = $${at + 1}`).join(', ');
/** `$1` the id, `$6` the version after the change. */
const BEFORE = `id = $1 and version = $6 - 1 and state <> 'deleted'`;

/** How many projects a wallet has. */
const ownedBy = (owner: string) =>
  `(select count(*) from tollhouse_project where owner = ${owner} and state <> 'deleted')`;

/** How many of a wallet's projects were deleted since then. Nothing changes a deleted one: that was its last change. */
const deletedSince = (owner: string, since: string) =>
  `(select count(*) from tollhouse_project where owner = ${owner} and state = 'deleted' and updated_at > ${since})`;

/** The statements on projects, the same for every database; {@link marketStatement} besides. */
export const PROJECTS = {
  create: {
    name: 'tollhouse_project_create',
    text: `insert into tollhouse_project (${COLUMNS}, openapi) select ${VALUES}, $${DOCUMENT}
      where not exists (
        select 1 from tollhouse_project where slug = $3 and (
          state <> 'deleted' or (owner <> $2 and updated_at > $${DOCUMENT + 1})))
        and ${ownedBy('$2')} < $${DOCUMENT + 2}
        and ${deletedSince('$2', `$${DOCUMENT + 1}`)} / ${ENDED_PER_LIVING} < $${DOCUMENT + 2}
      on conflict do nothing returning id`,
  },
  /** Why nothing was created. After `$3` that were deleted later comes `crowded_at`: it must be long ago. */
  refusal: {
    name: 'tollhouse_project_refusal',
    text: `select ${ownedBy('$1')} as owned,
      (select count(*) from tollhouse_project where slug = $2 and state <> 'deleted') as living,
      (select max(updated_at) from tollhouse_project where slug = $2 and state = 'deleted' and owner <> $1) as deleted_at,
      (select updated_at from tollhouse_project where owner = $1 and state = 'deleted'
        order by updated_at desc limit 1 offset $3) as crowded_at`,
  },
  replace: {
    name: 'tollhouse_project_replace',
    text: `update tollhouse_project set ${ASSIGNMENTS} where ${BEFORE} returning id`,
  },
  replaceAll: {
    name: 'tollhouse_project_replace_all',
    text: `update tollhouse_project set ${ASSIGNMENTS}, openapi = $${DOCUMENT} where ${BEFORE} returning id`,
  },
  find: {
    name: 'tollhouse_project_find',
    text: `select ${SHOWN} from tollhouse_project where id = $1 and state <> 'deleted'`,
  },
  findBySlug: {
    name: 'tollhouse_project_by_slug',
    text: `select ${SHOWN} from tollhouse_project where slug = $1 and state <> 'deleted'`,
  },
  originOf: {
    name: 'tollhouse_project_origin',
    text: 'select owner, network from tollhouse_project where id = $1',
  },
  openApiOf: {
    name: 'tollhouse_project_openapi',
    text: 'select openapi from tollhouse_project where id = $1',
  },
  list: {
    name: 'tollhouse_project_list',
    text: `select ${SHOWN} from tollhouse_project
      where owner = $1 and state <> 'deleted' and (created_at, id) < ($2, $3)
      order by created_at desc, id desc limit $4`,
  },
  listAll: {
    name: 'tollhouse_project_list_all',
    text: `select ${COLUMNS} from tollhouse_project
      where state <> 'deleted' and (created_at, id) < ($1, $2) order by created_at desc, id desc limit $3`,
  },
} as const satisfies Record<string, Statement>;

/** Whether neither a project nor what its owner sells is suspended. */
export function notSuspended(id: string, owner: string): string {
  return `not exists (select 1 from tollhouse_suspension as stopped
    where (stopped.kind = 'project' and stopped.target = ${id}) or (stopped.kind = 'owner' and stopped.target = ${owner}))`;
}

/** So many days of wallets are looked at of each project: nobody's calls make the search slow. */
const MAX_PAYER_DAYS = 5_000;

/** Distinct wallets that have paid a project since the start of a day, its owner's not among them; written with the calls. */
const PAYERS = `(select count(*) from (
    select distinct label from (
      select label from tollhouse_rollup
      where project_id = project.id and kind = 'payers_day' and hour >= $${9 + MAX_WORDS} and label <> project.owner
      order by hour, label limit ${MAX_PAYER_DAYS}) as payer_day) as payer)`;

/** In Postgres the default, in SQLite there is none. */
const ESCAPE = `escape '\\'`;

/** By what the marketplace is ordered, which way, and what comes before the first. */
const ORDERS = {
  calls: { rank: PAYERS, way: 'desc', start: Number.MAX_SAFE_INTEGER },
  price: { rank: 'project.price_key', way: 'asc', start: '' },
  new: { rank: 'project.created_at', way: 'desc', start: Number.MAX_SAFE_INTEGER },
} as const;

/** A rank that comes before all others in an order. */
export function marketStart(sort: MarketSort): number | string {
  return ORDERS[sort].start;
}

/**
 * The lists of the marketplace. `$1` is a pattern for the tags, `$2` a token or empty, `$3` the highest price key, `$4` how
 * many, `$5` and `$6` rank and id after which it begins, then come the patterns of the words
 * and that of the network, and the lowest price key; for calls the day at last.
 */
export const MARKET: Readonly<Record<MarketSort, Statement>> = {
  calls: marketStatement('calls'),
  price: marketStatement('price'),
  new: marketStatement('new'),
};

function marketStatement(sort: MarketSort): Statement {
  const { rank, way } = ORDERS[sort];
  const words = Array.from({ length: MAX_WORDS }, (_, at) => ` and project.search like $${7 + at} ${ESCAPE}`).join('');
  return {
    name: `tollhouse_market_${sort}`,
    text: `select * from (
      select ${COLUMNS}, ${rank} as rank from tollhouse_project as project
      where project.state = 'active' and project.visibility = 'listed' and project.tags like $1 ${ESCAPE}
        and $2 in ('', project.symbol, project.mint) and project.price_key <= $3 and project.network like $${7 + MAX_WORDS}
        and project.price_key >= $${8 + MAX_WORDS} and not exists (
          select 1 from tollhouse_upstream_health where project_id = project.id and down_since is not null)
        and ${notSuspended('project.id', 'project.owner')}${words}) as offered
      where (rank, id) ${way === 'desc' ? '<' : '>'} ($5, $6)
      order by rank ${way}, id ${way} limit $4`,
  };
}
