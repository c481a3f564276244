import type { ProjectFigures } from '../../gateway/projects/marketplace.js';
import type { ProjectExample, ProjectRecord } from '../../storage/projects/projects.js';
import type { ResponseBody } from '../framework/fields.js';
import { curlText } from './curl-text.js';
import type { marketItemResponse } from './marketplace-schemas.js';
import { priceView } from './price-views.js';
import { callUrl } from './views.js';

/** The general form of a call. */
const DEFAULT_EXAMPLE: ProjectExample = { method: 'POST', path: '', body: {} };
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
  const { id, slug, name, description, tags, owner, price, example = DEFAULT_EXAMPLE } = project;
  const url = callUrl(origin, slug);
  return {
    id,
    slug,
    url,
    name,
    description: description ?? null,
    tags,
    owner,
    pricing: priceView(price),
    calls,
    success_rate: calls === 0 ? null : succeeded / calls,
    p95_ms: p95Ms ?? null,
    example: exampleView(example, url),
    created_at: new Date(project.createdAt).toISOString(),
    updated_at: new Date(project.updatedAt).toISOString(),
  };
}

function exampleView(
  { method, path, body }: ProjectExample,
  base: string,
): ResponseBody<typeof marketItemResponse>['example'] {
  const url = `${base}${path}`;
  const json = body === undefined ? undefined : JSON.stringify(body);
  const headers = json === undefined ? CREDENTIALS : { ...CREDENTIALS, 'Content-Type': 'application/json' };
  return { method, url, body: body ?? null, curl: curlText({ method, url, headers, body: json }) };
}
