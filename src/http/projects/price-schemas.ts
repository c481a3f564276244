import { z } from 'zod';
import { address, countSchema, networkId } from '../framework/fields.js';
import { filledText, wholeNumber } from './field-kinds.js';

const MAX_CHARGED = 20;
const MAX_PRICES = 8;
const MAX_OFFERS = 10;
const MAX_USES = 1_000_000_000;

const CHARGED = 'must be "4xx", "5xx" or a status from 400 to 599';
const chargedStatus = z.union([z.literal(['4xx', '5xx']), z.int().min(400, CHARGED).max(599, CHARGED)], CHARGED);

const amount = z.union([z.string().min(1).max(64), z.number()], 'must be a decimal text such as "0.01"');
const token = filledText(64).describe('Symbol such as `USDC`, or a mint.');

const offer = z.strictObject(
  {
    amount: amount.describe('In whole tokens; never rounded.'),
    token,
    pass: z
      .strictObject(
        {
          uses: wholeNumber('a number of calls', 1, MAX_USES)
            .optional()
            .describe('The paid call is the first of them.'),
          for: filledText(16)
            .optional()
            .describe('From the payment on: `15m`, `24h`, `30d`. Default: until it is used up.'),
          credit: z.boolean('must be true or false').optional().describe('What is paid is a balance; with `cost`.'),
          cost: amount.optional().describe('Of credit: what a call takes, in whole tokens; never rounded.'),
          group: filledText(64)
            .optional()
            .describe('Covers all that you sell at this address under this name. Default: the calls of this project.'),
        },
        'must be {uses?, for?, credit?, cost?, group?}',
      )
      .describe('What a payment buys: `uses`, `for`, both, or `credit` with `cost`.'),
  },
  'must be {amount, token, pass}',
);

const money = z.strictObject(
  { amount: amount.describe('In whole tokens; never rounded.'), token },
  'must be {amount, token}',
);

/** What single calls cost, and what may be paid for more. */
export const priceFields = {
  amount: amount
    .optional()
    .describe('In whole tokens, for each call; never rounded. With `token`; left out, only `offers` are sold.'),
  token: token.optional(),
  prices: z
    .array(money, 'must be a list of {amount, token}')
    .max(MAX_PRICES, `must have at most ${MAX_PRICES} prices`)
    .optional()
    .describe('What one call costs in other tokens than `token`, each once: the caller pays in whichever it likes.'),
  offers: z
    .array(offer, 'must be a list of {amount, token, pass}')
    .max(MAX_OFFERS, `must have at most ${MAX_OFFERS} offers`)
    .optional()
    .describe('Prices for more than one call, in your order, through x402. They come after the price of one call.'),
};

/** What calls cost where no route says something else. */
export const pricing = z.strictObject(
  {
    ...priceFields,
    network: filledText(64)
      .optional()
      .describe('Default: the first network that is served here; it cannot be changed.'),
    charge_on: z
      .array(chargedStatus, 'must be a list of statuses')
      .max(MAX_CHARGED, `must name at most ${MAX_CHARGED} statuses`)
      .optional()
      .describe('Statuses that are charged beside 2xx and 3xx. A call with any other gives what was paid as credit.'),
  },
  'must be {amount, token, network?, charge_on?, prices?, offers?}',
);

const moneyResponse = {
  amount: z.string().describe('In whole tokens, decimal.'),
  amount_atomic: z.string().describe("In the token's smallest unit."),
  token: z.string().describe('Symbol; the mint of an unknown token.'),
  mint: address,
  decimals: countSchema,
  token_program: address,
};

const passResponse = z.object({
  uses: countSchema.nullable().describe('How many calls, the paid one among them.'),
  for: z.string().nullable().describe('For how long, from the payment on.'),
  credit: z.boolean(),
  cost: z.string().nullable().describe('Of credit: what a call takes, in whole tokens.'),
  cost_atomic: z.string().nullable(),
  group: z.string().nullable().describe('Name of what it covers of this seller; null: the calls of this project.'),
});

const buys = z.string().describe('What a payment buys, in words.');

/** What some calls cost. */
export const callPriceResponse = z.object({
  ...moneyResponse,
  buys,
  pass: passResponse.nullable().describe('What a payment of the amount buys; null: one call.'),
  prices: z.array(z.object(moneyResponse)).describe('What one call costs in other tokens.'),
  offers: z
    .array(z.object({ ...moneyResponse, buys, pass: passResponse }))
    .describe("What else may be paid, in the seller's order."),
});

/** A price with its token. */
export const priceResponse = callPriceResponse.extend({
  network: networkId,
  charge_on: z
    .array(z.union([z.literal(['4xx', '5xx']), countSchema]))
    .describe('Statuses that are charged beside 2xx and 3xx.'),
});
