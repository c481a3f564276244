import { type Request, type Response, Router } from 'express';
import { TollhouseError } from '../../errors/errors.js';
import type { Facilitator } from '../../facilitator/types.js';
import { mountAddress, requestOrigin } from '../../middleware/gate/request-url.js';
import { catalogueOf, type Listing } from '../../middleware/terms/catalogue.js';
import {
  type CataloguedResource,
  encodeDiscovery,
  encodeDiscoverySearch,
  encodeWellKnown,
  type Page,
  passesFilter,
} from '../../protocol/wire/discovery.js';
import { handled } from '../framework/handled.js';
import { problemHandler } from '../framework/problem-handler.js';
import { readBody } from '../framework/read-body.js';
import { refuseOtherMethods } from '../framework/refuse-other-methods.js';
import { SERVICE } from '../framework/service-info.js';
import { listQuery, searchQuery } from './discovery-schemas.js';
import { searchCatalogue } from './search-catalogue.js';

/** Options of {@link createDiscoveryRouter}. */
export interface DiscoveryRouterOptions {
  readonly facilitator: Facilitator;
  /** Address under which clients reach this server. Default: from the request. */
  readonly baseUrl?: string | undefined;
  /**
   * What is for sale beside the gates on this facilitator, below the address under which clients reach this router. It comes
   * after them. Default: nothing.
   */
  readonly listed?: ((address: string) => Promise<readonly Listing[]>) | undefined;
}

const MAX_LIMIT = 100;
const RETRY_SECONDS = 5;
const BAD_QUERY = { code: 'invalid_request' } as const;

/**
 * What can be bought here, in x402's shapes (x402.md §4): `GET /discovery`, `/discovery/resources`, `/discovery/search` and
 * `/.well-known/x402`. Listed are the gates on this facilitator that were given
 * `discovery`, and what `listed` answers.
 */
export function createDiscoveryRouter(options: DiscoveryRouterOptions): Router {
  const router = Router();
  const get = (path: string, answer: (req: Request) => Promise<object>) =>
    router
      .route(path)
      .get(handled(async (req: Request, res: Response) => void res.json(await answer(req))))
      .all(refuseOtherMethods('GET', 'HEAD'));

  get('/discovery', async (req) => ({ ...encodeDiscovery(await listed(options, req)), service: SERVICE }));
  get('/discovery/resources', async (req) => encodeDiscovery(await listed(options, req)));
  get('/discovery/search', async (req) => encodeDiscoverySearch(await found(options, req)));
  get('/.well-known/x402', async (req) => {
    const urls = (await listingsOf(options, req)).map((it) => urlOf(it, options, req));
    return encodeWellKnown(urls, `${mountAddress(req, options.baseUrl)}/discovery/resources`);
  });
  router.use(problemHandler);
  return router;
}

async function listed(options: DiscoveryRouterOptions, req: Request): Promise<Page<CataloguedResource>> {
  const { limit, offset, ...filter } = readBody(listQuery, req.query, BAD_QUERY);
  const all = await resourcesOf(options, req);
  return pageOf(
    all.filter((it) => passesFilter(it, filter)),
    limit,
    offset,
  );
}

async function found(options: DiscoveryRouterOptions, req: Request): Promise<Page<CataloguedResource>> {
  const { limit, cursor = '0', query, ...filter } = readBody(searchQuery, req.query, BAD_QUERY);
  const all = await resourcesOf(options, req);
  const passing = all.filter((it) => passesFilter(it, filter));
  return pageOf(searchCatalogue(passing, query), limit, Number(cursor));
}

function pageOf<T>(all: readonly T[], asked: number, offset: number): Page<T> {
  const limit = Math.min(asked, MAX_LIMIT);
  return { items: all.slice(offset, offset + limit), limit, offset, total: all.length };
}

async function listingsOf({ facilitator, baseUrl, listed }: DiscoveryRouterOptions, req: Request): Promise<Listing[]> {
  const others = (await listed?.(mountAddress(req, baseUrl))) ?? [];
  return [...catalogueOf(facilitator).listings(), ...others];
}

/** All listed routes, with the fee payer that is offered now. */
async function resourcesOf(options: DiscoveryRouterOptions, req: Request): Promise<CataloguedResource[]> {
  const { facilitator } = options;
  const listings = await listingsOf(options, req);
  if (listings.length === 0) return [];
  const feePayer = await feePayerOf(facilitator);
  return listings.map((listing) => ({
    resource: { url: urlOf(listing, options, req), ...listing.described },
    terms: listing.terms.map((terms) => ({ ...terms, feePayer })),
    paymentFlow: listing.paymentFlow,
    updatedAt: listing.listedAt,
    extensions: listing.extensions,
  }));
}

async function feePayerOf(facilitator: Facilitator): Promise<string> {
  const { kinds, fault } = await facilitator.supported();
  const kind = kinds.find(({ network }) => network === facilitator.network);
  if (kind !== undefined) return kind.feePayer;
  if (fault !== undefined) throw fault;
  const detail = `Payments on ${facilitator.network} cannot be taken at the moment, so nothing is offered.`;
  throw new TollhouseError('payment_backend_unavailable', detail, { retryAfterSeconds: RETRY_SECONDS });
}

function urlOf({ path, baseUrl }: Listing, options: DiscoveryRouterOptions, req: Request): string {
  return `${requestOrigin(req, baseUrl ?? options.baseUrl)}${path}`;
}
