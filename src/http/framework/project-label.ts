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
