import { defined } from '../../lib/defined.js';
import { formatAmount } from '../../protocol/money/money.js';
import { amountOf, amountToSql } from '../ledger/payment-rows.js';
import type { ColumnValues } from '../sql/columns.js';
import type { Row } from '../sql/sql-database.js';
import { type KeptPrice, type KeptRoute, priceToKeep, routeToKeep, toPrice, toRoute } from './price-rows.js';
import {
  type ProjectPrice,
  type ProjectRecord,
  type ProjectSettings,
  type ProjectUpstream,
  priceKey,
} from './projects.js';

/** What of a project is kept as JSON; the amount of its price has a column. */
type Details = Omit<ProjectSettings, 'slug' | 'price' | 'visibility' | 'tags' | 'routes'> & {
  readonly price: Omit<KeptPrice, 'amount'> & Pick<ProjectPrice, 'network' | 'chargeOn'>;
  readonly routes?: readonly KeptRoute[];
};

/** Columns of a project. */
export const PROJECT_COLUMNS = [
  'id',
  'owner',
  'slug',
  'state',
  'visibility',
  'version',
  'amount',
  'mint',
  'symbol',
  'price_key',
  'network',
  'tags',
  'search',
  'details',
  'secret',
  'previous_secret',
  'previous_secret_until',
  'created_at',
  'updated_at',
  'secrets_keys',
] as const;

/** A project as the columns of `tollhouse_project` but for the OpenAPI document. */
export function projectToSql(project: ProjectRecord): ColumnValues<(typeof PROJECT_COLUMNS)[number]> {
  const { slug, name, description, upstream, price, split, limits, visibility, tags, metadata, example, allowed } =
    project;
  const { routes, freeCalls } = project;
  const { amount, token } = price;
  const details: Details = {
    name,
    upstream,
    price: priceOf(price),
    split,
    limits,
    ...defined({ description, metadata, example, allowed, routes: routes?.map(routeToKeep), freeCalls }),
  };
  return {
    id: project.id,
    owner: project.owner,
    slug,
    state: project.state,
    visibility,
    version: project.version,
    amount: amountToSql(amount),
    mint: token.mint,
    symbol: token.symbol.toUpperCase(),
    price_key: priceKey(formatAmount(lowestPrice(project), token.decimals)),
    network: price.network,
    tags: JSON.stringify(tags),
    search: [slug, name, description ?? '', ...tags].join(' ').toLowerCase(),
    details: JSON.stringify(details),
    secret: project.secret,
    previous_secret: project.previousSecret ?? null,
    previous_secret_until: project.previousSecretUntil ?? null,
    created_at: project.createdAt,
    updated_at: project.updatedAt,
    secrets_keys: secretsKeysOf(upstream),
  };
}

/** Ids of the keys that the secrets of an upstream are encrypted with, separated by spaces; null where it has none. */
function secretsKeysOf({ headers = {}, query = {} }: ProjectUpstream): string | null {
  const ids = [...Object.values(headers), ...Object.values(query)].map((sealed) => sealed.split('.')[1] ?? '');
  return ids.length === 0 ? null : [...new Set(ids)].sort().join(' ');
}

/** The lowest price of calls in the token of the project's own price, by which the marketplace is searched; in atomic units. */
export function lowestPrice({ price, routes = [] }: Pick<ProjectSettings, 'price' | 'routes'>): bigint {
  const prices = routes.flatMap((it) => (it.price?.token.mint === price.token.mint ? it.price.amount : []));
  let lowest = price.amount;
  for (const it of prices) if (it < lowest) lowest = it;
  return lowest;
}

function priceOf({ network, chargeOn, ...price }: ProjectPrice): Details['price'] {
  const { amount: _amount, ...kept } = priceToKeep(price);
  return { ...kept, network, ...defined({ chargeOn }) };
}

function timeOf(name: 'upstreamCheckedAt' | 'upstreamDownSince', value: Row[string] | undefined) {
  return value === null || value === undefined ? {} : { [name]: Number(value) };
}

/** A row of `tollhouse_project`, and how its upstream is where that was read with it. */
export function toProject(row: Row): ProjectRecord {
  const { price: kept, routes, ...details } = JSON.parse(String(row.details)) as Details;
  const { network, chargeOn, ...price } = kept;
  return {
    ...details,
    id: String(row.id),
    owner: String(row.owner),
    slug: String(row.slug),
    state: row.state as ProjectRecord['state'],
    visibility: row.visibility as ProjectRecord['visibility'],
    version: Number(row.version),
    price: { ...toPrice({ ...price, amount: String(amountOf(row.amount)) }), network, ...defined({ chargeOn }) },
    ...defined({ routes: routes?.map(toRoute) }),
    tags: JSON.parse(String(row.tags)) as readonly string[],
    secret: String(row.secret),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    ...(row.previous_secret === null ? {} : { previousSecret: String(row.previous_secret) }),
    ...(row.previous_secret_until === null ? {} : { previousSecretUntil: Number(row.previous_secret_until) }),
    ...timeOf('upstreamCheckedAt', row.checked_at),
    ...timeOf('upstreamDownSince', row.down_since),
  };
}
