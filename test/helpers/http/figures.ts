/** The figures of a server, as Prometheus reads them. */
export interface Figures {
  readonly text: string;
  /** Names of what has rows, those of histograms with `_bucket`, `_sum` and `_count`; with the labels that each has. */
  readonly labels: ReadonlyMap<string, ReadonlySet<string>>;
  /** The value of the one row of a name that has these labels; undefined where there is none. */
  value(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
  /** All rows of a name. */
  rows(name: string): readonly Figure[];
}

/** A row. */
export interface Figure {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const ROW = /^([a-zA-Z_:]\w*)(?:\{([^}]*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/** Reads `/metrics` of a server. */
export async function figuresOf(url: string): Promise<Figures> {
  const answer = await fetch(`${url}/metrics`);
  expect(answer.status).toBe(200);
  return readFigures(await answer.text());
}

/** Reads the text form of Prometheus. */
export function readFigures(text: string): Figures {
  const all = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map(readRow);
  const labels = new Map<string, Set<string>>();
  for (const row of all) {
    const known = labels.get(row.name) ?? new Set();
    for (const label of Object.keys(row.labels)) known.add(label);
    labels.set(row.name, known);
  }
  const rows = (name: string) => all.filter((row) => row.name === name);
  return {
    text,
    labels,
    rows,
    value(name, wanted = {}) {
      const found = rows(name).filter((row) => Object.entries(wanted).every(([label, it]) => row.labels[label] === it));
      return found.length === 1 ? found[0]?.value : undefined;
    },
  };
}

function readRow(line: string): Figure {
  const [, name = '', labels = '', value] = ROW.exec(line) ?? [];
  if (name === '') throw new Error(`no row of a figure: ${line}`);
  return {
    name,
    labels: Object.fromEntries([...labels.matchAll(LABEL)].map(([, key, it]) => [key, it])),
    value: Number(value),
  };
}
