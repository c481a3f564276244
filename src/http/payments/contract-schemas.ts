import { z } from 'zod';

/** Shapes of the facilitator's own endpoints (interface-specification.md); requests are checked with them. */

const wallet = z
  .string('must be a wallet address (base58)')
  .min(1, 'must not be empty')
  .max(64, 'must be at most 64 characters');
const share = z.strictObject(
  {
    recipient: wallet,
    bps: z.int('must be a whole number of basis points').describe('Basis points; all shares sum to 10,000.'),
  },
  'must be {recipient, bps}',
);
const amount = z
  .union([z.number(), z.string().max(64)], 'must be a number, or its decimal text')
  .describe('In whole tokens, never rounded: more decimals than the token has are refused.');

/**
 * Body of `POST /create-payment`. Amounts, tokens and addresses are judged by the facilitator, with codes of their own. It is
 * strict: a misspelt `split` or `project` without effect would send the money elsewhere.
 */
export const createPaymentBody = z.strictObject(
  {
    amount,
    token: z
      .string('must be a symbol such as "SOL", or a mint address')
      .min(1, 'must not be empty')
      .max(64, 'must be at most 64 characters')
      .describe('Symbol such as `SOL`, or a mint.'),
    recipient: wallet.describe('Wallet that receives.'),
    payer: wallet
      .optional()
      .describe('Wallet that will pay, if it is known: then the answer holds a transaction to sign.'),
    network: z
      .string('must be a network id')
      .max(64, 'must be at most 64 characters')
      .optional()
      .describe('Default: the network that is served here.'),
    memo: z
      .string('must be a text')
      .max(256, 'must be at most 256 characters')
      .optional()
      .describe('Text that the transaction carries.'),
    metadata: z
      .record(z.string().max(64), z.string().max(500), 'must be an object of texts')
      .optional()
      .describe('Kept with the payment, at most 2,048 bytes as JSON.'),
    split: z
      .array(share, 'must be a list of {recipient, bps}')
      .max(100, 'must have at most 100 entries')
      .optional()
      .describe('Several recipients, at most 8, `recipient` among them; all are paid in one transaction.'),
    project: z
      .string('must be the slug or the id of a project')
      .min(1, 'must not be empty')
      .max(64, 'must be at most 64 characters')
      .optional()
      .describe('Slug or id of a project: its price and its split apply, and the payment is good for one call of it.'),
    expires_in: z.number('must be a number of seconds').optional().describe('Whole seconds, 30 to 900. Default 120.'),
  },
  'must be a JSON object',
);

/** Body of `POST /settle` in the contract's shape. */
export const settleBody = z.object({
  payment_id: z
    .string('must be the id of a payment')
    .min(1, 'must not be empty')
    .max(64, 'must be at most 64 characters'),
  signed_transaction: z
    .string('must be the signed transaction in base64')
    .min(1, 'must not be empty')
    .max(8_192, 'must be at most 8,192 characters')
    .describe('Base64. Whatever transaction has the outcome of the payment, however it was built.'),
});

/** Body of `POST /payments/:id/transaction`: ours, or a Solana Pay wallet's, which may send more than that. */
export const transactionBody = z.union(
  [z.object({ payer: wallet }), z.object({ account: wallet })],
  'must be {"payer": wallet}, or {"account": wallet} from a Solana Pay wallet',
);
