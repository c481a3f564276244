import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { openWorkedServer, type WorkedServer } from '../helpers/fixtures/worked-server.js';
import { type Figures, figuresOf } from '../helpers/http/figures.js';
import { testFolder } from '../helpers/processes/test-folder.js';

const FOLDER = join(__dirname, '../../examples/deploy');
const textOf = (name: string): string => readFileSync(join(FOLDER, name), 'utf8');
const folder = testFolder();

const rule = z.strictObject({
  alert: z.string().regex(/^Tollhouse[A-Z]\w+$/),
  expr: z.string(),
  for: z.string().regex(/^\d+m$/),
  labels: z.strictObject({ severity: z.enum(['critical', 'warning']) }),
  annotations: z.strictObject({ summary: z.string(), description: z.string(), runbook: z.string() }),
});
const { groups } = z
  .strictObject({ groups: z.array(z.strictObject({ name: z.string(), rules: z.array(rule) })) })
  .parse(parse(textOf('alerts.yaml')));
const alerts = groups.flatMap(({ rules }) => rules);

const panel = z.looseObject({
  id: z.number(),
  title: z.string(),
  type: z.enum(['row', 'stat', 'timeseries']),
  gridPos: z.strictObject({ h: z.number(), w: z.number(), x: z.number(), y: z.number() }),
  targets: z.array(z.strictObject({ refId: z.string(), expr: z.string(), legendFormat: z.string() })).default([]),
});
const dashboard = z
  .looseObject({ title: z.string(), schemaVersion: z.number(), panels: z.array(panel) })
  .parse(JSON.parse(textOf('dashboard.json')));
const targets = dashboard.panels.flatMap(({ title, targets: some }) => some.map((it) => ({ title, ...it })));

/** What Prometheus itself adds to every row, and makes of every target. */
const ADDED = new Set(['job', 'instance', '__name__']);
const WORDS = new Set(['by', 'without', 'on', 'ignoring', 'group_left', 'group_right', 'and', 'or', 'unless', 'bool']);
const FUNCTIONS = new Set('sum max min avg count topk vector rate increase changes histogram_quantile'.split(' '));

/** What an expression names: each selector with the labels that it matches, and the labels that are grouped by. */
function readExpression(expr: string) {
  const groupedBy = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/));
  const bare = expr.replace(/\bby \([^)]*\)/g, '').replace(/\[[^\]]*\]/g, '');
  const selectors = [...bare.matchAll(/([a-zA-Z_]\w*)(\{[^}]*\})?(\s*\()?/g)].flatMap(
    ([, name = '', braces = '', call]) => {
      if (call !== undefined) return FUNCTIONS.has(name) ? [] : [{ name: `${name}()`, matched: [] }];
      if (WORDS.has(name) || /^e\d*$/.test(name)) return [];
      const matched = [...braces.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"/g)].map(([, label = '', value = '']) => ({
        label,
        value,
      }));
      return [{ name, matched }];
    },
  );
  return { selectors, groupedBy };
}

/** What of an expression a server does not have. */
function missing(figures: Figures, expr: string): readonly string[] {
  const { selectors, groupedBy } = readExpression(expr);
  const own = selectors.filter(({ name }) => name !== 'up');
  const known = (label: string) => ADDED.has(label) || own.some(({ name }) => figures.labels.get(name)?.has(label));
  return [
    ...own.filter(({ name }) => !figures.labels.has(name)).map(({ name }) => name),
    ...own.flatMap(({ name, matched }) =>
      matched
        .filter(({ label }) => !ADDED.has(label) && figures.labels.get(name)?.has(label) !== true)
        .map(({ label }) => `${name}{${label}}`),
    ),
    ...groupedBy.filter((label) => !known(label)).map((label) => `by (${label})`),
  ];
}

describe('alerts.yaml and dashboard.json', () => {
  let worked: WorkedServer;
  let figures: Figures;

  beforeAll(async () => {
    worked = await openWorkedServer(`sqlite:${folder.newPath('db')}`);
    figures = await figuresOf(worked.server.url);
  });
  afterAll(() => worked.close());

  test.each(alerts.map(({ alert, expr }) => [alert, expr] as const))(
    '%s asks for figures that a server has',
    (_alert, expr) => {
      expect(readExpression(expr).selectors).not.toEqual([]);
      expect(missing(figures, expr)).toEqual([]);
    },
  );

  test('panels ask for figures that a server has', () => {
    const wrong = targets.map(({ title, expr }) => ({ title, missing: missing(figures, expr) }));
    expect(wrong.filter((it) => it.missing.length > 0)).toEqual([]);
    expect(targets.length).toBeGreaterThan(30);
  });

  test('what is matched by value is a value that a server has', () => {
    const matched = [...alerts, ...targets].flatMap(({ expr }) =>
      readExpression(expr).selectors.flatMap(({ name, matched: some }) =>
        some
          .filter(({ label, value }) => ['state', 'fault', 'outcome'].includes(label) && /^\w+$/.test(value))
          .map(({ label, value }) => ({ name, label, value })),
      ),
    );
    const found = matched.filter(({ name, label, value }) =>
      figures.rows(name).some(({ labels }) => labels[label] === value),
    );
    expect(found).toEqual(matched);
    expect(matched.length).toBeGreaterThan(5);
  });

  test('every figure of the service is on the dashboard or in an alert, but for what only names it', () => {
    const shown = [...alerts, ...targets].map(({ expr }) => expr).join('\n');
    const own = [...figures.labels.keys()]
      .filter((name) => name.startsWith('tollhouse_'))
      .map((name) => name.replace(/_(bucket|sum|count)$/, ''));
    const hidden = [...new Set(own)].filter((name) => !shown.includes(name));
    expect(hidden.sort()).toEqual(['tollhouse_build_info', 'tollhouse_http_request_seconds']);
  });

  test('names follow the conventions of Prometheus: base units, and total at the end of what only grows', () => {
    const types = new Map(
      [...figures.text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type]) => [name, type]),
    );
    const counters = [...types].filter(([, type]) => type === 'counter').map(([name]) => name);
    expect(counters.filter((name) => !name.endsWith('_total'))).toEqual([]);
    const others = [...types].filter(([, type]) => type !== 'counter').map(([name]) => name);
    expect(others.filter((name) => /_(total|ms|milliseconds|kb|mb)$/.test(name))).toEqual([]);
    const histograms = [...types].filter(([, type]) => type === 'histogram').map(([name]) => name);
    expect(histograms.filter((name) => !name.endsWith('_seconds'))).toEqual([]);
  });
});

test('every alert has a section in the README that says what to do, and every section an alert', () => {
  const text = textOf('README.md');
  const sections = [...text.matchAll(/^#### (\w+)\n(.+)$/gm)].map(([, name = '', body = '']) => ({ name, body }));
  expect(sections.map(({ name }) => name)).toEqual(alerts.map(({ alert }) => alert));
  expect(sections.filter(({ body }) => body.length < 40)).toEqual([]);
  for (const { alert, annotations } of alerts)
    expect(annotations.runbook).toBe(`examples/deploy/README.md#${alert.toLowerCase()}`);
});

test('an alert names in its words only labels that its expression leaves', () => {
  const wrong = alerts.filter(({ expr, annotations: { summary } }) => {
    const { groupedBy, selectors } = readExpression(expr);
    const isGrouped = /\b(sum|max|min)\b/.test(expr);
    const named = [...summary.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label);
    return named.some((label) => (isGrouped ? !groupedBy.includes(label) : selectors.length === 0));
  });
  expect(wrong).toEqual([]);
});

test('panels do not lie on each other, and their ids are their own', () => {
  const { panels } = dashboard;
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, at) => `${x + (at % w)} ${y + Math.floor(at / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
});
