import type { Request } from 'express';
import { TollhouseError } from '../../errors/errors.js';
import { requireKeyMode } from '../../gateway/calls/key-mode.js';
import { type DescribeToken, labelsOf } from '../../gateway/token-label.js';
import { receiptPage } from '../../pages/service/receipt-page.js';
import { formatAmount } from '../../protocol/money/money.js';
import { modeOf } from '../../protocol/networks/networks.js';
import type { PaidFor, ReceiptReader } from '../../storage/books/receipt-reader.js';
import type { PaymentState } from '../../storage/ledger/ledger.js';
import type { ApiCaller } from '../framework/api-caller.js';
import { type ExplorerOptions, explorerOf } from '../framework/explorer.js';
import type { ResponseBody } from '../framework/fields.js';
import { defineOperation } from '../framework/operation.js';
import { RECEIPT_PATH } from '../framework/path.js';
import type { ShellFor } from '../framework/service-pages.js';
import { ownReceiptResponse } from './own-receipt-schemas.js';

/** What {@link OWN_RECEIPT_OPERATIONS} work with. */
export interface OwnReceiptParts extends Omit<ExplorerOptions, 'network'> {
  readonly receipts: ReceiptReader;
  readonly describeToken: DescribeToken;
  /** A project by its id, where it is not deleted. */
  readonly findProject: (id: string) => Promise<{ readonly slug: string } | undefined>;
  /** For pages. Default: there are none. */
  readonly shellFor?: ShellFor | undefined;
}

type Receipt = ResponseBody<typeof ownReceiptResponse>;

const ID = /^(?:[\da-f]{64}|pay_[1-9A-HJ-NP-Za-km-z]{1,22})$/;

const STATUS: Readonly<Record<PaymentState, Receipt['status']>> = {
  claimed: 'pending',
  broadcast: 'pending',
  confirmed: 'settled',
  served: 'settled',
  failed: 'failed',
  expired: 'expired',
};

const getOwnReceipt = defineOperation({
  method: 'get',
  path: RECEIPT_PATH,
  id: 'getOwnReceipt',
  tag: 'Spending',
  summary: 'The receipt of a payment that you have made, or got',
  description:
    'By the id that calls and events name a payment with, or by that of the payment request that it has paid. Who paid sees it, whose key it was paid for, and who sold; a service key sees those of its own calls, and with `analytics:read` those of what its owner sells.',
  scope: 'spending:read',
  takesTurns: true,
  responses: {
    200: {
      description: 'The receipt; for browsers a page to print.',
      schema: ownReceiptResponse,
      mediaType: 'text/html',
    },
  },
  errors: ['payment_not_found'],
  async handler({ req, caller, params: { id } }, parts: OwnReceiptParts) {
    const found = ID.test(id) ? await parts.receipts.find(id) : undefined;
    if (found === undefined || !maySee(found, caller)) {
      throw new TollhouseError('payment_not_found', 'You have made or got no payment of this id.');
    }
    // Callers have a mode only where mainnet is served beside test money.
    if (caller.keyMode !== undefined) requireKeyMode({ mode: caller.keyMode }, found.payment.terms.network, 'live');
    return receiptView(found, parts, req);
  },
  page: ({ req }, receipt, { shellFor }) => shellFor && receiptPage(shellFor(req), pageOf(receipt)),
});

/** Receipts of a caller's own payments. */
export const OWN_RECEIPT_OPERATIONS = [getOwnReceipt];

function maySee({ payment, calls }: PaidFor, { wallet, keyId, projectId, scopes }: ApiCaller): boolean {
  const { owner = payment.terms.payTo } = payment;
  const isSeller = owner === wallet;
  if (keyId === undefined) return isSeller || payment.payer === wallet || calls.some(({ buyer }) => buyer === wallet);
  if (calls.some((it) => it.keyId === keyId)) return true;
  return isSeller && scopes.includes('analytics:read') && (projectId ?? payment.projectId) === payment.projectId;
}

async function receiptView(found: PaidFor, parts: OwnReceiptParts, req: Request): Promise<Receipt> {
  const { payment, requestId, calls } = found;
  const { terms, signature, slot, projectId, buys } = payment;
  const tokens = await labelsOf([terms.asset], parts.describeToken);
  const { symbol, decimals } = tokens.get(terms.asset) ?? { symbol: terms.asset, decimals: 0 };
  const money = (amount: bigint) => ({ amount: formatAmount(amount, decimals), amount_atomic: String(amount) });
  const legs = payment.owedLegs ?? payment.legs ?? [{ recipient: terms.payTo, amount: terms.amount }];
  const project = projectId === undefined ? undefined : await parts.findProject(projectId);
  return {
    ...{ id: payment.id, payment_id: requestId ?? null, status: STATUS[payment.state] },
    ...{ network: terms.network, mode: modeOf(terms.network) },
    ...{ payer: payment.payer, ...money(terms.amount), token: symbol, mint: terms.asset },
    recipients: legs.map(({ recipient, amount }) => ({ recipient, ...money(amount) })),
    tx_signature: signature ?? null,
    explorer_url:
      signature === undefined ? null : `${explorerOf({ ...parts, network: terms.network }, req)}/tx/${signature}`,
    paid_at: new Date(payment.claimedAt).toISOString(),
    block_number: slot ?? null,
    reason: payment.reason ?? null,
    project: projectId === undefined ? null : { id: projectId, slug: project?.slug ?? null },
    pass: buys === undefined ? null : { kind: buys.kind, covers: buys.scope },
    calls: calls.map(({ id, at, route, status, outcome, credit }) => ({
      ...{ id, at: new Date(at).toISOString(), outcome },
      ...{ route: route ?? null, status: status ?? null, credit: credit?.kind ?? null },
    })),
  };
}

function pageOf(receipt: Receipt) {
  const { id, payer, token, recipients, project, calls, pass } = receipt;
  const what = [project?.slug ?? project?.id, pass?.covers, ...calls.map(({ route }) => route)];
  return {
    ...receipt,
    payment_id: receipt.payment_id ?? id,
    memo: [...new Set(what.filter((it) => it !== null && it !== undefined))].join(', ') || null,
    lines: recipients.map(({ recipient, amount }) => ({ to: recipient, from: payer, amount, token })),
  };
}
