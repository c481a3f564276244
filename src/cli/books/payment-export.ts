import { formatAmount } from '../../protocol/money/money.js';
import type { Leg } from '../../protocol/money/split.js';
import type { Token } from '../../protocol/types.js';
import type { BookedPayment } from '../../storage/books/payment-reader.js';
import type { PayoutRecord } from '../../storage/payouts/payout-store.js';

/** One movement of money as a bookkeeper sees it: text by column, empty where there is nothing to say. */
export type ExportRow = Readonly<Record<ExportColumn, string>>;

/**
 * Columns of an export, in their order. A row is one movement from `payer` to `pay_to`. Its `type`: `payment`, one row for each
 * recipient whom the transaction paid; `owed`, what a recipient has in the split wallet that `payer` names since then; `payout`,
 * what a recipient was paid out of it. `moved_atomic` is what the chain has moved by the row: all of `amount_atomic`, or 0; empty
 * while nobody knows. For every wallet and asset, the sum of it where the wallet is `pay_to`, less the sum where it is `payer`,
 * is what the wallet's balance has changed by.
 */
export const EXPORT_COLUMNS = [
  'id',
  'state',
  'claimed_at',
  'finished_at',
  'payer',
  'pay_to',
  'network',
  'asset',
  'symbol',
  'amount',
  'amount_atomic',
  'signature',
  'slot',
  'reason',
  'resource',
  'project_id',
  'type',
  'leg',
  'moved_atomic',
] as const;

type ExportColumn = (typeof EXPORT_COLUMNS)[number];

/** A spreadsheet takes a cell that begins like this for a formula, and runs it. */
const FORMULA = /^[=+\-@\t\r]/;
const NEEDS_QUOTES = /[",\r\n]/;

/** What an export knows of a token; undefined: its decimals are not known here. */
type Known = Token | undefined;

/** What has become of the money of a payment, or a payout, in a state; the others may still land. */
const MOVED: Readonly<Record<string, boolean>> = {
  confirmed: true,
  served: true,
  paid: true,
  expired: false,
  failed: false,
  created: false,
};

/**
 * A payment as rows: one for each recipient of its transaction, and one for each to whom something is owed of it. The decimal
 * amount is empty for a token that is not known here; the atomic one is always there.
 * @param resource - what was paid for
 */
export function paymentRows(payment: BookedPayment, resource: string, token: Known): readonly ExportRow[] {
  const { id, state, payer, terms, signature, slot, reason, claimedAt, finishedAt, projectId } = payment;
  const { amount, payTo, network, asset } = terms;
  const common = {
    id,
    state,
    claimed_at: timeText(claimedAt),
    finished_at: finishedAt === undefined ? '' : timeText(finishedAt),
    network,
    asset,
    signature: signature ?? '',
    slot: slot === undefined ? '' : String(slot),
    reason: reason ?? '',
    resource,
    project_id: projectId ?? '',
  };
  const paid = payment.legs ?? [{ recipient: payTo, amount }];
  const owed = payment.owedLegs ?? [];
  return [
    ...legRows({ ...common, payer, type: 'payment' }, paid, token, MOVED[state]),
    ...legRows({ ...common, payer: payTo, type: 'owed' }, owed, token, false),
  ];
}

/** A payout as rows, one for each recipient. */
export function payoutRows(payout: PayoutRecord, token: Known): readonly ExportRow[] {
  const { id, state, wallet, network, mint, signed, slot, reason, createdAt, updatedAt, projectId, legs } = payout;
  const isOver = state === 'paid' || state === 'failed';
  const common = {
    id,
    state,
    claimed_at: timeText(createdAt),
    finished_at: isOver ? timeText(updatedAt) : '',
    payer: wallet,
    network,
    asset: mint,
    signature: signed?.signature ?? '',
    slot: slot === undefined ? '' : String(slot),
    reason: reason ?? '',
    resource: '',
    project_id: projectId,
    type: 'payout',
  };
  return legRows(common, legs, token, MOVED[state]);
}

type CommonColumns = Omit<ExportRow, 'pay_to' | 'symbol' | 'amount' | 'amount_atomic' | 'leg' | 'moved_atomic'>;

function legRows(
  common: CommonColumns,
  legs: readonly Leg[],
  token: Known,
  isMoved: boolean | undefined,
): readonly ExportRow[] {
  return legs.map(({ recipient, amount }, index) => {
    const values: ExportRow = {
      ...common,
      pay_to: recipient,
      symbol: token?.symbol ?? '',
      amount: token === undefined ? '' : formatAmount(amount, token.decimals),
      amount_atomic: String(amount),
      leg: String(index + 1),
      moved_atomic: isMoved === undefined ? '' : String(isMoved ? amount : 0n),
    };
    return inOrder(values);
  });
}

function inOrder(row: ExportRow): ExportRow {
  return Object.fromEntries(EXPORT_COLUMNS.map((column) => [column, row[column]])) as Record<ExportColumn, string>;
}

/** Fields as one line of CSV (RFC 4180). What a spreadsheet would run as a formula is made text with an apostrophe. */
export function csvLine(fields: readonly string[]): string {
  return `${fields.map(csvField).join(',')}\r\n`;
}

/** A row as one line of JSON, without the fields that are empty. */
export function jsonLine(row: ExportRow): string {
  return `${JSON.stringify(Object.fromEntries(Object.entries(row).filter(([, text]) => text !== '')))}\n`;
}

function csvField(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function timeText(time: number): string {
  return new Date(time).toISOString();
}
