import type { ProjectDraft } from '../../gateway/projects/project-draft.js';
import type { DocumentedProject } from '../../gateway/projects/projects.js';
import type { Suspension } from '../../storage/owners/owners.js';
import type { ProjectRecord } from '../../storage/projects/projects.js';
import type { ResponseBody } from '../framework/fields.js';
import { CALLS_PATH } from '../framework/path.js';
import { priceView, routeView } from './price-views.js';
import type { ProjectBody, projectItemResponse, projectResponse } from './schemas.js';
import { bodyOfUpstream, draftOfUpstream, upstreamView } from './upstream-views.js';

/** What a client wrote, as the gateway takes it. */
export function draftFrom({ upstream, pricing, limits, free_calls, ...body }: ProjectBody): ProjectDraft {
  return {
    ...body,
    upstream: draftOfUpstream(upstream),
    pricing: draftOfPricing(pricing),
    freeCalls: free_calls,
    limits: limits && {
      perSecond: limits.per_second,
      concurrent: limits.concurrent,
      maxBodyBytes: limits.max_body_bytes,
    },
  };
}

/** A draft as a client would have written it: what a merge patch is applied to. */
export function bodyFrom({ upstream, pricing, limits, freeCalls, ...draft }: ProjectDraft): object {
  return {
    ...draft,
    upstream: bodyOfUpstream(upstream),
    pricing: bodyOfPricing(pricing),
    free_calls: freeCalls,
    limits: {
      per_second: limits?.perSecond,
      concurrent: limits?.concurrent,
      max_body_bytes: limits?.maxBodyBytes,
    },
  };
}

function draftOfPricing({ charge_on: chargeOn, ...pricing }: ProjectBody['pricing']): ProjectDraft['pricing'] {
  return { ...pricing, chargeOn };
}

function bodyOfPricing({ chargeOn: charge_on, ...pricing }: ProjectDraft['pricing']): object {
  return { ...pricing, charge_on };
}

/** A project as its owner sees it in a list. `origin` is the address of the gateway, before `/v1`. */
export function projectItemView(
  project: ProjectRecord,
  origin: string,
  suspended: Suspension | undefined,
): ResponseBody<typeof projectItemResponse> {
  const { id, slug, name, description, owner, price, split, limits, visibility, tags, metadata } = project;
  return {
    id,
    slug,
    url: callUrl(origin, slug),
    name,
    description: description ?? null,
    owner,
    state: project.state,
    suspended_at: suspended === undefined ? null : new Date(suspended.at).toISOString(),
    visibility,
    allowed: project.allowed ?? [],
    upstream: upstreamView(project),
    pricing: priceView(price),
    routes: (project.routes ?? []).map(routeView),
    free_calls: project.freeCalls ?? null,
    split: split.map(({ recipient, bps, label }) => ({ recipient, bps, label: label ?? null })),
    limits: {
      per_second: limits.perSecond,
      concurrent: limits.concurrent,
      max_body_bytes: limits.maxBodyBytes,
    },
    tags,
    metadata: metadata ?? null,
    example: project.example ?? null,
    version: project.version,
    created_at: new Date(project.createdAt).toISOString(),
    updated_at: new Date(project.updatedAt).toISOString(),
  };
}

/** A project as its owner sees it. The secret is for those who may read secrets. */
export function projectView(
  { project, openapi }: DocumentedProject,
  origin: string,
  suspended: Suspension | undefined,
  showsSecret: boolean,
): ResponseBody<typeof projectResponse> {
  return {
    ...projectItemView(project, origin, suspended),
    openapi: openapi ?? null,
    ...(showsSecret ? { gateway_secret: project.secret } : {}),
  };
}

/** Where a project is called. */
export function callUrl(origin: string, slug: string): string {
  return `${origin}${CALLS_PATH}/${slug}`;
}
