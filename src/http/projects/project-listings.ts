import type { Projects } from '../../gateway/projects/projects.js';
import type { Listing } from '../../middleware/terms/catalogue.js';
import { BAZAAR, BODY_METHODS, bazaarExtension, QUERY_METHODS, type RouteMethod } from '../../protocol/bazaar.js';
import type { Terms } from '../../protocol/types.js';
import type { ProjectExample, ProjectRecord } from '../../storage/projects/projects.js';
import { callUrl } from './views.js';

/** What {@link projectListings} works with. */
export interface ProjectListingsParts {
  readonly projects: Pick<Projects, 'listed'>;
  /** What the x402 door of a project offers, but for the fee payer. */
  readonly termsOf: (project: ProjectRecord) => readonly Omit<Terms, 'feePayer'>[];
}

/** A name as discovery takes it. */
const SERVICE_NAME = /^[ -~]{1,32}$/;

/** The listed projects of a gateway, which discovery shows beside the gates. */
export function projectListings({ projects, termsOf }: ProjectListingsParts) {
  return async (address: string): Promise<readonly Listing[]> => {
    const listed = await projects.listed();
    return listed.map((project) => listingOf(project, address, termsOf(project)));
  };
}

function listingOf(project: ProjectRecord, address: string, terms: Listing['terms']): Listing {
  const { slug, name, description = name, tags, example, updatedAt } = project;
  const declared = example === undefined ? undefined : declarationOf(example, callUrl('', slug));
  return {
    method: declared?.method ?? 'POST',
    path: callUrl('', slug),
    baseUrl: address,
    described: {
      description,
      ...(SERVICE_NAME.test(name) ? { serviceName: name } : {}),
      ...(tags.length === 0 ? {} : { tags }),
    },
    terms,
    // Calls are paid for before they are passed on.
    paymentFlow: 'upfront',
    extensions: declared === undefined ? {} : { [BAZAAR]: bazaarExtension(declared) },
    listedAt: updatedAt,
  };
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

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
