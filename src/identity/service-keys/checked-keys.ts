import { z } from 'zod';
import { validInput } from '../../lib/valid-input.js';
import { addressOption } from '../../protocol/address-input.js';
import { MAX_AMOUNT_LENGTH } from '../../protocol/limits.js';
import { type KeyHolder, SPENDING_ACTIONS, SPENDING_WINDOWS } from '../../storage/keys/service-keys.js';
import type { WantedServiceKey, WantedSpending } from './new-service-key.js';
import { SCOPES } from './scopes.js';
import type { ServiceKey } from './service-key-types.js';
import type { ServiceKeys } from './service-keys.js';

const MAX_NAME = 80;
const MAX_ID = 64;
const MAX_ADDRESSES = 50;
const MAX_NOTES = 20;
const MAX_PROJECTS = 50;
const MAX_PER_SECOND = 100;
/** The last moment that a Date knows. */
const LAST_TIME = 8.64e15;

const text = (max: number) =>
  z.string('must be a text').min(1, 'must not be empty').max(max, `must have at most ${max} characters`);
const oneOf = <const T extends readonly string[]>(values: T) => z.enum(values, `must be one of ${values.join(', ')}`);

const spending = z.strictObject(
  {
    limit: z.union([z.string().max(MAX_AMOUNT_LENGTH), z.number()], 'must be a decimal number of whole tokens'),
    token: text(MAX_ID),
    window: oneOf(SPENDING_WINDOWS),
    action: oneOf(SPENDING_ACTIONS).optional(),
  } satisfies Record<keyof WantedSpending, z.ZodType>,
  'must be { limit, token, window, action? }',
);

const wantedKey = z.strictObject(
  {
    name: text(MAX_NAME).regex(/^\P{Cc}*$/u, 'must not have control characters'),
    projectId: text(MAX_ID).optional(),
    scopes: z.array(oneOf(SCOPES), 'must be a list').min(1, 'must name a scope').optional(),
    mode: oneOf(['live', 'test']).optional(),
    expiresAt: z
      .int('must be milliseconds since the epoch, such as Date.parse("2030-01-02T03:04:05Z")')
      .max(LAST_TIME, 'must be milliseconds since the epoch')
      .optional(),
    spending: spending.optional(),
    allowedIps: z
      .array(text(MAX_ID), 'must be a list')
      .max(MAX_ADDRESSES, `must have at most ${MAX_ADDRESSES} entries`)
      .optional(),
    perSecond: z
      .int('must be a whole number')
      .min(1, 'must be at least 1')
      .max(MAX_PER_SECOND, `must be at most ${MAX_PER_SECOND}`)
      .optional(),
    metadata: z
      .record(
        text(40),
        z.string('must be a text').max(500, 'must have at most 500 characters'),
        'must be an object of texts',
      )
      .refine((it) => Object.keys(it).length <= MAX_NOTES, `must have at most ${MAX_NOTES} entries`)
      .optional(),
    allowedProjects: z
      .array(text(MAX_ID), 'must be a list of ids')
      .max(MAX_PROJECTS, `must have at most ${MAX_PROJECTS} entries`)
      .optional(),
  } satisfies Record<keyof WantedServiceKey, z.ZodType>,
  'must be an object, as in { name: "weather bot" }',
);

const owner = addressOption("must be the owner's wallet (base58)");
/** What else a caller is described with is not asked for here. */
const holder = z.looseObject({ wallet: owner, projectId: text(MAX_ID).optional() }, 'must be { wallet, projectId? }');

/** Service keys that check what programs give them as the endpoints do: with `validation_failed`, naming the field. */
export function checkKeys(keys: ServiceKeys): ServiceKeys {
  const holderOf = <Holder extends KeyHolder>(name: string, given: Holder): Holder => ({
    ...given,
    wallet: validInput(`keys.${name}`, holder, given).wallet,
  });
  return {
    ...keys,
    generate: async (given, wanted, ...rest) => {
      const where = 'keys.generate';
      return keys.generate(validInput(where, owner, given), validInput(where, wantedKey, wanted), ...rest);
    },
    list: async (given, page) => keys.list(holderOf('list', given), page),
    get: async (given, ...rest) => keys.get(holderOf('get', given), ...rest),
    update: async (given, id, change, ...rest) => {
      const checked = (key: ServiceKey) => validInput('keys.update', wantedKey, change(key));
      return keys.update(holderOf('update', given), id, checked, ...rest);
    },
    rotate: async (given, ...rest) => keys.rotate(holderOf('rotate', given), ...rest),
    revoke: async (given, ...rest) => keys.revoke(holderOf('revoke', given), ...rest),
  };
}
