import type {
  ProjectExample,
  ProjectLimits,
  ProjectOpenApi,
  ProjectRecord,
  ProjectShare,
} from '../../storage/projects/projects.js';
import {
  type DraftFreeCalls,
  type DraftPricing,
  type DraftRoute,
  draftOfPricing,
  draftOfRoute,
} from '../prices/pricing-draft.js';

/** What an owner asks for: a project before its rules are checked. What is left out takes its default. */
export interface ProjectDraft {
  /** `^[a-z0-9](?:[a-z0-9-]{1,38}[a-z0-9])$`. */
  readonly slug: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly upstream: {
    readonly url: string;
    /** Default 30,000. */
    readonly timeoutMs?: number | undefined;
  };
  readonly pricing: DraftPricing;
  /** Default: all to the owner. */
  readonly split?: readonly DraftShare[] | undefined;
  readonly limits?: Loose<ProjectLimits> | undefined;
  /** Default `unlisted`. */
  readonly visibility?: ProjectRecord['visibility'] | undefined;
  /** Wallets and ids of service keys that may call it while it is private. Default: none. */
  readonly allowed?: readonly string[] | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly example?: ProjectExample | undefined;
  readonly openapi?: ProjectOpenApi;
  /** What calls of some paths cost; the first that matches decides. Default: all have the project's price. */
  readonly routes?: readonly DraftRoute[] | undefined;
  /** Calls that each key has without paying. Default: none. */
  readonly freeCalls?: DraftFreeCalls | undefined;
}

type Loose<T> = { readonly [K in keyof T]?: T[K] | undefined };
type DraftShare = Omit<ProjectShare, 'label'> & { readonly label?: string | undefined };

/** A project as its owner could have asked for it. */
export function draftOf(project: ProjectRecord, openapi: ProjectOpenApi): ProjectDraft {
  const { slug, name, description, upstream, price, split, limits, visibility, tags, metadata, example } = project;
  const { allowed, routes, freeCalls } = project;
  const pricing = draftOfPricing(price);
  const rest = { visibility, allowed, tags, metadata, example, openapi };
  const calls = { routes: routes?.map(draftOfRoute), freeCalls };
  return { slug, name, description, upstream, pricing, split, limits, ...rest, ...calls };
}
