import { cpus, totalmem } from 'node:os';
import { type Figure, holds } from './figure.js';

/** The figures of the parts of a run. */
export type Results = ReadonlyMap<string, readonly Figure[]>;

/** The machine that was measured on, in a line. */
export function machine(): string {
  const [cpu] = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} × ${cpu?.model.trim() ?? 'unknown processor'}, ${memory} GiB, Node ${process.versions.node}`;
}

/** A run as Markdown: ratios first. */
export function toMarkdown(results: Results): string {
  const rows = [...results].flatMap(([part, figures]) => figures.map((figure) => ({ part, ...figure })));
  const ratiosFirst = [...rows.filter(({ unit }) => unit === '×'), ...rows.filter(({ unit }) => unit !== '×')];
  const lines = ratiosFirst.map(
    (row) => `| ${row.part} | ${row.name} | ${shown(row.value)} ${row.unit} | ${demand(row)} | ${mark(row)} |`,
  );
  return ['| part | figure | measured | must be | |', '|---|---|---:|---:|---|', ...lines, '', machine(), ''].join(
    '\n',
  );
}

function shown(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  return Math.abs(value) >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2);
}

function demand({ atMost, atLeast }: Figure): string {
  if (atMost !== undefined) return `≤ ${atMost}`;
  return atLeast === undefined ? '' : `≥ ${atLeast}`;
}

function mark(figure: Figure): string {
  if (figure.atMost === undefined && figure.atLeast === undefined) return '';
  return holds(figure) ? 'ok' : '**missed**';
}
