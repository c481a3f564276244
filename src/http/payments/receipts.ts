import type { Request } from 'express';
import { TollhouseError } from '../../errors/errors.js';
import type { ChainLookup, PaymentRequestState } from '../../facilitator/requests/payment-request-types.js';
import { receiptPage } from '../../pages/service/receipt-page.js';
import { isSignature } from '../../protocol/address.js';
import { formatAmount } from '../../protocol/money/money.js';
import { modeOf } from '../../protocol/networks/networks.js';
import type { NetworkId } from '../../protocol/types.js';
import { explorerOf } from '../framework/explorer.js';
import type { ResponseBody } from '../framework/fields.js';
import { defineOperation } from '../framework/operation.js';
import type { ShellFor } from '../framework/service-pages.js';
import { receiptQuery, receiptResponse } from './receipt-schemas.js';
import { PAYMENTS_PATHS } from './schemas.js';
import type { SettlementParts } from './settlement.js';
import { askedFor, type LookedUp, lookUpAmong } from './verify.js';
import { symbolOf } from './views.js';

/** What {@link getReceipt} works with. */
export interface ReceiptParts extends SettlementParts {
  /** For pages. Default: there are none. */
  readonly shellFor?: ShellFor | undefined;
}

type Receipt = ResponseBody<typeof receiptResponse>;

const MAX_NAME_LENGTH = 128;

/** The receipt of a payment that was created here, by its id, or of whatever transaction paid, by its signature. */
export const getReceipt = defineOperation({
  method: 'get',
  path: PAYMENTS_PATHS.receipt,
  id: 'getReceipt',
  tag: 'Payments',
  summary: 'The receipt of a payment',
  description:
    'By `payment_id`, or by the signature of its transaction, as `PAYMENT-RESPONSE` tells it. It says what anybody can see on the chain. What was paid with test money is marked so and, beside mainnet, found by its signature only with `network`.',
  noStore: true,
  query: receiptQuery,
  responses: {
    200: { description: 'The receipt; for browsers a page to print.', schema: receiptResponse, mediaType: 'text/html' },
  },
  errors: ['payment_not_found', 'invalid_request', 'payment_backend_unavailable', 'chain_unavailable'],
  async handler({ req, params: { payment }, query: { network } }, parts: ReceiptParts) {
    if (payment.length > MAX_NAME_LENGTH) throw notFound();
    if (!isSignature(payment)) return ofRequest(payment, parts, req);
    const { found, on } = await lookUpAmong(askedFor(parts.networks, network), payment);
    return ofTransaction(payment, { ...parts, found, on }, req);
  },
  page: ({ req }, receipt, { shellFor }) => shellFor && receiptPage(shellFor(req), receipt),
});

function ofTransaction(signature: string, { found, on, ...parts }: ReceiptParts & LookedUp, req: Request): Receipt {
  if (found.status === 'not_found') throw notFound();
  const { status } = found;
  const paid = found.received.filter(({ from }) => from !== undefined);
  return {
    ...landed(signature, { ...parts, network: on.network }, req, found),
    status: status === 'pending' || status === 'failed' ? status : 'settled',
    ...{ payment_id: null, memo: null, reason: null },
    lines: paid.map(({ to, from = null, asset, amount, decimals }) => ({
      ...{ to, from, amount: formatAmount(amount, decimals) },
      token: symbolOf(asset, on.tokens) ?? asset,
    })),
  };
}

async function ofRequest(id: string, parts: ReceiptParts, req: Request): Promise<Receipt> {
  const state = await parts.networks.find((it) => it.paymentRequest(id, { beside: false }));
  if (state === undefined) throw notFound();
  const { request, status, signature, reason, receipt } = state;
  const { token, legs, memo, payer } = request;
  const from = receipt?.payer ?? payer ?? null;
  return {
    ...landed(signature, { ...parts, network: request.network }, req, await lookUp(state, parts)),
    ...{ status, payment_id: id, memo: memo ?? null, reason: reason ?? null },
    lines: legs.map((leg) => ({
      ...{ to: leg.recipient, from, token: token.symbol },
      amount: formatAmount(leg.amount, token.decimals),
    })),
  };
}

/** What else the chain knows of a request that is paid. In an outage the receipt goes without. */
async function lookUp(
  { status, signature, request }: PaymentRequestState,
  { networks }: ReceiptParts,
): Promise<Partial<ChainLookup>> {
  if (status !== 'settled' || signature === undefined) return {};
  return networks
    .named(request.network)
    .lookUp(signature)
    .catch(() => ({}));
}

function landed(
  signature: string | undefined,
  parts: ReceiptParts & { readonly network: NetworkId },
  req: Request,
  { at, slot }: Partial<ChainLookup>,
) {
  return {
    network: parts.network,
    mode: modeOf(parts.network),
    tx_signature: signature ?? null,
    explorer_url: signature === undefined ? null : `${explorerOf(parts, req)}/tx/${signature}`,
    paid_at: at === undefined ? null : new Date(at).toISOString(),
    block_number: slot ?? null,
  };
}

function notFound(): TollhouseError {
  const detail = 'There is no payment of this id or signature; it may have been forgotten after its time.';
  return new TollhouseError('payment_not_found', detail);
}
