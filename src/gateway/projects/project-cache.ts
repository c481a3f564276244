import { boundedCache } from '../../lib/bounded-cache.js';
import type { ProjectRecord, ProjectStore } from '../../storage/projects/projects.js';

/** Projects as they were at most {@link STALE_MS} ago; what this process changes is seen by it at once. */
export interface ProjectCache {
  /** A project that is not deleted. */
  bySlug(slug: string): Promise<ProjectRecord | undefined>;
  /** All active, listed projects, the oldest first; of very many the newest. */
  listed(): Promise<readonly ProjectRecord[]>;
  /** A project was changed. */
  forget(slug: string): void;
}

/** How old a response can be where another instance has changed the project. */
const STALE_MS = 5_000;
const MAX_SLUGS = 10_000;
const PAGE = 500;
const MAX_LISTED = 10_000;
const LISTED = 'listed';

/**
 * Remembers projects by their slugs, for every call of `/v1/<slug>` asks for one; slugs that there are not as well.
 * @param now - clock, milliseconds since the epoch
 */
export function createProjectCache(store: ProjectStore, now: () => number): ProjectCache {
  // What was being read while it changed is answered once more and not kept.
  const fresh = { ttl: STALE_MS, perf: { now }, ttlResolution: 0, ignoreFetchAbort: true };
  const slugs = boundedCache<string, ProjectRecord | 'none'>({
    ...fresh,
    max: MAX_SLUGS,
    fetchMethod: async (slug) => (await store.findBySlug(slug)) ?? 'none',
  });
  const lists = boundedCache<typeof LISTED, readonly ProjectRecord[]>({
    ...fresh,
    max: 1,
    fetchMethod: () => readListed(store),
  });
  return {
    async bySlug(slug) {
      const found = await slugs.fetch(slug);
      return found === 'none' ? undefined : found;
    },
    listed: async () => (await lists.fetch(LISTED)) ?? [],
    forget(slug) {
      slugs.delete(slug);
      lists.clear();
    },
  };
}

async function readListed(store: ProjectStore): Promise<readonly ProjectRecord[]> {
  const found: ProjectRecord[] = [];
  while (found.length < MAX_LISTED) {
    const last = found.at(-1);
    const after = last === undefined ? {} : { after: { rank: last.createdAt, id: last.id } };
    const page = await store.market({ words: [], sort: 'new', since: 0, limit: PAGE, ...after });
    found.push(...page.map(({ project }) => project));
    if (page.length < PAGE) break;
  }
  return found.reverse();
}
