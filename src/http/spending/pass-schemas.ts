import { z } from 'zod';
import { address } from '../framework/fields.js';
import { API } from '../framework/path.js';

/** Where passes are. */
export const PASSES_PATHS = { all: `${API}/passes`, tokens: `${API}/passes/:id/tokens` } as const;

const time = z.iso.datetime();
const amount = z.string().nullable();

/** Fields of a pass as its wallet sees it. */
export const passFields = {
  id: z.string(),
  payment_id: z
    .string()
    .nullable()
    .describe('The payment that has bought it. Null for an allowance, which the wallet has for what it holds.'),
  wallet: address,
  site: z
    .string()
    .describe('Who sold it: scheme and host of the site, where it has a name, and the wallet that was paid.'),
  covers: z.string().describe('What it covers there: method and path of a route, or `group` and the name of one.'),
  kind: z.enum(['uses', 'until', 'credit']),
  mint: address.nullable().describe('Of what is left, for `credit`.'),
  bought: amount.describe('Uses, or the smallest unit of the token; null where it is for a time alone.'),
  left: amount.describe('Of what was bought.'),
  opened_at: time,
  ends_at: time.nullable().describe('Null where it ends by use alone.'),
  renewable_until: time
    .nullable()
    .describe(
      'Until when it can be renewed, and still covers: who pays once more at an address that it covers goes on from `ends_at`. Null where it cannot.',
    ),
  status: z.enum(['active', 'used_up', 'ended', 'revoked']),
};

const project = z.string().nullable().describe('Slug of the project whose calls it covers; null for all else.');

/** Response of `GET /api/v1/passes`. */
export const passesResponse = z.object({ data: z.array(z.object({ ...passFields, project })) });
