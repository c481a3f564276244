import { z } from 'zod';
import { SPENDING_WINDOWS } from '../../storage/keys/service-keys.js';
import { address, countSchema, nameText, networkId } from '../framework/fields.js';
import { API } from '../framework/path.js';
import { rangeQuery } from '../framework/range-query.js';
import { passFields } from './pass-schemas.js';

/** Where the spending is. */
export const SPENDING_PATH = `${API}/spending` as const;

const MAX_ID = 64;
const id = nameText(MAX_ID);

/** Query of `GET /api/v1/spending`. */
export const spendingQuery = z.strictObject({
  ...rangeQuery,
  key: id.optional().describe('Id of a service key. Default: all of the wallet; a key sees itself only.'),
  project: id.optional().describe('Id of a project. Default: all.'),
  network: networkId.optional().describe('Only what was spent and paid on this network. Default: all, each by itself.'),
  mode: z
    .enum(['live', 'test'], 'must be live or test')
    .optional()
    .describe(
      '`live`: only what was spent and paid on mainnet; `test`: only test money. Default: both, each by itself.',
    ),
  interval: z.enum(['day', 'month'], 'must be day or month').default('day').describe('Length of a step, in UTC.'),
});

const PAID_CALLS =
  'Only those that came with a payment: calls that are free, that a pass covers or that credit pays are in `GET /api/v1/calls`.';
const time = z.iso.datetime();
const amountOfToken = {
  amount: z.string().describe('In whole tokens, decimal.'),
  amount_atomic: z.string().describe("In the token's smallest unit."),
  token: z.string().describe('Symbol; the mint of an unknown token.'),
  mint: address,
};
const onNetwork = {
  network: networkId.nullable().describe('On which network; null where the project is not known.'),
  mode: z.enum(['live', 'test']).nullable().describe('What money that is; the two are never added up.'),
};
const money = {
  ...amountOfToken,
  ...onNetwork,
  calls: countSchema.describe(PAID_CALLS),
};
const whose = {
  key_id: z.string(),
  project_id: z.string(),
  project: z.string().nullable().describe('Slug of the project; null where it is deleted.'),
};
const byToken = z.record(z.string(), z.string());

/** Response of `GET /api/v1/spending`. */
export const spendingResponse = z.object({
  interval: z.enum(['day', 'month']),
  from: time,
  to: time.describe('Not included.'),
  totals: z.array(z.object(money)).describe('By token and network.'),
  spending: z.array(z.object({ ...whose, ...money })).describe('By key, project and token.'),
  series: z.array(
    z.object({
      t: time.describe('Start of the step.'),
      calls: countSchema.describe(PAID_CALLS),
      spent: byToken.describe(
        'In whole tokens, decimal, by symbol; test money beside money of the same name has its network behind it: `SOL (solana-devnet)`.',
      ),
      spent_atomic: byToken.describe("In the token's smallest unit, by symbol."),
    }),
  ),
  budgets: z.array(
    z.object({
      key_id: z.string(),
      token: z.string(),
      mint: address,
      window: z.enum(SPENDING_WINDOWS).describe('By the calendar in UTC.'),
      action: z.enum(['block', 'notify']).describe('Whether calls beyond the limit are refused.'),
      limit: z.string(),
      limit_atomic: z.string(),
      used: z.string().describe('Spent in the present window.'),
      used_atomic: z.string(),
      held: z
        .string()
        .describe('Held back for calls under way, for payment requests, and for what was paid and not called yet.'),
      held_atomic: z.string(),
      left: z.string().describe('Of the limit, beside both.'),
      left_atomic: z.string(),
      resets_at: time.nullable().describe('When the next window begins; null where there is none.'),
    }),
  ),
  credit: z
    .array(z.object({ ...whose, ...amountOfToken, ...onNetwork }))
    .describe(
      'Paid for calls that bought nothing. It counts as spent, and pays the next calls of the key at the project before any 402.',
    ),
  passes: z
    .array(
      z.object({
        ...passFields,
        project_id: z.string().nullable().describe('Where it was bought with a call of a project.'),
        used: z.string().nullable().describe('What of `bought` is not left, and was not refunded.'),
        receipt_url: z.string().describe('Where the receipt of the payment is.'),
        price: z.object(amountOfToken),
        refunded: z
          .object(amountOfToken)
          .nullable()
          .describe('What of the price was paid back on the chain; null where nothing was.'),
      }),
    )
    .describe(
      'Passes that the wallet has bought, the newest 100 first; with `project` those of its calls, with `key` of calls under it.',
    ),
  responses: z
    .array(
      z.object({
        payment_id: z.string(),
        project_id: z.string().nullable().describe('Where it pays for a call of a project.'),
        ...amountOfToken,
        network: networkId,
        mode: z.enum(['live', 'test']),
        paid_at: time,
        receipt_url: z.string().describe('Where the receipt of the payment is.'),
      }),
    )
    .describe(
      'What the wallet has paid and had no response for, the newest 100 first: send the same payment again. With `project` for its calls, with `key` for those under it.',
    ),
});
