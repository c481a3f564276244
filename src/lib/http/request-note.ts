/** Something that is noted on requests or responses while they are under way. */
export interface RequestNote<Holder extends object, Value> {
  /** What was noted; undefined when nothing was. */
  of(holder: Holder): Value | undefined;
  put(holder: Holder, value: Value): void;
}

/** One note of an object, and the others behind it. */
interface Noted {
  readonly kind: object;
  value: unknown;
  next: Noted | undefined;
}

/** All notes of an object are one entry: an entry more costs as much as all else that a note takes, and an object has a handful. */
const notes = new WeakMap<object, Noted>();

/**
 * Makes a kind of note. It lies beside the object: Express gives each request and each response a prototype of its app, after
 * which V8 makes a hidden class for every single one of them, and a property more on it costs more than a gate's whole check.
 */
export function createRequestNote<Holder extends object, Value>(): RequestNote<Holder, Value> {
  const kind = {};
  return {
    of(holder) {
      let note = notes.get(holder);
      while (note !== undefined && note.kind !== kind) note = note.next;
      return note?.value as Value | undefined;
    },
    put(holder, value) {
      let note = notes.get(holder);
      if (note === undefined) return void notes.set(holder, { kind, value, next: undefined });
      while (note.kind !== kind && note.next !== undefined) note = note.next;
      if (note.kind === kind) note.value = value;
      else note.next = { kind, value, next: undefined };
    },
  };
}
