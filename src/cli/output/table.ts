import { plain } from '../../lib/plain-text.js';

const GAP = '  ';
const NUMBER = /^[\d.,–]*$/;

/** Prints rows under their heads; columns of numbers stand to the right. */
export function printTable(heads: readonly string[], rows: readonly (readonly string[])[]): void {
  const cells = [heads, ...rows.map((row) => row.map(plain))];
  const widths = heads.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const numeric = heads.map((_, column) => rows.every((row) => NUMBER.test(row[column] ?? '')));
  for (const row of cells) {
    const padded = row.map((cell, column) =>
      numeric[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
    );
    console.log(padded.join(GAP).trimEnd());
  }
}
