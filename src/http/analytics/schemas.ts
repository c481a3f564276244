import { z } from 'zod';
import { findTimeZone } from '../../gateway/figures/time-zone.js';
import { address, countSchema } from '../framework/fields.js';
import { API } from '../framework/path.js';
import { rangeQuery } from '../framework/range-query.js';

/** Where the figures of a project are. */
export const ANALYTICS_PATHS = {
  analytics: `${API}/projects/:project_id/analytics`,
} as const;

const MAX_ZONE = 64;

/** Query of `GET /api/v1/projects/:project_id/analytics`. */
export const analyticsQuery = z.strictObject({
  ...rangeQuery,
  interval: z.enum(['hour', 'day'], 'must be hour or day').default('day').describe('Length of a step.'),
  tz: z
    .string()
    .max(MAX_ZONE, 'must be the name of a time zone, such as Europe/Berlin')
    .refine((name) => findTimeZone(name) !== undefined, 'must be the name of a time zone, such as Europe/Berlin')
    .optional()
    .describe(
      'By whose clocks days and hours begin, by its name in the IANA database, such as `Europe/Berlin`. Default: UTC.',
    ),
  by: z
    .enum(['route'], 'must be route')
    .optional()
    .describe('`route`: the totals by route as well; as `text/csv` that is the table.'),
  format: z
    .enum(['json', 'csv'], 'must be json or csv')
    .optional()
    .describe('Default: by the header `Accept`, which may ask for `text/csv`.'),
});

const time = z.iso.datetime();
const byToken = (what: string) => z.record(z.string(), z.string()).describe(`${what}, by symbol.`);
const percentile = (share: number, what = 'calls were answered') =>
  countSchema.nullable().describe(`Milliseconds within which ${share} of 100 ${what}, to within 5 %.`);
const BY_UPSTREAM = 'calls that were passed on began to be answered by the upstream';
const BY_GATEWAY = 'calls were passed on: payment, limits, books';

const figures = {
  calls: countSchema.describe('Calls that reached the upstream.'),
  paid: countSchema.describe('Those of them that were charged, from a payment or from credit.'),
  passes_sold: countSchema.describe('Passes that calls have paid for; their price is revenue from then on.'),
  pass_uses: countSchema.describe('Calls of passes that were charged, those that paid for one among them.'),
  challenged: countSchema.describe(
    'Requests without payment that were told the price; they are not among `calls`, nor among `refused`. A second behind.',
  ),
  refused: countSchema.describe('Calls that were turned away; they are not among `calls`. A second behind.'),
  revenue: byToken('Decimal, in whole tokens'),
  revenue_atomic: byToken("In the token's smallest unit"),
  credit_given: byToken('What was paid for calls that bought nothing'),
  credit_given_atomic: byToken("In the token's smallest unit"),
  credit_used: byToken('What of the revenue had been paid as credit before'),
  credit_used_atomic: byToken("In the token's smallest unit"),
  payers: countSchema.describe('Distinct wallets that paid.'),
  p50_ms: percentile(50),
  p95_ms: percentile(95),
  upstream_p50_ms: percentile(50, BY_UPSTREAM),
  upstream_p95_ms: percentile(95, BY_UPSTREAM),
  gateway_p50_ms: percentile(50, BY_GATEWAY),
  gateway_p95_ms: percentile(95, BY_GATEWAY),
  upstream_errors: countSchema,
  refusals: z.record(z.string(), countSchema).describe('Refused calls by error code.'),
};

const { calls, paid, revenue, revenue_atomic } = figures;
const routeFigures = { calls, paid, revenue, revenue_atomic };

/** Response of `GET /api/v1/projects/:project_id/analytics`. */
export const analyticsResponse = z.object({
  interval: z.enum(['hour', 'day']),
  from: time,
  to: time.describe('Not included.'),
  tz: z.string().describe('Time zone by whose clocks the steps begin.'),
  series: z.array(
    z.object({
      t: time.describe('Start of the step.'),
      local: z.iso.datetime({ offset: true }).describe('The same by the clocks of `tz`.'),
      ...figures,
    }),
  ),
  totals: z.object(figures),
  routes: z
    .array(
      z.object({
        kind: z
          .enum(['route', 'none', 'others'])
          .describe(
            '`none`: what no route of the project matched; `others`: all routes but the 100 with the most calls.',
          ),
        route: z.string().nullable().describe('Method, `*` for any, and path, as `route` of a call.'),
        ...routeFigures,
      }),
    )
    .optional()
    .describe('With `by=route`: the totals by the route that matched, those with the most calls first.'),
  credit_owed: byToken('What callers have as credit now'),
  credit_owed_atomic: byToken("In the token's smallest unit"),
  passes: z
    .object({
      open: countSchema.describe('Passes that are good still.'),
      owed: byToken(
        'What of their prices is not served: of credit what is left, of uses and of a time their share, rounded up',
      ),
      owed_atomic: byToken("In the token's smallest unit"),
      first_end: time.nullable().describe('When the first of them ends by itself; null where none does.'),
      last_end: time.nullable().describe('When the last of those does.'),
    })
    .describe('What is owed now to those who have bought passes with calls of the project.'),
  responses: z
    .object({
      open: countSchema.describe('Payments that have landed and whose payer has not come for his response.'),
      owed: byToken('What was paid for them; it is revenue once they are served'),
      owed_atomic: byToken("In the token's smallest unit"),
      oldest: time.nullable().describe('When the oldest of them was paid; null where there is none.'),
    })
    .describe('What is owed now to those who have paid for a call of the project and not had it.'),
  tokens: z.record(z.string(), z.object({ mint: address, decimals: countSchema })).describe('By symbol.'),
});
