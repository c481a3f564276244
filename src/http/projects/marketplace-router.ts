import { type Request, Router } from 'express';
import { z } from 'zod';
import type { Marketplace } from '../../gateway/projects/marketplace.js';
import { mountAddress } from '../../middleware/gate/request-url.js';
import { isAddress } from '../../protocol/address.js';
import { priceKey } from '../../storage/projects/projects.js';
import { handled } from '../framework/handled.js';
import { listResponse, pageQuery, readCursor } from '../framework/list-response.js';
import { problemHandler } from '../framework/problem-handler.js';
import { readBody } from '../framework/read-body.js';
import { refuseOtherMethods } from '../framework/refuse-other-methods.js';
import { marketView } from './marketplace-view.js';
import { projectIdText } from './project-schemas.js';

/** Options of {@link createMarketplaceRouter}. */
export interface MarketplaceRouterOptions {
  readonly marketplace: Marketplace;
  /** Address under which clients reach this server. Default: from the request. */
  readonly baseUrl?: string | undefined;
}

const PATH = '/api/v1/marketplace';
const DEFAULT_SORT = 'calls';

const text = (max: number) => z.string('must be a text').max(max, `must have at most ${max} characters`);

/** Query of `GET /api/v1/marketplace`. */
export const marketQuery = z.object({
  q: text(200).optional().describe('Words that must all occur in name, description, slug or tags.'),
  tag: text(32).toLowerCase().optional(),
  token: text(64)
    .regex(/^[!-~]*$/, 'must be a symbol or a mint')
    .transform((it) => (isAddress(it) ? it : it.toUpperCase()))
    .optional()
    .describe('Symbol or mint of the token that is paid in.'),
  max_price: text(64)
    .regex(/^\d{1,20}(?:\.\d{1,18})?$/, 'must be a decimal amount such as "0.05"')
    .optional()
    .describe("In whole tokens, each price in its own: name the `token` unless you mean any token's number."),
  sort: z
    .enum(['calls', 'price', 'new'], 'must be "calls", "price" or "new"')
    .default(DEFAULT_SORT)
    .describe('Most calls in thirty days first, lowest price first, or newest first.'),
  ...pageQuery,
});

const cursors = {
  calls: z.tuple([z.literal('calls'), z.int(), projectIdText, z.int()]),
  price: z.tuple([z.literal('price'), z.string().regex(/^[\d.]+$/), projectIdText, z.int()]),
  new: z.tuple([z.literal('new'), z.int(), projectIdText, z.int()]),
};

/** `/api/v1/marketplace` (service.md §5): what is for sale here, for everybody to see. */
export function createMarketplaceRouter({ marketplace, baseUrl }: MarketplaceRouterOptions): Router {
  const router = Router();
  router
    .route(PATH)
    .get(handled(async (req, res) => void res.json(await search(marketplace, req, mountAddress(req, baseUrl)))))
    .all(refuseOtherMethods('GET', 'HEAD'));
  router
    .route(`${PATH}/:slug`)
    .get(
      handled(async (req, res) => {
        const { project, figures, openapi } = await marketplace.find(String(req.params.slug));
        res.json({ ...marketView(project, figures, mountAddress(req, baseUrl)), openapi: openapi ?? null });
      }),
    )
    .all(refuseOtherMethods('GET', 'HEAD'));
  router.use(problemHandler);
  return router;
}

async function search(marketplace: Marketplace, req: Request, origin: string) {
  const { q, tag, token, max_price: maxPrice, sort, limit, cursor } = readBody(marketQuery, req.query);
  const place = readCursor(cursor, cursors[sort]);
  const { items, since } = await marketplace.search({
    sort,
    limit: limit + 1,
    ...(q === undefined ? {} : { text: q }),
    ...(tag === undefined || tag === '' ? {} : { tag }),
    ...(token === undefined ? {} : { token }),
    ...(maxPrice === undefined ? {} : { maxPrice: priceKey(maxPrice) }),
    ...(place === undefined ? {} : { after: { rank: place[1], id: place[2] }, since: place[3] }),
  });
  return listResponse(
    items,
    limit,
    ({ project, rank }) => [sort, rank, project.id, since],
    ({ project, figures }) => marketView(project, figures, origin),
  );
}
