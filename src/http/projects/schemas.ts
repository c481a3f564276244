import { z } from 'zod';
import { SLUG } from '../../gateway/projects/slugs.js';
import { MAX_ALLOWED } from '../../gateway/projects/visibility.js';
import { MAX_SHARES } from '../../protocol/money/split.js';
import { jsonFault } from '../../protocol/wire/json.js';
import { address, countSchema } from '../framework/fields.js';
import { listResponseOf, pageQuery } from '../framework/list-response.js';
import { API } from '../framework/path.js';
import { filledText, wholeNumber } from './field-kinds.js';
import { priceResponse, pricing } from './price-schemas.js';
import { freeCalls, freeCallsResponse, routeResponse, routes } from './route-schemas.js';
import { upstreamBody, upstreamResponse } from './upstream-schemas.js';

/** Where projects are. */
export const PROJECTS_PATHS = {
  all: `${API}/projects`,
  one: `${API}/projects/:id`,
  pause: `${API}/projects/:id/pause`,
  resume: `${API}/projects/:id/resume`,
  rotateSecret: `${API}/projects/:id/rotate-secret`,
} as const;

/** Letters of an address that mean nothing to a shell, after the first `/`. */
const EXAMPLE_PATH = /^(?:\/[\w\-.~%/:@+,=]*(?:\?[\w\-.~%/:@+,=&?]*)?)?$/;
const VISIBILITIES = ['listed', 'unlisted', 'private'] as const;
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const MAX_TAGS = 5;
const MAX_METADATA_BYTES = 2_048;
const MAX_EXAMPLE_BYTES = 8_192;
const MAX_DOCUMENT_BYTES = 65_536;
const MAX_PER_SECOND = 10_000;
const MAX_CONCURRENT = 1_000;
const MAX_BODY_BYTES = 10 * 1024 * 1024;

const line = (max: number) =>
  filledText(max).regex(/^[^\p{Cc}\u2028\u2029]*$/u, 'must be one line, without control characters');
const isShort = (max: number) => (value: unknown) => Buffer.byteLength(JSON.stringify(value) ?? '') <= max;
/** What follows writes the value as JSON, which it must be fit for. */
const FIT = { error: 'is nested too deeply, has too many values or a key __proto__', abort: true };
const isFit = (value: unknown) => jsonFault(value) === undefined;
const object = z.record(z.string(), z.unknown(), 'must be an object').refine(isFit, FIT);

const wantedShare = z.strictObject(
  {
    recipient: filledText(64).describe('Wallet that receives.'),
    bps: wholeNumber('a whole number of basis points', 1, 10_000).describe('All shares sum to 10,000.'),
    label: line(64).optional(),
  },
  'must be {recipient, bps, label?}',
);

const limits = z.strictObject(
  {
    per_second: wholeNumber('a number of calls', 1, MAX_PER_SECOND).optional().describe('Default 100.'),
    concurrent: wholeNumber('a number of calls', 1, MAX_CONCURRENT).optional().describe('Default 50.'),
    max_body_bytes: wholeNumber('a number of bytes', 1, MAX_BODY_BYTES).optional().describe('Default 10 MiB.'),
  },
  'must be {per_second?, concurrent?, max_body_bytes?}',
);

const tag = z
  .string('must be a text')
  .toLowerCase()
  .regex(/^[a-z0-9](?:[a-z0-9 .+-]{0,30}[a-z0-9+])?$/, 'must be 1 to 32 letters, digits, spaces, ".", "+" or "-"');

const example = z
  .strictObject(
    {
      method: z.enum(METHODS, `must be one of ${METHODS.join(', ')}`),
      path: z
        .string('must be a text')
        .max(500, 'must have at most 500 characters')
        .regex(EXAMPLE_PATH, 'must be empty, or a path that begins with "/"; other characters as %XX')
        .default('')
        .describe('Below `/v1/<slug>`; a query may follow.'),
      body: z.unknown().optional().describe('JSON.'),
    },
    'must be {method, path?, body?}',
  )
  .refine(isFit, FIT)
  .refine(isShort(MAX_EXAMPLE_BYTES), `must have at most ${MAX_EXAMPLE_BYTES} bytes as JSON`);

/** Body of `POST /api/v1/projects`; what `PATCH` leads to must be one as well. */
export const projectBody = z.strictObject(
  {
    slug: z
      .string('must be a text')
      .regex(SLUG, 'must be 3 to 40 letters a–z, digits and "-", with neither first nor last a "-"')
      .describe('Name in `/v1/<slug>`; it cannot be changed.'),
    name: line(80),
    description: filledText(1_000)
      .refine((it) => !it.includes('\0'), 'must be a text')
      .optional(),
    upstream: upstreamBody,
    pricing,
    split: z
      .array(wantedShare, 'must be a list of {recipient, bps, label?}')
      .max(MAX_SHARES, `must have at most ${MAX_SHARES} recipients`)
      .optional()
      .describe('Who is paid, at most 8 wallets. Default: all to the owner.'),
    limits: limits.optional(),
    visibility: z
      .enum(VISIBILITIES, `must be one of ${VISIBILITIES.join(', ')}`)
      .optional()
      .describe(
        '`listed`: in the marketplace. `unlisted` (default): for whoever knows its slug. `private`: for you and those in ' +
          '`allowed`; for everybody else it is not there.',
      ),
    allowed: z
      .array(filledText(64), 'must be a list of wallets and ids of service keys')
      .max(MAX_ALLOWED, `must have at most ${MAX_ALLOWED} entries`)
      .optional()
      .describe('Wallets, all of whose keys, and ids of service keys that may call it while it is private.'),
    tags: z.array(tag, 'must be a list of texts').max(MAX_TAGS, `must have at most ${MAX_TAGS} tags`).optional(),
    metadata: z
      .record(filledText(64), z.string().max(500), 'must be an object of texts')
      .refine(isShort(MAX_METADATA_BYTES), `must have at most ${MAX_METADATA_BYTES} bytes as JSON`)
      .optional()
      .describe('Whatever you want to find again; never interpreted.'),
    example: example.optional().describe('A call that shows others how.'),
    openapi: object
      .refine(isShort(MAX_DOCUMENT_BYTES), `must have at most ${MAX_DOCUMENT_BYTES} bytes as JSON`)
      .optional()
      .describe(
        'Your own OpenAPI document, shown in the marketplace with what each operation costs, at the address of the gateway.',
      ),
    routes: routes.optional(),
    free_calls: freeCalls.optional(),
  },
  'must be a JSON object',
);

/** Id of a project in a cursor. */
export const projectIdText = z.string().regex(/^prj_\w{1,40}$/);

/** Query of `GET /api/v1/projects`. */
export const projectsQuery = z.object(pageQuery);

/** What a cursor of `GET /api/v1/projects` holds: creation and id. */
export const projectsCursor = z.tuple([z.int(), projectIdText]);

/** A project as its owner writes it. */
export type ProjectBody = z.output<typeof projectBody>;

/** Body of `PATCH /api/v1/projects/:id`: any part of {@link projectBody}; null takes away. */
export const projectPatchBody = object;

/** A call that shows how. */
export const exampleResponse = z.object({
  method: z.string(),
  path: z.string().describe('Below `/v1/<slug>`.'),
  body: z.unknown().optional(),
});

const share = z.object({
  recipient: address,
  bps: countSchema.describe('Basis points.'),
  label: z.string().nullable(),
});

/** A project in a list. */
export const projectItemResponse = z.object({
  id: z.string(),
  slug: z.string(),
  url: z.string().describe('Where it is called.'),
  name: z.string(),
  description: z.string().nullable(),
  owner: address,
  state: z.enum(['active', 'paused', 'deleted']),
  suspended_at: z.iso.datetime().nullable().describe('Since when the operator has suspended it, or its owner.'),
  visibility: z.enum(VISIBILITIES),
  allowed: z.array(z.string()),
  upstream: upstreamResponse,
  pricing: priceResponse,
  routes: z.array(routeResponse).describe('What calls of some paths cost; the first that matches decides.'),
  free_calls: freeCallsResponse.nullable(),
  split: z.array(share),
  limits: z.object({ per_second: countSchema, concurrent: countSchema, max_body_bytes: countSchema }),
  tags: z.array(z.string()),
  metadata: z.record(z.string(), z.string()).nullable(),
  example: exampleResponse.nullable(),
  version: countSchema.describe('One more with every change; the `ETag` holds it.'),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

/** Response of `GET /api/v1/projects`. */
export const projectsResponse = listResponseOf(projectItemResponse);

/** A project. */
export const projectResponse = projectItemResponse.extend({
  openapi: z.record(z.string(), z.unknown()).nullable(),
  gateway_secret: z
    .string()
    .optional()
    .describe('Signs what the gateway sends upstream; shown to callers with the scope `secrets:read`.'),
});
