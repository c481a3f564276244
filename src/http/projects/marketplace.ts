import type { Marketplace } from '../../gateway/projects/marketplace.js';
import { mountAddress } from '../../middleware/gate/request-url.js';
import { listingPage } from '../../pages/market/listing-page.js';
import { marketPage } from '../../pages/market/market-page.js';
import { priceKey } from '../../storage/projects/projects.js';
import { listResponse, readCursor } from '../framework/list-response.js';
import { defineOperation } from '../framework/operation.js';
import type { ShellFor } from '../framework/service-pages.js';
import {
  MARKETPLACE_PATHS,
  marketCursors,
  marketProjectResponse,
  marketQuery,
  marketResponse,
} from './marketplace-schemas.js';
import { marketProjectView, marketView } from './marketplace-views.js';

/** What {@link MARKETPLACE_OPERATIONS} work with. */
export interface MarketplaceOperationsParts {
  readonly marketplace: Marketplace;
  /** Address under which clients reach this server. Default: from the request. */
  readonly baseUrl?: string | undefined;
  /** For pages. Default: there are none. */
  readonly shellFor?: ShellFor | undefined;
}

const TAG = 'Marketplace';

const searchMarketplace = defineOperation({
  method: 'get',
  path: MARKETPLACE_PATHS.all,
  id: 'searchMarketplace',
  tag: TAG,
  scope: 'public',
  summary: 'Listed projects',
  description: 'Calls that are made while you read page after page may move a project to a page that you have read.',
  query: marketQuery,
  responses: { 200: { description: 'One page of them.', schema: marketResponse, mediaType: 'text/html' } },
  errors: ['validation_failed', 'store_unavailable'],
  async handler({ req, query }, { marketplace, baseUrl }: MarketplaceOperationsParts) {
    const { q, tag, token, min_price: minPrice, max_price: maxPrice, mode, sort, limit, cursor } = query;
    const place = readCursor(cursor, marketCursors[sort]);
    const { items, since } = await marketplace.search({
      sort,
      limit: limit + 1,
      ...(q === undefined ? {} : { text: q }),
      ...(tag === undefined || tag === '' ? {} : { tag }),
      ...(token === undefined ? {} : { token }),
      ...(mode === undefined ? {} : { mode }),
      ...(minPrice ? { minPrice: priceKey(minPrice) } : {}),
      ...(maxPrice ? { maxPrice: priceKey(maxPrice) } : {}),
      ...(place === undefined ? {} : { after: { rank: place[1], id: place[2] }, since: place[3] }),
    });
    const origin = mountAddress(req, baseUrl);
    return listResponse(
      items,
      limit,
      ({ project, rank }) => [sort, rank, project.id, since],
      ({ project, figures }) => marketView(project, figures, origin),
    );
  },
  page: ({ req, query }, found, { shellFor }) => shellFor && marketPage(shellFor(req), found, query),
});

const getMarketplaceProject = defineOperation({
  method: 'get',
  path: MARKETPLACE_PATHS.one,
  id: 'getMarketplaceProject',
  tag: TAG,
  scope: 'public',
  summary: 'One listed project',
  responses: {
    200: {
      description: 'The project, with its routes and its own OpenAPI document.',
      schema: marketProjectResponse,
      mediaType: 'text/html',
    },
  },
  errors: ['project_not_found', 'store_unavailable'],
  async handler({ req, params }, { marketplace, baseUrl }: MarketplaceOperationsParts) {
    return marketProjectView(await marketplace.find(params.slug), mountAddress(req, baseUrl));
  },
  page: ({ req }, listing, { shellFor }) => shellFor && listingPage(shellFor(req), listing),
});

/** `/api/v1/marketplace`: what is for sale here, for everybody to see. */
export const MARKETPLACE_OPERATIONS = [searchMarketplace, getMarketplaceProject];
