import { z } from 'zod';
import { validInput } from '../../lib/valid-input.js';
import { addressOption } from '../../protocol/address-input.js';
import { FREE_CALL_WINDOWS, MAX_ROUTES } from '../../storage/projects/project-routes.js';
import type { ProjectDraft } from './project-draft.js';
import type { ProjectRef, Projects } from './projects.js';
import { SLUG } from './slugs.js';

const MAX_TEXT = 2_048;
const MAX_ENTRIES = 100;

const text = (max = MAX_TEXT) =>
  z.string('must be a text').min(1, 'must not be empty').max(max, `must have at most ${max} characters`);
const count = (what: string) => z.int(`must be a whole number of ${what}`).min(1, 'must be at least 1').optional();
const isJson = (value: unknown) => {
  try {
    return value === undefined || JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
};
const json = z.record(z.string(), z.unknown(), 'must be an object').refine(isJson, 'must be fit for JSON');
const status = z.union(
  [z.literal(['4xx', '5xx']), z.int().min(400).max(599)],
  'must be "4xx", "5xx" or a status from 400 to 599',
);

const amount = z.union([text(64), z.number()], 'must be a decimal text such as "0.01"');

const RETRIES = 'must be a whole number from 0 to 3';
/** Like everywhere, what is wrong is told without the value. */
const secrets = z.record(
  z.string(),
  z.union([z.string(), z.strictObject({ set: z.literal(true) })], 'must be a text, or { set: true } to stay as it is'),
  'must be an object of texts',
);

/** What of it is wrong beyond its form, the rules of projects say. */
const offer = z.strictObject(
  {
    amount,
    token: text(64),
    pass: z.strictObject(
      {
        uses: z.number('must be a number of calls').optional(),
        for: text(16).optional(),
        credit: z.boolean('must be true or false').optional(),
        cost: amount.optional(),
        group: text(64).optional(),
      },
      'must be { uses?, for?, credit?, cost?, group? }',
    ),
  },
  'must be { amount, token, pass }',
);

const money = z.strictObject({ amount, token: text(64) }, 'must be { amount, token }');
const priceFields = {
  amount: amount.optional(),
  token: text(64).optional(),
  prices: z.array(money, 'must be a list of { amount, token }').max(MAX_ENTRIES).optional(),
  offers: z.array(offer, 'must be a list of { amount, token, pass }').max(MAX_ENTRIES).optional(),
};

const route = z.strictObject(
  {
    method: text(20).optional(),
    path: text(),
    price: z.strictObject(priceFields, 'must be { amount, token?, prices?, offers? }').optional(),
    free: z.literal(true, 'must be true').optional(),
    deny: z.literal([403, 404, true], 'must be 403, 404 or true').optional(),
  },
  'must be { method?, path, price? | free? | deny? }',
);

const draft = z.strictObject(
  {
    slug: z
      .string('must be a text')
      .regex(SLUG, 'must be 3 to 40 letters a–z, digits and "-", with neither first nor last a "-"'),
    name: text(80),
    description: text(1_000).optional(),
    upstream: z.strictObject(
      {
        url: text(),
        timeoutMs: count('milliseconds'),
        retries: z.int(RETRIES).min(0, RETRIES).max(3, RETRIES).optional(),
        headers: secrets.optional(),
        query: secrets.optional(),
        health: z
          .strictObject({ path: text(500), intervalMs: count('milliseconds') }, 'must be { path, intervalMs? }')
          .optional(),
      },
      'must be { url, timeoutMs?, retries?, headers?, query?, health? }',
    ),
    pricing: z.strictObject(
      {
        ...priceFields,
        network: text(64).optional(),
        chargeOn: z.array(status, 'must be a list of statuses').max(MAX_ENTRIES).readonly().optional(),
      },
      'must be { amount, token, network?, chargeOn?, prices?, offers? }',
    ),
    split: z
      .array(
        z.strictObject(
          {
            recipient: text(64),
            bps: z.int('must be a whole number of basis points').min(1).max(10_000),
            label: text(64).optional(),
          },
          'must be { recipient, bps, label? }',
        ),
        'must be a list of { recipient, bps, label? }',
      )
      .max(MAX_ENTRIES)
      .optional(),
    limits: z
      .strictObject(
        { perSecond: count('calls'), concurrent: count('calls'), maxBodyBytes: count('bytes') },
        'must be { perSecond?, concurrent?, maxBodyBytes? }',
      )
      .optional(),
    visibility: z.enum(['listed', 'unlisted', 'private'], 'must be "listed", "unlisted" or "private"').optional(),
    allowed: z.array(text(64), 'must be a list of wallets and ids of keys').max(MAX_ENTRIES).optional(),
    tags: z.array(text(32), 'must be a list of texts').max(MAX_ENTRIES).optional(),
    metadata: z.record(text(64), z.string('must be a text').max(500), 'must be an object of texts').optional(),
    example: z
      .strictObject(
        { method: text(10), path: z.string('must be a text').max(500), body: z.unknown().optional() },
        'must be { method, path, body? }',
      )
      .refine(isJson, 'must be fit for JSON')
      .optional(),
    openapi: json.optional(),
    routes: z.array(route, 'must be a list of routes').max(MAX_ROUTES).optional(),
    freeCalls: z
      .strictObject({ count: z.int(), window: z.enum([...FREE_CALL_WINDOWS, '24h']) }, 'must be { count, window }')
      .optional(),
  } satisfies Record<keyof ProjectDraft, z.ZodType>,
  'must be an object, as in { slug, name, upstream: { url }, pricing: { amount, token } }',
);

const owner = addressOption("must be the owner's wallet (base58)");
/** Beside it stands who calls, which is not asked for here. */
const ref = z.looseObject(
  {
    owner,
    id: text(64),
    meantFor: z
      .custom<NonNullable<ProjectRef['meantFor']>>((it) => typeof it === 'function', 'must be a function')
      .optional(),
  },
  'must be { owner, id }',
);

const changing = z.custom<Parameters<Projects['update']>[1]>(
  (it) => typeof it === 'function',
  'must be a function that makes the new project of the one before: (before) => ({ ...before, name: "new" })',
);

/** Projects that check what programs give them as the endpoints do: with `validation_failed`, naming the field. */
export function checkProjects(projects: Projects): Projects {
  const refOf = (name: string, given: unknown): ProjectRef => validInput(`projects.${name}`, ref, given);
  return {
    ...projects,
    create: async (given, wanted, ...rest) => {
      const where = 'projects.create';
      return projects.create(validInput(where, owner, given), validInput(where, draft, wanted), ...rest);
    },
    list: async (given, ...rest) => projects.list(validInput('projects.list', owner, given), ...rest),
    get: async (given) => projects.get(refOf('get', given)),
    update: async (given, edit) => {
      const where = 'projects.update';
      const change = validInput(where, changing, edit);
      return projects.update(refOf('update', given), (before) => validInput(where, draft, change(before)));
    },
    pause: async (given) => projects.pause(refOf('pause', given)),
    resume: async (given) => projects.resume(refOf('resume', given)),
    rotateSecret: async (given) => projects.rotateSecret(refOf('rotateSecret', given)),
    remove: async (given) => projects.remove(refOf('remove', given)),
  };
}
