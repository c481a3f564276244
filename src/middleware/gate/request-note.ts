/** Something that is noted on requests or responses while they are under way. */
export interface RequestNote<Holder extends object, Value> {
  /** What was noted; undefined when nothing was. */
  of(holder: Holder): Value | undefined;
  put(holder: Holder, value: Value): void;
}

/**
 * Makes a kind of note. It lies beside the object: Express gives each request and each response a prototype of its app, after
 * which V8 makes a hidden class for every single one of them, and a property more on it costs more than a gate's whole check.
 */
export function createRequestNote<Holder extends object, Value>(): RequestNote<Holder, Value> {
  const notes = new WeakMap<Holder, Value>();
  return {
    of: (holder) => notes.get(holder),
    put: (holder, value) => void notes.set(holder, value),
  };
}
