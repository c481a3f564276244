import { z } from 'zod';
import { countSchema } from '../framework/fields.js';

const MAX_TIMEOUT_MS = 120_000;
const MAX_RETRIES = 3;
const MIN_INTERVAL_S = 10;
const MAX_INTERVAL_S = 3_600;
const MAX_SECRET = 4_096;
const MAX_SECRETS = 100;

const range = (what: string, min: number, max: number, shown = `${min} to ${max}`) => {
  const error = `must be ${what}, ${shown}`;
  return z.int(error).min(min, error).max(max, error);
};

const secret = z.union(
  [z.string().max(MAX_SECRET), z.strictObject({ set: z.literal(true) })],
  `must be a text of at most ${MAX_SECRET} characters; {"set": true} leaves it as it is`,
);
const secrets = z
  .record(z.string(), secret, 'must be an object of texts')
  .refine((it) => Object.keys(it).length <= MAX_SECRETS, 'has too many entries');

/** Where the calls of a project go, as its owner writes it. */
export const upstreamBody = z.strictObject(
  {
    url: z
      .string('must be a text')
      .min(1, 'must not be empty')
      .max(2_048, 'must have at most 2048 characters')
      .describe('https only; path and query of each call are appended to it.'),
    timeout_ms: range('a number of milliseconds', 100, MAX_TIMEOUT_MS, '100 to 120,000')
      .optional()
      .describe('From the request to the head of the response, all tries together. Default 30,000.'),
    retries: range('a number of tries', 0, MAX_RETRIES)
      .optional()
      .describe(
        'How often a GET or HEAD without a body is sent again whose connection failed before any byte of a response. Default 1.',
      ),
    headers: secrets
      .optional()
      .describe(
        'Added to each call, in the place of what the caller sent under the same name; at most 16. Write-only: what is set is ' +
          'shown as `{"set": true}`, which leaves it as it is. null takes one away.',
      ),
    query: secrets.optional().describe('The same for parameters of the query.'),
    health: z
      .strictObject(
        {
          path: z
            .string('must be a text')
            .min(1, 'must not be empty')
            .max(500, 'must have at most 500 characters')
            .describe('Below `url`, asked with GET; a status below 400 is well.'),
          interval: range('a number of seconds', MIN_INTERVAL_S, MAX_INTERVAL_S, '10 to 3,600')
            .optional()
            .describe('Seconds from one look to the next. Default 30.'),
        },
        'must be {path, interval?}',
      )
      .optional()
      .describe(
        'Looks at the upstream: after 3 failures in a row nothing is sold (`project_upstream_down`), until 2 looks in a row find it well.',
      ),
  },
  'must be {url, timeout_ms?, retries?, headers?, query?, health?}',
);

const shownSecrets = z
  .record(z.string(), z.object({ set: z.literal(true) }))
  .describe('Names of what is added to each call; the values are shown to nobody.');

/** The same as it is shown. */
export const upstreamResponse = z.object({
  url: z.string(),
  timeout_ms: countSchema,
  retries: countSchema,
  headers: shownSecrets,
  query: shownSecrets,
  health: z.object({ path: z.string(), interval: countSchema.describe('Seconds.') }).nullable(),
  status: z
    .enum(['up', 'down'])
    .nullable()
    .describe('What `health` has found last; null while nobody has looked. A project that is `down` is not sold.'),
  down_since: z.iso.datetime().nullable(),
});
