/** A value that is made when it is first asked for: what few ask for costs the others nothing. */
export class Later<Value> {
  #make: (() => Value) | undefined;
  #value: Value | undefined;

  constructor(make: () => Value) {
    this.#make = make;
  }

  /** The value, the same each time. */
  get(): Value {
    if (this.#make !== undefined) {
      this.#value = this.#make();
      this.#make = undefined;
    }
    return this.#value as Value;
  }
}
