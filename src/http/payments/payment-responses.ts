import { z } from 'zod';
import { address, countSchema, networkId, signature, unixSeconds } from '../framework/response.js';

const key = z.object({
  pubkey: address,
  isSigner: z.boolean(),
  isWritable: z.boolean(),
  role: z
    .enum(['payer', 'payer_token_account'])
    .optional()
    .describe('Marks a placeholder while the payer is not known.'),
});

const instruction = z.object({ programId: address, keys: z.array(key), data: z.base64() });

const token = z.string().describe('Symbol of the token.');
const decimals = countSchema.describe('Decimal places of the token.');
const reference = address.describe('Public key that the transaction must name (Solana Pay).');

/** Answer of `POST /create-payment` and of `POST /payments/:id/transaction` for a payer. */
export const createdPaymentResponse = z.object({
  payment_id: z.string(),
  transaction: z.object({
    from: address.describe('The payer; the System Program while it is not known.'),
    to: address,
    amount: countSchema.describe("In the token's smallest unit."),
    instructions: z.array(instruction),
    serialized: z.base64().optional().describe('The unsigned transaction, once the payer is known.'),
  }),
  expires_at: unixSeconds,
  network: networkId,
  reference,
  fee_payer: address,
  token,
  decimals,
  solana_pay_url: z.string().describe('Link for wallets, also as a QR code.'),
});

/** Answer of `POST /payments/:id/transaction` for a Solana Pay wallet. */
export const walletTransactionResponse = z.object({
  transaction: z.base64().describe('Unsigned; the wallet pays the network fee and sends it.'),
  message: z.string(),
});

/** Answer of `GET /payments/:id/transaction`. */
export const walletLabelResponse = z.object({ label: z.string(), icon: z.url() });

/** Answer of `GET /payments/:id`. */
export const paymentResponse = z.object({
  payment_id: z.string(),
  status: z
    .enum(['created', 'pending', 'settled', 'failed', 'expired'])
    .describe(
      '`expired`: no new payment is begun; one that was signed in time can land for 90 seconds more, and settles it. With the ' +
        'reason `invalid_transfer_late` it was paid later than that: the recipients have the money, and it buys nothing.',
    ),
  network: networkId,
  token,
  decimals,
  amount: countSchema.describe("In the token's smallest unit."),
  recipient: address,
  split: z.array(z.object({ recipient: address, amount: countSchema })),
  reference,
  memo: z.string().nullable(),
  metadata: z.record(z.string(), z.string()).nullable(),
  created_at: unixSeconds,
  expires_at: unixSeconds,
  tx_signature: signature.nullable(),
  reason: z.string().nullable().describe('Why the last transaction failed, or that it came too late.'),
  payer: address.nullable(),
  block_number: countSchema.nullable(),
});

/** Answer of `POST /settle` in the contract's shape. */
export const settledResponse = z.object({
  success: z.literal(true),
  tx_signature: signature,
  block_number: countSchema.describe('Slot.'),
  gas_used: countSchema.describe('Compute units.'),
  explorer_url: z.url(),
  fee_lamports: countSchema,
  status: z.literal('confirmed'),
});

const arrived = z.object({
  to: address,
  token: z.string().describe('Symbol, or the mint of an unknown token.'),
  mint: address.nullable().describe('Null for SOL.'),
  amount: z.number(),
  amount_atomic: z.string(),
});
const transfer = arrived.extend({ from: address.describe('Who signed for it.') });

/** Answer of `POST /verify` in the contract's shape. What is not known is null. */
export const verifiedResponse = z.object({
  verified: z.boolean(),
  status: z.enum(['confirmed', 'finalized', 'pending', 'failed', 'not_found']),
  block_number: countSchema.nullable().describe('Slot.'),
  confirmations: countSchema.nullable().describe('Slots since.'),
  amount: z.number().nullable().describe('What arrived for `to`, in whole tokens.'),
  token: z.string().nullable(),
  from: address.nullable().describe('Who signed for it.'),
  to: address.nullable(),
  received: z.array(arrived).describe('What each wallet holds more after the transaction, network fees apart.'),
  transfers: z.array(transfer).describe('What the instructions moved; some of it may have gone back.'),
});
