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

function cellText(cell: Cell): string {
  if (typeof cell !== 'string') return cell === null || cell === undefined ? '' : String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return NEEDS_QUOTES.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}
