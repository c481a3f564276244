import type { Request, Response } from 'express';

/** A value of a table. */
export type Cell = string | number | null | undefined;

const NEEDS_QUOTES = /[",\r\n]/;
/** What makes a spreadsheet take a text for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/**
 * A table as CSV (RFC 4180), the first row its head. Texts that a spreadsheet would take for a formula get an apostrophe
 * before them, which spreadsheets do not show.
 */
export function toCsv(rows: readonly (readonly Cell[])[]): string {
  return rows.map((row) => `${row.map(cellText).join(',')}\r\n`).join('');
}

/** Whether a table is wanted as CSV: by `?format`, else by `Accept`. */
export function wantsCsv(req: Request, res: Response, format: 'json' | 'csv' | undefined): boolean {
  res.vary('Accept');
  return (format ?? (req.accepts(['json', 'text/csv']) === 'text/csv' ? 'csv' : 'json')) === 'csv';
}

/**
 * Sends a table to be saved.
 * @param name - of the file, without `.csv`
 */
export function sendCsv(res: Response, name: string, csv: string): void {
  res.setHeader('Content-Disposition', `attachment; filename="${name}.csv"`);
  res.type('text/csv').send(csv);
}

function cellText(cell: Cell): string {
  if (typeof cell !== 'string') return cell === null || cell === undefined ? '' : String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return NEEDS_QUOTES.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}
