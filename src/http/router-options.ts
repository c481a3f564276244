import { z } from 'zod';
import type { EmbeddedFacilitator } from '../facilitator/create-facilitator.js';
import type { Gateway } from '../gateway/gateway.js';
import { baseUrlSchema } from '../lib/http/base-url.js';
import { pageOptions } from '../pages/layout/page-options.js';
import { walletIdentityOption } from './auth/auth-router.js';

/** What has a function of a name; for objects that only their maker knows in full. */
function withFunction<T>(name: string, message: string) {
  return z.custom<T>((it) => typeof Reflect.get(Object(it), name) === 'function', message);
}

const withProjects = (it: unknown): boolean => typeof Reflect.get(Object(it), 'findProject') === 'function';

const embedded = withFunction<EmbeddedFacilitator>(
  'openProof',
  'an embedded facilitator, made by createFacilitator: one of remoteFacilitator has no chain of its own',
);

/** Schema of the options of `createRouter`. */
export const routerOptions = z.strictObject({
  facilitator: embedded,
  facilitators: z.array(embedded, 'a list of embedded facilitators').optional(),
  identity: walletIdentityOption.optional(),
  gateway: z.custom<Gateway>(withProjects, 'a gateway, made by createGateway').optional(),
  tiers: z.custom<object>((it) => typeof it === 'object' && it !== null, 'tiers: { mint, levels: […] }').optional(),
  holdings: withFunction('readHolding', 'holdings, made by createHoldings').optional(),
  baseUrl: baseUrlSchema.optional(),
  label: z.string('a text').optional(),
  page: z
    .union([z.literal(false), pageOptions], 'false, or an object of name, logo, colours, texts and render')
    .optional(),
  explorerUrl: z.string('the address of a block explorer').optional(),
  limits: z
    .union([z.literal(false), z.strictObject({ scale: z.number().positive().optional() })], 'false, or { scale: 2 }')
    .optional(),
  counters: withFunction('increment', 'counters, of openStorage or createMemoryCounters').optional(),
  metrics: z
    .custom<object | false>((it) => it === false || (typeof it === 'object' && it !== null), 'metrics, or false')
    .optional(),
});

/** The same where several facilitators are given. */
export const routerOptionsOfSeveral = routerOptions.partial({ facilitator: true });
