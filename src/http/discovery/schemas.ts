import { z } from 'zod';
import { discoveryResponse } from '../../protocol/wire/schemas.js';
import { moneyMode } from '../framework/fields.js';
import { serviceResponse } from '../framework/service-info.js';

const text = (max: number) => z.string('must be a text').max(max, `must have at most ${max} characters`).optional();
const limit = z.coerce
  .number('must be a number')
  .int('must be a whole number')
  .min(1, 'must be at least 1')
  .default(20)
  .describe('How many are answered, at most 100.');

const filters = {
  type: text(32).describe('Kind of the resource; all of these are `http`.'),
  payTo: text(64).describe('Wallet that receives.'),
  scheme: text(32).describe('Payment scheme, `exact`.'),
  network: text(64).describe('Network in CAIP-2, or by its id.'),
  mode: moneyMode,
  extensions: text(64).describe('Name of a protocol extension that the resource carries.'),
  limit,
};

/** Query of `GET /discovery` and `GET /discovery/resources`. */
export const listQuery = z.object({
  ...filters,
  offset: z.coerce
    .number('must be a number')
    .int('must be a whole number')
    .min(0, 'must be at least 0')
    .default(0)
    .describe('How many are passed over.'),
});

/** Query of `GET /discovery/search`. */
export const searchQuery = z.object({
  ...filters,
  query: z
    .string('must be a text')
    .min(1, 'must not be empty')
    .max(400, 'must have at most 400 characters')
    .describe('Words that are looked for.'),
  cursor: z
    .string('must be a text')
    .regex(/^\d{1,9}$/, 'must be a cursor of an earlier answer')
    .optional()
    .describe('Where to go on, from the answer before.'),
});

/** Response of `GET /discovery`: x402's, and what the service says of itself. */
export const discoveryWithServiceResponse = discoveryResponse.extend({ service: serviceResponse });
