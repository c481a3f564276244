import { costOf, offeredRoutes } from '../../gateway/prices/offered-routes.js';
import { priceRange } from '../../gateway/prices/price-range.js';
import type { MarketProject, ProjectFigures } from '../../gateway/projects/marketplace.js';
import { formatAmount } from '../../protocol/money/money.js';
import type { ProjectExample, ProjectRecord } from '../../storage/projects/projects.js';
import type { ResponseBody } from '../framework/fields.js';
import { curlText } from './curl-text.js';
import type { marketItemResponse, marketProjectResponse } from './marketplace-schemas.js';
import { callPriceView, offeredRouteView, priceView } from './price-views.js';
import { shownDocument } from './shown-document.js';
import { callUrl } from './views.js';

/** The general form of a call. */
const DEFAULT_EXAMPLE: ProjectExample = { method: 'POST', path: '', body: {} };
const WITHOUT_BODY = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS']);
const CREDENTIALS = {
  'X-Service-Key': '<API_KEY>',
  'X-Service-Secret': '<API_SECRET>',
  'X-Service-Payment': '<PAYMENT_SIGNATURE>',
};

/** A project as buyers see it: nothing of its upstream. `origin` is the address of the gateway, before `/v1`. */
export function marketView(
  project: ProjectRecord,
  { calls, succeeded, p95Ms }: ProjectFigures,
  origin: string,
): ResponseBody<typeof marketItemResponse> {
  const { id, slug, name, description, tags, owner, price } = project;
  const url = callUrl(origin, slug);
  return {
    id,
    slug,
    url,
    name,
    description: description ?? null,
    tags,
    owner,
    status: project.upstreamDownSince === undefined ? 'active' : 'down',
    pricing: priceView(price),
    price_range: rangeView(project),
    has_free_routes: project.routes?.some(({ free }) => free) ?? false,
    free_calls: project.freeCalls ?? null,
    calls,
    success_rate: calls === 0 ? null : succeeded / calls,
    p95_ms: p95Ms ?? null,
    example: exampleView(project, url),
    created_at: new Date(project.createdAt).toISOString(),
    updated_at: new Date(project.updatedAt).toISOString(),
  };
}

/** One project, with all that it sells. */
export function marketProjectView(
  { project, figures, version }: MarketProject,
  origin: string,
): ResponseBody<typeof marketProjectResponse> {
  return {
    ...marketView(project, figures, origin),
    routes: offeredRoutes(version.project).map(offeredRouteView),
    openapi: shownDocument(version, callUrl(origin, project.slug)),
  };
}

function rangeView(project: ProjectRecord): ResponseBody<typeof marketItemResponse>['price_range'] {
  const { from, to } = priceRange(project);
  const { decimals } = project.price.token;
  return { from: formatAmount(from, decimals), to: formatAmount(to, decimals) };
}

/** The owner's own, else of a route whose calls are all alike. */
function exampleOf({ example, routes = [] }: ProjectRecord): ProjectExample {
  if (example !== undefined) return example;
  const plain = routes.filter(({ path, deny }) => deny === undefined && !path.includes('*'));
  const { method = 'GET', path } = plain.find(({ price }) => price !== undefined) ?? plain[0] ?? DEFAULT_EXAMPLE;
  return WITHOUT_BODY.has(method) ? { method, path } : { method, path, body: {} };
}

function exampleView(project: ProjectRecord, base: string): ResponseBody<typeof marketItemResponse>['example'] {
  const { method, path, body } = exampleOf(project);
  const url = `${base}${path}`;
  const json = body === undefined ? undefined : JSON.stringify(body);
  const headers = json === undefined ? CREDENTIALS : { ...CREDENTIALS, 'Content-Type': 'application/json' };
  const at = costOf(project, method, path);
  const pricing = at === undefined || at.isFree ? null : callPriceView(at.project.price);
  return { method, url, body: body ?? null, pricing, curl: curlText({ method, url, headers, body: json }) };
}
