import { cpus, totalmem } from 'node:os';
import { type Figure, holds } from './figure.js';

/** The figures of the parts of a run. */
export type Results = ReadonlyMap<string, readonly Figure[]>;

const BAR_WIDTH = 40;

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
  const table = ['| part | figure | measured | must be | |', '|---|---|---:|---:|---|', ...lines];
  return [...table, '', ...plotsOf(rows), machine(), ''].join('\n');
}

/** Bars for the figures that are to be drawn. */
function plotsOf(figures: readonly Figure[]): readonly string[] {
  const titles = [...new Set(figures.flatMap(({ plot }) => plot ?? []))];
  return titles.flatMap((title) => {
    const drawn = figures.filter(({ plot }) => plot === title);
    const most = Math.max(...drawn.map(({ value }) => value));
    const widest = Math.max(...drawn.map(({ name }) => name.length));
    const bars = drawn.map(({ name, value, unit }) => {
      const bar = '█'.repeat(Math.round((BAR_WIDTH * value) / most));
      return `${name.padEnd(widest)}  ${bar} ${shown(value)} ${unit}`;
    });
    return [title, '', '```', ...bars, '```', ''];
  });
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
