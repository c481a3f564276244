import fc from 'fast-check';
import { anyText } from '../helpers/any-text.js';

/** Something that must hold for every input. */
export interface Fuzz {
  readonly name: string;
  /** Tries so many inputs; throws with the smallest one that it does not hold for, and the seed to see it again. */
  run(runs: number): void;
}

/** A rule: it holds for an input unless it throws. */
export function fuzz<T>(name: string, input: fc.Arbitrary<T>, rule: (value: T) => void): Fuzz {
  return { name, run: (numRuns) => fc.assert(fc.property(input, rule), { numRuns }) };
}

const aScrap = fc.oneof(
  fc.jsonValue({ maxDepth: 1 }),
  fc.constantFrom<unknown>(null, '', -1, 0.5, 1e300, 2 ** 53, [], {}, '1'.repeat(32), ' ', '\0', '__proto__'),
);

/** JSON that is nearly one of some samples: up to three of its parts are something else, or gone. */
export function nearly(...samples: readonly unknown[]): fc.Arbitrary<unknown> {
  const changes = fc.array(fc.tuple(fc.nat(), fc.option(aScrap, { nil: undefined })), { maxLength: 3 });
  return fc
    .tuple(fc.constantFrom(...samples), changes)
    .map(([sample, list]) => list.reduce((value, [at, scrap]) => changed(value, at, scrap), structuredClone(sample)));
}

function changed(value: unknown, at: number, scrap: unknown): unknown {
  const places = placesIn(value);
  const place = places[at % (places.length + 1)];
  if (place === undefined) return scrap ?? null;
  if (scrap === undefined) Reflect.deleteProperty(place.parent, place.key);
  else Reflect.set(place.parent, place.key, scrap);
  return value;
}

function placesIn(value: unknown): { readonly parent: object; readonly key: string }[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.keys(value).flatMap((key) => [{ parent: value, key }, ...placesIn(Reflect.get(value, key))]);
}

/** Bytes that are nearly a sample: some overwritten, cut off, put in, or repeated. */
export function nearlyBytes(sample: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> {
  const edit = fc.record({
    at: fc.nat(),
    kind: fc.constantFrom('set', 'cut', 'insert', 'truncate'),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 4 }),
  });
  return fc.tuple(sample, fc.array(edit, { maxLength: 4 })).map(([bytes, edits]) =>
    edits.reduce<Uint8Array>((old, { at, kind, bytes: more }) => {
      const from = at % (old.length + 1);
      const behind = { set: from + more.length, cut: from + more.length, insert: from, truncate: old.length }[kind];
      const between = kind === 'set' || kind === 'insert' ? more : [];
      return Uint8Array.from([...old.subarray(0, from), ...between, ...old.subarray(behind)]);
    }, bytes),
  );
}

/** Any text, or one that is nearly a sample. */
export function nearlyText(...samples: readonly string[]): fc.Arbitrary<string> {
  const edit = fc.tuple(fc.nat(), fc.nat({ max: 3 }), anyText({ maxLength: 3 }));
  const near = fc.tuple(fc.constantFrom(...samples), fc.array(edit, { maxLength: 3 })).map(([sample, edits]) =>
    edits.reduce((text, [at, cut, more]) => {
      const from = at % (text.length + 1);
      return text.slice(0, from) + more + text.slice(from + cut);
    }, sample),
  );
  return fc.oneof({ weight: 4, arbitrary: near }, { weight: 1, arbitrary: anyText({ maxLength: 300 }) });
}

/** Runs what may refuse its input by errors of one class, and no others. */
export function orRefuses<T>(refusal: abstract new (...args: never[]) => Error, act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (error instanceof refusal) return undefined;
    throw error;
  }
}
