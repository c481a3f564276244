import { z } from 'zod';
import { isAddress } from '../../protocol/address.js';
import { amountFault } from '../../protocol/money/money.js';
import { supportedResponse } from '../../protocol/wire/schemas.js';
import { address, countSchema, nameText, networkId, networkName, signature, unixSeconds } from '../framework/fields.js';
import { arrived, unmatched } from './arrived-schemas.js';

/** Where payments are, made and settled. */
export const PAYMENTS_PATHS = {
  supported: '/supported',
  create: '/create-payment',
  one: '/payments/:id',
  transaction: '/payments/:id/transaction',
  icon: '/payments/icon.svg',
  settle: '/settle',
  verify: '/verify',
  explore: '/explorer/tx/:signature',
  receipt: '/receipts/:payment',
} as const;

/** Query of `GET /explorer/tx/:signature`. */
export const exploreQuery = z.object({
  network: networkName.describe('Where the transaction is. Default: where it is found.'),
});

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
    network: networkName,
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
    project: nameText(64)
      .optional()
      .describe('Slug or id of a project: its price and its split apply, and the payment is good for one call of it.'),
    expires_in: z.number('must be a number of seconds').optional().describe('Whole seconds, 30 to 900. Default 120.'),
  },
  'must be a JSON object',
);

/** Body of `POST /create-payment` for a call of a project, which says itself what it costs, in what, and who is paid. */
export const projectPaymentBody = createPaymentBody.extend({
  project: createPaymentBody.shape.project.unwrap(),
  method: z
    .string('must be a method')
    .regex(/^[A-Z][A-Z-]{0,19}$/, 'must be a method in capitals, such as GET')
    .optional()
    .describe('Of the call that it shall pay for; with `path`. Default `GET`.'),
  path: z
    .string('must be a path')
    .max(2_048, 'must have at most 2,048 characters')
    .regex(/^(?:[/?]|$)[!-~]*$/, 'must be empty, or begin with "/", as it is sent: other characters as %XX')
    .optional()
    .describe(
      "Of the call that it shall pay for, below `/v1/<slug>`: where a route has a price of its own. Default: one at the project's own price.",
    ),
  amount: amount.optional().describe('Default, and the only one that is taken: the price of the call.'),
  token: createPaymentBody.shape.token.optional().describe('One that the call is sold in. Default: the first of them.'),
  recipient: wallet.optional().describe("Wallet that receives, one of the project's. Default: the first of them."),
});

/** Body of `POST /settle` in the contract's shape. */
export const settleBody = z.object({
  payment_id: nameText(64),
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

const FIELDS = ['recipient', 'token', 'amount'] as const;

const expected = z
  .strictObject(
    {
      recipient: z
        .string('must be a wallet address (base58)')
        .refine(isAddress, 'must be a wallet address (base58)')
        .optional()
        .describe('Wallet that receives.'),
      token: z
        .string('must be a symbol or a mint address')
        .min(1, 'must not be empty')
        .max(64, 'must be at most 64 characters')
        .optional()
        .describe('Symbol such as `SOL`, or a mint.'),
      amount: z
        .union([z.number(), z.string().max(64)], 'must be a number, or its decimal text')
        .check(({ value, issues }) => {
          const fault = amountFault(value);
          if (fault !== undefined) issues.push({ code: 'custom', message: fault, input: value });
        })
        .optional()
        .describe('In whole tokens: all that arrived for the recipient, or one transfer of it.'),
    },
    'must be an object',
  )
  .refine((it) => Object.values(it).some((value) => value !== undefined), {
    error: `must name at least one of ${FIELDS.join(', ')}`,
  });

/** Body of `POST /verify` in the contract's shape. */
export const verifyBody = z.object({
  tx_signature: z
    .string('must be a transaction signature')
    .min(1, 'must not be empty')
    .max(128, 'must be at most 128 characters')
    .describe('Base58.'),
  network: networkName.describe(
    'Where it is looked for. Default: on mainnet where that is served here, else on each that is.',
  ),
  expected: expected
    .optional()
    .describe(
      'What must have arrived. Unknown fields are refused: nothing would be checked by them. Default: anything.',
    ),
});

/** What the caller of `POST /verify` expects to have been paid. */
export type ExpectedTransfer = NonNullable<z.output<typeof verifyBody>['expected']>;

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

const tokenSymbol = z.string().describe('Symbol of the token.');
const decimals = countSchema.describe('Decimal places of the token.');
const reference = address.describe('Public key that the transaction must name (Solana Pay).');

/** Response of `POST /create-payment` and of `POST /payments/:id/transaction` for a payer. */
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
  token: tokenSymbol,
  decimals,
  solana_pay_url: z.string().describe('Link for wallets, also as a QR code.'),
  unmatched: unmatched
    .optional()
    .describe('Money that has come for it already and does not pay it. Missing where there is none.'),
});

/** Response of `POST /payments/:id/transaction` for a Solana Pay wallet. */
export const walletTransactionResponse = z.object({
  transaction: z.base64().describe('Unsigned; the wallet pays the network fee and sends it.'),
  message: z.string(),
});

/** Response of `GET /payments/:id/transaction`. */
export const walletLabelResponse = z.object({ label: z.string(), icon: z.url() });

/** Response of `GET /payments/:id`. */
export const paymentResponse = z.object({
  payment_id: z.string(),
  status: z
    .enum(['created', 'pending', 'settled', 'failed', 'expired'])
    .describe(
      '`expired`: no new payment is begun; one that was signed in time can land for 90 seconds more, and settles it. With the ' +
        'reason `invalid_transfer_late` it was paid later than that: the recipients have the money, and it buys nothing.',
    ),
  network: networkId,
  token: tokenSymbol,
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
  surplus: z
    .string()
    .describe(
      "What the payment brought to the recipients beyond the price, in the token's smallest unit; the seller's to send back.",
    ),
  unmatched,
});

/** Response of `POST /settle` in the contract's shape. */
export const settledResponse = z.object({
  success: z.literal(true),
  tx_signature: signature,
  block_number: countSchema.describe('Slot.'),
  gas_used: countSchema.describe('Compute units.'),
  explorer_url: z.url(),
  fee_lamports: countSchema,
  status: z.literal('confirmed'),
});

const transfer = arrived.extend({ from: address.describe('Who signed for it.') });

/** Response of `POST /verify` in the contract's shape. What is not known is null. */
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
  network: networkId.nullable().describe('Where it was found.'),
});

/** Networks in the response of `GET /supported`. */
export const networksResponse = z.partialRecord(
  networkId,
  z.object({
    name: z.string(),
    type: z.literal('svm'),
    tokens: z.array(z.string()),
    block_time: z.string().optional(),
    finality: z.string().optional(),
  }),
);

/** Response of `GET /supported`: x402's, and the contract's networks. */
export const supportedNetworksResponse = supportedResponse.extend({ networks: networksResponse });
