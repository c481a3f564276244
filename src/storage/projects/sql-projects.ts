import type { NetworkId } from '../../protocol/types.js';
import { eventSteps } from '../events/event-statements.js';
import { ownerLock, ownerSteps } from '../owners/owner-steps.js';
import { ENDED_PER_LIVING } from '../owners/quotas.js';
import { valuesOf } from '../sql/columns.js';
import type { Row, SqlDatabase, SqlInput, Statement } from '../sql/sql-database.js';
import { healthSteps } from './health-statements.js';
import { PROJECT_COLUMNS, projectToSql, toProject } from './project-rows.js';
import { MARKET, marketStart, PROJECTS } from './project-statements.js';
import {
  MAX_WORDS,
  type MarketQuery,
  type MarketSort,
  type ProjectCreation,
  type ProjectOpenApi,
  type ProjectRecord,
  type ProjectStore,
  SLUG_REST_MS,
} from './projects.js';

/** After every price. */
const NO_PRICE_LIMIT = '~';
const ANYTHING = '%';

/** Projects on SQLite or Postgres. The database is not closed with it. */
export function createSqlProjects(database: SqlDatabase): ProjectStore {
  async function rowOf(statement: Statement, value: string): Promise<Row | undefined> {
    // Postgres takes no text with this character, and no project has it.
    if (value.includes('\0')) return undefined;
    const [row] = await database.query(statement, value);
    return row;
  }

  async function one(statement: Statement, value: string): Promise<ProjectRecord | undefined> {
    const row = await rowOf(statement, value);
    return row === undefined ? undefined : toProject(row);
  }

  return {
    async create(project, openapi, events, most = Number.MAX_SAFE_INTEGER) {
      const { owner, createdAt } = project;
      const step = [
        PROJECTS.create,
        ...valuesOf(PROJECT_COLUMNS, projectToSql(project)),
        documentToSql(openapi),
        createdAt - SLUG_REST_MS,
        most,
      ] as const;
      const steps = [...ownerSteps(owner, createdAt), ...healthSteps(project), ...eventSteps(events)];
      const rows = await database.batchIf(step, steps, ownerLock(database, owner));
      return rows.length > 0 ? { status: 'created' } : whyRefused(database, project, most);
    },
    async replace(project, openapi, events) {
      const values = valuesOf(PROJECT_COLUMNS, projectToSql(project));
      const step =
        openapi === 'keep'
          ? ([PROJECTS.replace, ...values] as const)
          : ([PROJECTS.replaceAll, ...values, documentToSql(openapi)] as const);
      return (await database.batchIf(step, [...healthSteps(project), ...eventSteps(events)])).length > 0;
    },
    find: (id) => one(PROJECTS.find, id),
    findBySlug: (slug) => one(PROJECTS.findBySlug, slug),
    async originOf(id) {
      const row = await rowOf(PROJECTS.originOf, id);
      return row === undefined ? undefined : { owner: String(row.owner), network: row.network as NetworkId };
    },
    async openApiOf(id) {
      const row = await rowOf(PROJECTS.openApiOf, id);
      return typeof row?.openapi === 'string' ? (JSON.parse(row.openapi) as ProjectOpenApi) : undefined;
    },
    async list(owner, limit, after = { createdAt: Number.MAX_SAFE_INTEGER, id: '' }) {
      return (await database.query(PROJECTS.list, owner, after.createdAt, after.id, limit)).map(toProject);
    },
    async listAll(limit, after = { createdAt: Number.MAX_SAFE_INTEGER, id: '' }) {
      return (await database.query(PROJECTS.listAll, after.createdAt, after.id, limit)).map(toProject);
    },
    async market(query) {
      const rows = await database.query(MARKET[query.sort], ...marketValues(query));
      return rows.map((row) => ({ project: toProject(row), rank: rankOf(query.sort, row) }));
    },
  };
}

async function whyRefused(
  database: SqlDatabase,
  { owner, slug, createdAt }: ProjectRecord,
  most: number,
): Promise<ProjectCreation> {
  const mostDeleted = Math.min(most * ENDED_PER_LIVING, Number.MAX_SAFE_INTEGER);
  const [row] = await database.query(PROJECTS.refusal, owner, slug, Math.max(0, mostDeleted - 1));
  const { owned, living, deleted_at, crowded_at } = row ?? {};
  if (Number(owned) >= most) return { status: 'quota_reached' };
  const roomAt = Number(crowded_at) + SLUG_REST_MS;
  if (crowded_at !== null && roomAt > createdAt) return { status: 'quota_reached', freeAt: roomAt };
  if (Number(living) > 0 || deleted_at === null) return { status: 'slug_taken' };
  return { status: 'slug_taken', freeAt: Number(deleted_at) + SLUG_REST_MS };
}

function documentToSql(openapi: ProjectOpenApi): string | null {
  return openapi === undefined ? null : JSON.stringify(openapi);
}

function marketValues({
  words,
  tag,
  token,
  minPrice,
  maxPrice,
  mode,
  sort,
  since,
  after,
  limit,
}: MarketQuery): SqlInput[] {
  const { rank, id } = after ?? { rank: marketStart(sort), id: '' };
  const patterns = Array.from({ length: MAX_WORDS }, (_, at) => patternOf(words[at]));
  const tags = patternOf(tag === undefined ? undefined : JSON.stringify(tag));
  const values = [
    tags,
    token ?? '',
    maxPrice ?? NO_PRICE_LIMIT,
    limit,
    rank,
    id,
    ...patterns,
    networkPattern(mode),
    minPrice ?? '',
  ];
  return sort === 'calls' ? [...values, since] : values;
}

/** What contains a text, for `like`. */
function patternOf(text: string | undefined): string {
  return text === undefined ? ANYTHING : `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}

/** Every network of test money is named after mainnet. */
function networkPattern(mode: MarketQuery['mode']): string {
  if (mode === undefined) return ANYTHING;
  return mode === 'live' ? 'solana' : 'solana-%';
}

function rankOf(sort: MarketSort, { rank }: Row): number | string {
  return sort === 'price' ? String(rank) : Number(rank);
}
