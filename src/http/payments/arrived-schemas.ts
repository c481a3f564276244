import { z } from 'zod';
import { address, signature } from '../framework/fields.js';

/** What arrived for a wallet in a transaction. */
export const arrived = z.object({
  to: address,
  token: z.string().describe('Symbol, or the mint of an unknown token.'),
  mint: address.nullable().describe('Null for SOL.'),
  amount: z.number(),
  amount_atomic: z.string(),
});
/** Money that came for a payment and does not pay it. */
export const unmatched = z
  .array(z.object({ tx_signature: signature, reason: z.string(), received: z.array(arrived) }))
  .describe(
    'Transactions that name the reference, brought money to the recipients, and do not pay the payment; at most 20. Anybody can ' +
      'send one: look what it has paid elsewhere before you send its money back.',
  );
