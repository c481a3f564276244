import { z } from 'zod';
import { address, countSchema, networkId, networkName, signature } from '../framework/fields.js';

/** Query of `GET /receipts/:payment`. */
export const receiptQuery = z.object({
  network: networkName.describe(
    'Where a transaction is looked for. Default: on mainnet where that is served here, else on each that is.',
  ),
});

/** What was paid with. */
export const paidMode = z.enum(['live', 'test']).describe('`test`: with test money, which is worth nothing.');

const line = z.object({
  to: address,
  from: address.nullable().describe('Who signed for it.'),
  amount: z.string().describe('In whole tokens, exact.'),
  token: z.string().describe('Symbol, or the mint of an unknown token.'),
});

/** Response of `GET /receipts/:payment`. */
export const receiptResponse = z.object({
  status: z.enum(['settled', 'created', 'pending', 'failed', 'expired']),
  network: networkId,
  mode: paidMode,
  payment_id: z.string().nullable().describe('Null where it was asked for by its transaction.'),
  tx_signature: signature.nullable(),
  explorer_url: z.string().nullable().describe('Where a block explorer shows the transaction.'),
  paid_at: z.iso.datetime().nullable().describe('When its block was made; null where that is not known.'),
  block_number: countSchema.nullable().describe('Slot.'),
  memo: z.string().nullable().describe('Of a payment that was created here.'),
  reason: z.string().nullable().describe('Why the last transaction failed, or that it came too late.'),
  lines: z
    .array(line)
    .describe(
      'Of a payment that was created here: what was asked for. Of a transaction: what it brought to each wallet.',
    ),
});
