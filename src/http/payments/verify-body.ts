import { z } from 'zod';
import { TollhouseError } from '../../errors/errors.js';
import { isAddress } from '../../protocol/address.js';
import { amountFault } from '../../protocol/money/money.js';
import { readBody } from '../framework/read-body.js';
import { meantField } from '../framework/unknown-fields.js';

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
  expected: expected
    .optional()
    .describe(
      'What must have arrived. Unknown fields are refused: nothing would be checked by them. Default: anything.',
    ),
});

/** What the caller of `POST /verify` expects to have been paid. */
export type ExpectedTransfer = NonNullable<z.output<typeof verifyBody>['expected']>;

/**
 * Reads the body of `POST /verify`.
 * @throws TollhouseError `invalid_signature` or `invalid_request`, the latter also for what is expected and has no effect
 */
export function readVerifyBody(body: unknown): z.output<typeof verifyBody> {
  refuseOutside(body);
  return readBody(verifyBody, body, { code: 'invalid_request', fields: { '/tx_signature': 'invalid_signature' } });
}

/** What is expected and stands beside `expected`, or in a misspelt one, would be checked by nobody. */
function refuseOutside(body: unknown): void {
  for (const key of Object.keys(Object(body))) {
    if (Object.hasOwn(verifyBody.shape, key)) continue;
    const meant = meantField(verifyBody, [], key);
    if (meant === undefined) continue;
    throw new TollhouseError('invalid_request', `"${key}" is no field of this request; did you mean ${meant}?`, {
      param: key,
    });
  }
}
