/** Something that is noted on requests or answers while they are under way. */
export interface RequestNote<Holder extends object, Value> {
  /** What was noted; undefined when nothing was. */
  of(holder: Holder): Value | undefined;
  put(holder: Holder, value: Value): void;
}

/**
 * Makes a kind of note, which lies on the object itself and goes with it: every request has some, and a WeakMap would have to
 * be gone through for them whenever garbage is collected.
 * @param name - for debuggers
 */
export function createRequestNote<Holder extends object, Value>(name: string): RequestNote<Holder, Value> {
  const key: unique symbol = Symbol(name);
  type Noted = { [key]?: Value };
  return {
    of: (holder: Noted) => holder[key],
    put(holder: Noted, value) {
      holder[key] = value;
    },
  };
}
