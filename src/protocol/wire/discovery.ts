import type { PaymentRequirements } from '@x402/core/types';
import type { PaymentFlow, Resource } from '../challenge.js';
import { networkFrom } from '../networks/networks.js';
import type { Terms } from '../types.js';
import { writeTerms } from './terms.js';

/** A resource that can be paid for, as a catalogue knows it. */
export interface CataloguedResource {
  readonly resource: Resource;
  /** What is asked for it; none where that depends on the request. */
  readonly terms: readonly Terms[];
  readonly paymentFlow?: PaymentFlow | undefined;
  /** When it was last changed, in milliseconds since 1970. */
  readonly updatedAt: number;
  /** Extensions of the protocol, by name, as they go over the wire. */
  readonly extensions: Readonly<Record<string, unknown>>;
}

/** Which resources of a catalogue are asked for. What is left out does not matter. */
export interface CatalogueFilter {
  readonly type?: string | undefined;
  readonly payTo?: string | undefined;
  readonly scheme?: string | undefined;
  /** In CAIP-2, or a version 1 name. */
  readonly network?: string | undefined;
  /** Name of an extension. */
  readonly extensions?: string | undefined;
}

/** A part of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly limit: number;
  readonly offset: number;
  /** Length of the whole list. */
  readonly total: number;
}

/** What every resource here is. */
const HTTP = 'http';

/** A resource as discovery shows it. */
export interface DiscoveryItem {
  readonly resource: string;
  readonly type: typeof HTTP;
  readonly x402Version: 2;
  readonly accepts: readonly PaymentRequirements[];
  readonly lastUpdated: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly serviceName?: string;
  readonly tags?: readonly string[];
  readonly iconUrl?: string;
  readonly extensions: Readonly<Record<string, unknown>>;
}

/** Whether a resource passes a filter; with several conditions on the terms, one entry must meet all of them. */
export function passesFilter({ terms, extensions }: CataloguedResource, filter: CatalogueFilter): boolean {
  const { type, payTo, scheme, network } = filter;
  if (type !== undefined && type !== HTTP) return false;
  if (filter.extensions !== undefined && !Object.hasOwn(extensions, filter.extensions)) return false;
  if (payTo === undefined && scheme === undefined && network === undefined) return true;
  const id = network === undefined ? undefined : networkFrom(network);
  return terms.some(
    (it) =>
      (payTo === undefined || it.payTo === payTo) &&
      (scheme === undefined || it.scheme === scheme) &&
      (network === undefined || it.network === id),
  );
}

/** The response of `GET /discovery/resources` (protocol/README.md, "Facilitator API"). */
export function encodeDiscovery({ items, limit, offset, total }: Page<CataloguedResource>) {
  return { x402Version: 2, items: items.map(encodeItem), pagination: { limit, offset, total } } as const;
}

/** The response of `GET /discovery/search`; the cursor is where the next page begins. */
export function encodeDiscoverySearch({ items, limit, offset, total }: Page<CataloguedResource>) {
  const next = offset + items.length;
  return {
    x402Version: 2,
    resources: items.map(encodeItem),
    partialResults: next < total,
    pagination: { limit, cursor: next < total ? String(next) : null },
  } as const;
}

/** The response of `GET /.well-known/x402`: addresses that can be paid for, for crawlers that know nothing but the host. */
export function encodeWellKnown(resources: readonly string[], discovery: string) {
  return { version: 1, x402Version: 2, resources, discovery } as const;
}

function encodeItem({ resource, terms, paymentFlow, updatedAt, extensions }: CataloguedResource): DiscoveryItem {
  const { url, ...described } = resource;
  return {
    resource: url,
    type: HTTP,
    x402Version: 2,
    accepts: terms.map((it) => writeTerms(it, { paymentFlow })),
    lastUpdated: new Date(updatedAt).toISOString(),
    ...described,
    extensions,
  };
}
