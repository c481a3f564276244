import { TollhouseError } from '../../errors/errors.js';
import { boundedCache } from '../../lib/bounded-cache.js';
import { defined } from '../../lib/defined.js';
import type { MoneyMode } from '../../protocol/networks/networks.js';
import { moneyOf } from '../../protocol/networks/tokens.js';
import { DAY_MS, dayOf } from '../../storage/calls/periods.js';
import type { Suspensions } from '../../storage/owners/suspensions.js';
import {
  MAX_WORDS,
  type MarketEntry,
  type MarketQuery,
  type ProjectRecord,
  type ProjectStore,
} from '../../storage/projects/projects.js';
import type { DocumentedProject, Projects } from './projects.js';

/** How a project has done lately. */
export interface ProjectFigures {
  /** Calls that reached the upstream. */
  readonly calls: number;
  /** Those that it answered. */
  readonly succeeded: number;
  /** Milliseconds within which 95 of 100 calls were answered; missing where there were none. */
  readonly p95Ms?: number;
}

/** What {@link createMarketplace} works with. */
export interface MarketplaceParts {
  readonly store: Pick<ProjectStore, 'market' | 'openApiOf'>;
  readonly projects: Pick<Projects, 'bySlug'>;
  /** The suspension of a project; undefined when there is none. Default: none is suspended. */
  readonly suspended?: Suspensions['ofProject'] | undefined;
  /** The figures of projects, by id; a project without calls may be missing. */
  readonly figures: (projectIds: readonly string[]) => Promise<ReadonlyMap<string, ProjectFigures>>;
  /** What is shown to those who do not say whether they look for test money's goods. Default: all there is. */
  readonly mode?: MoneyMode;
  /** Clock, milliseconds since the epoch. Default: the system's. */
  readonly now?: () => number;
}

/** What somebody looks for. */
export interface MarketSearch extends Omit<MarketQuery, 'words' | 'since'> {
  /** Text of which every word must occur. */
  readonly text?: string;
  /** Time that the search before this page gave; payers from then on count for the order. Default: the start of the day thirty days ago. */
  readonly since?: number;
}

/** A project in the marketplace. */
export interface MarketItem extends MarketEntry {
  readonly figures: ProjectFigures;
}

/** A page of the marketplace. */
export interface MarketPage {
  readonly items: readonly MarketItem[];
  /** For the next page, so that its order is the same. */
  readonly since: number;
}

/** A project that is for sale, with all that it says of itself. */
export interface MarketProject extends Pick<MarketItem, 'project' | 'figures'> {
  /** Its present version: the same object until it is changed, so that what is made of it is made once. */
  readonly version: DocumentedProject;
}

/** What is for sale here: active, listed projects. */
export interface Marketplace {
  search(search: MarketSearch): Promise<MarketPage>;
  /** Rejects with `project_not_found` where there is no such project, or none that is for sale. */
  find(slug: string): Promise<MarketProject>;
}

/** A version with its document takes some hundred kilobytes. */
const MAX_VERSIONS = 50;

const COUNTED_MS = 30 * DAY_MS;
const NONE: ProjectFigures = { calls: 0, succeeded: 0 };

/** Makes the marketplace of a gateway's projects. */
export function createMarketplace(parts: MarketplaceParts): Marketplace {
  const { store, projects, suspended = () => undefined, figures, now = Date.now } = parts;
  const versionOf = rememberedVersions(store);
  return {
    async search({ text = '', mode = parts.mode, since = dayOf(now() - COUNTED_MS), ...query }) {
      const token = query.token === undefined ? {} : { token: moneyOf(query.token) };
      const entries = await store.market({ ...query, ...token, ...defined({ mode }), words: wordsOf(text), since });
      const known = await figures(entries.map(({ project }) => project.id));
      return { items: entries.map((it) => ({ ...it, figures: known.get(it.project.id) ?? NONE })), since };
    },
    async find(slug) {
      const project = await projects.bySlug(slug);
      const isListed = project?.state === 'active' && project.visibility === 'listed';
      if (!isListed || (await suspended(project)) !== undefined) {
        throw new TollhouseError('project_not_found', 'No project with this slug is for sale here.');
      }
      const [known, version] = await Promise.all([figures([project.id]), versionOf(project)]);
      return { project, version, figures: known.get(project.id) ?? NONE };
    },
  };
}

/** Reads the document of each version once, of the versions that are asked for. */
function rememberedVersions(store: Pick<ProjectStore, 'openApiOf'>) {
  const versions = boundedCache<string, Promise<DocumentedProject>>({ max: MAX_VERSIONS });
  const read = async (project: ProjectRecord) => ({ project, openapi: await store.openApiOf(project.id) });
  return async (project: ProjectRecord): Promise<DocumentedProject> => {
    // A restored database counts its versions from an older one on.
    const key = `${project.id} ${project.version} ${project.updatedAt}`;
    const version = versions.get(key) ?? read(project);
    versions.set(key, version);
    try {
      return await version;
    } catch (error) {
      versions.delete(key);
      throw error;
    }
  };
}

function wordsOf(text: string): readonly string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(words)].slice(0, MAX_WORDS);
}
