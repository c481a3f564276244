import type { CallRoute } from '../../gateway/prices/call-route.js';
import { costOf, namedPath, offeredRoutes } from '../../gateway/prices/offered-routes.js';
import type { Projects } from '../../gateway/projects/projects.js';
import { isRecord } from '../../lib/parsed.js';
import type { Listing } from '../../middleware/terms/catalogue.js';
import { BAZAAR, BODY_METHODS, bazaarExtension, QUERY_METHODS, type RouteMethod } from '../../protocol/bazaar.js';
import type { Terms } from '../../protocol/types.js';
import type { ProjectExample, ProjectRecord } from '../../storage/projects/projects.js';
import { callUrl } from './views.js';

/** What {@link projectListings} works with. */
export interface ProjectListingsParts {
  readonly projects: Pick<Projects, 'listed'>;
  /** What x402 offers for calls of a project that cost this, but for the fee payer. */
  readonly termsOf: (project: ProjectRecord, at: CallRoute) => readonly Omit<Terms, 'feePayer'>[];
}

/** Most free routes that a description names. */
const MOST_NAMED = 5;
/** A name as discovery takes it. */
const SERVICE_NAME = /^[ -~]{1,32}$/;

/** Most routes of one project that are listed, and most resources in all. */
const MOST_ROUTES = 20;
const MOST_LISTED = 10_000;

/** What is sold at an address of a project. */
type Sold = Pick<Listing, 'path' | 'method' | 'extensions'> & { readonly at: CallRoute };

/** The listed projects of a gateway, and their routes with a price of their own, which discovery shows beside the gates. */
export function projectListings({ projects, termsOf }: ProjectListingsParts) {
  const known = new WeakMap<ProjectRecord, readonly Listing[]>();
  const listingsOf = (project: ProjectRecord) => {
    const found = known.get(project) ?? soldAt(project).map((it) => listingOf(project, it, termsOf(project, it.at)));
    known.set(project, found);
    return found;
  };
  return async (address: string): Promise<readonly Listing[]> => {
    const found: Listing[] = [];
    for (const project of await projects.listed()) {
      if (found.length >= MOST_LISTED) break;
      found.push(...listingsOf(project).map((it) => ({ ...it, baseUrl: address })));
    }
    return found;
  };
}

/** The address of the project itself, and those of its routes: each that has a price. */
function soldAt(project: ProjectRecord): readonly Sold[] {
  const path = callUrl('', project.slug);
  const declared = project.example && declarationOf(project.example, path);
  const method = declared?.method ?? 'POST';
  const own = { path, method, at: costOf(project, method, ''), extensions: extensionsOf(declared) };
  const priced = offeredRoutes(project).filter(({ at }) => !at.isFree);
  const routes = priced.slice(0, MOST_ROUTES).map((it) => {
    const its = { path: path + namedPath(it.route.path), method: it.method };
    return { ...its, at: it.at, extensions: extensionsOf(declarationOf({ ...its, path: '' }, its.path)) };
  });
  const isOwn = (it: Pick<Sold, 'path' | 'method'>) => it.path === path && it.method === method;
  const { at } = own;
  return [...(at === undefined || at.isFree ? [] : [{ ...own, at }]), ...routes.filter((it) => !isOwn(it))];
}

function extensionsOf(declared: ReturnType<typeof declarationOf>): Listing['extensions'] {
  return declared === undefined ? {} : { [BAZAAR]: bazaarExtension(declared) };
}

function listingOf(project: ProjectRecord, { at, ...sold }: Sold, terms: Listing['terms']): Listing {
  const { name, tags, updatedAt } = project;
  return {
    ...sold,
    baseUrl: undefined,
    described: {
      description: descriptionOf(project, at),
      ...(SERVICE_NAME.test(name) ? { serviceName: name } : {}),
      ...(tags.length === 0 ? {} : { tags }),
    },
    terms,
    // Calls are paid for before they are passed on.
    paymentFlow: 'upfront',
    listedAt: updatedAt,
  };
}

function descriptionOf(project: ProjectRecord, { route }: CallRoute): string {
  const { name, description = name } = project;
  if (route !== undefined) return `${description} (${route.replace(/^\* /, '')})`;
  const free = offeredRoutes(project).filter(({ at }) => at.isFree);
  if (free.length === 0) return description;
  const named = free.slice(0, MOST_NAMED).map((it) => `${it.method} ${it.route.path}`);
  return `${description} (free with a service key: ${named.join(', ')}${free.length > MOST_NAMED ? ', …' : ''})`;
}

/** What an example says of the resource itself; undefined where it is about a path below it. */
function declarationOf({ method, path, body }: ProjectExample, resource: string) {
  const [below, query = ''] = path.split('?');
  const known = methodOf(method);
  if (below !== '' || known === undefined) return undefined;
  if (!isBodyMethod(known)) {
    return { method: known, path: resource, input: Object.fromEntries(new URLSearchParams(query)) };
  }
  const input = isRecord(body) ? { input: body } : {};
  return { method: known, path: resource, bodyType: 'json', ...input } as const;
}

function methodOf(method: string): RouteMethod | undefined {
  return [...QUERY_METHODS, ...BODY_METHODS].find((it) => it === method);
}

function isBodyMethod(method: RouteMethod): boolean {
  return BODY_METHODS.some((it) => it === method);
}
