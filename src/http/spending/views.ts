import {
  type BudgetState,
  type SpendingPoint,
  type SpendingReport,
  spentAs,
} from '../../gateway/figures/spending-report.js';
import type { TimeSteps } from '../../gateway/figures/time-steps.js';
import { formatAmount } from '../../protocol/money/money.js';
import { modeOf } from '../../protocol/networks/networks.js';
import type { NetworkId } from '../../protocol/types.js';
import type { SpendingSum } from '../../storage/calls/spending-sums.js';
import { type ResponseBody, timeOrNull, timeText } from '../framework/fields.js';
import { passView } from './pass-views.js';
import type { spendingResponse } from './schemas.js';

type Labels = SpendingReport['tokens'];

/** What the view of spending needs beside it. */
export interface SpendingViewing {
  /** The address of a payment's receipt. */
  readonly receiptUrl: (paymentId: string) => string;
  /** Slugs of projects by their ids, of those that are not deleted. */
  readonly slugs: ReadonlyMap<string, string>;
}

/** What keys have spent, as their owner sees it. */
export function spendingView(
  report: SpendingReport,
  { interval, from, to }: TimeSteps,
  { receiptUrl, slugs }: SpendingViewing,
): ResponseBody<typeof spendingResponse> {
  const { rows, totals, series, budgets, credit, passes, responses, tokens } = report;
  return {
    interval: interval === 'month' ? 'month' : 'day',
    from: timeText(from),
    to: timeText(to),
    totals: totals.map((it) => moneyView(it, tokens)),
    spending: rows.map((it) => ({ ...whoseView(it, slugs), ...moneyView(it, tokens) })),
    series: series.map((it) => pointView(it, totals, tokens)),
    budgets: budgets.map((it) => budgetView(it, tokens)),
    credit: credit.map((it) => ({
      ...whoseView(it, slugs),
      ...amountView(it.amount, it.mint, tokens),
      ...networkView(it),
    })),
    passes: passes.map((it) => ({ ...boughtView(it, tokens), receipt_url: receiptUrl(it.pass.paymentId) })),
    responses: responses.map(({ paymentId, network, mint, amount, paidAt, projectId }) => ({
      payment_id: paymentId,
      project_id: projectId ?? null,
      ...amountView(amount, mint, tokens),
      network,
      mode: modeOf(network),
      paid_at: timeText(paidAt),
      receipt_url: receiptUrl(paymentId),
    })),
  };
}

function whoseView(
  { keyId, projectId }: { readonly keyId: string; readonly projectId: string },
  slugs: SpendingViewing['slugs'],
) {
  return { key_id: keyId, project_id: projectId, project: slugs.get(projectId) ?? null };
}

function boughtView(
  { pass, price: { mint, amount }, projectId, refunded }: SpendingReport['passes'][number],
  tokens: Labels,
) {
  const { bought, left = bought } = pass;
  return {
    ...passView(pass),
    project_id: projectId ?? null,
    used: bought === undefined || left === undefined ? null : String(bought - left - refunded.taken),
    price: amountView(amount, mint, tokens),
    refunded: refunded.amount === 0n ? null : amountView(refunded.amount, mint, tokens),
  };
}

function amountView(amount: bigint, mint: string, tokens: Labels) {
  return { amount: decimal(amount, mint, tokens), amount_atomic: String(amount), token: symbol(mint, tokens), mint };
}

function moneyView({ mint, network, amount, calls }: SpendingSum, tokens: Labels) {
  return { ...amountView(amount, mint, tokens), ...networkView({ network }), calls };
}

function networkView({ network }: { readonly network?: NetworkId | undefined }) {
  return { network: network ?? null, mode: network === undefined ? null : modeOf(network) };
}

function pointView({ at, calls, spent }: SpendingPoint, totals: readonly SpendingSum[], tokens: Labels) {
  const sums = totals.map((it) => ({
    mint: it.mint,
    name: nameIn(totals, it, tokens),
    amount: spent.get(spentAs(it)) ?? 0n,
  }));
  return {
    t: timeText(at),
    calls,
    spent: Object.fromEntries(sums.map((it) => [it.name, decimal(it.amount, it.mint, tokens)])),
    spent_atomic: Object.fromEntries(sums.map((it) => [it.name, String(it.amount)])),
  };
}

/** The symbol of a token, and the network where the same one is spent on mainnet, or on another network, as well. */
function nameIn(totals: readonly SpendingSum[], { mint, network }: SpendingSum, tokens: Labels): string {
  const isOne = totals.filter((it) => it.mint === mint).length === 1;
  return isOne || network === 'solana' ? symbol(mint, tokens) : `${symbol(mint, tokens)} (${network ?? 'unknown'})`;
}

function budgetView({ keyId, mint, window, action, limit, used, held, endsAt }: BudgetState, tokens: Labels) {
  const left = used + held > limit ? 0n : limit - used - held;
  return {
    key_id: keyId,
    token: symbol(mint, tokens),
    mint,
    window,
    action,
    limit: decimal(limit, mint, tokens),
    limit_atomic: String(limit),
    used: decimal(used, mint, tokens),
    used_atomic: String(used),
    held: decimal(held, mint, tokens),
    held_atomic: String(held),
    left: decimal(left, mint, tokens),
    left_atomic: String(left),
    resets_at: timeOrNull(endsAt),
  };
}

function symbol(mint: string, tokens: Labels): string {
  return tokens.get(mint)?.symbol ?? mint;
}

function decimal(amount: bigint, mint: string, tokens: Labels): string {
  return formatAmount(amount, tokens.get(mint)?.decimals ?? 0);
}
