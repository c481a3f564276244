import { z } from 'zod';
import { address, countSchema, signature } from '../framework/fields.js';
import { listResponseOf, pageQuery } from '../framework/list-response.js';
import { API } from '../framework/path.js';
import { rangeQuery } from '../framework/range-query.js';

/** Where the figures of a project are. */
export const ANALYTICS_PATHS = {
  analytics: `${API}/projects/:project_id/analytics`,
  calls: `${API}/projects/:project_id/calls`,
} as const;

const SEQ = /^\d{1,18}$/;

/** Query of `GET /api/v1/projects/:project_id/analytics`. */
export const analyticsQuery = z.strictObject({
  ...rangeQuery,
  interval: z.enum(['hour', 'day'], 'must be hour or day').default('day').describe('Length of a step, in UTC.'),
  format: z
    .enum(['json', 'csv'], 'must be json or csv')
    .optional()
    .describe('Default: by the header `Accept`, which may ask for `text/csv`.'),
});

/** Query of `GET /api/v1/projects/:project_id/calls`. */
export const callsQuery = z.strictObject(pageQuery);

/** What a cursor of `GET /api/v1/projects/:project_id/calls` holds: the number of a call. */
export const callsCursor = z.tuple([z.string().regex(SEQ)]);

const time = z.iso.datetime();
const byToken = (what: string) => z.record(z.string(), z.string()).describe(`${what}, by symbol.`);
const percentile = (share: number) =>
  countSchema.nullable().describe(`Milliseconds within which ${share} of 100 calls were answered, to within 5 %.`);

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
  upstream_errors: countSchema,
  refusals: z.record(z.string(), countSchema).describe('Refused calls by error code.'),
};

/** Response of `GET /api/v1/projects/:project_id/analytics`. */
export const analyticsResponse = z.object({
  interval: z.enum(['hour', 'day']),
  from: time,
  to: time.describe('Not included.'),
  series: z.array(z.object({ t: time.describe('Start of the step.'), ...figures })),
  totals: z.object(figures),
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
  tokens: z.record(z.string(), z.object({ mint: address, decimals: countSchema })).describe('By symbol.'),
});

/** A call of a project as its owner sees it. */
export const callResponse = z.object({
  id: z.string(),
  at: time,
  method: z.string(),
  status: countSchema.nullable().describe('What the upstream answered; null when it did not.'),
  outcome: z.enum(['succeeded', 'failed']),
  reason: z.string().nullable().describe('Error code, when it failed.'),
  key_id: z.string().nullable(),
  payer: address.nullable(),
  amount: z.string().nullable().describe('What was earned, in whole tokens, decimal; null when nothing was charged.'),
  amount_atomic: z.string().nullable(),
  token: z.string().nullable().describe('Symbol; the mint of an unknown token.'),
  mint: address.nullable(),
  credit: z
    .object({ kind: z.enum(['given', 'used']), amount: z.string(), amount_atomic: z.string(), token: z.string() })
    .nullable()
    .describe('`given`: it was paid and bought nothing. `used`: such a payment of an earlier call paid it.'),
  pass_id: z.string().nullable().describe('The pass that has covered it, or that was bought with it.'),
  payment_id: z.string().nullable(),
  signature: signature.nullable(),
  duration_ms: countSchema,
  request_id: z.string(),
});

/** Response of `GET /api/v1/projects/:project_id/calls`. */
export const callsResponse = listResponseOf(callResponse);
