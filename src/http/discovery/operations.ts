import type { Request } from 'express';
import type { z } from 'zod';
import { TollhouseError } from '../../errors/errors.js';
import type { Networks } from '../../facilitator/networks/networks.js';
import { mountAddress, requestOrigin } from '../../middleware/gate/request-url.js';
import { catalogueOf, type Listing } from '../../middleware/terms/catalogue.js';
import { type MoneyMode, modeOf } from '../../protocol/networks/networks.js';
import type { NetworkId } from '../../protocol/types.js';
import {
  type CataloguedResource,
  encodeDiscovery,
  encodeDiscoverySearch,
  encodeWellKnown,
  type Page,
  passesFilter,
} from '../../protocol/wire/discovery.js';
import { discoveryResponse, searchResponse, wellKnownResponse } from '../../protocol/wire/schemas.js';
import { defineOperation } from '../framework/operation.js';
import type { ServiceInfo } from '../framework/service-info.js';
import { discoveryWithServiceResponse, listQuery, searchQuery } from './schemas.js';
import { searchCatalogue } from './search-catalogue.js';

/** What {@link DISCOVERY_OPERATIONS} work with. */
export interface DiscoveryParts {
  readonly networks: Networks;
  /** What the service says of itself. */
  readonly service: () => ServiceInfo;
  /** Address under which clients reach this server. Default: from the request. */
  readonly baseUrl?: string | undefined;
  /**
   * What is for sale beside the gates on this facilitator, below the address under which clients reach this router. It comes
   * after them. Default: nothing.
   */
  readonly listed?: ((address: string) => Promise<readonly Listing[]>) | undefined;
}

const TAG = 'Discovery';
const MAX_LIMIT = 100;
const RETRY_SECONDS = 5;
const FAULTS = { code: 'invalid_request' } as const;
const ERRORS = ['payment_backend_unavailable', 'fee_limit_reached'] as const;
const RESOURCES = 'The gated routes that want to be found, in their order, then the listed projects.';
const RESOURCES_PATH = '/discovery/resources';

const discover = defineOperation({
  method: 'get',
  path: '/discovery',
  listed: { under: 'core', place: 4 },
  id: 'discover',
  tag: TAG,
  summary: 'What can be bought here, and what this service is',
  query: listQuery,
  faults: FAULTS,
  responses: { 200: { description: RESOURCES, schema: discoveryWithServiceResponse } },
  errors: ERRORS,
  handler: async ({ req, query }, parts: DiscoveryParts) => ({
    ...encodeDiscovery(await listed(parts, req, query)),
    service: parts.service(),
  }),
});

const listResources = defineOperation({
  method: 'get',
  path: RESOURCES_PATH,
  id: 'listResources',
  tag: TAG,
  summary: 'What can be bought here',
  query: listQuery,
  faults: FAULTS,
  responses: { 200: { description: RESOURCES, schema: discoveryResponse } },
  errors: ERRORS,
  handler: async ({ req, query }, parts: DiscoveryParts) => encodeDiscovery(await listed(parts, req, query)),
});

const searchResources = defineOperation({
  method: 'get',
  path: '/discovery/search',
  id: 'searchResources',
  tag: TAG,
  summary: 'What can be bought here under some words',
  query: searchQuery,
  faults: FAULTS,
  responses: { 200: { description: 'Those in which most of the words occur come first.', schema: searchResponse } },
  errors: ERRORS,
  async handler({ req, query: { limit, cursor = '0', query, mode, ...filter } }, parts: DiscoveryParts) {
    const all = await resourcesOf(parts, req, { mode, network: filter.network });
    const passing = all.filter((it) => passesFilter(it, filter));
    return encodeDiscoverySearch(pageOf(searchCatalogue(passing, query), limit, Number(cursor)));
  },
});

const getWellKnown = defineOperation({
  method: 'get',
  path: '/.well-known/x402',
  id: 'getWellKnown',
  tag: TAG,
  summary: 'Addresses that can be paid for',
  responses: { 200: { description: 'For crawlers that know the host only.', schema: wellKnownResponse } },
  async handler({ req }, parts: DiscoveryParts) {
    const urls = (await listingsOf(parts, req)).map((it) => urlOf(it, parts, req));
    return encodeWellKnown(urls, `${mountAddress(req, parts.baseUrl)}${RESOURCES_PATH}`);
  },
});

/**
 * What can be bought here, in x402's shapes (protocol/README.md, "Facilitator API"): the gates on this facilitator that were given `discovery`, and what
 * `listed` returns.
 */
export const DISCOVERY_OPERATIONS = [discover, listResources, searchResources, getWellKnown];

async function listed(
  parts: DiscoveryParts,
  req: Request,
  { limit, offset, mode, ...filter }: z.output<typeof listQuery>,
): Promise<Page<CataloguedResource>> {
  const all = await resourcesOf(parts, req, { mode, network: filter.network });
  return pageOf(
    all.filter((it) => passesFilter(it, filter)),
    limit,
    offset,
  );
}

function pageOf<T>(all: readonly T[], asked: number, offset: number): Page<T> {
  const limit = Math.min(asked, MAX_LIMIT);
  return { items: all.slice(offset, offset + limit), limit, offset, total: all.length };
}

async function listingsOf({ networks, baseUrl, listed }: DiscoveryParts, req: Request): Promise<Listing[]> {
  const others = (await listed?.(mountAddress(req, baseUrl))) ?? [];
  return [...networks.all.flatMap((it) => catalogueOf(it).listings()), ...others];
}

interface Wanted {
  readonly mode: MoneyMode | undefined;
  /** Who names a network means what is sold there. */
  readonly network: string | undefined;
}

/** All listed routes, with the fee payers that are offered now, and with the terms for money or for test money. */
async function resourcesOf(parts: DiscoveryParts, req: Request, wanted: Wanted): Promise<CataloguedResource[]> {
  const { networks } = parts;
  const listings = await listingsOf(parts, req);
  if (listings.length === 0) return [];
  const feePayers = await feePayersOf(networks);
  const mode = wanted.mode ?? (wanted.network === undefined ? networks.mode : undefined);
  return listings.flatMap((listing) => {
    const terms = listing.terms.flatMap((it) => {
      const feePayer = feePayers.get(it.network);
      const isWanted = mode === undefined || modeOf(it.network) === mode;
      return feePayer === undefined || !isWanted ? [] : [{ ...it, feePayer }];
    });
    if (terms.length === 0 && listing.terms.length > 0) return [];
    const { described, paymentFlow, listedAt: updatedAt, extensions } = listing;
    return [{ resource: { url: urlOf(listing, parts, req), ...described }, terms, paymentFlow, updatedAt, extensions }];
  });
}

async function feePayersOf({ all, joined }: Networks): Promise<ReadonlyMap<NetworkId, string>> {
  const { kinds, fault } = await joined.supported();
  if (kinds.length > 0) return new Map(kinds.map(({ network, feePayer }) => [network, feePayer]));
  if (fault !== undefined) throw fault;
  const served = all.map(({ network }) => network).join(' and ');
  const detail = `Payments on ${served} cannot be taken at the moment, so nothing is offered.`;
  throw new TollhouseError('payment_backend_unavailable', detail, { retryAfterSeconds: RETRY_SECONDS });
}

function urlOf({ path, baseUrl }: Listing, parts: DiscoveryParts, req: Request): string {
  return `${requestOrigin(req, baseUrl ?? parts.baseUrl)}${path}`;
}
