import { formatAmount } from '../protocol/money.js';
import type { Token } from '../protocol/types.js';
import type { BookedPayment } from '../storage/payment-reader.js';

/** One payment as a bookkeeper sees it: text by column, empty where there is nothing to say. */
export type ExportRow = Readonly<Record<ExportColumn, string>>;

/** Columns of an export, in their order. */
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
] as const;

type ExportColumn = (typeof EXPORT_COLUMNS)[number];

/** A spreadsheet takes a cell that begins like this for a formula, and runs it. */
const FORMULA = /^[=+\-@\t\r]/;
const NEEDS_QUOTES = /[",\r\n]/;

/**
 * A payment as a row. The decimal amount is empty for a token that is not known here; the atomic one is always there.
 * @param resource - what was paid for
 */
export function exportRow(payment: BookedPayment, resource: string, token: Token | undefined): ExportRow {
  const { id, state, payer, terms, signature, slot, reason, claimedAt, finishedAt, projectId } = payment;
  return {
    id,
    state,
    claimed_at: timeText(claimedAt),
    finished_at: finishedAt === undefined ? '' : timeText(finishedAt),
    payer,
    pay_to: terms.payTo,
    network: terms.network,
    asset: terms.asset,
    symbol: token?.symbol ?? '',
    amount: token === undefined ? '' : formatAmount(terms.amount, token.decimals),
    amount_atomic: String(terms.amount),
    signature: signature ?? '',
    slot: slot === undefined ? '' : String(slot),
    reason: reason ?? '',
    resource,
    project_id: projectId ?? '',
  };
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
