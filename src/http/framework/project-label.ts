/** The label of a call whose project is not there, or not for its caller. */
export const UNKNOWN_PROJECT = 'unknown';

/** What {@link projectLabel} looks at. */
export interface LabelledProject {
  readonly id: string;
  readonly slug: string;
  readonly visibility: string;
}

/** A project as figures name it: they may be read by anybody, and the slug of one that is not listed is for those who were told it. */
export function projectLabel({ id, slug, visibility }: LabelledProject): string {
  return visibility === 'listed' ? slug : id;
}

/** A project by its id, where it is not deleted. */
export type FindSlug = (id: string) => Promise<{ readonly slug: string } | undefined>;

/** The slugs of the projects that records are of, by their ids; of those that are not deleted. */
export async function slugsOf(
  records: readonly { readonly projectId: string }[],
  findProject: FindSlug,
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(records.map(({ projectId }) => projectId))];
  const found = await Promise.all(ids.map(async (id) => [id, (await findProject(id))?.slug] as const));
  return new Map(found.flatMap(([id, slug]) => (slug === undefined ? [] : [[id, slug] as const])));
}
