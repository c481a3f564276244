import { z } from 'zod';
import { FREE_CALL_WINDOWS, MAX_ROUTES } from '../../storage/projects/project-routes.js';
import { countSchema } from '../framework/fields.js';
import { filledText, wholeNumber } from './field-kinds.js';
import { callPriceResponse, priceFields } from './price-schemas.js';

const MAX_FREE_CALLS = 1_000_000;

const route = z.strictObject(
  {
    method: filledText(20).optional().describe('In capitals; `GET` stands for `HEAD` as well. Default: every method.'),
    path: filledText(500).describe('Below `/v1/<slug>`: `*` is any one segment, `**` at the end any rest, also none.'),
    price: z
      .strictObject(priceFields, 'must be {amount, token?, prices?, offers?}')
      .optional()
      .describe("As `pricing`; `token` is by default that of the project's price."),
    free: z.literal(true, 'must be true').optional().describe('Passed on without payment, for callers with a key.'),
    deny: z
      .literal([403, 404, true], 'must be 403, 404 or true')
      .optional()
      .describe('Not passed on: the status that callers are told, before any price. `true` is 404.'),
  },
  'must be {method?, path} with one of price, free and deny',
);

/** The routes of a project. */
export const routes = z
  .array(route, 'must be a list of {method?, path} with one of price, free and deny')
  .max(MAX_ROUTES, `must have at most ${MAX_ROUTES} entries`)
  .describe(
    "What calls of some paths cost; the first that matches decides, and what none matches has the project's price.",
  );

/** The free calls of a project. */
export const freeCalls = z
  .strictObject(
    {
      count: wholeNumber('a number of calls', 1, MAX_FREE_CALLS),
      window: z.enum([...FREE_CALL_WINDOWS, '24h'], 'must be "hour", "day" (or "24h") or "month"'),
    },
    'must be {count, window}',
  )
  .describe(
    "Calls that each service key has without paying, in each hour, day or month of UTC; for calls that cost no more than the project's own price.",
  );

/** A route as it is shown. */
export const routeResponse = z.object({
  method: z.string().nullable().describe('Null: every method.'),
  path: z.string(),
  price: callPriceResponse.nullable().describe('Null where it is free, or not for sale.'),
  free: z.boolean(),
  deny: countSchema.nullable().describe('The status that callers are told where it is not for sale.'),
});

/** A route as buyers see it. */
export const offeredRouteResponse = routeResponse.omit({ deny: true }).extend({
  price: callPriceResponse.nullable().describe('Null where it is free: it needs a service key, and no payment.'),
});

/** Free calls as they are shown. */
export const freeCallsResponse = z.object({ count: countSchema, window: z.enum(FREE_CALL_WINDOWS) });
