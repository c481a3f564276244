import type {
  ProjectExample,
  ProjectLimits,
  ProjectOpenApi,
  ProjectRecord,
  ProjectShare,
  ProjectUpstream,
} from '../../storage/projects/projects.js';
import {
  type DraftFreeCalls,
  type DraftPricing,
  type DraftRoute,
  draftOfPricing,
  draftOfRoute,
} from '../prices/pricing-draft.js';
import type { WrittenSecrets } from '../upstream-secrets/addition-rules.js';
import { writtenOf } from '../upstream-secrets/sealed-additions.js';

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
    /** 0 to 3. Default 1. */
    readonly retries?: number | undefined;
    /** Header fields that are added to each call: secrets, which stay where they are said to be set. Default: none. */
    readonly headers?: WrittenSecrets | undefined;
    /** The same for parameters of the query. */
    readonly query?: WrittenSecrets | undefined;
    /** Where it is looked at, and how often, in milliseconds. Default: nowhere; every 30,000. */
    readonly health?: { readonly path: string; readonly intervalMs?: number | undefined } | undefined;
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
  const sold = { upstream: draftOfUpstream(upstream), pricing, split, limits };
  return { slug, name, description, ...sold, ...rest, ...calls };
}

/** Of secrets only that they are set. */
function draftOfUpstream({ headers, query, ...upstream }: ProjectUpstream): ProjectDraft['upstream'] {
  return { ...upstream, headers: writtenOf(headers), query: writtenOf(query) };
}
