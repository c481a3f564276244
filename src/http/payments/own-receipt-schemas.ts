import { z } from 'zod';
import { address, countSchema, networkId, signature } from '../framework/fields.js';
import { paidMode } from './receipt-schemas.js';

const money = {
  amount: z.string().describe('In whole tokens, exact.'),
  amount_atomic: z.string().describe("In the token's smallest unit."),
};

/** Response of `GET /api/v1/payments/:id/receipt`. */
export const ownReceiptResponse = z.object({
  id: z.string().describe('Of the payment, as calls and events name it.'),
  payment_id: z.string().nullable().describe('Of the payment request that it has paid; null where there was none.'),
  status: z.enum(['settled', 'pending', 'failed', 'expired']),
  network: networkId,
  mode: paidMode,
  payer: address,
  ...money,
  token: z.string().describe('Symbol; the mint of an unknown token.'),
  mint: address,
  recipients: z
    .array(z.object({ recipient: address, ...money }))
    .describe('Who was paid; of a split, whose share it is, whether it was paid out since or at once.'),
  tx_signature: signature.nullable(),
  explorer_url: z.string().nullable().describe('Where a block explorer shows the transaction.'),
  paid_at: z.iso.datetime().describe('When the payment was brought.'),
  block_number: countSchema.nullable().describe('Slot.'),
  reason: z.string().nullable().describe('Why it failed.'),
  project: z.object({ id: z.string(), slug: z.string().nullable() }).nullable().describe('Null for what is no call.'),
  pass: z
    .object({ kind: z.enum(['uses', 'until', 'credit']), covers: z.string() })
    .nullable()
    .describe('The pass that it has bought.'),
  calls: z
    .array(
      z.object({
        id: z.string(),
        at: z.iso.datetime(),
        route: z.string().nullable(),
        status: countSchema.nullable(),
        outcome: z.enum(['succeeded', 'failed']),
        credit: z
          .enum(['given', 'used'])
          .nullable()
          .describe(
            '`given`: it was not charged, and what was paid is credit of its key at the project, which pays its next calls. `used`: such credit has paid it.',
          ),
      }),
    )
    .describe(
      'Calls that were made with the payment itself, the newest 20 first; those of its pass or credit are in the list of calls.',
    ),
});
