import { z } from 'zod';
import { SHOWN_STATES } from '../../gateway/payouts/payout-state.js';
import { HELD_REASONS } from '../../storage/payouts/payout-store.js';
import { address, countSchema, nameText, networkId, signature } from '../framework/fields.js';
import { listResponseOf, pageQuery } from '../framework/list-response.js';
import { API } from '../framework/path.js';

/** Where the payouts of a project are. */
export const PAYOUTS_PATHS = {
  all: `${API}/projects/:project_id/payouts`,
  owed: `${API}/projects/:project_id/payouts/owed`,
  one: `${API}/projects/:project_id/payouts/:payout_id`,
  resolve: `${API}/projects/:project_id/payouts/:payout_id/resolve`,
} as const;

/** Query of `GET /api/v1/projects/:project_id/payouts`. */
export const payoutsQuery = z.object(pageQuery);

/** What a cursor of `GET /api/v1/projects/:project_id/payouts` holds: creation and id. */
export const payoutsCursor = z.tuple([z.int(), nameText(64)]);

const amounts = {
  amount: z.string().describe('In whole tokens, decimal.'),
  amount_atomic: z.string().describe("In the token's smallest unit."),
};
const asset = { token: z.string().describe('Symbol; the mint of an unknown token.'), mint: address };
const reason = z.enum(HELD_REASONS).nullable();

/** One payout. */
export const payoutResponse = z.object({
  id: z.string().describe('Also the memo of its transaction.'),
  project_id: z.string(),
  state: z
    .enum(SHOWN_STATES)
    .describe(
      'What a failed one was to pay is owed again, and paid by another one. `unknown`: it was sent, and nobody who was asked can say any more whether it has landed; it is neither paid again nor given up until the chain tells (`/resolve`).',
    ),
  network: networkId,
  wallet: address.describe('The split wallet, from which it is paid.'),
  ...asset,
  ...amounts,
  legs: z.array(z.object({ recipient: address, ...amounts })),
  signature: signature.nullable(),
  explorer_url: z.url().nullable(),
  reason: reason.describe('Why it failed, or why nobody can say whether it landed.'),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

/** Response of `POST /api/v1/projects/:project_id/payouts/:payout_id/resolve`. */
export const payoutResolutionResponse = z.object({
  resolution: z
    .enum(['resolved', 'open', 'unsent', 'busy'])
    .describe(
      '`resolved`: it is over, as `payout` says. `open`: no node can prove what became of it, and it stays as it is. `unsent`: nothing of it was sent; that is still done. `busy`: it is being worked on.',
    ),
  detail: z.string(),
  payout: payoutResponse,
});

/** Response of `GET /api/v1/projects/:project_id/payouts`. */
export const payoutsResponse = listResponseOf(payoutResponse);

/** What one recipient is owed of one token, and is in no payout. */
export const owedItemResponse = z.object({
  recipient: address,
  ...asset,
  ...amounts,
  payments: countSchema.describe('Of how many payments.'),
  oldest_at: z.iso.datetime().describe('When the oldest of them was made.'),
  wallet: address.describe('The split wallet that holds it.'),
  held_back: reason.describe('Why it is not paid now; null when nothing stands against it.'),
  minimum: z.string().nullable().describe('Where it is too little: the amount from which on it is paid, decimal.'),
  minimum_atomic: z.string().nullable().describe("The same in the token's smallest unit."),
  payable_from: z.iso.datetime().nullable().describe('Where it is too early: when it can be paid.'),
});

/** Response of `GET /api/v1/projects/:project_id/payouts/owed`. */
export const owedResponse = z.object({ data: z.array(owedItemResponse) });

/** Response of `POST /api/v1/projects/:project_id/payouts`. */
export const payoutRequestResponse = z.object({
  payouts: z.array(payoutResponse).describe('What is being paid now, one transaction each.'),
  owed: z.array(owedItemResponse).describe('What stays owed, and why.'),
});
